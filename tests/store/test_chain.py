"""Verifying: what is altered in a real file is found, and the first record that does not fit is named."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midcourse.store import GENESIS, Head, Problem, open_journal
from midcourse.store.chain import check_chain, link
from midcourse.store.codec import encode

from .helpers import STARTED, grow, note

Alter = Callable[[sqlite3.Connection], object]
OTHER = "SELECT state FROM stored_events WHERE originator_id = 'b' AND originator_version = 3"
ROWS = "stored_events WHERE originator_id = 'a'"


def change(version: int, assignment: str) -> str:
    return (
        f"UPDATE stored_events SET {assignment} WHERE originator_id = 'a' AND originator_version = {version}"
    )


def replace(version: int, old: str, new: str) -> str:
    return change(version, f"state = CAST(replace(CAST(state AS TEXT), '{old}', '{new}') AS BLOB)")


@pytest.fixture
async def path(tmp_path: Path, sqlite_url: str) -> Path:
    """A store with runs a, b, c of five records each."""
    async with open_journal(sqlite_url) as journal:
        for run_id in "abc":
            await grow(journal, run_id, 5)
    return tmp_path / "store.db"


def verify_altered(path: Path, *statements: str) -> list[Problem]:
    with sqlite3.connect(path) as connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()
    with open_journal(f"sqlite:///{path}", read_only=True) as journal:
        return list(journal.verify())


async def test_an_untouched_store_verifies(path: Path) -> None:
    assert verify_altered(path) == []


@pytest.mark.parametrize(
    ("statements", "version", "what"),
    [
        ([replace(3, '"n":3', '"n":4')], 3, "was altered"),
        ([replace(3, "2000.0", "2000.5")], 3, "was altered"),
        ([replace(3, "engine", "nobody")], 3, "was altered"),
        ([replace(3, '"cause":2', '"cause":1')], 3, "was altered"),
        ([replace(3, '"schema":1', '"schema":2')], 3, "was altered"),
        ([replace(1, "order 42", "order 43")], 1, "was altered"),
        ([replace(5, '"n":5', '"n":6')], 5, "the table of heads holds another hash"),
        ([replace(3, '"prev":"', '"prev":"0')], 3, "was altered"),
        (
            [change(3, "state = x'00'")],
            3,
            "not a JSON object",
        ),
        (
            [change(3, "topic = 'x'")],
            3,
            "was altered",
        ),
        ([f"DELETE FROM {ROWS} AND originator_version = 3"], 3, "is missing"),
        ([f"DELETE FROM {ROWS} AND originator_version = 1"], 1, "is missing"),
        ([f"DELETE FROM {ROWS} AND originator_version = 5"], 5, "its tail is cut"),
        ([f"DELETE FROM {ROWS} AND originator_version > 2"], 3, "its tail is cut"),
        ([f"DELETE FROM {ROWS}"], 1, "its tail is cut"),
        (["DELETE FROM run_heads WHERE run_id = 'a'"], 5, "the table of heads does not know this run"),
        (["UPDATE run_heads SET version = 4 WHERE run_id = 'a'"], 5, "was added from outside"),
        (
            [
                change(3, "originator_version = -3"),
                change(4, "originator_version = 3"),
                change(-3, "originator_version = 4"),
            ],
            3,
            "was altered",
        ),
        (
            [
                change(3, f"state = ({OTHER})"),
            ],
            3,
            "was altered",
        ),
    ],
)
async def test_an_alteration_is_found_and_named(
    path: Path, statements: list[str], version: int, what: str
) -> None:
    problems = verify_altered(path, *statements)

    assert [("a", version)] == [(problem.run_id, problem.version) for problem in problems]
    assert what in problems[0].what


async def test_every_altered_run_is_named(path: Path) -> None:
    problems = verify_altered(path, "UPDATE stored_events SET topic = 'x' WHERE originator_version = 2")
    assert [(problem.run_id, problem.version) for problem in problems] == [("a", 2), ("b", 2), ("c", 2)]


async def test_one_run_may_be_verified_alone(path: Path) -> None:
    verify_altered(path, "UPDATE stored_events SET topic = 'x' WHERE originator_id = 'b'")
    with open_journal(f"sqlite:///{path}", read_only=True) as journal:
        assert list(journal.verify("a")) == []
        assert [problem.run_id for problem in journal.verify("b")] == ["b"]
        assert [problem.what for problem in journal.verify("z")] == ["there is no such run"]


# --------------------------------------------------------------------------------------------- any alteration


@given(length=st.integers(1, 6), data=st.data())
def test_any_single_change_of_any_byte_is_found(length: int, data: st.DataObject) -> None:
    facts = [STARTED, *(note(n=n) for n in range(length - 1))]
    encoded = encode("a", 0, GENESIS, [(1.0, "engine", 0, fact) for fact in facts])
    values = encoded.parameters
    rows = list(zip(values[1::4], values[2::4], values[3::4], strict=True))
    head = Head(length, encoded.hash)
    assert check_chain("a", rows, head) is None

    victim = data.draw(st.integers(0, length - 1))
    version, topic, state = rows[victim]
    at = data.draw(st.integers(0, len(state) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda value: value != state[at]))
    rows[victim] = (version, topic, state[:at] + bytes([byte]) + state[at + 1 :])
    problem = check_chain("a", rows, head)

    assert problem is not None
    assert victim + 1 == problem.version


def test_the_hash_covers_every_column() -> None:
    hashes = {
        link("a", 1, "t", b"{}"),
        link("b", 1, "t", b"{}"),
        link("a", 2, "t", b"{}"),
        link("a", 1, "u", b"{}"),
        link("a", 1, "t", b"{ }"),
        link("a", 1, "t{", b"}"),
    }
    assert len(hashes) == 6


# --------------------------------------------------------------------- runs known to some tables only


@pytest.mark.parametrize(
    ("statements", "what"),
    [
        (["DELETE FROM runs WHERE run_id = 'a'"], "is not in the index"),
        (
            ["DELETE FROM run_heads WHERE run_id = 'a'", f"DELETE FROM {ROWS}"],
            "the index knows this run, the table of heads does not",
        ),
        (["UPDATE run_heads SET version = 'x' WHERE run_id = 'a'"], "the table of heads says 'x'"),
        (["UPDATE runs SET tags = '{' WHERE run_id = 'a'"], "damaged row in the index: tags"),
        (["UPDATE runs SET wake_at = 'soon' WHERE run_id = 'a'"], "damaged row in the index: wake_at"),
        (["UPDATE runs SET goal = CAST(x'ff' AS TEXT) WHERE run_id = 'a'"], "cannot be read: .*decode"),
    ],
)
async def test_a_run_that_only_some_tables_know_or_know_badly_is_named(
    path: Path, statements: list[str], what: str
) -> None:
    problems = verify_altered(path, *statements)

    assert [problem.run_id for problem in problems] == ["a"]
    assert re.search(what, problems[0].what)


async def test_numbers_that_are_none_hide_no_run_from_lists(path: Path) -> None:
    verify_altered(
        path, "UPDATE run_heads SET version = 'x' WHERE run_id = 'a'", "UPDATE runs SET created = 'y'"
    )
    with open_journal(f"sqlite:///{path}", read_only=True) as journal:
        page = await journal.list()

    assert [(run.run_id, run.version) for run in page.runs] == [("c", 5), ("b", 5), ("a", 0)]
