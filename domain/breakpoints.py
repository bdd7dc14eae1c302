"""Breakpoints: where a run is held for a person who looks into it."""

from __future__ import annotations

from fnmatch import fnmatchcase

import msgspec


class Breakpoints(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where a run is held.

    Args:
        steps: before these steps begin: ids, paths of steps in bodies (``E1/do.3/E2``), or globs of them:
            ``E1/*`` for all in the bodies of ``E1``, ``*`` for all there are.
        on_error: after a step failed, before anything follows from it.
    """

    steps: tuple[str, ...] = ()
    on_error: bool = False

    def hold(self, step: str) -> bool:
        """Whether the run is held before a step."""
        return any(fnmatchcase(step, glob) for glob in self.steps)
