"""The configuration file, read and checked as a whole; `docs/configuration.md` describes it.

What its ``tools`` name is loaded by ``daemon.parts``; tools that it declares itself are made by
``daemon.commands``, ``daemon.http_calls`` and ``daemon.packs``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ..actors.settings import Settings
from ..actors.signals import Schema, signal_rules
from ..domain.authority import Authority
from ..domain.errors import AuthorityInvalid, InvalidInputError
from ..domain.facts import Limits
from .commands import Command
from .errors import ConfigError
from .http_calls import HttpCall
from .packs import Pack, read_packs
from .sources import Source, read_named, read_names, read_source
from .tables import read_table

FILE_NAME = "midcourse.toml"
KEYS = (
    "store", "tools", "commands", "http", "packs", "planners", "reviewers", "plan_reviewers", "policies",
    "on_stuck", "authority", "signals", "limits", "engine", "plans",
)  # fmt: skip
"""The keys there are."""
PLAN_FOLDERS = ("plans",)
_SQLITE = "sqlite:///"
T = TypeVar("T", bound=msgspec.Struct)


class Config(msgspec.Struct, frozen=True):
    """A configuration file that was read and checked.

    Args:
        file: where it was found, empty if there is none.
        folder: the folder relative paths and modules begin at.
        store: the store's URL, empty if it names none.
        tools: where tools come from.
        planners: where planners come from, by name.
        authority: what runs may do, and who has to agree.
        commands: tools that are programs of the machine, by name.
        reviewers: where reviewers and the judge come from, by name.
        plan_reviewers: names of those who review every plan of a planner.
        on_stuck: where handlers of stuck runs come from, by name, in the order they are asked.
        plan_folders: the folders of plan files, as they can be opened from the working folder.
        http: tools that are HTTP calls, by name.
        packs: the packs of built-in tools that are enabled, by name.
        signals: JSON Schemas of the payloads of signals, by name or glob; ``False`` for none.
        limits: of runs that are started from the command line.
        settings: how engines of the command line work.
        policies: where the policies that budgets name come from, by name.
    """

    file: str = ""
    folder: str = ""
    store: str = ""
    tools: tuple[Source, ...] = ()
    planners: Mapping[str, Source] = msgspec.field(default_factory=dict[str, Source])
    authority: Authority = Authority()
    plan_folders: tuple[str, ...] = PLAN_FOLDERS
    commands: Mapping[str, Command] = msgspec.field(default_factory=dict[str, Command])
    reviewers: Mapping[str, Source] = msgspec.field(default_factory=dict[str, Source])
    plan_reviewers: tuple[str, ...] = ()
    http: Mapping[str, HttpCall] = msgspec.field(default_factory=dict[str, HttpCall])
    packs: Mapping[str, Pack] = msgspec.field(default_factory=dict[str, Pack])
    on_stuck: Mapping[str, Source] = msgspec.field(default_factory=dict[str, Source])
    signals: Mapping[str, Schema] = msgspec.field(default_factory=dict[str, Any])
    limits: Limits = Limits()
    settings: Settings = Settings()
    policies: Mapping[str, Source] = msgspec.field(default_factory=dict[str, Source])


def find_config(named: str | None) -> Config:
    """Return the file that was named, else the one in the working folder, else an empty configuration.

    Raises:
        ConfigError: it cannot be read or used; all problems are listed.
    """
    path = Path(named or FILE_NAME)
    if not named and not path.is_file():
        return Config()
    return load_config(path)


def load_config(path: Path) -> Config:
    """Read and check a configuration file.

    Raises:
        ConfigError: it cannot be read or used; all problems are listed.
    """
    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise ConfigError(str(path), [f"cannot be read: {error.strerror}"]) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(str(path), [f"is not TOML: {error}"]) from error
    problems: list[str] = []
    config = _check(path, content, problems)
    if problems:
        raise ConfigError(str(path), problems)
    return config


def _check(path: Path, content: Mapping[str, Any], problems: list[str]) -> Config:
    problems += [f"{key}: unknown key; allowed are {', '.join(KEYS)}" for key in content if key not in KEYS]
    store = content.get("store", "")
    if not isinstance(store, str):
        problems.append("store: must be a text such as 'sqlite:///midcourse.db'")
        store = ""
    tools = content.get("tools", [])
    if not isinstance(tools, list):
        problems.append("tools: must be a list such as ['package.module']")
        tools = []
    sources = [read_source(f"tools[{index}]", value, problems) for index, value in enumerate(tools)]
    return Config(
        str(path),
        str(path.resolve().parent),
        _from_folder(store, path),
        tuple(source for source in sources if source),
        read_named(content, "planners", problems),
        _authority(content.get("authority", {}), problems),
        _plan_folders(content.get("plans", {}), path, problems),
        _declared("commands", "log", content.get("commands", {}), Command, problems),
        read_named(content, "reviewers", problems),
        read_names(content, "plan_reviewers", problems),
        _declared("http", "charge", content.get("http", {}), HttpCall, problems),
        read_packs(content.get("packs", {}), problems),
        read_named(content, "on_stuck", problems),
        _signals(content.get("signals", {}), problems),
        _limits(content.get("limits", {}), problems),
        _settings(content.get("engine", {}), problems),
        read_named(content, "policies", problems),
    )


def _declared(key: str, example: str, table: Any, kind: type[T], problems: list[str]) -> dict[str, T]:
    """Return the tools that tables declare, by name."""
    if not isinstance(table, dict):
        problems.append(f"{key}: must be tables such as [{key}.{example}]")
        return {}
    read = {name: read_table(f"{key}.{name}", value, kind, problems) for name, value in table.items()}
    return {name: each for name, each in read.items() if each is not None}


def _authority(value: Any, problems: list[str]) -> Authority:
    try:
        authority = msgspec.convert(value, Authority)
        authority.check()
    except msgspec.ValidationError as error:
        problems.append(f"authority: {error}")
    except AuthorityInvalid as error:
        problems += [f"authority.{problem}" for problem in error.problems]
    else:
        return authority
    return Authority()


def _settings(table: Any, problems: list[str]) -> Settings:
    try:
        return read_table("engine", table, Settings, problems) or Settings()
    except InvalidInputError as error:
        problems.append(f"engine: {str(error).removeprefix('settings: ')}")
    return Settings()


def _limits(table: Any, problems: list[str]) -> Limits:
    limits = read_table("limits", table, Limits, problems) or Limits()
    for index, budget in enumerate(limits.budgets):
        try:
            budget.check()
        except InvalidInputError as error:
            problems.append(f"limits.budgets[{index}]: {error}")
    return limits


def _signals(table: Any, problems: list[str]) -> Mapping[str, Schema]:
    """Return the schemas of signals, each of them one."""
    if not isinstance(table, dict):
        problems.append("signals: must be a table such as paid = { type = 'object' }")
        return {}
    for name, schema in table.items():
        try:
            signal_rules({name: schema})
        except InvalidInputError as error:
            problems.append(str(error))
    return table


def _plan_folders(table: Any, path: Path, problems: list[str]) -> tuple[str, ...]:
    """Return the folders of plan files; a relative one begins at the folder of the file."""
    if not isinstance(table, dict):
        problems.append("plans: must be a table such as folders = ['plans']")
        return ()
    problems += [f"plans.{key}: unknown key; allowed is folders" for key in table if key != "folders"]
    folders = table.get("folders", list(PLAN_FOLDERS))
    if not isinstance(folders, list) or not all(isinstance(each, str) and each for each in folders):
        problems.append("plans.folders: must be a list such as ['plans']")
        return ()
    here = path.resolve().parent
    return tuple(each if here == Path.cwd() else str(here / each) for each in folders)


def _from_folder(store: str, path: Path) -> str:
    """Let a relative path begin at the folder of the file, as it reads, wherever the command is run."""
    relative = store.startswith(_SQLITE) and not store.startswith(_SQLITE + "/")
    if not relative or path.resolve().parent == Path.cwd():
        return store
    return f"{_SQLITE}{path.resolve().parent / store.removeprefix(_SQLITE)}"
