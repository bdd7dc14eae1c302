"""A kit to say what the rules do: *given* a history, *when* a message comes, *then* these facts and orders.

::

    given(start("reserve"), fails("E0")).when(later(1.0)).then(
        like(f.AttemptStarted, attempt=2), like(Execute, attempt=2)
    )

A history is made of facts, which are taken as they are, and of messages, which are reacted to; the messages
are in ``tellings``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from midcourse.domain import facts as f
from midcourse.domain import messages as m
from midcourse.domain.decide import react
from midcourse.domain.evolve import evolve
from midcourse.domain.orders import Order
from midcourse.domain.plan import Step
from midcourse.domain.run import Run
from midcourse.domain.tools import Catalog, RetryPolicy, ToolSpec

from ..laws.reading_back import is_kept
from ..laws.replay import replayed

TOOLS = {
    spec.name: spec
    for spec in (
        ToolSpec("user__look", effect="read"),
        ToolSpec("user__reserve", effect="reversible", undo="user__release", idempotent=True),
        ToolSpec("user__release", idempotent=True, input_schema={"properties": {"n": {}, "receipt": {}}}),
        ToolSpec(
            "user__charge", effect="reversible", undo="user__refund", has_probe=True, identity=("order",)
        ),
        ToolSpec("user__refund", has_probe=True),
        ToolSpec("user__ship"),
        ToolSpec("user__notify", idempotent=True, retry=RetryPolicy(max_attempts=2, max_lost=1)),
    )
}
CATALOG = Catalog(TOOLS.values())
START_AT = 100.0


def catalog_without(*names: str) -> Catalog:
    """A catalog that lost some tools, and whose undos are not checked against it."""
    smaller = Catalog()
    smaller._specs = {name: spec for name, spec in TOOLS.items() if name not in names}  # noqa: SLF001
    smaller.digest = "smaller"
    return smaller


def step(tool: str, id: str = "", **fields: Any) -> Step:
    return Step(id, tool, **fields)


# -- expectations


class Like:
    """Equals every instance of a type that has these fields."""

    def __init__(self, kind: type, fields: Mapping[str, Any]) -> None:
        self.kind = kind
        self.fields = fields

    def __eq__(self, other: object) -> bool:
        return type(other) is self.kind and all(
            value == getattr(other, name) for name, value in self.fields.items()
        )

    __hash__ = None  # type: ignore[assignment]  # not for sets

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in self.fields.items())
        return f"{self.kind.__name__}({fields}, …)"


class Has:
    """Equals every text that has all these parts."""

    def __init__(self, *parts: str) -> None:
        self.parts = parts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and all(part in other for part in self.parts)

    __hash__ = None  # type: ignore[assignment]  # not for sets

    def __repr__(self) -> str:
        return "…".join(("", *self.parts, ""))


def like(kind: type, /, **fields: Any) -> Any:
    return Like(kind, fields)


def has(*parts: str) -> Any:
    return Has(*parts)


def failure(kind: str, /, *parts: str, **fields: Any) -> Any:
    return like(f.Failure, kind=kind, message=has(*parts), **fields)


# -- stories

Telling = m.Message | Callable[["Story"], m.Message]
Happening = f.Fact | Telling


class Story:
    """A run, all facts of it, and a clock that only messages move."""

    def __init__(self, catalog: Catalog) -> None:
        self.run = Run("run")
        self.catalog = catalog
        self.at = START_AT
        self.facts: list[f.Fact] = []
        self.new: list[f.Fact] = []
        self.orders: list[Order] = []

    def take(self, happening: Happening) -> None:
        if isinstance(happening, f.Fact):
            self.new, self.orders = [happening], []
            evolve(self.run, happening)
        else:
            reaction = react(self.run, self.message(happening), self.catalog)
            self.new, self.orders = [fact for fact, _ in reaction.facts], reaction.orders
        self.facts += self.new

    def message(self, happening: Telling) -> m.Message:
        """A message as it is now; told later, it may be old by then."""
        return happening if isinstance(happening, m.Message) else happening(self)

    def when(self, happening: Happening, *, tools: Catalog | None = None) -> Story:
        """Let one thing more happen, with other tools if so."""
        self.catalog = tools or self.catalog
        self.take(happening)
        self._is_kept()
        return self

    def then(self, *expected: Any) -> Story:
        """Say which facts were recorded and which orders given, all of them, facts first."""
        assert [*expected] == [*self.new, *self.orders]
        return self

    def _is_kept(self) -> None:
        """Whatever state a story comes to, a snapshot of it has all of it."""
        if self.run.version == len(self.facts):  # nobody else has written to it
            is_kept(replayed("run", self.facts))

    def then_nothing(self) -> Story:
        return self.then()

    def key(self, step: str) -> str:
        """The operation of a step, or of its undo: ``"undo E0"``."""
        if step.startswith("undo "):
            return f"undo/{self.key(step.removeprefix('undo '))}"
        for place in (self.run.running, self.run.backoff, self.run.unknown, self.run.closed):
            for operation in place.values():
                if operation.step == step:
                    return operation.key
        if step in self.run.reviews:
            return self.run.reviews[step].operation
        return self.run.done[step]


def given(*history: Happening, tools: Catalog = CATALOG) -> Story:
    story = Story(tools)
    for happening in history:
        story.take(happening)
    return story
