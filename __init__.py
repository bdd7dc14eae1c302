"""Durable multi-step plans with side effects: change the plan, keep the facts.

The names below are the public face. Importing it is cheap: what a name needs is imported when it is first
used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .actors.attention import RunAttention
    from .actors.context import ToolContext
    from .actors.control import OutcomeUnknownError, RequestReplan, ToolError, WaitFor
    from .actors.engine import Engine
    from .actors.errors import (
        EngineClosedError,
        EngineError,
        ProposalRefusedError,
        RunNotFoundError,
        RunParkedError,
        ScheduleNotFoundError,
        ToolArgumentsError,
        TooManyStartsError,
        UnknownPlannerError,
        WrongLoopError,
    )
    from .actors.handle import RunHandle
    from .actors.outcome import Outcome
    from .actors.packs.data import data_pack
    from .actors.packs.exec import exec_pack
    from .actors.packs.files import files_pack
    from .actors.packs.http import http_pack
    from .actors.planners.function import FunctionPlanner
    from .actors.planners.goap import GoapPlanner
    from .actors.replanning import conditional_replan, replan_always, replan_and_add, replan_when
    from .actors.rules import ReplanDecision
    from .actors.settings import Settings
    from .actors.tools import Tool, tool
    from .domain.authority import ApprovalRule, Authority, Rate, ReviewRule, ToolLimit
    from .domain.breakpoints import Breakpoints
    from .domain.budget import Budget, Spent, Usage, first_of
    from .domain.errors import (
        AuthorityInvalid,
        InvalidInputError,
        MessageRefused,
        MidcourseError,
        PlanInvalid,
        SignalInvalid,
        ToolDefinitionError,
        UnknownTool,
    )
    from .domain.facts import Failure, Limits
    from .domain.goal import Goal, Requirement
    from .domain.opinions import Consultation, Opinion
    from .domain.plan import GoalReached, NoPlan, Plan, Step
    from .domain.planning import Planner, PlanningContext
    from .domain.receipt import Receipt, Resource
    from .domain.schedules.view import ScheduleState
    from .domain.tools import RetryPolicy
    from .domain.view import RunState
    from .store import Record, RunFilter, StoreError, open_journal

__all__ = [
    "ApprovalRule",
    "Authority",
    "AuthorityInvalid",
    "Breakpoints",
    "Budget",
    "Consultation",
    "Engine",
    "EngineClosedError",
    "EngineError",
    "Failure",
    "FunctionPlanner",
    "Goal",
    "GoalReached",
    "GoapPlanner",
    "InvalidInputError",
    "Limits",
    "MessageRefused",
    "MidcourseError",
    "NoPlan",
    "Opinion",
    "Outcome",
    "OutcomeUnknownError",
    "Plan",
    "PlanInvalid",
    "Planner",
    "PlanningContext",
    "ProposalRefusedError",
    "Rate",
    "Receipt",
    "Record",
    "ReplanDecision",
    "RequestReplan",
    "Requirement",
    "Resource",
    "RetryPolicy",
    "ReviewRule",
    "RunAttention",
    "RunFilter",
    "RunHandle",
    "RunNotFoundError",
    "RunParkedError",
    "RunState",
    "ScheduleNotFoundError",
    "ScheduleState",
    "Settings",
    "SignalInvalid",
    "Spent",
    "Step",
    "StoreError",
    "TooManyStartsError",
    "Tool",
    "ToolArgumentsError",
    "ToolContext",
    "ToolDefinitionError",
    "ToolError",
    "ToolLimit",
    "UnknownPlannerError",
    "UnknownTool",
    "Usage",
    "WaitFor",
    "WrongLoopError",
    "conditional_replan",
    "data_pack",
    "exec_pack",
    "files_pack",
    "first_of",
    "http_pack",
    "open_journal",
    "replan_always",
    "replan_and_add",
    "replan_when",
    "tool",
]

_NAMES_BY_MODULE = {
    ".actors.attention": ("RunAttention",),
    ".actors.context": ("ToolContext",),
    ".actors.control": ("OutcomeUnknownError", "RequestReplan", "ToolError", "WaitFor"),
    ".actors.engine": ("Engine",),
    ".actors.errors": (
        "EngineClosedError",
        "EngineError",
        "ProposalRefusedError",
        "RunNotFoundError",
        "RunParkedError",
        "ScheduleNotFoundError",
        "ToolArgumentsError",
        "UnknownPlannerError",
        "TooManyStartsError",
        "WrongLoopError",
    ),
    ".actors.handle": ("RunHandle",),
    ".actors.outcome": ("Outcome",),
    ".actors.packs": ("data_pack", "exec_pack", "files_pack", "http_pack"),
    ".actors.planners.function": ("FunctionPlanner",),
    ".actors.planners.goap": ("GoapPlanner",),
    ".actors.replanning": ("conditional_replan", "replan_always", "replan_and_add", "replan_when"),
    ".actors.rules": ("ReplanDecision",),
    ".actors.settings": ("Settings",),
    ".actors.tools": ("Tool", "tool"),
    ".domain.authority": ("ApprovalRule", "Authority", "Rate", "ReviewRule", "ToolLimit"),
    ".domain.breakpoints": ("Breakpoints",),
    ".domain.budget": ("Budget", "Spent", "Usage", "first_of"),
    ".domain.errors": (
        "AuthorityInvalid",
        "InvalidInputError",
        "MessageRefused",
        "MidcourseError",
        "PlanInvalid",
        "SignalInvalid",
        "ToolDefinitionError",
        "UnknownTool",
    ),
    ".domain.facts": ("Failure", "Limits"),
    ".domain.goal": ("Goal", "Requirement"),
    ".domain.opinions": ("Consultation", "Opinion"),
    ".domain.plan": ("GoalReached", "NoPlan", "Plan", "Step"),
    ".domain.planning": ("Planner", "PlanningContext"),
    ".domain.receipt": ("Receipt", "Resource"),
    ".domain.schedules.view": ("ScheduleState",),
    ".domain.tools": ("RetryPolicy",),
    ".domain.view": ("RunState",),
    ".store": ("Record", "RunFilter", "StoreError", "open_journal"),
}
_MODULES = {name: module for module, names in _NAMES_BY_MODULE.items() for name in names}


def __getattr__(name: str) -> Any:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(module, __name__), name)
    return value


def __dir__() -> list[str]:
    return __all__
