"""What leaves a run shares nothing with it that can be changed."""

from __future__ import annotations

from typing import Any

import pytest

from midcourse.domain.briefing import ledger_entry
from midcourse.domain.ledger import Committed
from midcourse.domain.receipt import Receipt


def _committed(receipt: Receipt) -> Committed:
    return Committed(
        key="k.0",
        step="E0",
        tool="user__ship",
        input={"n": [1]},
        digest="d",
        effect="irreversible",
        undo="",
        takes_back="",
        receipt=receipt,
        attempt=1,
        version=2,
    )


@pytest.mark.parametrize("result", [None, 7, "text", [1], {"a": [1]}])
@pytest.mark.parametrize("undo_input", [None, {"n": 1}])
def test_a_receipt_that_is_handed_out_cannot_change_the_run(result: Any, undo_input: Any) -> None:
    entry = _committed(Receipt(result, undo_input=undo_input))
    shown = ledger_entry(entry)
    assert (shown.receipt, shown.input) == (entry.receipt, {"n": [1]})
    assert shown.input["n"] is not entry.input["n"]
    assert undo_input is None or shown.receipt.undo_input is not undo_input
    assert not isinstance(result, (list, dict)) or shown.receipt.result is not result
