"""Two planners for the same orders: one searches over what the tools declare, one is a plain function.

Both read the run as it is (what is committed, what the carriers said, what the customer wrote) and answer
with the rest of the plan. Neither lists what was done already: leaving an effect out keeps it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator

import msgspec

from midcourse import (
    FunctionPlanner,
    GoalReached,
    GoapPlanner,
    NoPlan,
    Plan,
    Planner,
    PlanningContext,
    Step,
)
from midcourse.examples.order.answers import Mode

ADDRESS_CHANGED = "address_changed"
"""The signal by which a customer names another destination: ``{"destination": …}``."""

DELIVERED = {"shipped": True, "settled": True, "told": True}
MADE_WHOLE = {"reserved": False, "charged": False, "promised": False}
_FASTEST_FIRST: tuple[Mode, ...] = ("express", "sea")


def destination_of(context: PlanningContext) -> str:
    """Where the order is to go: as last told by a signal, else as planned before, else as ordered."""
    for signal in reversed(context.signals):
        if signal.name == ADDRESS_CHANGED:
            return str(signal.payload["destination"])
    for step in reversed((*context.executed, *context.superseded)):
        if step.tool_name.startswith("user__ship_") and "{{" not in step.input["destination"]:
            return str(step.input["destination"])
    return str(context.inputs["destination"])


def open_modes(context: PlanningContext) -> tuple[Mode, ...]:
    """How the order could travel, the fastest first: what a carrier said of this destination, else all."""
    routes = context.board.get("routes")
    if routes is None or routes["destination"] != destination_of(context):
        return _FASTEST_FIRST
    return tuple(mode for mode in _FASTEST_FIRST if mode in routes["open"])


# ------------------------------------------------------------------------------------------------ a function


def plan_order(context: PlanningContext) -> Plan | GoalReached:
    """Deliver in the fastest way that is open; where there is none, make the customer whole."""
    modes = open_modes(context)
    return _deliver(context, modes[0]) if modes else _make_whole(context)


def _deliver(context: PlanningContext, mode: Mode) -> Plan | GoalReached:
    steps = [step for step in _delivery(context, mode) if not context.committed(step.tool_name)]
    if not steps:
        return GoalReached("the order is on its way")
    return Plan(steps, reason=f"{mode} goes to {destination_of(context)}")


def _delivery(context: PlanningContext, mode: Mode) -> Iterator[Step]:
    inputs, order, destination = context.inputs, context.inputs["order"], destination_of(context)
    yield Step("", "reserve", {"sku": inputs["sku"], "quantity": inputs["quantity"]})
    yield Step("", "charge", {"order": order, "amount_cents": inputs["amount_cents"]})
    if inputs["notice_due"]:
        yield _message(context, "announce", f"Order {order} will travel to {destination} by {mode}.")
    booked = context.committed(f"ship_{mode}")
    shipment = booked[-1].step if booked else f"ship{context.revision + 1}"
    yield Step(shipment, f"ship_{mode}", {"order": order, "destination": destination})
    if mode != "express":
        prices = {"paid_cents": inputs["express_cents"], "due_cents": f"{{{{{shipment}.price_cents}}}}"}
        yield Step("", "refund_difference", {"order": order, **prices})
    yield _message(context, "notify", f"Order {order} travels to {destination} by {mode}.")


def _make_whole(context: PlanningContext) -> Plan | GoalReached:
    undo = [
        entry.operation
        for entry in reversed(context.ledger)
        if entry.effect == "reversible" and entry.state == "committed"
    ]
    steps: list[Step] = []
    promised = any(sent.tool == "user__announce" for sent in context.constraints)
    if promised and not context.committed("send_correction"):
        text = (
            f"Order {context.inputs['order']} cannot be delivered to {destination_of(context)}. "
            "It is cancelled, and you get back all you paid."
        )
        steps.append(_message(context, "send_correction", text))
    if not undo and not steps:
        return GoalReached("the customer has lost nothing")
    return Plan(steps, undo=undo, reason=f"nothing goes to {destination_of(context)}")


def _message(context: PlanningContext, tool: str, text: str) -> Step:
    return Step("", tool, {"customer": context.inputs["customer"], "text": text})


# ---------------------------------------------------------------------------------------------------- search


class OrderSearch:
    """Searches for the cheapest way to a delivered order, else to a customer who is made whole."""

    def __init__(self) -> None:
        conditions = {
            "express_open": lambda context: "express" in open_modes(context),
            "sea_open": lambda context: "sea" in open_modes(context),
        }
        self._goap = GoapPlanner([DELIVERED, MADE_WHOLE], conditions=conditions)

    async def plan(self, context: PlanningContext) -> Plan | NoPlan | GoalReached:
        """Return the rest of the plan, with the destination that holds now.

        The tool that asked for this plan is not left out blindly: it was refused for one destination, and
        the conditions know which.
        """
        answer = await self._goap.plan(msgspec.structs.replace(context, excluded=frozenset()))
        if not isinstance(answer, Plan):
            return answer
        steps = [_with_destination(step, destination_of(context)) for step in answer.steps]
        return msgspec.structs.replace(answer, steps=tuple(steps))


def _with_destination(step: Step, destination: str) -> Step:
    filled = {
        name: value.replace("{{input.destination}}", destination) if isinstance(value, str) else value
        for name, value in step.input.items()
    }
    return msgspec.structs.replace(step, input=filled)


# ------------------------------------------------------------------------------------------ an unsteady world


class Interrupted:
    """A planner whose first revision is overtaken by news: it arrives while that plan is being made.

    Args:
        planner: makes the plans.
        news: brings the news to a run, by id; returns once they are recorded.
    """

    def __init__(self, planner: Planner, news: Callable[[str], Awaitable[None]]) -> None:
        self._planner = planner
        self._news = news

    async def plan(self, context: PlanningContext) -> Plan | NoPlan | GoalReached:
        """Return a plan that is stale when it arrives, and the next time one that knows the news."""
        answer = await self._planner.plan(context)
        if context.is_replanning and not context.signals:
            await self._news(context.run_id)
        return answer


def order_planners(news: Callable[[str], Awaitable[None]]) -> dict[str, Planner]:
    """All planners of the example, by name."""
    planners: dict[str, Planner] = {"goap": OrderSearch(), "function": FunctionPlanner(plan_order)}
    interrupted = {f"{name}_interrupted": Interrupted(each, news) for name, each in planners.items()}
    return planners | interrupted
