"""Signals that are checked, sent and looked at from the command line."""

from pathlib import Path
from typing import Any

import pytest

from midcourse.domain.ids import digest

DECLARED = """
[signals]
paid = { type = "object", required = ["cents"] }
"*" = false
"""


@pytest.fixture
def declared(tmp_path: Path, replanned: Any) -> Any:
    """A run that has begun, and a configuration that declares signals."""
    (tmp_path / "midcourse.toml").write_text(DECLARED)
    return replanned


def test_a_signal_that_does_not_fit_is_refused_and_recorded(on_store: Any, declared: Any) -> None:
    version = on_store("runs", "show", "key:order-42", "--json").json["version"]
    sent = on_store("runs", "signal", "key:order-42", "paid", '{"amount": 7}', "--id", "one")
    assert (sent.code, sent.out) == (1, "")
    assert sent.err == (
        f"Error: run {declared.run.id} was not told: the signal 'paid' does not fit: "
        '"cents" is a required property\n'
    )
    assert on_store("runs", "show", "key:order-42", "--json").json["version"] == version
    [refusal] = on_store("audit", "engine", "--json").json_lines
    assert (refusal["topic"], refusal["data"]) == (
        "signal_refused",
        {
            "run": declared.run.id, "name": "paid", "id": "one", "digest": digest({"amount": 7}),
            "problems": ['"cents" is a required property'],
        },
    )  # fmt: skip
    assert on_store("audit", "verify").code == 0


def test_a_signal_that_fits_is_taken(on_store: Any, declared: Any) -> None:
    sent = on_store("runs", "signal", "key:order-42", "paid", '{"cents": 7}')
    assert (sent.code, "signal_received" in sent.out) == (0, True)
    looked = on_store("audit", "engine")
    assert (looked.out, looked.err) == ("", "Nothing was refused\n")


def test_a_name_that_is_not_declared_is_refused_and_the_refusals_are_listed(
    on_store: Any, declared: Any
) -> None:
    for name in ("pad", "shipped"):
        assert on_store("runs", "signal", "key:order-42", name).code == 1
    lines = on_store("audit", "engine", "--after", "1").lines
    assert len(lines) == 1
    assert "no signal of this name is taken (taken are paid)" in lines[0]


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("signals = 1", "signals: must be a table such as paid = { type = 'object' }"),
        ("[signals]\npaid = 1", "signals['paid']: must be a JSON Schema, true or false, not 1"),
        ("[signals]\npaid = {type = 'objekt'}", "signals['paid']: is no JSON Schema that can be used: "),
    ],
)
def test_declarations_that_are_none(on_store: Any, tmp_path: Path, table: str, said: str) -> None:
    (tmp_path / "midcourse.toml").write_text(table)
    listed = on_store("tools", "list")
    assert (listed.code, said in listed.err) == (2, True)
