"""What a scenario of the crash kit has to be, and where its files are."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

Scenario = Callable[..., Awaitable[Any]]


class ScenarioError(Exception):
    """A scenario cannot be called in another process, or did not end as it should have."""


class ScenarioEndedError(ScenarioError):
    """A scenario came to its end before the place where it was to be killed."""


def name_of(scenario: Scenario) -> str:
    """Return what messages call a scenario."""
    return f"scenario {scenario.__module__}.{scenario.__qualname__}"


def check_importable(scenario: Scenario) -> None:
    """Raise a ScenarioError unless another process can import a scenario."""
    name = getattr(scenario, "__qualname__", "")
    if not name.isidentifier():
        raise ScenarioError(
            "a scenario must be a function at the top level of a module, so that another process can import "
            f"it; {name or repr(scenario)} is not. Move it there, and hand what it needs over in `arguments`"
        )


def existing_folder(folder: Path | str) -> Path:
    """Return a folder that has to exist, or raise a ScenarioError."""
    if not Path(folder).is_dir():
        raise ScenarioError(f"there is no folder {str(folder)!r} for the files of a scenario; make it first")
    return Path(folder)


def new_folder(folder: Path) -> Path:
    """Make a folder that must not exist yet, or raise a ScenarioError."""
    try:
        folder.mkdir()
    except FileExistsError:
        raise ScenarioError(f"{folder} is left from an earlier call; name a folder that is empty") from None
    return folder
