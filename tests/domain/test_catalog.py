"""Tools and their contracts."""

from __future__ import annotations

import pytest

from midcourse.domain.errors import ToolDefinitionError, UnknownTool
from midcourse.domain.tools import Catalog, RetryPolicy, ToolSpec

UNDO = ToolSpec("user__release", idempotent=True)
DO = ToolSpec("user__reserve", effect="reversible", undo="user__release")


def schema(*names: str, required: tuple[str, ...] = ()) -> dict[str, object]:
    return {"properties": {name: {} for name in names}, "required": [*required]}


def test_undeclared_means_irreversible_and_not_repeatable() -> None:
    spec = ToolSpec("t")
    assert (spec.effect, spec.idempotent, spec.repeatable) == ("irreversible", False, False)


def test_reads_and_idempotent_tools_may_be_repeated() -> None:
    assert ToolSpec("t", effect="read").repeatable
    assert ToolSpec("t", idempotent=True).repeatable


def test_tries() -> None:
    assert [ToolSpec("t").max_attempts, ToolSpec("t", idempotent=True).max_attempts] == [1, 5]
    assert ToolSpec("t").max_attempts_after(no_effect=True) == 5
    limited = ToolSpec("t", retry=RetryPolicy(max_attempts=2))
    assert [limited.max_attempts, limited.max_attempts_after(no_effect=True)] == [2, 2]


def test_two_tools_with_one_name_are_refused() -> None:
    with pytest.raises(ToolDefinitionError, match="two tools are named 't'; rename one"):
        Catalog([ToolSpec("t"), ToolSpec("t")])


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        (ToolSpec("t", effect="reversible"), "'reversible' and 'undo' go together"),
        (ToolSpec("t", undo="user__release"), "'reversible' and 'undo' go together"),
        (
            ToolSpec("t", effect="reversible", undo="gone"),
            "names 'gone' as its undo, which is not registered",
        ),
    ],
)
def test_an_effect_is_reversible_by_a_tool_that_exists(spec: ToolSpec, why: str) -> None:
    with pytest.raises(ToolDefinitionError, match=why):
        Catalog([spec, UNDO])


def test_an_undo_can_be_repeated_or_asked_about() -> None:
    with pytest.raises(ToolDefinitionError, match="declare it idempotent=True or give it a probe"):
        Catalog([DO, ToolSpec("user__release")])
    assert len(Catalog([DO, ToolSpec("user__release", has_probe=True)])) == 2


def test_an_undo_requires_nothing_that_is_not_there_when_it_is_called() -> None:
    do = ToolSpec("do", effect="reversible", undo="undo", input_schema=schema("n", "optional"))
    fine = ToolSpec("undo", idempotent=True, input_schema=schema("n", "receipt", required=("n", "receipt")))
    assert len(Catalog([do, fine])) == 2
    with pytest.raises(ToolDefinitionError, match="requires why, which are not arguments of 'do'"):
        Catalog([do, ToolSpec("undo", idempotent=True, input_schema=schema("why", required=("why",)))])


def test_names_are_full_or_bare_where_that_is_unambiguous() -> None:
    catalog = Catalog([ToolSpec("user__a"), ToolSpec("user__b"), ToolSpec("mcp__b"), ToolSpec("plain")])
    assert catalog.resolve("a").name == catalog.resolve("user__a").name == "user__a"
    assert catalog.resolve("plain").name == "plain"
    with pytest.raises(UnknownTool, match="tool name 'b' is ambiguous; write one of mcp__b, user__b"):
        catalog.resolve("b")
    with pytest.raises(UnknownTool, match=r"unknown user tool 'user__aa' \(did you mean 'user__a'\?\)"):
        catalog.resolve("user__aa")
    with pytest.raises(UnknownTool, match=r"unknown tool 'x' \(registered: none\)"):
        Catalog().resolve("x")


def test_the_digest_is_that_of_the_contracts_in_any_order() -> None:
    one, two = ToolSpec("a", effect="read"), ToolSpec("b")
    assert Catalog([one, two]).digest == Catalog([two, one]).digest
    assert Catalog([one, two]).digest != Catalog([two]).digest
    assert Catalog([one]).digest != Catalog([ToolSpec("a")]).digest


def test_it_is_a_collection_of_specs() -> None:
    catalog = Catalog([UNDO, DO])
    assert [*catalog] == [UNDO, DO]
    assert (catalog.get("user__reserve"), catalog.get("reserve")) == (DO, None)
