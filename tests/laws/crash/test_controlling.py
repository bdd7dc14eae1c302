"""The scenarios of control steps come to what they are about, so that killing them tries that."""

from __future__ import annotations

from pathlib import Path

import pytest

from .laws import picture
from .test_matrix import SCENARIOS, live

ENDINGS = {
    "mapped": ("completed", "", 7, 6),
    "mapped_one_fails": ("failed", "item 1: one at a time", 5, 10),
    "mapped_anew": ("completed", "", 4, 4),
    "reduced": ("completed", "", 4, 10),
    "decided": ("completed", "", 4, 7),
    "called": ("completed", "", 7, 6),
    "called_and_left": ("completed", "", 3, 9),
    "ended_early": ("failed", "too late", 4, 10),
    "asked": ("completed", "", 3, 10),
    "waited": ("completed", "", 2, 10),
    "retried": ("completed", "", 3, 10),
    "debugged": ("completed", "", 4, 9),
}
"""By scenario: its status, why it failed, its effects with their undos, and the lamps that are left."""


@pytest.mark.parametrize("name", ENDINGS)
def test_a_scenario_comes_to_what_it_is_about(name: str, tmp_path: Path) -> None:
    seen = picture(live(SCENARIOS[name], tmp_path))
    said = seen["failure"][1] if seen["failure"] else ""
    assert (seen["status"], said, len(seen["effects"]), seen["stock left"]["lamp"]) == ENDINGS[name]
