"""What an engine was handed: tools, planners, reviewers and plans by name, and the catalog made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..domain.authority import Authority
from ..domain.budget import Policy
from ..domain.plan_file import PlanFile
from ..domain.tools import Catalog
from .consultants import Reviewer, StuckHandler, checked_handlers, checked_reviewers
from .plan_inputs import plans_to_call
from .registry import AnyPlanner, Planners
from .signals import Schema, signal_rules
from .tools import Tool, as_tools


@dataclass(frozen=True, slots=True)
class Equipment:
    """What runs are carried out with.

    Attributes:
        tools: tools by full name.
        planners: the planners.
        reviewers: those who are asked for opinions, by name.
        on_stuck: those who are asked about stuck runs, by name.
        authority: what runs may do, and how much tools may be used.
        catalog: all of it as the domain sees it.
    """

    tools: Mapping[str, Tool]
    planners: Planners
    reviewers: Mapping[str, Reviewer]
    on_stuck: Mapping[str, StuckHandler]
    authority: Authority
    catalog: Catalog


def equip(  # noqa: PLR0913 - an engine has as many parts
    tools: Iterable[Tool | Callable[..., Any]],
    planners: Mapping[str, AnyPlanner],
    plans: Iterable[PlanFile],
    authority: Authority,
    policies: Mapping[str, Policy],
    reviewers: Mapping[str, Reviewer],
    plan_reviewers: Sequence[str],
    on_stuck: Mapping[str, StuckHandler],
    *,
    signals: Mapping[str, Schema],
) -> Equipment:
    """Check what an engine was handed, and lay it out; the arguments are those of `Engine`.

    Raises:
        ToolDefinitionError: a tool, or the set of tools, cannot work.
        AuthorityInvalid: the authority cannot be used.
        InvalidInputError: a planner, a plan, a reviewer, a handler or what is declared of signals cannot be
            used.
    """
    made = as_tools(tools)
    authority.check()
    known = Planners(planners, [reviewers.get(name) for name in plan_reviewers])
    asked, plan_asked = checked_reviewers(reviewers, plan_reviewers, planners, authority.reviews)
    specs = (each.spec for each in made)
    catalog = Catalog(
        specs,
        authority,
        policies,
        *plans_to_call(plans),
        reviewers=asked,
        plan_reviewers=plan_asked,
        on_stuck=checked_handlers(on_stuck, reviewers),
        observers=known.observers,
        planners=frozenset(planners),
        signals=signal_rules(signals),
    )
    return Equipment({each.name: each for each in made}, known, reviewers, on_stuck, authority, catalog)
