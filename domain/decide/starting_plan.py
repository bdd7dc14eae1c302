"""The first plan of a run, prepared and checked once for all runs that start with an equal one."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import msgspec

from ..errors import PlanInvalid
from ..plan import Plan
from ..run import Run
from ..tools import Catalog
from .proposals import Draft, prepare
from .validation import problems_of

KEPT_PLANS: Final = 64
MOST_KEPT_BYTES: Final = 65_536
"""Longer plans are not kept: they are rarely the same, and 64 of them would take much memory."""


def first_draft(plan: Plan, catalog: Catalog) -> Draft:
    """Return the plan of a run that has no facts yet, as it is recorded; the runs share its steps.

    Args:
        plan: the plan, with nothing but JSON values in it.
        catalog: the tools.

    Raises:
        PlanInvalid: it cannot be used.
    """
    text = msgspec.json.encode(plan)
    return _kept_draft(text, catalog) if len(text) <= MOST_KEPT_BYTES else _draft(plan, catalog)


@lru_cache(maxsize=KEPT_PLANS)
def _kept_draft(text: bytes, catalog: Catalog) -> Draft:
    # Read back, so that what is kept shares nothing with the plan that happened to come first.
    return _draft(msgspec.json.decode(text, type=Plan), catalog)


def _draft(plan: Plan, catalog: Catalog) -> Draft:
    nothing_yet = Run("")
    draft = prepare(nothing_yet, plan, catalog)
    problems = problems_of(nothing_yet, draft.plan, catalog)
    if problems:
        raise PlanInvalid(problems)
    return draft
