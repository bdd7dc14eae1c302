"""The command line as a whole: global options and the list of commands."""

from __future__ import annotations

import click

from .lazy import Lazy, LazyGroup
from .session import DEFAULT_STORE, STORE_VARIABLE, Session

COMMANDS = {
    "demo": Lazy("demo:demo", "Deliver order 42, whatever happens: from start to audit."),
    "runs": Lazy("runs:runs", "List, show, watch, resume and steer runs."),
    "plan": Lazy("plan:plan", "Write, check and run plans as files."),
    "audit": Lazy("audit:audit", "Read what happened, and prove that nothing was altered."),
    "tools": Lazy("tools:tools", "Show the tools of the configuration."),
}


def _print_version(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value:
        from importlib.metadata import version

        click.echo(f"midcourse {version('midcourse')}")
        ctx.exit()


@click.group(cls=LazyGroup, commands=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--store",
    metavar="URL",
    help=f"The store. Default: {STORE_VARIABLE}, then `store` in the configuration, then {DEFAULT_STORE}.",
)
@click.option(
    "--config", metavar="FILE", help="The configuration. Default: midcourse.toml here, if there is one."
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print JSON: one document, or a line for each item of a stream."
)
@click.option("--debug", is_flag=True, expose_value=False, help="Show where in the program an error arose.")
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_print_version,
    help="Print the version.",
)
@click.pass_context
def app(ctx: click.Context, *, store: str | None, config: str | None, as_json: bool) -> None:
    """Run plans with real side effects: change the plan, keep the facts.

    Results go to standard output, everything else to standard error.

    Exit codes: 0 done, 1 failed, 2 wrong usage, 5 a run waits for a person, 130 interrupted.
    """
    ctx.obj = Session(store, config, as_json=as_json)
