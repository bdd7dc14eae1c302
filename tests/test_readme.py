"""The README says what is so: its program is the example, its commands work in the order it gives them."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
COMMANDS = [
    line.removeprefix("$ ").partition("#")[0].strip()
    for block in re.findall(r"```console\n(.*?)```", README, re.DOTALL)
    for line in block.splitlines()
    if line.startswith("$ ")
]
MIDCOURSE = [command for command in COMMANDS if command.startswith("midcourse ")]
MAKE = [command for command in COMMANDS if command.startswith("make ")]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a kept demo."""
    folder = tmp_path_factory.mktemp("readme")
    demo = run(["midcourse", "demo", "--keep", "orders"], folder)
    assert demo.returncode == 0, demo.stderr
    return folder / "orders"


def run(words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command of this environment in a folder."""
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, timeout=100, check=False
    )


def test_the_program_it_shows_is_the_example_that_the_tests_run() -> None:
    """One text, so that what is read is what was run."""
    programs = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert programs == [(ROOT / "examples" / "embed.py").read_text()]


def test_the_configuration_it_shows_is_one(tmp_path: Path) -> None:
    """It names tools and a planner that can be imported."""
    [configuration] = re.findall(r"```toml\n(.*?)```", README, re.DOTALL)
    (tmp_path / "midcourse.toml").write_text(configuration)
    done = run(["midcourse", "tools", "list"], tmp_path)
    assert done.returncode == 0, done.stderr
    assert "charge" in done.stdout
    assert "ship" in done.stdout


def test_it_shows_commands() -> None:
    """The patterns above still find what they look for."""
    assert len(MIDCOURSE) >= 5
    assert len(MAKE) >= 2


@pytest.mark.parametrize("command", MIDCOURSE)
def test_a_command_works_on_a_kept_demo(kept: Path, command: str) -> None:
    """Each prints something on standard output and ends well."""
    done = run(shlex.split(command), kept)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


@pytest.mark.parametrize("command", MAKE)
def test_a_make_target_exists(command: str) -> None:
    """What it would do is known to make; the targets themselves are run by the continuous integration."""
    done = run([*shlex.split(command), "--dry-run"], ROOT)
    assert done.returncode == 0, done.stderr


def test_a_killed_demo_goes_on(kept: Path) -> None:
    """The command the README gives for it is one that works in that folder."""
    resumed = next(command for command in COMMANDS if command.endswith("runs resume"))
    done = run(shlex.split(resumed.rpartition("&&")[2]), kept)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("link", re.findall(r"\]\(([^)#]+)\)", README))
def test_a_link_leads_somewhere(link: str) -> None:
    """Links are to files of the repository."""
    assert (ROOT / link).exists()
