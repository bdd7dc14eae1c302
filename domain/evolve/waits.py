"""What facts about waits change."""

from __future__ import annotations

import math

from .. import facts as f
from ..run import Run
from ..waits import Wait
from .mail import take_letter
from .steps import begin, finish, take


def wait_started(run: Run, fact: f.WaitStarted) -> None:
    begin(run, fact.step)
    run.waits[fact.step] = Wait(fact.due, fact.signal)
    run.foreseen_from = run.epoch


def wait_ended(run: Run, fact: f.WaitEnded) -> None:
    wait = run.waits.pop(fact.step)
    if fact.received:
        take_letter(run, wait.signal, fact.received)
    finish(run, fact.step, "", fact.result)
    run.recheck = True


def attempt_suspended(run: Run, fact: f.AttemptSuspended) -> None:
    operation = run.backoff[fact.operation] = take(run, fact.operation)
    operation.lost += 1  # it counts against no policy
    operation.retry_at = math.inf if fact.due is None else fact.due
    operation.awaits = fact.signal
    operation.is_suspended = True
    operation.doubt |= not fact.no_effect
    operation.details = fact.details
    operation.children = fact.children
