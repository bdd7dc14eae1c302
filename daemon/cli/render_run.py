"""A run for people: its plan, revisions, ledger, and what waits for somebody."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...domain.children import ChildView
from ...domain.planning import LedgerEntry
from ...domain.step_view import StepView
from ...domain.summary import FINAL
from ...domain.view import RunState, UndoView, view
from ..history import History, Rejection, Revision
from .moments import show_moment
from .output import one_line, paint, short_json
from .render_attention import approval_lines, attention_lines
from .render_facts import bare, human, steps_text
from .render_table import Cell, table

MARKS = {
    "done": ("✓", "green"),
    "undone": ("↶", "dim"),
    "undoing": ("↶", "yellow"),
    "running": ("▶", "cyan"),
    "backoff": ("↻", "yellow"),
    "unknown": ("?", "red"),
    "failed": ("✗", "red"),
    "approval": ("!", "red"),
    "review": ("?", "yellow"),
    "held": ("‖", "red"),
    "waiting": ("◷", "yellow"),
    "injected": ("✎", "yellow"),
    "skipped": ("»", "dim"),
    "ready": ("○", ""),
    "pending": ("·", ""),
    "not run": ("–", "dim"),
}
_STATUS_STYLES = {
    "completed": "green",
    "failed": "red",
    "cancelled": "yellow",
    "attention": "red",
    "parked": "red",
    "compensating": "yellow",
    "running": "cyan",
    "planning": "cyan",
}
_REASON = 100
_WHY = 400


def status_cell(status: str) -> Cell:
    """Return a status in its colour."""
    return Cell(status, _STATUS_STYLES.get(status, ""))


def show_run(history: History, *, width: int = 0) -> Iterator[str]:
    """Yield the lines of a run, with tables that fit a width in columns (0: any)."""
    state = view(history.run)
    yield from _head(state, history, width)
    yield from attention_lines(state.id, state.attention)
    yield from _section("Waits for approval", approval_lines(state.approvals))
    yield from _section("Requirements", requirement_lines(state, width=width))
    yield from _section(f"Plan, revision {state.revision}", plan_lines(state, width=width))
    yield from _section("Revisions", revision_lines(history.revisions, history.rejections))
    yield from _section("Ledger", ledger_lines(state.ledger, width=width))
    yield from _section("Undos", undo_lines(state.undos, width=width))
    yield from _section("Child runs", child_lines(state.children, width=width))
    board = [f"  {one_line(name)} = {short_json(value, _REASON)}" for name, value in state.board.items()]
    yield from _section("Board", board)


def _section(title: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield ""
        yield paint(title, "bold")
        yield from lines


def _head(state: RunState, history: History, width: int) -> Iterator[str]:
    status = paint(*status_cell(state.status))
    yield f"{paint(f'Run {state.id}', 'bold')}  {status}  version {state.version}, epoch {state.epoch}"
    fields = {
        "goal": one_line(state.goal.text),
        "inputs": short_json(state.goal.inputs, 200) if state.goal.inputs else "",
        "parent": f"{state.parent.run}, step {state.parent.step}" if state.parent else "",
        "lineage": state.lineage if state.parent else "",
        "planner": state.planner,
        "priority": state.priority if state.priority != "normal" else "",
        "revision": f"{state.revision}, token {state.revision_token}",
        "key": one_line(state.key),
        "tags": one_line(", ".join(f"{name}={value}" for name, value in state.tags.items())),
        "started": show_moment(history.started_at),
        "last fact": show_moment(history.updated_at),
        "paused": one_line(state.paused),
        "stuck": one_line(f"{state.stuck}; {state.helper} is asked") if state.helper else "",
        "wakes up": show_moment(state.wake_at) if state.wake_at is not None else "",
        "result": short_json(state.result, 200) if state.result is not None else "",
        "failure": one_line(f"{state.failure.kind}: {state.failure.message}") if state.failure else "",
    }
    rows: list[list[str | Cell]] = [[Cell(name, "dim"), text] for name, text in fields.items() if text]
    yield from table(rows, indent="  ", width=width)


def requirement_lines(state: RunState, *, width: int = 0) -> list[str]:
    """Return what the run has to show, one requirement a line, with what is missing."""
    why = {gap.requirement: gap.why for gap in state.gaps}
    rows: list[list[str | Cell]] = []
    for each in state.goal.requirements:
        mark, style = ("·", "") if state.status != "completed" else MARKS["done"]
        if each.id in why:
            mark, style = MARKS["failed"]
        kind, evidence = next(iter(each.evidence.items()))
        said = f"{one_line(each.text, _REASON)} ({kind}: {one_line(evidence, _REASON)})"
        rows.append([Cell(mark, style), each.id, said, Cell(human(why.get(each.id, ""), _WHY), style)])
    return table(rows, indent="  ", width=width)


def child_lines(children: Sequence[ChildView], *, width: int = 0) -> list[str]:
    """Return the child runs of a run, one a line."""
    rows: list[list[str | Cell]] = [
        [
            each.run,
            each.step,
            status_cell(each.state),
            one_line(each.goal, _REASON),
            human(each.failure, _WHY),
        ]
        for each in children
    ]
    return table(rows, indent="  ", width=width)


def plan_lines(state: RunState, *, width: int = 0) -> list[str]:
    """Return the positions of the present plan, one a line, wrapped at a width in columns (0: not)."""
    effects = {entry.operation: entry.state for entry in state.ledger}
    rows: list[list[str | Cell]] = []
    for position, step in enumerate(state.steps, 1):
        now = _step_state(state, step, effects.get(step.operation, "committed"))
        mark, style = MARKS[now]
        attempt = f", attempt {step.attempt}" if step.attempt > 1 else ""
        rows.append(
            [
                Cell(mark, style),
                str(position),
                step.id,
                bare(step.tool),
                Cell(now + attempt, style),
                short_json(step.input, _REASON),
            ]
        )
    return table(rows, indent="  ", width=width)


def _step_state(state: RunState, step: StepView, effect: str) -> str:
    """Return where a step stands; what became of its effect since counts too."""
    if step.state == "done":
        return "done" if effect == "committed" else effect
    ended = state.status in FINAL or state.failure is not None
    return "not run" if ended and step.state in ("pending", "ready") else step.state


def revision_lines(revisions: Sequence[Revision], rejections: Sequence[Rejection]) -> list[str]:
    """Return accepted plans with what they changed, and refused ones in between, oldest first."""
    blocks = [(each.version, _revision(each)) for each in revisions]
    accepted = [each.version for each in revisions]
    blocks += [(alike[0].version, _rejected(alike)) for alike in _folded(rejections, accepted)]
    return [line for _, lines in sorted(blocks, key=lambda block: block[0]) for line in lines]


def _revision(revision: Revision) -> list[str]:
    cost = "" if revision.cost is None else f", cost {revision.cost:g}"
    title = f"  {revision.revision}  by {revision.author} from epoch {revision.epoch}"
    lines = [f"{title}, at version {revision.version}, stability {revision.stability}{cost}"]
    asked = revision.asked or f"proposed by {revision.actor}"
    lines.append(f"       because {human(asked, _WHY)}")
    if revision.reason and revision.reason not in revision.asked:
        lines.append(f"       its plan: {human(revision.reason, _WHY)}")
    failed = tuple(step for step in revision.superseded if step.id in revision.failed)
    unwanted = tuple(step for step in revision.superseded if step.id not in revision.failed)
    for sign, style, name, steps in (
        ("=", "dim", "kept", revision.kept),
        ("+", "green", "added", revision.added),
        ("-", "red", "failed", failed),
        ("-", "red", "superseded", unwanted),
    ):
        if steps:
            lines.append(paint(f"     {sign} {name} {steps_text(steps)}", style))
    lines += [paint(f"     ≈ {new} is {old} as it was", "dim") for old, new in revision.same]
    lines += [paint(f"     ↶ undone {operation}", "yellow") for operation in revision.undone]
    return lines


def _folded(rejections: Sequence[Rejection], accepted: Sequence[int]) -> list[list[Rejection]]:
    """Return rejections in groups: in a row, for the same reason, with no accepted plan between them."""
    groups: dict[tuple[int, str, tuple[str, ...]], list[Rejection]] = {}
    for each in rejections:
        revision = sum(version < each.version for version in accepted)
        groups.setdefault((revision, each.code, each.problems), []).append(each)
    return list(groups.values())


def _rejected(alike: Sequence[Rejection]) -> list[str]:
    first, last = alike[0], alike[-1]
    if len(alike) == 1:
        title = f"proposal from epoch {first.epoch} rejected as {first.code}, at version {first.version}"
    else:
        versions = f"versions {first.version} to {last.version}"
        title = f"proposals rejected {len(alike)} times as {first.code}, at {versions}"
    return [paint(f"  ✗  {title}", "red"), *(f"       {human(problem)}" for problem in first.problems)]


def ledger_lines(ledger: Sequence[LedgerEntry], *, width: int = 0) -> list[str]:
    """Return the committed operations, one a line, which is fitted to a width in columns (0: not)."""
    rows: list[list[str | Cell]] = []
    for entry in ledger:
        style = {"committed": "green", "undoing": "yellow"}.get(entry.state, "dim")
        made = ", ".join(f"{each.kind} {each.id}" for each in entry.receipt.resources)
        rows.append(
            [
                Cell(entry.state, style),
                f"v{entry.version}",
                entry.step,
                entry.effect,
                entry.operation,
                one_line(made) or short_json(entry.receipt.result),
            ]
        )
    return table(rows, indent="  ", width=width, optional=(1, 3))


def undo_lines(undos: Sequence[UndoView], *, width: int = 0) -> list[str]:
    """Return the compensations, one a line, which is wrapped at a width in columns (0: not)."""
    rows = [
        [
            undo.state,
            f"({undo.cause})",
            bare(undo.tool),
            undo.operation,
            one_line(undo.failure.message, _REASON) if undo.failure else "",
        ]
        for undo in undos
    ]
    return table(rows, indent="  ", width=width)
