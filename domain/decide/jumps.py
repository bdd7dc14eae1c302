"""Requests for a plan from outside, at any time: each is answered, and the same one is answered the same.

``ACCEPTED``
    a plan is owed from here on.
``STALE``
    the token is not that of the present revision: another plan was accepted since; look again.
``CONFLICT``
    the id was used before, with another reason or token.
``PROCESSING``
    a plan is owed already and this request was not taken up: ask again once there is a new revision.
``OUTCOME_UNKNOWN``
    it was handed over, but whether it is recorded cannot be told: ask again with the same id. The rules never
    answer this; the one who asked them does, when the answer does not arrive.

Without a token and an id a request is about the present plan, whichever it is, and is taken up every time.
"""

from __future__ import annotations

from .. import facts as f
from .. import messages as m
from ..errors import MessageRefused, ReplanNotTaken
from ..ids import digest
from ..run import Run
from ..tools import Catalog
from .decision import NOTHING, Decision
from .people import refuse_ended
from .replan import request_replan


def request_from_outside(run: Run, message: m.RequestReplan, _catalog: Catalog) -> Decision:
    """Ask for another plan, with a reason; one that is owed already serves this request too."""
    content = digest([message.reason, message.revision_token])
    is_jump = bool(message.revision_token or message.id)
    jump = message.id or content
    if is_jump and jump in run.jumps:
        known, answer = run.jumps[jump]
        raise ReplanNotTaken(run.id, answer if known == content else "CONFLICT")
    _refuse_in_vain(run, message)
    if message.revision_token and message.revision_token != run.revision_token:
        return Decision((f.ReplanAnswered(jump, content, "STALE"),))
    if not run.stuck and (run.owed is not None or run.revision == 0):
        if is_jump:
            raise ReplanNotTaken(run.id, "PROCESSING")
        return NOTHING
    requested = request_replan(run, "person", message.reason)
    return Decision((*requested, f.ReplanAnswered(jump, content, "ACCEPTED")) if is_jump else requested)


def _refuse_in_vain(run: Run, message: m.RequestReplan) -> None:
    refuse_ended(run, "replan")
    if run.unwinding is not None:
        raise MessageRefused(f"run {run.id} is being undone and takes no other plan")
    if not run.planner:
        raise MessageRefused(
            f"run {run.id} has no planner to ask: its plan is by a person; propose one instead"
        )
    if not message.reason:
        raise MessageRefused(f"run {run.id}: say why another plan is wanted")
