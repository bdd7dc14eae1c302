"""The planner against an exhaustive search that shares no code with it."""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from midcourse.domain.goap import Goap
from midcourse.domain.goap.costs import LENGTH_BITS
from midcourse.domain.goap.problem import Problem, Situation
from midcourse.domain.plan import GoalReached, NoPlan, Plan
from midcourse.domain.planning import LedgerEntry, PlanningContext
from midcourse.domain.tools import ToolSpec

CONDITIONS = ["a", "b", "c", "d", "e"]
LASTING = "nothing_lasts"
Values = dict[str, bool | None]

some_values = st.dictionaries(st.sampled_from(CONDITIONS), st.booleans(), max_size=3)
some_tool = st.tuples(some_values, some_values, st.sampled_from([0.0, 0.5, 1.0, 2.0, 7.0]), st.booleans())
some_goal = st.dictionaries(st.sampled_from([*CONDITIONS, LASTING]), st.booleans(), min_size=1, max_size=3)
some_entry = st.tuples(st.integers(0, 6), st.sampled_from(["committed", "committed", "undone"]))
some_board = st.dictionaries(st.sampled_from(CONDITIONS), st.booleans(), max_size=2)


def nothing_lasts(context: PlanningContext) -> bool:
    return not any(entry.state == "committed" for entry in context.ledger)


@st.composite
def problems(
    draw: Any,
) -> tuple[list[ToolSpec], list[tuple[str, str, str]], dict[str, bool], dict[str, bool]]:
    tools: list[ToolSpec] = []
    for number, (pre, post, cost, reversible) in enumerate(draw(st.lists(some_tool, min_size=1, max_size=6))):
        name = f"user__t{number}"
        if reversible:
            tools.append(
                ToolSpec(f"user__u{number}", idempotent=True, cost=draw(st.sampled_from([0.0, 1.0, 3.0])))
            )
        effect, undo = ("reversible", f"user__u{number}") if reversible else ("irreversible", "")
        tools.append(ToolSpec(name, pre=pre, post=post, cost=cost, effect=effect, undo=undo))  # type: ignore[arg-type]
    callable_tools = [tool for tool in tools if tool.name.startswith("user__t")]
    entries = [
        (chosen.name, chosen.effect, state)
        for number, state in draw(st.lists(some_entry, max_size=4))
        for chosen in [callable_tools[number % len(callable_tools)]]
    ]
    return tools, entries, draw(some_board), draw(some_goal)


# -------------------------------------------------------------------------------------- the exhaustive search


def initial(context: PlanningContext, undone: frozenset[str]) -> Values:
    steps = [tool for tool in context.tools if tool.name.startswith("user__t")]
    values: Values = {}
    stand = [e for e in context.ledger if e.state == "committed" and e.operation not in undone]
    for name in CONDITIONS:
        settable = any(tool.post.get(name) is True for tool in steps)
        values[name] = context.board.get(name, False if settable else None)
    for entry in stand:
        spec = context.tools.get(entry.tool)
        assert spec is not None
        values.update(spec.post)
    return {**values, LASTING: not stand}


def openings(context: PlanningContext) -> Iterator[tuple[float, int, frozenset[str]]]:
    undoable = [e for e in context.ledger if e.state == "committed" and e.effect == "reversible"]
    for count in range(len(undoable) + 1):
        for chosen in combinations(undoable, count):
            yield (
                sum(cost_of_undo(context, entry) for entry in chosen),
                count,
                frozenset(e.operation for e in chosen),
            )


def cost_of_undo(context: PlanningContext, entry: LedgerEntry) -> float:
    spec = context.tools.get(entry.tool)
    assert spec is not None
    undo = context.tools.get(spec.undo)
    assert undo is not None
    return undo.cost


def holds(wanted: Mapping[str, bool], values: Mapping[str, bool | None]) -> bool:
    return all(values[name] is value for name, value in wanted.items())


def cheapest(context: PlanningContext, goal: Mapping[str, bool]) -> tuple[float, int] | None:
    """Cost and length of the best plan: relax all states until nothing gets better."""
    best: dict[tuple[tuple[str, bool | None], ...], tuple[float, int]] = {}
    todo: list[tuple[Values, float, int]] = []
    for cost, count, undone in openings(context):
        todo.append((initial(context, undone), cost, count))
    while todo:
        values, cost, length = todo.pop()
        state = tuple(sorted(values.items()))
        if state in best and best[state] <= (cost, length):
            continue
        best[state] = (cost, length)
        todo.extend(
            ({**values, **tool.post}, cost + tool.cost, length + 1)
            for tool in context.tools
            if tool.name.startswith("user__t") and holds(tool.pre, values)
        )
    return min((price for state, price in best.items() if holds(goal, dict(state))), default=None)


def context_for(
    context_of: Any, entry_of: Any, tools: list[ToolSpec], entries: list[tuple[str, str, str]], board: Any
) -> PlanningContext:
    ledger = tuple(
        entry_of(f"E{number}", name, effect=effect, state=state)
        for number, (name, effect, state) in enumerate(entries)
    )
    context: PlanningContext = context_of(tools, ledger=ledger, board=board)
    return context


def planner(goal: Mapping[str, bool]) -> Goap:
    return Goap([goal], conditions={LASTING: nothing_lasts})


@settings(max_examples=400, deadline=None)
@given(problem=problems())
def test_plans_are_valid_and_optimal(context_of: Any, entry_of: Any, problem: Any) -> None:
    tools, entries, board, goal = problem
    context = context_for(context_of, entry_of, tools, entries, board)
    answer = planner(goal).plan(context)
    expected = cheapest(context, goal)
    if isinstance(answer, NoPlan):
        assert expected is None
        assert "cannot be reached" in answer.reason
        return
    if isinstance(answer, GoalReached):
        assert expected == (0.0, 0)
        return
    assert expected == (answer.cost, len(answer.steps) + len(answer.undo))
    order = [entry.operation for entry in context.ledger]
    assert sorted(answer.undo, key=order.index, reverse=True) == list(answer.undo)
    values = initial(context, frozenset(answer.undo))
    for step in answer.steps:
        spec = context.tools.get(step.tool_name)
        assert spec is not None
        assert holds(spec.pre, values)
        values.update(spec.post)
    assert holds(goal, values)


@settings(max_examples=200, deadline=None)
@given(problem=problems())
def test_the_estimate_never_exceeds_the_cost(context_of: Any, entry_of: Any, problem: Any) -> None:
    tools, entries, board, goal = problem
    context = context_for(context_of, entry_of, tools, entries, board)
    situation = Situation(context, goals=[goal], conditions={LASTING: nothing_lasts}, costs={})
    searched = Problem(situation, goal)
    estimate = searched.estimate(searched.first)
    expected = cheapest(context, goal)
    if expected is not None:
        cost, length = expected
        # Costs here are multiples of a half, so a weight counts halves above the bits that count actions.
        unit = 2 if any(tool.cost == 0.5 for tool in tools) else 1
        assert estimate is not None
        assert estimate <= (int(cost * unit) << LENGTH_BITS) + length


@settings(max_examples=200, deadline=None)
@given(problem=problems(), data=st.data())
def test_the_same_context_gives_the_same_plan(
    context_of: Any, entry_of: Any, problem: Any, data: Any
) -> None:
    tools, entries, board, goal = problem
    context = context_for(context_of, entry_of, tools, entries, board)
    shuffled_tools = data.draw(st.permutations(tools))
    shuffled_goal = dict(data.draw(st.permutations(list(goal.items()))))
    shuffled_board = dict(data.draw(st.permutations(list(board.items()))))
    again = context_for(context_of, entry_of, shuffled_tools, entries, shuffled_board)
    first, second = planner(goal).plan(context), planner(shuffled_goal).plan(again)
    assert type(first) is type(second)
    if isinstance(first, Plan) and isinstance(second, Plan):
        assert (first.steps, first.undo, first.cost) == (second.steps, second.undo, second.cost)
