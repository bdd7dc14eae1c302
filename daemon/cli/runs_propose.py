"""``midcourse runs propose``: a person's plan for what is left of a run."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from .options import RUN_HELP, json_option, run_argument
from .output import say, say_document
from .plan_options import folders_of
from .session import Session, find_run_async, pass_session, wait_for

if TYPE_CHECKING:
    from ...domain.facts import PlanAccepted
    from ...domain.messages import ProposePlan
    from ...domain.tools import Catalog


@click.command("propose", epilog=RUN_HELP)
@run_argument
@click.argument("named", metavar="PLAN")
@click.option("--epoch", type=click.IntRange(1), required=True, help="The epoch of the run it was made from.")
@json_option
@pass_session
def propose(session: Session, /, *, run: str, named: str, epoch: int) -> None:
    """Replace what is left of a plan by PLAN.

    PLAN is a plan file, or its identifier in the plan folders; or a YAML or JSON file without an identifier:
    {"steps": [{"tool_name": …, "input": {…}}], "undo": [operations to take back], "reason": …}, whose steps
    may refer to what the run has done. It is checked against the tools of the configuration, and refused if
    more has happened since --epoch, which `midcourse runs show` prints, than outcomes of steps that were in
    flight then. While steps are in flight it waits for them, and no other one begins.
    """
    from ...domain.messages import ProposePlan
    from ..errors import PlanFileError
    from ..parts import load_parts
    from ..plans.given import given_plan

    with load_parts(session.config) as parts:
        if not parts.tools:
            raise click.UsageError("a plan is checked against the tools of the configuration, which has none")
        try:
            plan = given_plan(named, folders_of(session), parts.catalog).plan
        except PlanFileError as error:
            raise click.BadParameter(str(error), param_hint="PLAN") from error
        message = ProposePlan(at=time.time(), actor=session.actor, epoch=epoch, plan=plan, author="human")
        run_id, accepted = wait_for(_propose(session, run, message, parts.catalog))
    if accepted is None:
        if session.as_json:
            say_document({"run": run_id, "revision": None, "added": []})
        else:
            say(f"{run_id}: the proposal waits for what is in flight, and nothing else begins meanwhile")
    elif session.as_json:
        say_document({"run": run_id, "revision": accepted.revision, "added": accepted.added})
    else:
        say(f"{run_id}: revision {accepted.revision}, with steps {', '.join(accepted.added) or 'none'}")


async def _propose(
    session: Session, reference: str, message: ProposePlan, catalog: Catalog
) -> tuple[str, PlanAccepted | None]:
    from ...actors.errors import ProposalRefusedError
    from ...actors.writer import write
    from ...domain.facts import PlanAccepted, ProposalRejected

    async with session.write() as journal:
        run_id = await find_run_async(journal, reference)
        facts = (await write(journal, run_id, message, catalog)).facts
    for fact, _ in facts:
        if isinstance(fact, ProposalRejected):
            raise ProposalRefusedError(run_id, fact.code, fact.problems)
    return run_id, next((fact for fact, _ in facts if isinstance(fact, PlanAccepted)), None)
