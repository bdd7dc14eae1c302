"""Options and arguments that several commands take."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from .session import Session

F = TypeVar("F", bound=Callable[..., Any])


def _set_json(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value:
        ctx.ensure_object(Session).as_json = True


def json_option(function: F) -> F:
    """``--json`` behind the command too, where people write it."""
    return click.option("--json", is_flag=True, expose_value=False, callback=_set_json, help="Print JSON.")(
        function
    )


def run_argument(function: F) -> F:
    """The run a command is about."""
    return click.argument("run", metavar="RUN")(function)


def tags(_ctx: click.Context, _param: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """Read ``NAME=VALUE`` options."""
    for value in values:
        if "=" not in value:
            raise click.BadParameter(f"{value!r} is not name=value")
    return dict(value.split("=", 1) for value in values)


RUN_HELP = (
    "RUN is the id of a run, an unambiguous beginning of one, or key:NAME for the key it was started with."
)


class _TwiceError(Exception):
    """A key of an object is there twice: one of the values would be dropped in silence."""


def _keys_once(pairs: list[tuple[str, Any]]) -> None:
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            raise _TwiceError(key)
        seen.add(key)


class JsonValue(click.ParamType[Any]):
    """A JSON value: as given, from a file (``@FILE``), or from standard input (``-``)."""

    name = "json"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the value, decoded."""
        import json

        import msgspec

        try:
            text = self._text(value)
            decoded = msgspec.json.decode(text)
            json.loads(text, object_pairs_hook=_keys_once)  # which the other one does not look at
            return decoded
        except _TwiceError as error:
            self.fail(f"the key {str(error)!r} is there twice; write it once", param, ctx)
        except OSError as error:
            self.fail(f"{value[1:]} cannot be read: {error.strerror}", param, ctx)
        except (msgspec.DecodeError, UnicodeError) as error:
            text = value if len(value) <= 80 else value[:79] + "…"  # noqa: PLR2004 - a line's width
            self.fail(
                f"{text!r} is not JSON: {error}. Texts need quotes of their own: '\"text\"'", param, ctx
            )

    def _text(self, value: str) -> bytes:
        if value == "-":
            return sys.stdin.buffer.read()
        return Path(value[1:]).read_bytes() if value.startswith("@") else value.encode()
