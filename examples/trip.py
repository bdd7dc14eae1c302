"""What tools can say of themselves, and what can be asked of a run: a trip that is called off."""

import asyncio

from midcourse import (
    Engine,
    Goal,
    OutcomeUnknownError,
    Plan,
    Receipt,
    Resource,
    RetryPolicy,
    Step,
    ToolContext,
    tool,
)

BOOKED: dict[str, str] = {}


@tool(effect="read", retry=RetryPolicy(max_attempts=3, initial_s=0.1))
async def price(city: str) -> int:
    """Reads have no lasting effect: they may be repeated, and run again in a new plan."""
    return 80 if city == "Turin" else 120


def look_up(operation: str) -> Receipt | None:
    """A probe: did this operation happen? It is asked after a crash or a timeout."""
    return Receipt(BOOKED[operation]) if operation in BOOKED else None


@tool(effect="reversible", undo="cancel_hotel", identity=["city"], probe=look_up, timeout_s=10)
async def book_hotel(city: str, cents: int, *, context: ToolContext) -> Receipt:
    """One hotel a city and run, whatever it costs: `city` is its identity."""
    BOOKED[context.operation] = city
    return Receipt({"city": city, "cents": cents}, (Resource("booking", "H7"),))


@tool(idempotent=True)
async def cancel_hotel(receipt: Receipt) -> str:
    """An undo gets the arguments it names, and the receipt of what it takes back."""
    return f"cancelled {receipt.resources[0].id}"


@tool
async def book_flight(city: str) -> str:
    """Nothing said: irreversible, and not to be repeated. An error that leaves it open says so."""
    raise OutcomeUnknownError(f"the airline did not answer about {city}")


async def main() -> None:
    """A person's plan: it never changes by itself."""
    plan = Plan([
        Step("p", "price", {"city": "{{input.city}}"}),
        Step("h", "book_hotel", {"city": "{{input.city}}", "cents": "{{p}}"}),
        Step("f", "book_flight", {"city": "{{input.city}}"}),
    ])  # fmt: skip
    async with Engine("memory:", tools=[price, book_hotel, cancel_hotel, book_flight]) as engine:
        run = await engine.start(Goal("A weekend away", {"city": "Turin"}), plan=plan)
        async for record in run.facts():
            if record.topic == "outcome_unknown":
                break
        await run.cancel("it rains", by="ada")
        [waiting] = await engine.attention()
        for item in waiting.items:
            print(item.kind, "-", item.detail, "-", item.remedy)
            await run.settle(
                item.subject, not_happened=True, reason="the airline has no such booking", by="ada"
            )
        outcome = await run.outcome()
        print(outcome.status, [(entry.tool, entry.state) for entry in outcome.ledger])


if __name__ == "__main__":
    asyncio.run(main())
