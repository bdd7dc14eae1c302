"""What the templates of a step see."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .frames import FrameScope
from .run import Run
from .templates import compile_value, render
from .templates.sections import as_text


class Scope(Mapping[str, Any]):
    """What a step of the plan itself sees: ``input``, ``board``, and the results of done steps by id."""

    __slots__ = ("_run",)

    def __init__(self, run: Run) -> None:
        self._run = run

    def __getitem__(self, root: str) -> Any:
        if root == "input":
            return self._run.goal.inputs
        if root == "board":
            return self._run.board
        return self._run.results[root]

    def __iter__(self) -> Iterator[str]:
        yield from (step for step in self._run.results if "/" not in step)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def scope_of(run: Run, step: str, local: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
    """Return what a step sees.

    Args:
        run: the run.
        step: its id, or its path in a body.
        local: roots that exist only for this look.
    """
    frame = run.frame_of.get(step) if run.frame_of else None
    return Scope(run) if frame is None and not local else FrameScope(run, frame, local)


def render_in(run: Run, step: str, value: Any) -> Any:
    """Return a value with everything put in that its templates read, as a step sees it.

    Raises:
        TemplateError: they cannot be rendered over what the run has.
    """
    compiled = compile_value(value)
    return value if compiled is value else render(compiled, scope_of(run, step))


def render_text_in(run: Run, step: str, text: str) -> str:
    """Return a text as a step sees it, also where it is one tag and the tag becomes another value."""
    return as_text(render_in(run, step, text), text)
