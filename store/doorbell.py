"""Waking an event loop from a thread, as cheaply as it can be done.

``call_soon_threadsafe`` sends a byte through a pair of sockets and reads until there is no more: with one
append in flight that was a quarter of the time of a commit. A counter in the kernel (``eventfd``) costs one
small write and one small read; where there is none, a pipe does.
"""

from __future__ import annotations

import asyncio
import contextvars
import os
from collections.abc import Callable

_ENOUGH = 4096


class Doorbell:
    """Calls a function on the loop's thread after another thread rang; many rings may become one call.

    Args:
        loop: the loop.
        answer: what to call.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, answer: Callable[[], None]) -> None:
        self._loop = loop
        self._answer = answer
        if hasattr(os, "eventfd"):
            self._hear = self._press = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        else:
            self._hear, self._press = os.pipe()
            os.set_blocking(self._hear, False)
            os.set_blocking(self._press, False)
        # Readers are called in the context they were added in, and the caller's must not leak into it.
        contextvars.Context().run(loop.add_reader, self._hear, self._heard)

    def ring(self) -> None:
        """Wake the loop; from any thread."""
        try:
            os.write(self._press, b"\1\0\0\0\0\0\0\0")
        except BlockingIOError:
            return  # the pipe is full of rings that were not heard yet

    def _heard(self) -> None:
        os.read(self._hear, _ENOUGH)
        self._answer()

    def close(self) -> None:
        """Take the bell down; nobody may ring any more."""
        if not self._loop.is_closed():
            self._loop.remove_reader(self._hear)
        os.close(self._hear)
        if self._press != self._hear:
            os.close(self._press)
