"""Loading the tools, planners and reviewers a configuration names.

``"package.module:name"`` names a tool, a function (a tool with the contract of a bare ``@tool``), a list of
them, or anything that has ``tools`` (a list) or ``planners`` (a mapping of names) or both.
``"package.module"`` names a module with those two, or else every tool it holds.
``{ call = "package.module:function", with = {…} }`` calls a function with ``folder``, the folder of the
configuration file, and what ``with`` holds, for any of the above: so tools can be bound to a database or an
address. If what it returns has a ``close``, that is called when the program is done with it.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial, reduce
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Self

from ..actors.consultants import checked_handlers, checked_reviewers
from ..actors.plan_inputs import plans_to_call
from ..actors.tools import Tool, as_tool
from ..domain.authority import Authority
from ..domain.errors import InvalidInputError, ToolDefinitionError
from ..domain.plan_file import PlanFile
from ..domain.tools import Catalog
from .commands import Command, command_tool
from .config import Config
from .declared import DeclarationError
from .errors import ConfigError
from .http_calls import HttpCall, http_tool
from .packs import Pack
from .plans.folders import PlanFolders
from .sources import Source


class Parts:
    """What an engine works with; leaving the context closes what has to be closed.

    Attributes:
        tools: the tools, in the order they were found.
        planners: the planners, by name.
        reviewers: the reviewers and the judge, by name.
        plan_reviewers: names of those who review every plan of a planner.
        policies: the policies that budgets name, by name.
        on_stuck: the handlers of stuck runs, by name, in order.
        authority: what runs may do, and who has to agree.
        plans: the plans of the plan folders that steps may call.
        catalog: the contracts of the tools, with these plans.
        cleanup: what has to be closed after use.
    """

    def __init__(self) -> None:
        self.tools: list[Tool] = []
        self.planners: dict[str, Any] = {}
        self.reviewers: dict[str, Any] = {}
        self.plan_reviewers: tuple[str, ...] = ()
        self.policies: dict[str, Any] = {}
        self.on_stuck: dict[str, Any] = {}
        self.authority = Authority()
        self.plans: list[PlanFile] = []
        self.catalog = Catalog()
        self.cleanup = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.cleanup.close()

    def describe(self) -> None:
        """Make the catalog of the tools that are there now."""
        plans, inputs = plans_to_call(self.plans)
        self.catalog = Catalog(
            (tool.spec for tool in self.tools),
            self.authority,
            self.policies,
            plans=plans,
            inputs=inputs,
            reviewers=frozenset(self.reviewers),
            plan_reviewers=self.plan_reviewers,
            planners=frozenset(self.planners),
            on_stuck=tuple(self.on_stuck),
        )

    def check_handlers(self) -> None:
        """Look whether the handlers of stuck runs can be asked."""
        checked_handlers(self.on_stuck, self.reviewers)

    def check_reviewers(self) -> None:
        """Look whether those who are to review steps and plans are there, and may."""
        checked_reviewers(self.reviewers, self.plan_reviewers, self.planners, self.authority.reviews)


def load_parts(config: Config) -> Parts:
    """Import what a configuration names; modules in its folder can be imported.

    Raises:
        ConfigError: something cannot be imported, or is not what it should be; all problems are listed.
    """
    if config.folder and config.folder not in sys.path:
        sys.path.insert(0, config.folder)
    parts, problems = Parts(), list[str]()
    parts.plan_reviewers, parts.authority = config.plan_reviewers, config.authority
    for source in config.tools:
        _try(source, partial(_add, parts, source, config), problems)
    for name, command in config.commands.items():
        _try(Source(f"commands.{name}", ""), partial(_add_command, parts, name, command, config), problems)
    for name, declared in config.http.items():
        _try(Source(f"http.{name}", ""), partial(_add_http_call, parts, name, declared), problems)
    for name, pack in config.packs.items():
        _try(Source(f"packs.{name}", ""), partial(_add_pack, parts, pack, config), problems)
    for name, source in config.planners.items():
        _try(source, partial(_add_named_planner, parts, name, source, config), problems)
    for name, source in config.reviewers.items():
        _try(source, partial(_add_reviewer, parts, name, source, config), problems)
    for name, source in config.policies.items():
        _try(source, partial(_add_policy, parts, name, source, config), problems)
    for name, source in config.on_stuck.items():
        _try(source, partial(_add_handler, parts, name, source, config), problems)
    parts.plans = PlanFolders([Path(folder) for folder in config.plan_folders]).callable()
    if not problems:
        _try(Source("tools", ""), parts.describe, problems)
        _try(Source("reviewers", ""), parts.check_reviewers, problems)
        _try(Source("on_stuck", ""), parts.check_handlers, problems)
    if problems:
        parts.cleanup.close()
        raise ConfigError(config.file, problems)
    return parts


def _try(source: Source, load: Callable[[], object], problems: list[str]) -> None:
    try:
        load()
    except DeclarationError as error:
        problems += [f"{source.key}: {problem}" for problem in error.problems]
    except (_UnusableError, ToolDefinitionError, InvalidInputError) as error:
        problems.append(f"{source.key}: {error}")


class _UnusableError(Exception):
    """What one source names is of no use."""


def _load(source: Source, config: Config) -> Any:
    module, _, path = source.target.partition(":")
    try:
        value: Any = import_module(module)
    except ModuleNotFoundError as error:
        if error.name and (module == error.name or module.startswith(f"{error.name}.")):
            raise _UnusableError(
                f"there is no module {error.name!r} in {config.folder} or among the installed packages"
            ) from error
        raise _UnusableError(f"module {module!r} cannot be imported: {error}") from error
    except Exception as error:
        raise _UnusableError(f"module {module!r} raised {type(error).__name__}: {error}") from error
    try:
        value = reduce(getattr, path.split("."), value) if path else value
    except AttributeError as error:
        raise _UnusableError(f"module {module!r} has no {path!r} ({error})") from error
    return _call(source, value, config) if source.call else value


def _call(source: Source, function: Any, config: Config) -> Any:
    if not callable(function):
        raise _UnusableError(f"{source.target!r} is {function!r}, which cannot be called")
    arguments = {"folder": Path(config.folder), **source.arguments}
    _check_signature(source, function, arguments)
    try:
        return function(**arguments)
    except Exception as error:
        raise _UnusableError(f"{source.target!r} raised {type(error).__name__}: {error}") from error


def _check_signature(source: Source, function: Any, arguments: Mapping[str, Any]) -> None:
    try:
        signature = inspect.signature(function)
    except ValueError:  # some that are written in C have none
        return
    try:
        signature.bind(**arguments)
    except TypeError as error:
        given = ", ".join(f"{name}=…" for name in arguments)
        named = [name for name in arguments if name not in signature.parameters]
        declare = f"; declare {', '.join(named)}" if named and "unexpected" in str(error) else f": {error}"
        raise _UnusableError(f"{source.target!r} is called with {given}{declare}") from error


def _add(parts: Parts, source: Source, config: Config) -> None:
    value = _load(source, config)
    tools, planners = getattr(value, "tools", None), getattr(value, "planners", None)
    if isinstance(value, Tool):
        tools = [value]
    elif isinstance(value, (list, tuple)):
        tools = value
    elif isinstance(value, ModuleType) and tools is None and planners is None:
        tools = [each for each in vars(value).values() if isinstance(each, Tool)]
    elif tools is None and planners is None and callable(value):
        tools = [value]
    if not tools and not planners:
        raise _UnusableError(f"{source.target!r} holds no tools and no planners")
    if source.call and callable(close := getattr(value, "close", None)):
        parts.cleanup.callback(close)
    if not isinstance(planners or {}, Mapping):
        raise _UnusableError(f"planners of {source.target!r} must be a mapping of names to planners")
    parts.tools += [as_tool(each) for each in tools or ()]
    for name, planner in (planners or {}).items():
        _add_planner(parts, name, planner)


def _add_command(parts: Parts, name: str, command: Command, config: Config) -> None:
    parts.tools.append(command_tool(name, command, Path(config.folder)))


def _add_http_call(parts: Parts, name: str, declared: HttpCall) -> None:
    parts.tools.append(http_tool(name, declared))


def _add_pack(parts: Parts, pack: Pack, config: Config) -> None:
    parts.tools += pack.tools(Path(config.folder))


def _add_named_planner(parts: Parts, name: str, source: Source, config: Config) -> None:
    _add_planner(parts, name, _load(source, config))


def _add_reviewer(parts: Parts, name: str, source: Source, config: Config) -> None:
    reviewer = _load(source, config)
    if not callable(reviewer):
        raise _UnusableError(f"reviewer {name!r} is {reviewer!r}, which cannot be called")
    parts.reviewers[name] = reviewer


def _add_policy(parts: Parts, name: str, source: Source, config: Config) -> None:
    policy = _load(source, config)
    if not callable(policy):
        raise _UnusableError(f"policy {name!r} is {policy!r}, which cannot be called")
    parts.policies[name] = policy


def _add_handler(parts: Parts, name: str, source: Source, config: Config) -> None:
    parts.on_stuck[name] = _load(source, config)


def _add_planner(parts: Parts, name: str, planner: Any) -> None:
    if name in parts.planners:
        raise _UnusableError(f"two planners are named {name!r}; rename one of them")
    if not callable(planner) and not hasattr(planner, "plan"):
        raise _UnusableError(f"planner {name!r} is {planner!r}, neither a function nor a planner")
    parts.planners[name] = planner
