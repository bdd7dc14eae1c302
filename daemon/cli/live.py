"""A run on a terminal, redrawn as its facts land."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from types import TracebackType

from rich.console import Group
from rich.live import Live
from rich.text import Text

from ...domain.view import view
from ...store import Record
from ..history import History
from .output import one_line
from .render_attention import attention_lines, this_program
from .render_facts import short_fact_line
from .render_run import plan_lines, revision_lines, status_cell

_REFRESH_HZ = 4
_LAST = 10
"""Facts shown below the plan."""


class LiveRun:
    """The view of one run; entered, it is a function to call with each record.

    Args:
        run_id: the run.
    """

    def __init__(self, run_id: str) -> None:
        self._run_id = run_id
        self._called = this_program()  # here, as pictures are made in a thread that knows of no command
        self._last: deque[str] = deque(maxlen=_LAST)
        self._history: History | None = None
        self._live = Live(
            get_renderable=self._picture, refresh_per_second=_REFRESH_HZ, vertical_overflow="crop"
        )

    def __enter__(self) -> Callable[[History, Record], None]:
        self._live.start()
        return self._show

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def _show(self, history: History, record: Record) -> None:
        self._history = history
        self._last.append(short_fact_line(record))

    def _picture(self) -> Group:
        if self._history is None:
            return Group(Text(f"Run {self._run_id}"))
        state = view(self._history.run)
        status, style = status_cell(state.status)
        head = Text.assemble(
            (f"Run {state.id}", "bold"), "  ", (status, style), f"  revision {state.revision}"
        )
        waits = attention_lines(state.id, state.attention, called=self._called)
        latest = self._history.revisions[-1:] if state.revision > 1 else []
        changes = revision_lines(latest, [])
        lines = [f"  {one_line(state.goal.text)}", *changes, "", *plan_lines(state), *waits, "", *self._last]
        return Group(head, *(Text.from_ansi(line, no_wrap=True, overflow="ellipsis") for line in lines))
