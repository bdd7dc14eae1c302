"""What somebody may have meant who wrote something that is not there."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(found: object, allowed: Iterable[str]) -> str:
    """Return a question to put behind an error, with a blank before it; empty where nothing is close."""
    by_folded = {each.casefold(): each for each in allowed}
    close = get_close_matches(str(found).casefold(), list(by_folded), n=1, cutoff=0.6)
    return f" Did you mean {by_folded[close[0]]!r}?" if close else ""
