"""What an executor allows."""

from __future__ import annotations

import msgspec

from ..domain.authority import ToolLimit


class ExecutorLimits(msgspec.Struct, frozen=True, kw_only=True):
    """What an executor allows.

    Args:
        max_attempts_at_once: coroutines of tools that run at the same time; further ones wait.
        max_threads: plain functions of tools that run at the same time. As many again may be left behind in
            calls that were given up and do not return.
        cancel_timeout_s: seconds an attempt that was asked to stop has before it is given up.
        probe_timeout_s: seconds a probe may take.
        drain_s: seconds that attempts have to finish when the executor stops.
        close_grace_s: seconds that they have after that, to end when they are cancelled.
        tools: how many attempts of which tools go on at once, and how fast they begin.
    """

    max_attempts_at_once: int = 1_000
    max_threads: int = 8
    cancel_timeout_s: float = 5.0
    probe_timeout_s: float = 30.0
    drain_s: float = 10.0
    close_grace_s: float = 2.0
    tools: tuple[ToolLimit, ...] = ()
