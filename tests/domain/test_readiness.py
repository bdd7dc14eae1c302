"""Which step waits for which."""

from __future__ import annotations

import pytest

from midcourse.domain.plan import Step
from midcourse.domain.readiness import cycle, edges


def test_a_sequence_waits_for_the_step_before() -> None:
    tail = [Step("A"), Step("B"), Step("C")]
    assert edges(tail) == {"A": (), "B": ("A",), "C": ("B",)}
    assert edges(tail, "Z") == {"A": ("Z",), "B": ("A",), "C": ("B",)}


def test_in_a_sequence_templates_make_no_edges_of_their_own() -> None:
    assert edges([Step("A"), Step("B"), Step("C", input={"x": "{{A}}"})])["C"] == ("B",)


def test_with_any_needs_a_plan_is_a_dag_and_steps_with_neither_are_roots() -> None:
    tail = [Step("A"), Step("B", needs=()), Step("C", needs=("A",)), Step("D", input={"x": "{{B.id}}"})]
    assert edges(tail, "Z") == {"A": (), "B": (), "C": ("A",), "D": ("B",)}


def test_needs_and_templates_are_taken_together() -> None:
    tail = [Step("A"), Step("B"), Step("C", input={"x": "{{B}} {{A}} {{input.n}}"}, needs=("A",))]
    assert edges(tail)["C"] == ("A", "B")


def test_the_text_that_names_an_operation_makes_edges_too() -> None:
    assert edges([Step("A", needs=()), Step("B", operation="parcel {{A.id}}")])["B"] == ("A",)


def test_a_bare_key_in_a_section_is_an_edge_if_a_step_has_that_name() -> None:
    tail = [Step("A", needs=()), Step("B"), Step("C", input={"x": "{{#A}}{{B}} {{title}}{{/A}}"})]
    assert edges(tail)["C"] == ("A", "B")


@pytest.mark.parametrize(
    ("waits", "path"),
    [
        ({}, []),
        ({"A": (), "B": ("A",)}, []),
        ({"A": ("Z",)}, []),
        ({"A": ("A",)}, ["A", "A"]),
        ({"A": ("B",), "B": ("A",)}, ["A", "B", "A"]),
        ({"A": ("B",), "B": ("C",), "C": ("B",), "D": ()}, ["B", "C", "B"]),
        ({"A": ("B", "B"), "B": ()}, []),
    ],
)
def test_cycles(waits: dict[str, tuple[str, ...]], path: list[str]) -> None:
    assert cycle(waits) == path
