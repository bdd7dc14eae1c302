from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SHOP = """
import asyncio
from pathlib import Path

from midcourse import tool

GATE = Path(__file__).with_name("gate")


@tool(effect="read")
async def stock(sku: str) -> dict:
    return {"sku": sku, "left": 3, "shelves": []}


@tool(effect="reversible", undo="release", identity=["sku"], idempotent=True)
async def reserve(sku: str, quantity: int = 1) -> dict:
    return {"id": f"R-{sku}", "quantity": quantity}


@tool(idempotent=True)
async def release(sku: str) -> None: ...


@tool
async def notify(text: str) -> dict:
    if "nobody" in text:
        raise ValueError("there is nobody of that name")
    return {"sent": text}


@tool(timeout_s=0.05)
async def slow() -> None:
    await asyncio.Event().wait()


@tool(effect="read")
def gate() -> str:
    "Wait in a thread until somebody writes into the pipe."
    return GATE.read_text()
"""

ORDER = """\
# What a person ordered.
identifier: order
name: Order
description: Reserves a thing and tells somebody.
input_schema:
  type: object
  required: [sku]
  properties:
    sku: {type: string, description: what to reserve}
    quantity: {type: integer, minimum: 1, default: 2}
    who: {type: string, default: Mia}
steps:
  - {id: E0, tool_name: stock, input: {sku: "{{input.sku}}"}}
  - id: E1
    toolName: user__reserve
    input: {sku: "{{input.sku}}", quantity: "{{input.quantity}}"}
  - id: E2
    tool_name: user__notify
    input: {text: "{{input.who}}: {{E1.id}}, {{E0.left}} left"}
output:
  reservation: "{{E1.id}}"
  quantity: "{{E1.quantity}}"
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A folder with a configuration, its tools and one plan."""
    (tmp_path / "shop.py").write_text(SHOP)
    (tmp_path / "midcourse.toml").write_text('store = "sqlite:///shop.db"\ntools = ["shop"]\n')
    (tmp_path / "plans").mkdir()
    (tmp_path / "plans" / "order.yaml").write_text(ORDER)
    return tmp_path


Write = Callable[..., Path]


@pytest.fixture
def write(shop: Path) -> Write:
    """Write a plan with these steps, in YAML."""

    def write_plan(identifier: str, steps: str, **fields: Any) -> Path:
        head = f"identifier: {identifier}\nname: {identifier}\ndescription: A plan.\n"
        more = "".join(f"{name}: {value}\n" for name, value in fields.items())
        path = shop / "plans" / f"{identifier}.yaml"
        path.write_text(f"{head}{more}steps:\n{steps}")
        return path

    return write_plan
