"""``midcourse runs propose``: a person's plan for what is left of a run."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .options import RUN_HELP, json_option, run_argument
from .output import say, say_document
from .session import Session, find_run_async, pass_session, wait_for

if TYPE_CHECKING:
    from ...domain.facts import PlanAccepted
    from ...domain.messages import ProposePlan
    from ...domain.tools import Catalog


@click.command("propose", epilog=RUN_HELP)
@run_argument
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
@click.option("--epoch", type=click.IntRange(1), required=True, help="The epoch of the run it was made from.")
@json_option
@pass_session
def propose(session: Session, /, *, run: str, file: Path, epoch: int) -> None:
    """Replace what is left of a plan by that in FILE.

    FILE holds a JSON object: {"steps": [{"tool_name": …, "input": {…}}], "undo": [operations to take back],
    "reason": …}. It is checked against the tools of the configuration, and refused if more has happened since
    --epoch, which `midcourse runs show` prints, than outcomes of steps that were in flight then. While steps
    are in flight it waits for them, and no other one begins.
    """
    import msgspec

    from ...domain.messages import ProposePlan
    from ...domain.plan import Plan
    from ..parts import load_parts

    try:
        plan = msgspec.json.decode(file.read_bytes(), type=Plan)
    except OSError as error:
        raise click.BadParameter(f"{file} cannot be read: {error.strerror}", param_hint="FILE") from error
    except (msgspec.DecodeError, UnicodeError) as error:
        raise click.BadParameter(f"{file} holds no plan: {error}", param_hint="FILE") from error
    message = ProposePlan(at=time.time(), actor=session.actor, epoch=epoch, plan=plan, author="human")
    with load_parts(session.config) as parts:
        if not parts.tools:
            raise click.UsageError("a plan is checked against the tools of the configuration, which has none")
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
