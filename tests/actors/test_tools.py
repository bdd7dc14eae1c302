import dataclasses
import functools
from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal, TypedDict

import msgspec
import pytest

from midcourse.actors.context import ToolContext
from midcourse.actors.errors import ToolArgumentsError
from midcourse.actors.tools import Tool, as_tool, tool
from midcourse.domain.errors import ToolDefinitionError
from midcourse.domain.receipt import Receipt, Resource
from midcourse.domain.tools import Catalog, RetryPolicy, ToolSpec


class Line(msgspec.Struct):
    sku: str
    quantity: Annotated[int, msgspec.Meta(ge=1)]


@dataclasses.dataclass
class Address:
    street: str
    country: str = "NO"


class Options(TypedDict, total=False):
    insured: bool


async def ship(
    order: str, lines: list[Line], address: Address, options: Options | None = None, *, context: ToolContext
) -> str:
    """Ship an order.

    More words that planners need not read.
    """
    return f"{order} {lines} {address} {options} {context}"


def problems_of(built: Tool, values: dict[str, Any]) -> tuple[str, ...]:
    with pytest.raises(ToolArgumentsError) as caught:
        built.parameters.bind(values)
    return caught.value.problems


def test_a_bare_decorator_makes_an_irreversible_tool_of_a_function() -> None:
    built = tool(ship)
    assert built.spec.name == "user__ship"
    assert built.spec.description == "Ship an order."
    assert (built.spec.effect, built.spec.idempotent, built.spec.max_attempts) == ("irreversible", False, 1)
    assert built.is_async


def test_the_contract_is_what_the_decorator_says() -> None:
    @tool(
        effect="reversible",
        undo="release",
        identity=["sku"],
        idempotent=True,
        probe=lambda operation: operation,
        retry=RetryPolicy(max_attempts=3),
        timeout_s=2,
        pre={"paid": True},
        post={"reserved": True},
        cost=2.5,
        input={"sku": "{{input.sku}}", "quantity": 1},
        name="reserve_stock",
        description="Set stock aside.",
    )
    def reserve(sku: str, quantity: int = 1) -> None: ...

    spec = reserve.spec
    expected = ToolSpec(
        name="user__reserve_stock",
        description="Set stock aside.",
        effect="reversible",
        undo="user__release",
        idempotent=True,
        identity=("sku",),
        has_probe=True,
        retry=RetryPolicy(max_attempts=3),
        timeout_s=2.0,
        input_schema=spec.input_schema,
        pre={"paid": True},
        post={"reserved": True},
        cost=2.5,
        input={"sku": "{{input.sku}}", "quantity": 1},
    )
    assert expected == spec
    assert not reserve.is_async


def test_the_schema_shows_the_arguments_and_leaves_the_context_out() -> None:
    spec = tool(ship).spec
    assert spec.parameters == {"order", "lines", "address", "options"}
    assert spec.required == {"order", "lines", "address"}
    assert spec.input_schema["properties"]["order"] == {"type": "string"}
    assert spec.input_schema["properties"]["lines"] == {"type": "array", "items": {"$ref": "#/$defs/Line"}}
    assert spec.input_schema["properties"]["options"]["default"] is None
    assert spec.input_schema["$defs"]["Line"]["properties"]["quantity"] == {"type": "integer", "minimum": 1}
    assert spec.input_schema["additionalProperties"] is False


def test_arguments_are_converted_to_their_annotations() -> None:
    bound = tool(ship).parameters.bind(
        {"order": "42", "lines": [{"sku": "a", "quantity": 2}], "address": {"street": "Main St"}}
    )
    assert bound == {"order": "42", "lines": [Line("a", 2)], "address": Address("Main St")}


def test_an_undo_tool_is_handed_a_receipt() -> None:
    @tool
    def release(receipt: Receipt) -> None: ...

    bound = release.parameters.bind(
        {"receipt": {"result": {"id": 1}, "resources": [{"kind": "r", "id": "7"}]}}
    )
    assert bound == {"receipt": Receipt({"id": 1}, (Resource("r", "7"),))}


def test_all_wrong_arguments_are_named_at_once_with_their_path() -> None:
    found = problems_of(
        tool(ship),
        {"order": 42, "lines": [{"sku": "a", "quantity": 1}, {"sku": "b", "quantity": 0}], "adress": {}},
    )
    assert found == (
        "order: Expected `str`, got `int`",
        "lines[1].quantity: Expected `int` >= 1",
        "adress: no such argument (did you mean 'address'?)",
        "address: is missing",
    )


def test_numbers_are_not_taken_for_text_nor_the_other_way_round() -> None:
    @tool
    def pay(amount: int, rate: float, mode: Literal["card", "cash"]) -> None: ...

    assert pay.parameters.bind({"amount": 1, "rate": 2, "mode": "card"}) == {
        "amount": 1, "rate": 2.0, "mode": "card",
    }  # fmt: skip
    assert problems_of(pay, {"amount": "1", "rate": 1.5, "mode": "gold"}) == (
        "amount: Expected `int`, got `str`",
        "mode: Invalid enum value 'gold'",
    )
    assert problems_of(pay, {"amount": True, "rate": 1.5, "mode": "card"}) == (
        "amount: Expected `int`, got `bool`",
    )


def test_arguments_without_annotations_take_anything_but_are_copies() -> None:
    @tool
    def log(entry, note=""):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
        return entry, note

    entry = {"tags": ["a"]}
    bound = log.parameters.bind({"entry": entry})
    bound["entry"]["tags"].append("b")
    assert entry == {"tags": ["a"]}
    assert log.spec.required == {"entry"}


def test_what_a_type_raises_is_a_problem_of_its_argument() -> None:
    found = problems_of(tool(take_even), {"number": {"value": 3}})
    assert found == ("number: 3 is odd",)


class Even(msgspec.Struct):
    value: int

    def __post_init__(self) -> None:
        if self.value % 2:
            raise ArithmeticError(f"{self.value} is odd")


def take_even(number: Even) -> None: ...


class Desk:
    async def __call__(self, order: str) -> str:
        return order

    def pay(self, amount: int) -> int:
        return amount


def test_callable_objects_bound_methods_and_partials_are_tools() -> None:
    desk = tool(name="desk")(Desk())
    assert (desk.spec.name, desk.is_async, desk.spec.required) == ("user__desk", True, frozenset({"order"}))
    pay = as_tool(Desk().pay)
    assert (pay.spec.name, pay.is_async, pay.spec.required) == ("user__pay", False, frozenset({"amount"}))
    partial = tool(functools.partial(take_even_of, unit="kg"))
    assert (partial.spec.name, partial.spec.parameters) == (
        "user__take_even_of",
        frozenset({"number", "unit"}),
    )
    assert partial.parameters.bind({"number": {"value": 2}}) == {"number": Even(2)}


def take_even_of(number: Even, *, unit: str) -> None: ...


async def test_calling_a_tool_calls_its_function() -> None:
    desk = tool(name="desk")(Desk())
    assert await desk("42") == "42"
    assert as_tool(desk) is desk


def test_an_undo_may_be_given_as_a_tool() -> None:
    @tool(idempotent=True)
    def release(sku: str) -> None: ...

    @tool(effect="reversible", undo=release)
    def reserve(sku: str) -> None: ...

    assert reserve.spec.undo == "user__release"
    assert len(Catalog([reserve.spec, release.spec])) == 2


def spread(*items: int) -> None: ...
def keywords(**items: int) -> None: ...
def positional(item: int, /) -> None: ...
def unresolved(item: "Nowhere") -> None: ...  # type: ignore[name-defined]  # noqa: F821
def opaque(item: object) -> None: ...
def clash(item: Line | Even) -> None: ...
def fine(sku: str) -> None: ...
async def stream(sku: str) -> AsyncIterator[str]:
    yield sku


@pytest.mark.parametrize(
    ("function", "terms", "problem"),
    [
        (spread, {}, r"'\*items: int' cannot be given by name"),
        (keywords, {}, r"'\*\*items: int' cannot be given by name"),
        (positional, {}, "'item: int' cannot be given by name"),
        (unresolved, {}, "Nowhere"),
        (opaque, {}, "parameter 'item' has a type that no JSON value can be converted to"),
        (clash, {}, "parameter 'item' has a type that no JSON value can be converted to"),
        (stream, {}, "is a generator"),
        (Desk.pay, {}, "tool of the bound method"),
        (lambda sku: sku, {}, "cannot be named '<lambda>'"),
        (fine, {"name": "a__b"}, "cannot be named 'a__b'"),
        (fine, {"effect": "harmless"}, "effect is 'harmless'"),
        (fine, {"effect": "reversible"}, "effect='reversible' and undo go together"),
        (fine, {"undo": "release"}, "effect='reversible' and undo go together"),
        (fine, {"identity": ["order"]}, r"identity names order, .*\(arguments: sku\)"),
        (fine, {"identity": "sku"}, "list of argument names"),
        (fine, {"input": {"order": 1}}, "input names order"),
        (fine, {"probe": lambda: None}, "function of one argument"),
        (fine, {"timeout_s": 0}, "timeout_s is 0"),
        (fine, {"timeout_s": "soon"}, r"Expected `float \| null`, got `str` - at `\$.timeout_s`"),
        (fine, {"heartbeat_timeout_s": 1.0}, "context.heartbeat"),
        (fine, {"cost": -1}, "cannot be negative"),
        (fine, {"pre": {"paid": "yes"}}, "Expected `bool`, got `str`"),
        (fine, {"retry": RetryPolicy(max_attempts=0)}, "the first one counts"),
        (fine, {"output_schema": {"type": "strin"}}, "output_schema.type is no JSON Schema: "),
        (fine, {"output_schema": {"properties": {"x": 7}}}, "output_schema.properties.x is no JSON Schema: "),
        (fine, {"output_schema": {"$ref": "#/none"}}, "Pointer '/none' does not exist"),
        (fine, {"retry": RetryPolicy(initial_s=-1)}, "retry.initial_s is -1.0; it is a number of seconds"),
        (fine, {"retry": RetryPolicy(factor=-2)}, "retry.factor is -2.0; it is a factor of 0 or above"),
        (fine, {"retry": RetryPolicy(max_s=-1)}, "retry.max_s is -1.0"),
        (fine, {"retry": RetryPolicy(max_lost=-1)}, "retry.max_lost is -1; it cannot be negative"),
    ],
)
def test_a_definition_that_cannot_work_is_refused(function: Any, terms: dict[str, Any], problem: str) -> None:
    with pytest.raises(ToolDefinitionError, match=problem):
        tool(**terms)(function)


def test_what_cannot_be_called_is_no_tool() -> None:
    with pytest.raises(ToolDefinitionError, match="is no tool"):
        as_tool(42)  # type: ignore[arg-type]


def test_a_tool_is_decorated_once() -> None:
    with pytest.raises(ToolDefinitionError, match="is a tool already"):
        tool(tool(fine))
