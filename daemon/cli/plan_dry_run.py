"""``midcourse plan dry-run``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from .options import json_option
from .output import note, say, say_document, short_json, width
from .plan_options import (
    PLAN_HELP,
    find_plan,
    folders_of,
    has_errors,
    inputs_options,
    note_problems,
    plan_argument,
)
from .session import Session, pass_session

if TYPE_CHECKING:
    from ...domain.plan_file import PlanFile
    from ..plans.preview import Preview

_INPUT = 60


@click.command("dry-run", epilog=PLAN_HELP)
@plan_argument
@inputs_options
@json_option
@pass_session
def dry_run(session: Session, /, *, named: str, inputs: Any, pairs: tuple[str, ...]) -> int:
    """Show what a plan would do, without doing it: operations, effects, undos, approvals.

    The key of an operation is a digest of the tool, what identifies the call, its number among equal calls,
    and the run. It is shown in words, where all of that is known beforehand: where the arguments hold no
    templates, or only such as read inputs that are given here. Nothing is called and nothing is recorded.

    Exit code 1 if the plan cannot run, 3 if inputs are given and do not fit.
    """
    from ..parts import load_parts
    from ..plans.preview import preview
    from .plan_run import INPUTS_WRONG, read_inputs

    folders = folders_of(session)
    loaded = find_plan(folders, named)
    with load_parts(session.config) as parts:
        problems = loaded.checked(folders.around(loaded, parts.catalog))
        note_problems(problems)
        if loaded.plan is None or has_errors(problems):
            return 1
        given = None
        if inputs is not None or pairs or loaded.plan.input_schema is None:
            given = read_inputs(loaded.plan, inputs, pairs)
            if given is None:
                return INPUTS_WRONG
        steps = list(preview(loaded.plan, parts.catalog, given))
    if session.as_json:
        say_document(_value(loaded.plan, steps))
    else:
        _show(loaded.plan, steps)
    return 0


def _value(plan: PlanFile, steps: list[Preview]) -> dict[str, Any]:
    return {
        "plan": plan.identifier,
        "steps": steps,
        "approvals": [
            {"step": each.step, **each.approval._asdict(), "when_unapproved": each.when_unapproved}
            for each in steps
            if each.approval
        ],
        "compensate_on_failure": plan.compensate_on_failure,
        "not_carried_out": plan.unsupported(),
    }


def _show(plan: PlanFile, steps: list[Preview]) -> None:
    from .render_table import Cell, table

    colours = {"read": "", "reversible": "yellow", "irreversible": "red"}
    rows: list[list[str | Cell]] = [
        [
            step.step,
            Cell(step.effect or "–", colours.get(step.effect, "")),
            step.undo or "–",
            step.operation or f"{step.tool} {short_json(step.input, _INPUT) if step.input else ''}".rstrip(),
        ]
        for step in steps
    ]
    for line in table(rows, headers=("STEP", "EFFECT", "UNDO", "OPERATION"), width=width()):
        say(line)
    say()
    kinds = [step.effect for step in steps]
    say(
        f"{len(steps)} steps: {kinds.count('read')} read, {kinds.count('reversible')} reversible, "
        f"{kinds.count('irreversible')} irreversible"
    )
    kept = (
        "is undone"
        if plan.compensate_on_failure
        else "stands, since the plan says compensate_on_failure: false"
    )
    say(f"If it fails or is cancelled, what is reversible {kept}")
    _show_approvals(steps)
    if missing := plan.unsupported():
        note(f"This version does not carry out: {', '.join(missing)}")


def _show_approvals(steps: list[Preview]) -> None:
    asked = [(each.step, each.approval) for each in steps if each.approval]
    say("Approvals of a person:" if asked else "Approvals: none; no rule asks for one")
    for step, approval in asked:
        say(f"  {step}  {'' if approval.is_certain else 'perhaps: '}{approval.why}")
