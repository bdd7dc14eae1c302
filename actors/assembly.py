"""The two actors that carry out orders, put together for an engine."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack

from ..domain.fairness import Priority
from .children import ChildRuns
from .clock import Timers
from .consultants import Consultants
from .couriers import Couriers
from .directory import Directory
from .equipment import Equipment
from .executor import Executor
from .executor_limits import ExecutorLimits
from .planner import PlannerActor, PlannerLimits
from .settings import Settings
from .starting import Starter


async def start_couriers(
    stack: AsyncExitStack,
    directory: Directory,
    equipment: Equipment,
    starter: Starter,
    *,
    settings: Settings,
    timers: Timers,
    random: Callable[[], float],
) -> Couriers:
    """Start the planner and the executor of an engine, and return those who carry orders to them.

    Args:
        stack: ends the planner.
        directory: the runs that they report to.
        equipment: what they carry them out with.
        starter: starts child runs.
        settings: how they work.
        timers: makes things happen later.
        random: returns numbers from 0 to 1, for the jitter of waits.
    """
    url = directory.journal.url

    def priority(run_id: str) -> Priority:
        # A run that something is done for is in memory, unless others have ended it meanwhile.
        reconciler = directory.active.get(run_id)
        return "normal" if reconciler is None else reconciler.priority

    planner = PlannerActor.start(
        urn=url,
        planners=equipment.planners.by_name,
        report=directory.tell,
        clock=directory.clock,
        timers=timers,
        limits=PlannerLimits(
            max_calls_at_once=settings.max_plannings_at_once, timeout_s=settings.planning_timeout_s
        ),
        priority=priority,
    )
    stack.push_async_callback(planner.stop)
    executor = Executor.start(
        urn=url,
        dispatcher=directory.dispatcher,
        tools=equipment.tools,
        report=directory.tell,
        ask=directory.ask_for_tool,
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
            tools=equipment.authority.limits,
        ),
        priority=priority,
    )
    consultants = Consultants(
        {**equipment.reviewers, **equipment.on_stuck},
        report=directory.tell,
        clock=directory.clock,
        spawn=directory.spawn,
        timeout_s=settings.review_timeout_s,
        stuck_timeout_s=settings.stuck_timeout_s,
    )
    return Couriers(executor, planner, consultants, ChildRuns(directory, starter))
