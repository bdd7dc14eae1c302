"""Child runs: started under ids that are settled, told how things stand, heard of by their parents."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..domain.children import LINEAGE_TAG, PARENT_TAG, Parent
from ..domain.errors import MidcourseError
from ..domain.messages import GuideRun, ReportChild, StartRun, TakeBackRun
from ..domain.orders import GuideChild, Order, StartChild, TakeBackChild
from ..store import JournalError

if TYPE_CHECKING:
    from .directory import Directory
    from .starting import Starter


class ChildRuns:
    """Carries out the orders of parents.

    Args:
        directory: the runs.
        starter: starts them.
    """

    def __init__(self, directory: Directory, starter: Starter) -> None:
        self._directory = directory
        self._starter = starter
        self._known: set[str] = set()
        self._starting: dict[str, asyncio.Event] = {}

    def send(self, run_id: str, orders: Sequence[Order]) -> None:
        """Act on the orders of a run; while the engine closes, they are left to the next one."""
        directory = self._directory
        if directory.is_draining:
            return
        for order in orders:
            if isinstance(order, StartChild):
                self._start_once(order)
            elif isinstance(order, GuideChild):
                directory.spawn(self._guide(order), name=f"guide child run {order.child}")
            elif isinstance(order, TakeBackChild):
                message = TakeBackRun(
                    at=directory.clock(),
                    actor=_actor(run_id),
                    operation=order.operation,
                    attempt=order.attempt,
                    reason=order.reason,
                )
                directory.tell(order.child, message)

    def forget(self, run_id: str) -> None:
        """A child run has ended."""
        self._known.discard(run_id)

    def _start_once(self, order: StartChild) -> None:
        """Start a child run, or see to one that is there; orders come again whenever a parent is taken up."""
        if order.child in self._known:
            return
        self._known.add(order.child)
        self._starting[order.child] = asyncio.Event()
        self._directory.spawn(self._start(order), name=f"start child run {order.child}")

    async def _start(self, order: StartChild) -> None:
        directory = self._directory
        try:
            if await directory.journal.get_index(order.child) is None:
                await self._starter.start_child(self._message(order), order.child)
        except JournalError:
            raise
        except MidcourseError as error:
            self._known.discard(order.child)
            self._report(order.child, order.parent, "failed", f"it could not be started: {error}")
        else:
            self._tell(
                order.child, GuideRun(at=directory.clock(), pause=order.pause, actor=_actor(order.parent.run))
            )
        finally:
            self._starting.pop(order.child).set()

    def _message(self, order: StartChild) -> StartRun:
        return StartRun(
            at=self._directory.clock(),
            actor=order.by,
            goal=order.goal,
            lineage=order.lineage,
            plan=order.plan,
            planner=order.planner,
            mode=order.mode,
            tags={PARENT_TAG: order.parent.run, LINEAGE_TAG: order.lineage},
            limits=order.limits,
            priority=order.priority,
            parent=order.parent,
        )

    async def _guide(self, order: GuideChild) -> None:
        starting = self._starting.get(order.child)
        if starting is not None:
            await starting.wait()
        directory = self._directory
        if await directory.journal.get_index(order.child) is not None:
            message = GuideRun(
                at=directory.clock(), stop=order.stop, pause=order.pause, actor=_actor(order.parent.run)
            )
            self._tell(order.child, message)
        elif order.stop:
            self._report(order.child, order.parent, "cancelled", f"before it began: {order.stop}")

    def _tell(self, child: str, message: GuideRun) -> None:
        if not self._directory.is_draining:
            self._directory.tell(child, message)

    def _report(self, child: str, parent: Parent, status: str, failure: str) -> None:
        report = ReportChild(
            at=self._directory.clock(),
            operation=parent.operation,
            attempt=parent.attempt,
            child=child,
            status="failed" if status == "failed" else "cancelled",
            failure=failure,
        )
        self._directory.tell(parent.run, report)


def _actor(run_id: str) -> str:
    return f"run:{run_id}"
