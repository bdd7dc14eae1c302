"""A state survives being written and read, down to its last field."""

from __future__ import annotations

from collections import deque
from typing import Any

import msgspec
import pytest

from midcourse.domain.evolve import fold
from midcourse.domain.facts import BoardUpdated, RunStarted
from midcourse.domain.goal import Goal
from midcourse.domain.run import Run
from midcourse.domain.run_fields import RunFields
from midcourse.domain.snapshot import FIELDS, SnapshotError, Unpacking, pack
from midcourse.domain.snapshot.pieces import Shelf, divided

from ..laws.reading_back import read_back

STARTED = RunStarted(goal=Goal("deliver order 42"))


def test_every_field_of_the_state_is_kept() -> None:
    assert set(RunFields.__slots__) == FIELDS


def test_a_state_with_nothing_in_it_survives() -> None:
    run, again = Run("a"), read_back(Run("a"))
    assert {name: getattr(run, name) for name in RunFields.__slots__} == {
        name: getattr(again, name) for name in RunFields.__slots__
    }
    assert isinstance(again.revisions, deque)
    assert again.revisions.maxlen == run.revisions.maxlen


@pytest.mark.parametrize("value", [1, 1.0, True, None, "1", [1, 2.0, [True]], {"a": {"b": None}}, 2**63])
def test_a_value_keeps_its_kind(value: Any) -> None:
    again = read_back(fold("a", [STARTED, BoardUpdated(values={"x": value})]))
    assert repr(again.board) == repr({"x": value})


def test_a_state_that_has_no_bytes_is_refused() -> None:
    run = fold("a", [STARTED, BoardUpdated(values={"x": 2**64})])
    with pytest.raises(SnapshotError, match="board of run a cannot be kept"):
        list(pack(run))


@pytest.mark.parametrize("piece", [b"", b"nonsense", b"board\0", b"board\0\xff", b"what\0\x90", b"\xff\0"])
def test_what_is_no_piece_of_a_state_is_refused(piece: bytes) -> None:
    with pytest.raises(SnapshotError):
        Unpacking("a").put(piece)


def test_large_entries_come_in_smaller_pieces() -> None:
    pieces = list(divided(["x" * 10_000] * 40, msgspec.msgpack.encode))
    assert [len(msgspec.msgpack.decode(piece)) for piece in pieces] == [5] * 8


def test_what_is_too_large_by_itself_comes_in_one_piece() -> None:
    assert len(list(divided(["x" * 200_000], msgspec.msgpack.encode))) == 1


def test_pieces_of_a_state_that_grows_stay_what_they_were() -> None:
    facts = [STARTED, *(BoardUpdated(values={f"k{n}": n}) for n in range(3_000))]
    before, after = set(pack(fold("a", facts[:2_500]))), set(pack(fold("a", facts)))
    assert len(before - after) == 2, "the single values, and the last piece of the board"


def test_a_list_that_was_there_before_is_named_by_its_first_text() -> None:
    wrote, reads = Shelf(), Shelf()
    lists = [["a", "b"], ["a", "b"], ["a", "c"], [], ["a", "c"]]
    written = [wrote.put(each) for each in lists]
    assert written == [["a", "b"], "a", ["a", "c"], [], ["a", "c"]]
    assert [reads.take(each) for each in written] == lists
