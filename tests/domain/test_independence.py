"""What is shown of a run is the viewer's own: whatever is done to it, the run is as its facts have it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from midcourse.actors.outcome import outcome_of
from midcourse.domain.briefing import brief
from midcourse.domain.run import Run
from midcourse.domain.view import view

from .kit import CATALOG, Story, given, step
from .tellings import asks_replan, cancel, fails, signal, start, succeeds

VALUE = {"list": [{"deep": 1}]}


def replanning() -> Story:
    """A run with a part of every kind: executed and superseded steps, receipts, signals and a board."""
    story = given(
        start(
            step("reserve", input={"n": VALUE}),
            step("look", input={"n": VALUE}),
            step("ship", input={"n": VALUE}),
            tags={"customer": "7"},
        ),
        succeeds("E0", VALUE, undo_input=VALUE),
    )
    return story.when(signal(payload=VALUE)).when(asks_replan("E1", "closed", board=VALUE))


def undoing() -> Story:
    reserve = step("reserve", input={"n": VALUE})
    return given(start(reserve, "look"), succeeds("E0", VALUE, undo_input=VALUE), cancel())


def waiting() -> Story:
    return given(start(step("notify", input={"n": VALUE})), fails("E0", retry_after_s=5.0))


def completed() -> Story:
    return given(start(step("look", input={"n": VALUE})), succeeds("E0", VALUE))


def spoil(value: Any) -> int:
    """Change every object and array in a value; return how many there were."""
    if isinstance(value, msgspec.Struct):
        return sum(spoil(getattr(value, name)) for name in value.__struct_fields__)
    if isinstance(value, dict):
        found = 1 + sum(spoil(inner) for inner in tuple(value.values()))
        value["spoilt"] = True
        return found
    if isinstance(value, list):
        found = 1 + sum(spoil(inner) for inner in tuple(value))
        value.append("spoilt")
        return found
    return sum(spoil(inner) for inner in value) if isinstance(value, tuple) else 0


@pytest.mark.parametrize(
    ("show", "story"),
    [
        (lambda run: brief(run, CATALOG), replanning),
        (view, replanning),
        (view, undoing),
        (view, waiting),
        (view, completed),
        (outcome_of, completed),
    ],
)
def test_what_is_shown_changes_nothing(show: Callable[[Run], Any], story: Callable[[], Story]) -> None:
    run = story().run
    before = repr(show(run))
    assert spoil(show(run)) > 3
    assert repr(show(run)) == before


def test_each_part_of_a_context_is_a_copy() -> None:
    context = brief(replanning().run, CATALOG)
    parts: list[tuple[str, Any]] = [
        ("inputs", context.inputs),
        ("board", context.board),
        ("signal", context.signals[0].payload),
        ("ledger input", context.ledger[0].input),
        ("result", context.ledger[0].receipt.result),
        ("undo input", context.ledger[0].receipt.undo_input),
        ("executed", context.executed[0].input),
        ("superseded", context.superseded[-1].input),
    ]
    assert [name for name, part in parts if spoil(part) == 0] == []
