"""From the moves of a search to the proposal of a planner."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ..plan import Plan, Step
from ..tools import ToolSpec
from .beliefs import standing
from .explain import described
from .inputs import sources_of, with_step_ids
from .problem import RESULT, Action, Move, Situation


def proposal(situation: Situation, moves: Sequence[tuple[int, Move]], *, wanted: int, reason: str) -> Plan:
    """Return the plan that makes these moves.

    Args:
        situation: what was searched.
        moves: the moves, each with the bits known before it.
        wanted: bits that mattered; the values of their conditions are kept with the plan.
        reason: why this plan.
    """
    undo = tuple(move.operation for _, move in moves if move.action is None)
    undo_tools = {operation.operation: operation.undo for operation in situation.standing}
    writer = _Writer(situation, undo, wanted)
    steps = [writer.step(bits, move.action) for bits, move in moves if move.action is not None]
    tools = [*(undo_tools[key] for key in undo), *(step.tool_name for step in steps)]
    return Plan(
        tuple(steps),
        undo=undo,
        reason=reason,
        cost=math.fsum(situation.costs[tool] for tool in tools),
        conditions=_values(situation, wanted),
    )


def _values(situation: Situation, wanted: int) -> Mapping[str, bool | None]:
    names = dict(situation.literals.items(situation.literals.both(wanted)))
    return {
        name: situation.literals.value(name, situation.now) for name in names if not name.startswith(RESULT)
    }


class _Writer:
    """Writes steps one after the other and remembers which step ran which tool last."""

    def __init__(self, situation: Situation, undo: Sequence[str], wanted: int) -> None:
        self._situation = situation
        self._wanted = wanted
        self._next_id = situation.context.next_id
        kept = [entry for entry in standing(situation.context) if entry.operation not in undo]
        self._standing = frozenset(entry.tool for entry in kept)
        self._held: int | None = None
        self._latest: dict[str, str] = {}
        for entry in kept:
            self._note(entry.tool, entry.step)

    def step(self, bits: int, action: Action) -> Step:
        """Return the step that calls a tool when ``bits`` are known."""
        if self._held is None:
            self._held = bits
        spec, brought = action.spec, action.add & self._wanted & ~bits
        step = Step(
            id=f"E{self._next_id}",
            tool_name=spec.name,
            input=with_step_ids(spec.input, self._ids(spec)),
            reasoning=self._reasoning(brought),
            again=self._is_wanted_once_more(spec, brought),
        )
        self._next_id += 1
        self._note(spec.name, step.id)
        return step

    def _reasoning(self, brought: int) -> str:
        values = dict(self._situation.literals.items(brought))
        conditions = {name: value for name, value in values.items() if not name.startswith(RESULT)}
        return f"brings about: {described(conditions)}" if conditions else "a later step uses its result"

    def _is_wanted_once_more(self, spec: ToolSpec, brought: int) -> bool:
        """Whether the tool's standing effect was used up: something later made what it had set untrue.

        Where only a function says that a condition does not hold, the effect may well still be there: then
        the engine is left to find that the operation is committed already.
        """
        if spec.effect == "read" or spec.name not in self._standing:
            return False
        return bool(brought & (~self._situation.computed | (self._held or 0)))

    def _ids(self, spec: ToolSpec) -> dict[str, str]:
        latest_first = list(reversed(self._latest))
        ids: dict[str, str] = {}
        for head in sources_of(spec, self._situation.sources):
            tools = self._situation.sources[head]
            ids[head] = self._latest[next(tool for tool in latest_first if tool in tools)]
        return ids

    def _note(self, tool: str, step: str) -> None:
        self._latest.pop(tool, None)
        self._latest[tool] = step
