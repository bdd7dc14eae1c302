import pytest

from midcourse.actors.errors import ToolArgumentsError
from midcourse.actors.json_values import receipt_of
from midcourse.actors.tools import tool

pydantic = pytest.importorskip("pydantic")


class Item(pydantic.BaseModel):  # type: ignore[misc, name-defined]
    sku: str
    quantity: int


class Order(pydantic.BaseModel):  # type: ignore[misc, name-defined]
    number: int
    items: list[Item] = pydantic.Field(default_factory=list)


@tool
def place(order: Order, extra: list[Item]) -> Order:
    order.items.extend(extra)
    return order


def test_models_are_described_with_their_parts() -> None:
    schema = place.spec.input_schema
    assert schema["properties"]["order"]["properties"]["items"]["items"] == {"$ref": "#/$defs/Item"}
    assert schema["$defs"]["Item"]["required"] == ["sku", "quantity"]


def test_models_are_made_of_arguments_and_results_of_models() -> None:
    bound = place.parameters.bind({"order": {"number": 1}, "extra": [{"sku": "a", "quantity": 2}]})
    assert receipt_of(place(**bound)).result == {"number": 1, "items": [{"sku": "a", "quantity": 2}]}


def test_what_a_model_refuses_is_named_with_its_path() -> None:
    with pytest.raises(ToolArgumentsError) as caught:
        place.parameters.bind({"order": {"number": "x"}, "extra": [{"sku": "a"}]})
    assert caught.value.problems == (
        "order: number: Input should be a valid integer, unable to parse string as an integer",
        "extra[0]: quantity: Field required",
    )
