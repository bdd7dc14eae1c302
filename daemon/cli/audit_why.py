"""``midcourse audit why`` and ``midcourse audit diff``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from .options import RUN_HELP, json_option, run_argument
from .output import paint, say, say_document, say_line, width
from .session import Session, find_run, pass_session

if TYPE_CHECKING:
    from ...domain.plan import Step
    from ...store import Record
    from ..history import Revision


@click.command("why", epilog=RUN_HELP)
@run_argument
@click.argument("subject", metavar="STEP|REVISION")
@json_option
@pass_session
def why(session: Session, /, *, run: str, subject: str) -> None:
    """Follow the causes of a step or a revision back to where the run began, oldest first."""
    from .render_facts import fact_line, fact_value

    with session.read() as journal:
        run_id = find_run(journal, run)
        records = [record for batch in journal.read_batches(run_id) for record in batch]
    for record in _causes(records, _subject(records, subject)):
        if session.as_json:
            say_line(fact_value(record))
        else:
            say(fact_line(record, width=width()))


def _subject(records: Sequence[Record], subject: str) -> Record:
    """Return the last fact that says what became of a step, or the one that accepted a revision."""
    from ...domain import facts as f

    steps, revisions = set(), set()
    for record in reversed(records):
        fact = record.fact
        if isinstance(fact, f.PlanAccepted):
            revisions.add(str(fact.revision))
            if str(fact.revision) == subject:
                return record
        elif isinstance(fact, (f.StepStarted, f.StepCompleted, f.StepSatisfied, f.StepFailed)):
            steps.add(fact.step)
            if fact.step == subject:
                return record
    known = f"steps {', '.join(sorted(steps)) or 'none'}; revisions {', '.join(sorted(revisions)) or 'none'}"
    raise click.BadParameter(f"{subject!r} never came up ({known})", param_hint="STEP|REVISION")


def _causes(records: Sequence[Record], record: Record) -> list[Record]:
    chain = [record]
    while cause := _cause(records, chain[-1]):
        chain.append(records[cause - 1])
    return chain[::-1]


def _cause(records: Sequence[Record], record: Record) -> int:
    """Return the version that led to a record; to an answer of a planner, the question it answers."""
    from ...domain import facts as f

    fact = record.fact
    if record.cause or not isinstance(fact, (f.PlanProposed, f.NoPlanFound, f.GoalFound, f.PlanningFailed)):
        return record.cause
    questions = (
        each.version
        for each in reversed(records[: record.version - 1])
        if isinstance(each.fact, f.PlanRequested) and each.fact.epoch == fact.epoch
    )
    return next(questions, 0)


@click.command("diff", epilog=RUN_HELP)
@run_argument
@click.argument("old", metavar="REVISION", type=click.IntRange(1))
@click.argument("new", metavar="REVISION", type=click.IntRange(1))
@json_option
@pass_session
def diff(session: Session, /, *, run: str, old: int, new: int) -> None:
    """Compare two revisions of a plan, step by step."""
    with session.read() as journal:
        revisions = session.history(journal, find_run(journal, run)).revisions
    changes = _changes(_steps(revisions, old), _steps(revisions, new))
    if session.as_json:
        by_sign = {"=": "same", "-": "removed", "+": "added"}
        document: dict[str, Any] = {"from": old, "to": new}
        document |= {name: [step for each, step in changes if each == sign] for sign, name in by_sign.items()}
        say_document(document)
        return
    from .output import short_json
    from .render_facts import bare

    for sign, step in changes:
        line = f"{sign} {step.id} {bare(step.tool_name)} {short_json(step.input)}"
        say(paint(line, {"+": "green", "-": "red"}.get(sign, "")))


def _steps(revisions: Sequence[Revision], number: int) -> tuple[Step, ...]:
    for revision in revisions:
        if revision.revision == number:
            return (*revision.kept, *revision.added)
    raise click.BadParameter(f"there are revisions 1 to {len(revisions)}, no {number}", param_hint="REVISION")


def _changes(old: Sequence[Step], new: Sequence[Step]) -> list[tuple[str, Step]]:
    removed = [("-", step) for step in old if step not in new]
    kept = [("=", step) for step in new if step in old]
    added = [("+", step) for step in new if step not in old]
    return [*kept, *removed, *added]
