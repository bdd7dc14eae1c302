"""The entry point: runs the command line and turns whatever comes of it into an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from .cli.output import note

USAGE = 2
INTERRUPTED = 130
BROKEN_PIPE = 141

_COMPLETE = "_MIDCOURSE_COMPLETE"
"""A shell that completes a command line sets it to what it wants to know."""


def main() -> None:
    """Run ``midcourse`` with the arguments of this process."""
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = run(sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read the results has seen enough; the interpreter must not trip over the rest at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = BROKEN_PIPE
    sys.exit(code)


def _open_closed_streams() -> None:
    """Put the null device where a standard stream is closed: the store must not get its number.

    A database file that is opened as number 1 or 2 would be written into by whatever prints; and what goes to
    a stream that is not there would go to another one.
    """
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free is this one
            setattr(sys, name, os.fdopen(number, mode, closefd=False))


def run(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code.

    Args:
        arguments: the arguments, without the program's name.

    Raises:
        BrokenPipeError: nobody reads the results any more.
    """
    from .cli.app import app

    if instruction := os.environ.get(_COMPLETE):
        from click.shell_completion import shell_complete

        return shell_complete(app, {}, "midcourse", _COMPLETE, instruction)
    try:
        with app.make_context("midcourse", list(arguments)) as context:
            return app.invoke(context) or 0
    except click.exceptions.Exit as exit_:
        return exit_.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        note("Interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        raise
    except Exception as error:
        if _wants_traceback(arguments):
            raise
        return _explain(error)


def _explain(error: Exception) -> int:
    from ..domain.errors import MidcourseError

    if not isinstance(error, MidcourseError):
        kind = type(error).__name__
        note(f"Error: {kind}: {error}. This is a fault of the program: --debug shows where")
        return 1
    note(f"Error: {error}")
    from ..store.errors import BadStoreUrlError
    from .errors import ConfigError

    return USAGE if isinstance(error, (BadStoreUrlError, ConfigError)) else 1


def _wants_traceback(arguments: Sequence[str]) -> bool:
    return bool(os.environ.get("MIDCOURSE_DEBUG")) or "--debug" in arguments
