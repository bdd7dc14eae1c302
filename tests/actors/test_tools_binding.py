"""Arguments that need no conversion."""

from typing import Any

import pytest

from midcourse.actors.errors import ToolArgumentsError
from midcourse.actors.tools import Tool, tool


def _problems_of(built: Tool, values: dict[str, Any]) -> tuple[str, ...]:
    with pytest.raises(ToolArgumentsError) as caught:
        built.parameters.bind(values)
    return tuple(caught.value.problems)


def test_arguments_that_need_no_conversion_are_taken_as_they_are_and_no_others() -> None:
    @tool
    def pack(count: int, label: str = "none") -> None: ...

    given = {"count": 1, "label": "a"}
    bound = pack.parameters.bind(given)
    assert bound == given
    assert bound is not given
    assert pack.parameters.bind({"count": 1}) == {"count": 1}
    assert _problems_of(pack, {"label": "a"}) == ("count: is missing",)
    assert _problems_of(pack, {"count": 1, "lable": "a"}) == (
        "lable: no such argument (did you mean 'label'?)",
    )
    assert _problems_of(pack, {"count": True, "label": "a"}) == ("count: Expected `int`, got `bool`",)


def test_no_arguments_are_enough_only_for_a_tool_that_needs_none() -> None:
    @tool
    def nothing() -> None: ...

    @tool
    def place(lines: list[int]) -> None: ...

    assert nothing.parameters.bind({}) == {}
    assert _problems_of(place, {}) == ("lines: is missing",)
