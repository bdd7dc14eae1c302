"""``midcourse demo``."""

from __future__ import annotations

from pathlib import Path

import click

from .options import json_option
from .output import program
from .session import Session, pass_session


@click.command("demo")
@click.option(
    "--keep",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Keep the store, the world and a configuration in this folder.",
)
@click.option("--planner", type=click.Choice(["goap", "function"]), default="goap", show_default=True)
@click.option(
    "--variant",
    type=click.Choice(["all", "ship", "no_route", "address_change"]),
    default="all",
    show_default=True,
    help="Sea freight instead of express; no route at all; an address that changes meanwhile.",
)
@click.option(
    "--pace",
    type=click.FloatRange(0),
    metavar="SECONDS",
    help="How long each step takes. Default: 0.15 on a terminal, else 0.",
)
@json_option
@pass_session
def demo(session: Session, /, *, keep: Path | None, planner: str, variant: str, pace: float | None) -> int:
    """Deliver order 42, whatever happens: plans, facts as they land, undoing, and the audit after it.

    Works in a folder of its own, temporary unless kept. What is interrupted in a kept folder is carried on by
    `midcourse --config DIR/midcourse.toml runs resume`. The same demo again, with the same --keep, also
    delivers the orders that were not begun.
    """
    from ...examples.order.demo import run

    return run(
        keep=keep,
        planner=planner,
        variant=variant,
        pace_s=pace,
        as_json=session.as_json,
        program=program(),
    )
