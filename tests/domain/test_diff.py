"""How plans differ, and how stable a revision is."""

from __future__ import annotations

from hypothesis import given as forall
from hypothesis import strategies as st

from midcourse.domain.diff import diff, stability
from midcourse.domain.plan import Step

from .kit import step

ANY_STEPS = st.lists(st.sampled_from("abc"), max_size=6)


def plan(prefix: str, tools: list[str]) -> list[Step]:
    return [step(tool, f"{prefix}{place}") for place, tool in enumerate(tools)]


def test_a_diff_says_what_is_kept_the_same_added_superseded_and_undone() -> None:
    earlier = [step("reserve", "E0"), step("ship", "E1"), step("notify", "E2", input={"who": "me"})]
    later = [step("reserve", "E0"), step("pack", "E3"), step("notify", "E4", input={"who": "me"})]
    found = diff(earlier, later, kept=("E0",), undone=("op.0",))
    assert (found.kept, found.undone) == ((earlier[0],), ("op.0",))
    assert found.same == ((earlier[2], later[2]),)
    assert (found.added, found.superseded) == ((later[1],), (earlier[1],))
    assert found.stability == 2


def test_a_plan_that_only_names_its_steps_anew_is_no_other_plan() -> None:
    found = diff(plan("A", ["a", "b"]), plan("B", ["a", "b"]))
    assert (found.stability, len(found.same)) == (0, 2)


def test_equal_steps_count_as_often_as_they_are_there() -> None:
    found = diff(plan("A", ["a", "a", "a"]), plan("B", ["a"]))
    assert (len(found.same), len(found.superseded), found.stability) == (1, 2, 2)


@forall(ANY_STEPS, ANY_STEPS)
def test_stability_is_symmetric_zero_for_the_same_and_what_the_diff_says(
    old: list[str], new: list[str]
) -> None:
    earlier, later = plan("A", old), plan("B", new)
    assert stability(earlier, later) == stability(later, earlier) == diff(earlier, later).stability
    assert stability(earlier, earlier) == 0


@forall(ANY_STEPS, ANY_STEPS)
def test_a_diff_loses_no_step(old: list[str], new: list[str]) -> None:
    earlier, later = plan("A", old), plan("B", new)
    found = diff(earlier, later)
    assert {s.id for s in found.superseded} | {s.id for s, _ in found.same} == {s.id for s in earlier}
    assert {s.id for s in found.added} | {s.id for _, s in found.same} == {s.id for s in later}
