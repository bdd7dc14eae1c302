"""Stopping a program in good order: SIGTERM asks for it as Ctrl-C does, and a second one ends it at once."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

TERMINATED = 128 + signal.SIGTERM
"""Exit code of a program that was ended by SIGTERM."""


class TerminatedError(BaseException):
    """The program was asked to end, and has come to a good place to do so."""


def run_until_stopped(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine as ``asyncio.run`` does; on SIGINT or SIGTERM it is cancelled, to clean up.

    Raises:
        KeyboardInterrupt: after SIGINT.
        TerminatedError: after SIGTERM.
    """
    return asyncio.run(_stoppable(main))


async def _stoppable(main: Coroutine[Any, Any, T]) -> T:
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    terminated = False

    def stop() -> None:
        nonlocal terminated
        terminated = True
        loop.remove_signal_handler(signal.SIGTERM)
        if task is not None:
            task.cancel()

    loop.add_signal_handler(signal.SIGTERM, stop)
    try:
        return await main
    except asyncio.CancelledError:
        if terminated:
            raise TerminatedError from None
        raise
    finally:
        loop.remove_signal_handler(signal.SIGTERM)
