"""Signals that nobody has waited for yet, by name and in order."""

from __future__ import annotations

from collections import deque

from ..planning import SignalEntry
from ..run import Run


def put_letter(run: Run, letter: SignalEntry) -> None:
    """Keep a signal until something waits for it."""
    run.mail.setdefault(letter.name, deque()).append(letter)


def take_letter(run: Run, name: str, version: int) -> None:
    """Take a signal out: what waited for it has it."""
    box = run.mail[name]
    letter = next(each for each in box if each.version == version)
    box.remove(letter)
    if not box:
        del run.mail[name]
