"""The repository keeps its own promises: what ships, what is pinned, what importing does."""

import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
LAYERS = ("domain", "store", "actors", "daemon")
SHIPPED = (*LAYERS, "examples", "testing")
LONGEST_MODULE = 300

MACHINE_PATH = re.compile(r"(?<![\w.~}-])/(?:root|home|Users|work|opt)/[\w.-]+")
REGISTRY_HOST = re.compile(r"pypi\.org|pythonhosted\.org|npmjs\.(?:org|com)|//(?:proxy|sum)\.golang\.org")


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def shipped_files() -> list[Path]:
    return [
        path
        for folder in SHIPPED
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    ]


def text_files() -> dict[str, str]:
    """Every file that is or could be committed, by its path, leaving out what is not text."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    texts = {}
    for name in filter(None, listed.split("\0")):
        path = ROOT / name
        if path.is_file() and b"\0" not in (content := path.read_bytes()):
            texts[name] = content.decode("utf-8")
    return texts


def run_python(code: str) -> str:
    """Run code in a fresh interpreter outside the checkout and return what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT.parent, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_package_list_equals_the_folders_with_modules() -> None:
    folders = {path.parent.relative_to(ROOT) for path in shipped_files() if path.suffix == ".py"}
    expected = {"midcourse"} | {".".join(("midcourse", *folder.parts)) for folder in folders}
    assert set(project()["tool"]["setuptools"]["packages"]) == expected


def test_every_folder_with_modules_is_a_package() -> None:
    folders = {path.parent for path in shipped_files() if path.suffix == ".py"}
    assert [str(folder) for folder in sorted(folders) if not (folder / "__init__.py").exists()] == []


def test_every_data_file_ships() -> None:
    patterns: dict[str, list[str]] = project()["tool"]["setuptools"]["package-data"]
    left_out = [
        str(path.relative_to(ROOT))
        for path in shipped_files()
        if path.suffix not in {".py", ".md"}
        and not any(
            path.match(pattern)
            for pattern in patterns.get(".".join(("midcourse", *path.relative_to(ROOT).parent.parts)), [])
        )
    ]
    assert left_out == []


def test_only_the_face_of_the_package_lies_at_the_root() -> None:
    assert [path.name for path in ROOT.glob("*.py")] == ["__init__.py"]


def test_modules_are_short() -> None:
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text("utf-8").splitlines())
        for layer in LAYERS
        for path in (ROOT / layer).rglob("*.py")
    }
    assert {name: lines for name, lines in lengths.items() if lines > LONGEST_MODULE} == {}


def test_the_changelog_has_this_version() -> None:
    version = project()["project"]["version"]
    assert re.search(rf"^## {re.escape(version)}\b", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)


@pytest.mark.parametrize("forbidden", [MACHINE_PATH, REGISTRY_HOST], ids=["machine path", "registry host"])
def test_no_file_names_a_place_that_only_one_machine_has(forbidden: re.Pattern[str]) -> None:
    found = [
        f"{name}: {match.group()}"
        for name, text in text_files().items()
        for match in forbidden.finditer(text)
    ]
    assert found == []


@pytest.mark.parametrize("lock", ["runtime.txt", "dev.txt"])
def test_the_lock_pins_every_package_by_hash(lock: str) -> None:
    text = (ROOT / "requirements" / lock).read_text("utf-8")
    entries = re.split(r"\n(?=\w)", re.sub(r"^\s*#.*\n", "", text, flags=re.MULTILINE))
    assert [
        entry for entry in entries if not re.match(r"[\w.-]+==\S+[^\n]*\\\n\s+--hash=sha256:", entry)
    ] == []


@pytest.mark.parametrize("lock", ["runtime.txt", "dev.txt"])
def test_the_lock_fits_the_declared_dependencies(lock: str) -> None:
    declared = project()
    wanted = [*declared["project"]["dependencies"], *declared["dependency-groups"]["build"]]
    if lock == "dev.txt":
        groups = [
            *declared["dependency-groups"].values(),
            *declared["project"]["optional-dependencies"].values(),
        ]
        wanted += [line for group in groups for line in group if isinstance(line, str)]
    text = (ROOT / "requirements" / lock).read_text("utf-8")
    pinned = {
        canonicalize_name(name): pin for name, pin in re.findall(r"^([\w.-]+)==(\S+)", text, re.MULTILINE)
    }
    requirements = [Requirement(line) for line in wanted]
    unmet = [
        str(requirement)
        for requirement in requirements
        if (pin := pinned.get(canonicalize_name(requirement.name))) is None
        or pin not in requirement.specifier
    ]
    assert unmet == [], "run `make lock`"


def test_importing_starts_no_thread() -> None:
    assert run_python("import threading, midcourse; print(threading.active_count())") == "1"


def test_importing_installs_no_signal_handler() -> None:
    code = """
import signal
before = {number: signal.getsignal(number) for number in signal.valid_signals()}
import midcourse
print([number for number in before if signal.getsignal(number) is not before[number]])
"""
    assert run_python(code) == "[]"


def test_importing_configures_no_logging() -> None:
    code = """
import logging, structlog
import midcourse
named = logging.root.manager.loggerDict.values()
loggers = [logging.root, *(x for x in named if isinstance(x, logging.Logger))]
touched = [x.name for x in loggers if any(not isinstance(h, logging.NullHandler) for h in x.handlers)]
touched += [x.name for x in loggers if x.level not in (logging.NOTSET, logging.WARNING) or x.disabled]
print(touched, logging.root.level == logging.WARNING, structlog.is_configured())
"""
    assert run_python(code) == "[] True False"


def test_importing_reads_no_environment() -> None:
    # A library that Midcourse imports may read its own variables; the reader is the frame outside `os`.
    code = """
import os, sys
readers = []
class Watched(type(os.environ)):
    def __getitem__(self, key):
        frame = sys._getframe(1)
        while frame.f_globals.get("__name__") in ("os", "_collections_abc", "collections.abc"):
            frame = frame.f_back
        readers.append((frame.f_globals.get("__name__", ""), key))
        return super().__getitem__(key)
os.environ.__class__ = Watched
import midcourse
print([reader for reader in readers if reader[0].partition(".")[0] == "midcourse"])
os.environ.get("PATH")
print(readers[-1])
"""
    assert run_python(code).splitlines() == ["[]", "('__main__', 'PATH')"]


def test_the_command_line_answers() -> None:
    command = Path(sysconfig.get_path("scripts")) / "midcourse"
    done = subprocess.run([command, "--help"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Usage: midcourse" in done.stdout
