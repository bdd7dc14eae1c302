"""The pack ``files``: real files, in a folder that no path may leave."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from midcourse import Engine, Outcome, Plan, Receipt, Step, ToolContext, ToolError, tool
from midcourse.actors.packs import files_pack
from midcourse.domain import facts as f
from midcourse.testing import wait_for_fact


@tool(effect="irreversible")
async def fail() -> None:
    raise ToolError("no", retryable=False)


async def run(folder: Path, *steps: Step) -> Outcome:
    tools = [*files_pack(folder / "files", max_bytes=1_000), fail]
    async with Engine(f"sqlite:///{folder / 'runs.db'}", tools=tools) as engine:
        return await (await engine.start("it", plan=Plan(steps))).outcome(timeout_s=20)


def write(path: str, content: Any, form: str = "text", id: str = "W") -> Step:
    return Step(id, "builtin__write_file", {"path": path, "content": content, "format": form})


def read(path: str, form: str = "text", id: str = "R") -> Step:
    return Step(id, "builtin__read_file", {"path": path, "format": form})


def names_in(folder: Path) -> list[str]:
    return sorted(
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and ".midcourse" not in path.parts
    )


@pytest.mark.parametrize(
    ("form", "content", "on_disk"),
    [
        ("text", "grüß\ndich", "grüß\ndich".encode()),
        ("lines", ["a", "b"], b"a\nb\n"),
        ("json", {"b": [1, None]}, b'{\n  "b": [\n    1,\n    null\n  ]\n}\n'),
        ("base64", "AAH/", b"\x00\x01\xff"),
    ],
)
async def test_what_is_written_is_read(tmp_path: Path, form: str, content: Any, on_disk: bytes) -> None:
    outcome = await run(tmp_path, write("a/b.txt", content, form), read("a/b.txt", form))
    assert (tmp_path / "files/a/b.txt").read_bytes() == on_disk
    assert outcome.result == {"path": "a/b.txt", "size": len(on_disk), "content": content}
    assert names_in(tmp_path / "files") == ["a/b.txt"]


async def test_what_was_there_is_put_back_when_the_run_fails(tmp_path: Path) -> None:
    root = tmp_path / "files"
    root.mkdir()
    (root / "old.txt").write_text("before")
    (root / "old.txt").chmod(0o600)
    steps = [write("old.txt", "1", id="A"), write("old.txt", "2", id="B"), write("new.txt", "3", id="C")]
    outcome = await run(tmp_path, *steps, Step("F", "fail"))
    assert outcome.status == "failed"
    assert (root / "old.txt").read_text() == "before"
    assert stat.S_IMODE((root / "old.txt").stat().st_mode) == 0o600
    assert names_in(root) == ["old.txt"]


async def test_what_is_kept_is_for_nobody_else(tmp_path: Path) -> None:
    await run(tmp_path, write("a.txt", "x"))
    assert stat.S_IMODE((tmp_path / "files/.midcourse").stat().st_mode) == 0o700


async def test_what_somebody_has_changed_since_is_left_alone(tmp_path: Path) -> None:
    @tool(effect="read")
    async def somebody() -> None:
        (tmp_path / "files/a.txt").write_text("theirs")

    tools = [*files_pack(tmp_path / "files"), somebody, fail]
    async with Engine(f"sqlite:///{tmp_path / 'runs.db'}", tools=tools) as engine:
        plan = Plan([write("a.txt", "ours"), Step("S", "somebody"), Step("F", "fail")])
        run = await engine.start("it", plan=plan)
        failed = await wait_for_fact(run, f.CompensationParked)
    assert "was changed after it was written; it was left alone" in str(failed.fact)
    assert (tmp_path / "files/a.txt").read_text() == "theirs"


def test_an_attempt_after_a_crash_keeps_what_was_there_before_the_first(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("before")
    _, write_file, restore = files_pack(tmp_path)
    context = ToolContext("builtin__write_file:1.0")
    first: Receipt = write_file("a.txt", "after", context=context)
    second: Receipt = write_file("a.txt", "after", context=context)
    assert second == first
    assert restore(**dict(first.undo_input or {})) == {"path": "a.txt", "restored": True}
    assert restore(**dict(first.undo_input or {})) == {"path": "a.txt", "restored": True}
    assert (tmp_path / "a.txt").read_text() == "before"


def test_an_attempt_after_a_crash_does_not_write_over_somebody_else(tmp_path: Path) -> None:
    _, write_file, _ = files_pack(tmp_path)
    context = ToolContext("builtin__write_file:1.0")
    write_file("a.txt", "after", context=context)
    (tmp_path / "a.txt").write_text("theirs")
    with pytest.raises(ToolError, match="changed by somebody else") as caught:
        write_file("a.txt", "after", context=ToolContext(context.operation, 2))
    assert not caught.value.no_effect  # the first attempt may have written


@pytest.mark.parametrize(
    "path",
    ["../out.txt", "a/../../out.txt", "/etc/passwd", "link", "linked/out.txt", "loop", "", ".", "a\0b"],
)
@pytest.mark.parametrize("does", [read, lambda path: write(path, "x")])
async def test_no_path_leads_out_of_the_folder(tmp_path: Path, path: str, does: Any) -> None:
    root = tmp_path / "files"
    root.mkdir()
    (tmp_path / "out.txt").write_text("secret")
    (root / "link").symlink_to(tmp_path / "out.txt")
    (root / "linked").symlink_to(tmp_path)
    (root / "loop").symlink_to(root / "loop")
    outcome = await run(tmp_path, does(path))
    assert outcome.failure is not None
    assert outcome.failure.kind == "tool_error"
    assert (tmp_path / "out.txt").read_text() == "secret"
    assert names_in(root) == ["link"]


async def test_links_inside_of_the_folder_are_followed(tmp_path: Path) -> None:
    root = tmp_path / "files"
    root.mkdir()
    (root / "real.txt").write_text("x")
    (root / "link.txt").symlink_to("real.txt")
    await run(tmp_path, write("link.txt", "y"))
    assert (root / "real.txt").read_text() == "y"
    assert (root / "link.txt").is_symlink()


@pytest.mark.parametrize(
    ("step", "problem"),
    [
        (read("none.txt"), "there is no file 'none.txt'"),
        (read("folder"), "is no file"),
        (read("pipe"), "is no file"),
        (read("large"), "has 1001 bytes; 1000 are the most"),
        (read("bytes"), "cannot be read as text"),
        (read("text", "json"), "cannot be read as json"),
        (write("x", "y" * 1001), "has 1001 bytes; 1000 are the most"),
        (write("x", {"a": 1}), "content must be a text, to be written as text; write other values as 'json'"),
        (write("x", "a", "lines"), "content must be a list of texts"),
        (write("x", "?", "base64"), "content is not base64"),
        (write("x", "a", "yaml"), "format"),
        (write(".midcourse/x", "a"), "is where files are kept that were overwritten"),
        (write("text/x", "a"), "cannot be"),
    ],
)
async def test_what_cannot_be_done_is_said(tmp_path: Path, step: Step, problem: str) -> None:
    root = tmp_path / "files"
    (root / "folder").mkdir(parents=True)
    os.mkfifo(root / "pipe")
    (root / "large").write_bytes(b"x" * 1001)
    (root / "bytes").write_bytes(b"\xff")
    (root / "text").write_text("x")
    outcome = await run(tmp_path, step)
    assert outcome.failure is not None
    assert problem in outcome.failure.message
    assert "x" not in names_in(root)


def test_what_is_not_known_to_have_been_there_is_not_restored(tmp_path: Path) -> None:
    _, _, restore = files_pack(tmp_path)
    for kept in ("", "0123", "../x"):
        with pytest.raises(ToolError, match="put it right by hand"):
            restore("a.txt", kept, "")
