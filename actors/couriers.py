"""The way of orders from the runs to the actors that carry them out."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from ..domain.orders import (
    CancelPlanning,
    Consult,
    GuideChild,
    MakePlan,
    Order,
    StartChild,
    TakeBackChild,
)
from ._pykka import ActorDeadError
from ._pykka.ref import AsyncioActorRef
from .children import ChildRuns
from .consultants import Consultants
from .executor import Executor
from .orders import Finish, ForgetRun, RunOrders
from .planner import PlannerActor

_FOR_PLANNER: frozenset[type[Order]] = frozenset((MakePlan, CancelPlanning))
_FOR_CHILDREN: frozenset[type[Order]] = frozenset((StartChild, GuideChild, TakeBackChild))
_FOR_OTHERS = _FOR_PLANNER | _FOR_CHILDREN | {Consult}


class Couriers:
    """The executor and the planner of an engine.

    Args:
        executor: calls tools.
        planner: asks planners.
        consultants: ask reviewers and judges.
        children: start child runs, and tell them how things stand.
    """

    def __init__(
        self,
        executor: AsyncioActorRef[Executor],
        planner: AsyncioActorRef[PlannerActor],
        consultants: Consultants,
        children: ChildRuns,
    ) -> None:
        self._executor = executor
        self._planner = planner
        self._consultants = consultants
        self._children = children

    def send(self, run_id: str, orders: Sequence[Order]) -> None:
        """Hand orders to those they are for.

        Raises:
            ActorDeadError: one of them has ended.
        """
        message = RunOrders(run_id, orders)
        if len(orders) == 1 and orders[0].__class__ not in _FOR_OTHERS:
            self._executor.tell(message)
            return
        kinds = {order.__class__ for order in orders}
        if Consult in kinds:
            self._consultants.send(run_id, orders)
            kinds.discard(Consult)
        if not kinds.isdisjoint(_FOR_CHILDREN):
            self._children.send(run_id, orders)
            kinds -= _FOR_CHILDREN
        if not kinds <= _FOR_PLANNER:
            self._executor.tell(message)
        if not kinds.isdisjoint(_FOR_PLANNER):
            self._planner.tell(message)

    def forget(self, run_id: str) -> None:
        """Let the executor forget what it remembers of a run with nothing in flight."""
        with contextlib.suppress(ActorDeadError):
            self._executor.tell(ForgetRun(run_id))

    def child_ended(self, run_id: str) -> None:
        """Note that a child run has ended."""
        self._children.forget(run_id)

    async def finish(self) -> None:
        """Stop planning, and let attempts come to their end for a while; their reports still arrive."""
        await self._planner.stop()
        with contextlib.suppress(ActorDeadError):
            await self._executor.ask(Finish())

    async def stop(self) -> None:
        """End both, without a report of what they were at."""
        await self._planner.stop()
        await self._executor.stop()
