"""Built-in tools whose pack is not enabled, and names that come near to them."""

from __future__ import annotations

import pytest

from midcourse import UnknownTool
from midcourse.actors.packs import data_pack, exec_pack, files_pack, http_pack
from midcourse.domain.builtins import ENABLING, PACK_OF
from midcourse.domain.tools import Catalog, ToolSpec


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "builtin__read_file",
            (
                "built-in tool 'builtin__read_file' is in the pack 'files', which is not enabled; write "
                "[packs.files] with root = 'files' into midcourse.toml, or hand the tools of files_pack() to "
                "the engine"
            ),
        ),
        ("builtin__htp", "unknown tool 'builtin__htp' (did you mean 'builtin__http'?)"),
    ],
)
def test_a_tool_of_a_pack_that_is_off_says_how_to_enable_it(name: str, said: str) -> None:
    with pytest.raises(UnknownTool) as caught:
        Catalog().resolve(name)
    assert str(caught.value) == said


def test_a_pack_takes_no_bare_name_away() -> None:
    catalog = Catalog([ToolSpec("user__http"), ToolSpec("builtin__http"), ToolSpec("builtin__now")])
    assert catalog.resolve("http").name == "user__http"
    with pytest.raises(UnknownTool, match="unknown tool 'now'"):
        catalog.resolve("now")


def test_every_tool_of_every_pack_is_known_and_no_other() -> None:
    packs = {
        "data": data_pack(), "exec": exec_pack(programs=["x"]), "files": files_pack("x"),
        "http": http_pack(hosts=["x"]),
    }  # fmt: skip
    assert {tool.name: pack for pack, tools in packs.items() for tool in tools} == PACK_OF
    assert ENABLING.keys() == packs.keys()
