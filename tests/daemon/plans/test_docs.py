"""``docs/plans.md`` says what is so: its plans are valid, its commands end as it says, its table is "
"current."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).parent
DOCS = FOLDER.parents[2] / "docs" / "plans.md"
TEXT = DOCS.read_text("utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", TEXT, re.DOTALL)
CONSOLES = [block for language, block in BLOCKS if language == "console"]


@pytest.fixture(scope="module")
def wrong() -> ModuleType:
    spec = importlib.util.spec_from_file_location("wrong_plans", FOLDER / "wrong_plans.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder that the document describes."""
    (tmp_path / "plans").mkdir()
    for language, block in BLOCKS:
        if language == "python":
            name = re.match(r"# (\w+\.py)\n", block)
            (tmp_path / (name[1] if name else "shop.py")).write_text(block)
        elif language == "toml":
            with (tmp_path / "midcourse.toml").open("a") as config:  # further tables go into the same file
                config.write(f"{block}\n")
        elif language == "yaml":
            identifier = re.search(r"^identifier: (\w+)$", block, re.MULTILINE)
            assert identifier is not None
            (tmp_path / "plans" / f"{identifier[1]}.yaml").write_text(block)
    return tmp_path


def run(command: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def test_its_plans_are_valid(folder: Path) -> None:
    done = run("midcourse plan validate", folder)
    assert (done.returncode, done.stdout.splitlines()) == (
        0,
        [
            f"plans/{name}.yaml: valid"
            for name in ("gates", "morning", "order", "parcels", "shelves", "stocktaking", "tell_all")
        ],
    )


@pytest.mark.parametrize("number", range(len(CONSOLES)))
def test_its_commands_end_as_it_says(folder: Path, number: int) -> None:
    lines = [line.removeprefix("$ ") for line in CONSOLES[number].splitlines()]
    for line in lines:
        command, _, expected = line.partition("  # exit ")
        done = run(command, folder)
        assert (command, done.returncode) == (command, int(expected or 0)), done.stderr
        assert done.stdout or expected


def test_the_first_run_prints_what_it_says(folder: Path) -> None:
    done = run("midcourse plan run order --input sku=lamp", folder)
    [expected] = re.findall(r"The last one prints `(.*?)`", TEXT)
    assert done.stdout.split() == expected.replace("{", "{ ").replace("}", " }").split()


def test_the_table_of_wrong_plans_is_current(wrong: ModuleType) -> None:
    assert wrong.with_table(TEXT) == TEXT, f"run: python {FOLDER / 'wrong_plans.py'}"


def test_each_wrong_plan_is_said_to_be_wrong_with_its_place(wrong: ModuleType) -> None:
    for name, text in wrong.WRONG.items():
        lines = wrong.said(text)
        assert (name, bool(lines)) == (name, True)
        assert all(re.match(r"plan\.yaml:\d+:\d+: ", line) for line in lines)


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\((#[\w-]+)\)", TEXT))))
def test_its_links_lead_to_headings(link: str) -> None:
    headings = {
        f"#{line.strip('# ').lower().replace(' ', '-')}"
        for line in TEXT.splitlines()
        if line.startswith("## ")
    }
    assert link in headings
