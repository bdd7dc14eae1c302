"""What can go wrong at the edges.

::

    MidcourseError
    └── DaemonError                  the command line, the daemon
        ├── ConfigError              the configuration file, or what it names, cannot be used
        ├── NoSuchRunError           a run was named that the store does not have
        ├── AmbiguousRunError        a beginning of an id that several runs share
        ├── PlanFileError            a plan file cannot be found, read, changed or written
        └── PartsMissingError        runs need tools or planners that are not configured
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..domain.errors import MidcourseError

_MOST_NAMED = 5


class DaemonError(MidcourseError):
    """The base of what the edges raise."""


class ConfigError(DaemonError):
    """The configuration cannot be used.

    Args:
        file: the configuration file.
        problems: every problem found, one sentence each, beginning with the key it is about.
    """

    def __init__(self, file: str, problems: Sequence[str]) -> None:
        self.file, self.problems = file, tuple(problems)
        listed = self.problems[0] if len(self.problems) == 1 else "\n  ".join(("", *self.problems))
        super().__init__(f"{file}: {listed}")


class NoSuchRunError(DaemonError):
    """The store has no such run."""

    def __init__(self, store: str, reference: str) -> None:
        self.reference = reference
        what = f"run with the key {reference[4:]!r}" if reference.startswith("key:") else f"run {reference!r}"
        super().__init__(f"{store} has no {what}; `midcourse runs list` shows the runs it has")


class AmbiguousRunError(DaemonError):
    """Several runs have ids that begin alike.

    Args:
        reference: what was given.
        candidates: ids that begin with it, newest first.
        more: whether there are others.
    """

    def __init__(self, reference: str, candidates: Sequence[str], *, more: bool) -> None:
        self.reference, self.candidates = reference, tuple(candidates)
        others = ", …" if more else ""
        super().__init__(
            f"run {reference!r} could be any of {', '.join(candidates)}{others}; write more of the id"
        )


class PlanFileError(DaemonError):
    """A plan file cannot be found, read, changed or written."""


class PartsMissingError(DaemonError):
    """Runs need tools or planners that are not configured.

    Args:
        missing: names of the parts by run.
        config: the configuration file in use, empty if there is none.
    """

    def __init__(self, missing: Mapping[str, Sequence[str]], config: str) -> None:
        self.missing = missing
        named = list(missing.items())[:_MOST_NAMED]
        runs = "; ".join(f"run {run} needs {', '.join(parts)}" for run, parts in named)
        runs += f"; and {len(missing) - len(named)} other runs" if len(missing) > len(named) else ""
        where = f"to {config}" if config else "to a file midcourse.toml here, or name one with --config"
        super().__init__(
            f"nothing was resumed: {runs}. Add the Python modules that have them {where}: "
            'tools = ["package.module"] and, under [planners], name = "package.module:planner"; '
            "or name the runs to resume"
        )
