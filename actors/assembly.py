"""The two actors that carry out orders, put together for an engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack

from ..domain.authority import Authority
from .clock import Timers
from .consultants import Consultants, Reviewer
from .couriers import Couriers
from .directory import Directory
from .executor import Executor
from .planner import PlannerActor, PlannerLimits
from .registry import Planners
from .settings import Settings
from .supervisor import ExecutorLimits
from .tools import Tool


async def start_couriers(  # noqa: PLR0913 - an engine has as many parts
    stack: AsyncExitStack,
    directory: Directory,
    *,
    tools: Mapping[str, Tool],
    planners: Planners,
    settings: Settings,
    authority: Authority,
    reviewers: Mapping[str, Reviewer],
    timers: Timers,
    random: Callable[[], float],
) -> Couriers:
    """Start the planner and the executor of an engine, and return those who carry orders to them.

    Args:
        stack: ends the planner.
        directory: the runs that they report to.
        tools: the tools by full name.
        planners: the planners.
        settings: how they work.
        authority: how much tools may be used.
        reviewers: who is asked for opinions, by name.
        timers: makes things happen later.
        random: returns numbers from 0 to 1, for the jitter of waits.
    """
    url = directory.journal.url
    planner = PlannerActor.start(
        urn=url,
        planners=planners.by_name,
        report=directory.tell,
        clock=directory.clock,
        timers=timers,
        limits=PlannerLimits(
            max_calls_at_once=settings.max_plannings_at_once, timeout_s=settings.planning_timeout_s
        ),
    )
    stack.push_async_callback(planner.stop)
    executor = Executor.start(
        urn=url,
        dispatcher=directory.dispatcher,
        tools=tools,
        report=directory.tell,
        clock=directory.clock,
        timers=timers,
        random=random,
        limits=ExecutorLimits(
            max_attempts_at_once=settings.max_attempts_at_once,
            max_threads=settings.tool_threads,
            cancel_timeout_s=settings.cancel_timeout_s,
            probe_timeout_s=settings.probe_timeout_s,
            drain_s=settings.drain_s,
            close_grace_s=settings.close_grace_s,
            tools=authority.limits,
        ),
    )
    consultants = Consultants(
        reviewers,
        report=directory.tell,
        clock=directory.clock,
        spawn=directory.spawn,
        timeout_s=settings.review_timeout_s,
    )
    return Couriers(executor, planner, consultants)
