"""Bodies in flight: the steps that a control step, or a plan called by a step, runs inside itself.

A step in a body has a path in the place of an id: ``E1/do.3/E2`` is step ``E2`` in the body of item 3 of the
control step ``E1``. What it sees is its frame's: its own item, the steps of the same body, and what the step
it belongs to sees.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from .facts import ExitReached, Failure

if TYPE_CHECKING:
    from .run import Run


class Frame(msgspec.Struct, gc=False):
    """A body that was begun.

    Args:
        path: where its steps are.
        owner: the step that it belongs to.
        index: the position of its item.
        steps: the paths of its steps, the last one last.
        local: the roots that exist in it: ``item``, ``index``, ``accumulator``; of a plan, ``input``.
        is_plan: it is a plan of its own, which sees nothing of what is around it.
        left: how many of its steps are not done.
        is_closed: nothing of it is begun any more: a step of it failed, or its plan has reached an exit.
    """

    path: str
    owner: str
    index: int
    steps: tuple[str, ...]
    local: Mapping[str, Any]
    is_plan: bool
    left: int
    is_closed: bool = False

    def holds(self, step: str) -> bool:
        """Whether a step is in it, or in a body inside of it."""
        return step == self.path or step.startswith(f"{self.path}/")


class ControlRun(msgspec.Struct, gc=False):
    """A control step that runs bodies.

    Args:
        tool: which.
        items: what its bodies are run for; one ``None`` for a branch or a plan.
        concurrency: how many bodies at a time.
        control: its input, as it was read.
        following: the index of the next body to begin.
        results: results of bodies by index.
        failures: failures of bodies by index.
        open: how many bodies are not over.
        said: what its result says beside theirs.
        exit: where the plan that it runs has ended before its last step.
    """

    tool: str
    items: tuple[Any, ...]
    concurrency: int
    control: Any
    following: int = 0
    results: dict[int, Any] = msgspec.field(default_factory=dict)
    failures: dict[int, Failure] = msgspec.field(default_factory=dict)
    open: int = 0
    said: Mapping[str, Any] = msgspec.field(default_factory=dict)
    exit: ExitReached | None = None


def frames_around(run: Run, step: str) -> Iterator[Frame]:
    """Return the body that a step is in, the body around that one, and so on."""
    frame = run.frame_of.get(step)
    while frame is not None:
        yield frame
        frame = run.frame_of.get(frame.owner)


def is_closed(run: Run, step: str) -> bool:
    """Whether a step is in a body, however deep, of which nothing is begun any more."""
    return any(frame.is_closed for frame in frames_around(run, step))


def plan_around(run: Run, step: str) -> Frame | None:
    """Return the plan that a step is in, where that is one called by a step."""
    return next((frame for frame in frames_around(run, step) if frame.is_plan), None)


class FrameScope(Mapping[str, Any]):
    """What the templates of a step in a body see.

    Args:
        run: the run.
        frame: the frame of the step.
        local: roots that exist only for this look, such as the ``item`` of a filter.
    """

    __slots__ = ("_frame", "_local", "_run")

    def __init__(self, run: Run, frame: Frame | None, local: Mapping[str, Any] | None = None) -> None:
        self._run = run
        self._frame = frame
        self._local = local or {}

    def __getitem__(self, root: str) -> Any:
        if root in self._local:
            return self._local[root]
        run, frame = self._run, self._frame
        while frame is not None:
            if root in frame.local:
                return frame.local[root]
            path = f"{frame.path}/{root}"
            if path in run.results:
                return run.results[path]
            if frame.is_plan:
                break
            frame = run.frame_of.get(frame.owner)
        if root == "board":
            return run.board
        if frame is not None:
            raise KeyError(root)
        return run.goal.inputs if root == "input" else run.results[root]

    def __iter__(self) -> Iterator[str]:
        seen = {*self._local}
        run, frame = self._run, self._frame
        while frame is not None:
            seen.update(frame.local)
            prefix = f"{frame.path}/"
            seen.update(step.removeprefix(prefix) for step in frame.steps if step in run.results)
            if frame.is_plan:
                break
            frame = run.frame_of.get(frame.owner)
        if frame is None:
            seen.update(step for step in run.results if "/" not in step)
        yield from seen

    def __len__(self) -> int:
        return sum(1 for _ in self)
