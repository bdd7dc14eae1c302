"""The configuration file: which store, and where the tools and planners come from.

::

    store = "sqlite:///orders.db"             # a relative path begins at the folder of this file
    tools = ["shop.tools", "shop.more:pack", { call = "shop.kit:make", with = { shelf = 3 } }]

    [planners]
    orders = "shop.plans:plan_order"

    [commands.log]                            # see `daemon.commands`
    argv = ["git", "log", "{{ref}}"]
    args = { ref = "string" }
    effect = "read"

    [authority]                               # the fields of `midcourse.Authority`
    deny = ["refund*"]
    approvals = [{ tool = "pay", when = "input.amount > 100" }]
    limits = [{ tool = "mail", at_once = 2, rate = { calls = 10, per_s = 60.0 } }]
    approvers = ["os:*"]
    [plans]
    folders = ["plans"]                       # where plan files are; this is the default

What ``tools`` names is described in ``daemon.parts``.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from ..domain.authority import Authority
from ..domain.errors import AuthorityInvalid
from .commands import Command
from .errors import ConfigError

FILE_NAME = "midcourse.toml"
_TARGET = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*(:[^\W\d]\w*(\.[^\W\d]\w*)*)?\Z")
_KEYS = ("store", "tools", "commands", "planners", "authority", "plans")
PLAN_FOLDERS = ("plans",)
_SQLITE = "sqlite:///"


class Source(msgspec.Struct, frozen=True):
    """Where a part comes from.

    Args:
        key: the key it stands under, for messages.
        target: ``package.module`` or ``package.module:name``.
        call: whether it is a function to call for the parts.
        arguments: what the function is called with, beside the folder of the file.
    """

    key: str
    target: str
    call: bool = False
    arguments: Mapping[str, Any] = msgspec.field(default_factory=dict[str, Any])


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
        plan_folders: the folders of plan files, as they can be opened from the working folder.
    """

    file: str = ""
    folder: str = ""
    store: str = ""
    tools: tuple[Source, ...] = ()
    planners: Mapping[str, Source] = msgspec.field(default_factory=dict[str, Source])
    authority: Authority = Authority()
    plan_folders: tuple[str, ...] = PLAN_FOLDERS
    commands: Mapping[str, Command] = msgspec.field(default_factory=dict[str, Command])


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
    problems += [f"{key}: unknown key; allowed are {', '.join(_KEYS)}" for key in content if key not in _KEYS]
    store = content.get("store", "")
    if not isinstance(store, str):
        problems.append("store: must be a text such as 'sqlite:///midcourse.db'")
        store = ""
    tools = content.get("tools", [])
    if not isinstance(tools, list):
        problems.append("tools: must be a list such as ['package.module']")
        tools = []
    planners = content.get("planners", {})
    if not isinstance(planners, dict):
        problems.append("planners: must be a table such as name = 'package.module:planner'")
        planners = {}
    sources = [_source(f"tools[{index}]", value, problems) for index, value in enumerate(tools)]
    named = {name: _source(f"planners.{name}", value, problems) for name, value in planners.items()}
    return Config(
        str(path),
        str(path.resolve().parent),
        _from_folder(store, path),
        tuple(source for source in sources if source),
        {name: source for name, source in named.items() if source},
        _authority(content.get("authority", {}), problems),
        _plan_folders(content.get("plans", {}), path, problems),
        _commands(content.get("commands", {}), problems),
    )


def _commands(table: Any, problems: list[str]) -> dict[str, Command]:
    if not isinstance(table, dict):
        problems.append("commands: must be tables such as [commands.log], with argv = ['git', 'log']")
        return {}
    commands: dict[str, Command] = {}
    for name, value in table.items():
        try:
            commands[name] = msgspec.convert(value, Command)
        except msgspec.ValidationError as error:
            problems.append(f"commands.{name}: {error}")
    return commands


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


def _source(key: str, value: Any, problems: list[str]) -> Source | None:
    call = isinstance(value, dict)
    table = value if isinstance(value, dict) else {"call": value}
    target, arguments = table.get("call"), table.get("with", {})
    unknown = [name for name in table if name not in ("call", "with")]
    if unknown:
        problems.append(f"{key}: unknown {', '.join(unknown)}; allowed are call and with")
    elif not isinstance(target, str) or not _TARGET.match(target) or (call and ":" not in target):
        form = "'package.module:function'" if call else "'package.module' or 'package.module:name'"
        problems.append(f"{key}: must name {form}, not {target!r}")
    elif not isinstance(arguments, dict):
        problems.append(f"{key}.with: must be a table of arguments")
    else:
        return Source(key, target, call, arguments)
    return None


def _from_folder(store: str, path: Path) -> str:
    """Let a relative path begin at the folder of the file, as it reads, wherever the command is run."""
    relative = store.startswith(_SQLITE) and not store.startswith(_SQLITE + "/")
    if not relative or path.resolve().parent == Path.cwd():
        return store
    return f"{_SQLITE}{path.resolve().parent / store.removeprefix(_SQLITE)}"
