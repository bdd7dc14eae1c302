"""Signals that are checked against what is declared of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from midcourse.domain import facts as f
from midcourse.domain.engine_facts import SignalRefused, refused
from midcourse.domain.errors import MessageRefused, SignalInvalid
from midcourse.domain.ids import digest
from midcourse.domain.signals import ANY_SIGNAL, SignalRules
from midcourse.domain.tools import Catalog

from .kit import TOOLS, given
from .tellings import planned, signal, succeeds


def is_a_number(payload: Any) -> Sequence[str]:
    return () if isinstance(payload, int) else ("must be a number",)


def is_a_text(payload: Any) -> Sequence[str]:
    return () if isinstance(payload, str) else ("must be a text", "of some length")


def declared(**checks: Any) -> Catalog:
    return Catalog(TOOLS.values(), signals=SignalRules(checks))


RULES = SignalRules({"note*": is_a_text, "note_7": is_a_number, "*": None})


@pytest.mark.parametrize(
    ("name", "payload", "problems"),
    [
        ("note", "a", ()),
        ("note_1", 7, ("must be a text", "of some length")),
        ("note_7", 7, ()),
        ("note_7", "a", ("must be a number",)),
        ("notes_7", 1, ("must be a text", "of some length")),
        ("not_7", 1, ("no signal of this name is taken (did you mean 'note_7'?)",)),
        ("paid", 1, ("no signal of this name is taken (taken are note*, note_7)",)),
    ],
)
def test_a_name_counts_before_globs_and_globs_in_their_order(
    name: str, payload: Any, problems: Sequence[str]
) -> None:
    assert RULES.problems(name, payload) == problems


def test_what_nothing_is_declared_of_is_taken() -> None:
    assert ANY_SIGNAL.problems("paid", object()) == ()
    assert SignalRules({"paid": is_a_number}).problems("shipped", "a") == ()


def test_where_none_is_taken_it_says_so() -> None:
    assert SignalRules({"*": None}).problems("a", 1) == ("no signal of this name is taken (none is)",)


def test_a_signal_that_fits_is_a_fact() -> None:
    story = given(*planned("look"), tools=declared(paid=is_a_number))
    story.when(signal("paid", 7)).then(f.SignalReceived("paid", 7, "", True))


def test_a_signal_that_does_not_fit_is_refused_and_no_fact_of_the_run() -> None:
    story = given(*planned("look"), tools=declared(paid=is_a_text))
    with pytest.raises(SignalInvalid) as refusal:
        story.when(signal("paid", 7, id="one"))
    assert refused(refusal.value) == SignalRefused(
        story.run.id, "paid", "one", digest(7), ("must be a text", "of some length")
    )
    assert str(refusal.value) == (
        f"run {story.run.id} was not told: the signal 'paid' does not fit: must be a text; of some length"
    )


def test_a_signal_that_was_taken_is_not_judged_again() -> None:
    story = given(*planned("look"), signal("paid", 7, id="one"))
    story.when(signal("paid", 7, id="one"), tools=declared(paid=is_a_text)).then()


def test_a_refused_id_may_be_used_by_a_signal_that_fits() -> None:
    story = given(*planned("look"), tools=declared(paid=is_a_number))
    with pytest.raises(SignalInvalid):
        story.when(signal("paid", "a", id="one"))
    story.when(signal("paid", 7, id="one")).then(f.SignalReceived("paid", 7, "one", True))


def test_that_the_run_has_ended_is_said_first() -> None:
    story = given(*planned("look"), succeeds("E0"), tools=declared(paid=is_a_text))
    with pytest.raises(MessageRefused, match="has ended") as refusal:
        story.when(signal("paid", 7))
    assert not isinstance(refusal.value, SignalInvalid)
