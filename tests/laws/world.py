"""A world in memory: what tools did outside, and a process that carries out orders on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from midcourse.domain.ids import is_undo
from midcourse.domain.orders import CancelAttempt, CancelPlanning, Consult, Execute, MakePlan, Order, Probe
from midcourse.domain.tools import Catalog, RetryPolicy, ToolSpec

LOOK = ToolSpec("user__look", effect="read")
RESERVE = ToolSpec("user__reserve", effect="reversible", undo="user__release", idempotent=True)
RELEASE = ToolSpec("user__release", idempotent=True)
CHARGE = ToolSpec(
    "user__charge", effect="reversible", undo="user__refund", has_probe=True, identity=("item",)
)
REFUND = ToolSpec("user__refund", has_probe=True)
PACK = ToolSpec(
    "user__pack",
    effect="reversible",
    undo="user__unpack",
    idempotent=True,
    has_probe=True,
    retry=RetryPolicy(max_attempts=2),
)
UNPACK = ToolSpec("user__unpack", idempotent=True, effect="reversible", undo="user__pack")
SHIP = ToolSpec("user__ship")
NOTIFY = ToolSpec("user__notify", idempotent=True, retry=RetryPolicy(max_attempts=3, max_lost=2))

SPECS = (LOOK, RESERVE, RELEASE, CHARGE, REFUND, PACK, UNPACK, SHIP, NOTIFY)
CATALOG = Catalog(SPECS, reviewers=frozenset(("quality",)), on_stuck=("desk", "depot"))
STRICT = Catalog(SPECS, reviewers=CATALOG.reviewers, plan_reviewers=("quality",))
"""The same tools, where plans are reviewed as well."""

Attempt = tuple[str, int]


class World:
    """Counts what happened. ``times`` is by operation: above 1 is a repeated effect."""

    def __init__(self, catalog: Catalog = CATALOG) -> None:
        self.catalog = catalog
        self.times: Counter[str] = Counter()
        self.happened: set[Attempt] = set()

    def do(self, order: Execute) -> None:
        """Let an attempt have its effect; a tool that is idempotent sees to it that a second one has none."""
        spec = self.catalog.resolve(order.tool)
        self.happened.add((order.operation, order.attempt))
        if spec.effect != "read" and not (spec.idempotent and self.times[order.operation]):
            self.times[order.operation] += 1

    def has_happened(self, operation: str) -> bool:
        return any(key == operation for key, _ in self.happened)

    def stands(self, operation: str) -> bool:
        return self.times[operation] > 0 and self.times[f"undo/{operation}"] == 0

    def standing(self) -> set[str]:
        return {key for key in self.times if not is_undo(key) and self.stands(key)}


class Process:
    """What an engine's executor and planner have in hand. It dies with a crash."""

    def __init__(self) -> None:
        self.attempts: dict[Attempt, Execute] = {}
        self.latest: dict[str, int] = {}
        self.cancelled: set[Attempt] = set()
        self.probes: dict[Attempt, Probe] = {}
        self.planning: MakePlan | None = None
        self.consulted: dict[str, Consult] = {}

    def take(self, orders: Sequence[Order]) -> list[Execute]:
        """Take orders up as the actors do; returns the attempts that begin."""
        begun = []
        for order in orders:
            if isinstance(order, Execute) and order.attempt > self.latest.get(order.operation, 0):
                self.latest[order.operation] = order.attempt
                self.attempts[order.operation, order.attempt] = order
                begun.append(order)
            elif isinstance(order, Consult):
                self.consulted[order.key] = order
            elif isinstance(order, CancelAttempt):
                self.cancelled.add((order.operation, order.attempt))
            elif isinstance(order, Probe):
                self.probes[order.operation, order.attempt] = order
            elif isinstance(order, CancelPlanning):
                if self.planning is not None and self.planning.context.epoch <= order.epoch:
                    self.planning = None
            elif isinstance(order, MakePlan):
                self.planning = order
        return begun
