"""The modules of the scenarios are imported once, before any test calls one."""

from __future__ import annotations

from midcourse.actors.testing.crash import preload

from . import replanning, running, undoing

preload(running.__name__, replanning.__name__, undoing.__name__, "midcourse.actors.planners.goap")
