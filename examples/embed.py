"""Midcourse in a program of your own: the plan changes on the way, and what is done stays done."""

import asyncio

from midcourse import Engine, Goal, PlanningContext, RequestReplan, Step, ToolContext, tool


@tool(idempotent=True)
async def charge(order: str, cents: int, *, context: ToolContext) -> str:
    """Take the money; its key makes a repeat after a crash no second charge."""
    return f"{cents} cents for order {order}, operation {context.operation}"


@tool(idempotent=True)
async def ship(order: str, by: str) -> str:
    """Send the goods, or say why that needs another plan."""
    if by == "air":
        raise RequestReplan("no planes fly today", updates={"grounded": True}, no_effect=True)
    return f"order {order} travels by {by}"


def plan_order(context: PlanningContext) -> list[Step]:
    """Plan with what is known now; a step that was done already is not done again."""
    order = context.inputs["order"]
    by = "sea" if context.board.get("grounded") else "air"
    return [
        Step("", "charge", {"order": order, "cents": 4200}),
        Step("", "ship", {"order": order, "by": by}),
    ]


async def main() -> None:
    """Run the order; kill it anywhere, start it again, and it goes on."""
    async with Engine("sqlite:///embed.db", tools=[charge, ship], planners={"orders": plan_order}) as engine:
        run = await engine.start(Goal("Ship order 42", {"order": "42"}), planner="orders", key="order-42")
        async for record in run.facts():
            print(record.version, record.topic)
        outcome = await run.outcome()
        print(outcome.status, "with revision", outcome.revision, "-", outcome.result)


if __name__ == "__main__":
    asyncio.run(main())
