"""Plans and steps as values."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from midcourse.domain.plan import Plan, Step


def test_any_list_is_taken_and_kept_as_a_tuple() -> None:
    plan = Plan([Step(needs=["A"])], undo=["x"])
    assert (plan.steps, plan.undo, plan.steps[0].needs) == ((Step(needs=("A",)),), ("x",), ("A",))


def test_generators_are_taken_too() -> None:
    assert Plan(Step(str(n)) for n in range(2)).steps == (Step("0"), Step("1"))  # type: ignore[arg-type]


@pytest.mark.parametrize("make", [lambda: Step(needs="A"), lambda: Plan(undo="A")])
def test_a_text_is_no_list(make: Callable[[], object]) -> None:
    with pytest.raises(TypeError, match=r"is a list; write \['A'\]"):
        make()


def test_a_sequence_and_a_dag_without_edges_are_told_apart_when_read_back() -> None:
    plan = Plan([Step("A"), Step("B", needs=())])
    assert msgspec.json.decode(msgspec.json.encode(plan), type=Plan) == plan


def test_what_is_default_is_not_written() -> None:
    assert msgspec.json.encode(Plan([Step("A", "t")])) == b'{"steps":[{"id":"A","tool_name":"t"}]}'
