"""What holds for every command: what goes where, exit codes, and how little help costs."""

import contextlib
import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Call = Callable[..., Any]

GROUPS = (
    (),
    ("runs",),
    ("audit",),
    ("tools",),
    ("runs", "list"),
    ("audit", "verify"),
    ("runs", "resume"),
    ("demo",),
)


@pytest.mark.parametrize("command", GROUPS)
def test_help_imports_neither_store_nor_actors_nor_rich(command: tuple[str, ...], tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from midcourse.daemon.main import run\n"
        f"code = run([*{command!r}, '--help'])\n"
        "heavy = ('midcourse.store', 'midcourse.actors', 'midcourse.domain', 'rich', 'msgspec', 'asyncio')\n"
        "print([name for name in heavy if name in sys.modules], code, file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stderr == "[] 0\n"
    assert done.stdout.startswith("Usage: midcourse")


def test_the_help_lists_every_command(call: Call) -> None:
    listed = [line.split()[0] for line in call("--help").out.partition("Commands:")[2].splitlines() if line]
    assert listed == ["demo", "runs", "plan", "audit", "tools"]


def test_version(call: Call) -> None:
    answer = call("--version")
    assert (answer.code, answer.out.split()[0], answer.err) == (0, "midcourse", "")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("fly",), "No such command 'fly'"),
        (("runs", "fly"), "No such command 'fly'"),
        (("runs", "show"), "Missing argument 'RUN'"),
        (("runs", "list", "--limit", "0"), "not in the range"),
        (("runs", "list", "--status", "asleep"), "is not one of"),
        (("runs", "list", "--since", "yesterday"), "is not a time such as"),
        (("runs", "list", "--tag", "shop"), "is not name=value"),
        (("audit", "facts", "x", "--after", "-1"), "not in the range"),
        (("--colour",), "No such option"),
    ],
)
def test_wrong_usage_is_told_on_stderr_with_code_2(call: Call, arguments: tuple[str, ...], said: str) -> None:
    answer = call(*arguments)
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err


@pytest.mark.parametrize(
    ("url", "code", "said"),
    [
        ("sqlite:///none.db", 1, "name it with --store, MIDCOURSE_STORE or `store` in midcourse.toml"),
        ("sqlite:///", 2, "it names no file"),
        ("orders.db", 2, "is not a store URL"),
        ("mysql://host/db", 2, "there are no stores of the kind 'mysql'"),
        ("sqlite:///.", 1, "there is no file"),
    ],
)
def test_a_store_that_cannot_be_used(call: Call, url: str, code: int, said: str, tmp_path: Path) -> None:
    for command in (("runs", "list"), ("audit", "verify"), ("runs", "cancel", "x"), ("runs", "resume")):
        answer = call("--store", url, *command)
        assert (answer.code, answer.out) == (code, "")
        assert said in answer.err
        assert answer.err.startswith("Error: ")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_store(call: Call, tmp_path: Path) -> None:
    (tmp_path / "notes.db").write_text("no database at all, but long enough to look like one" * 20)
    answer = call("--store", "sqlite:///notes.db", "runs", "list")
    assert (answer.code, answer.out) == (1, "")
    assert "cannot be used as a store" in answer.err
    assert "Traceback" not in answer.err


def test_the_store_is_that_of_the_option_then_the_variable_then_the_file(
    call: Call, replanned: Any, tmp_path: Path
) -> None:
    (tmp_path / "midcourse.toml").write_text('store = "sqlite:///in-file.db"')
    here = f"sqlite:///{replanned.store}"
    assert "in-file.db" in call("runs", "list").err
    assert "in-variable.db" in call("runs", "list", MIDCOURSE_STORE="sqlite:///in-variable.db").err
    assert call("--store", here, "runs", "list", MIDCOURSE_STORE="sqlite:///in-variable.db").code == 0
    (tmp_path / "midcourse.toml").unlink()
    assert "sqlite:///midcourse.db" in call("runs", "list").err


def test_a_relative_store_in_a_file_begins_at_its_folder(call: Call, replanned: Any, tmp_path: Path) -> None:
    (tmp_path / "midcourse.toml").write_text('store = "sqlite:///orders.db"')
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    answer = call("--config", "../midcourse.toml", "runs", "list", cwd=elsewhere)
    assert (answer.code, replanned.run.id in answer.out) == (0, True)


def test_a_traceback_only_on_request(on_store: Call, replanned: Any) -> None:
    assert "Traceback" not in on_store("runs", "show", "none").err
    assert "NoSuchRunError" in on_store("--debug", "runs", "show", "none").err
    assert "NoSuchRunError" in on_store("runs", "show", "none", MIDCOURSE_DEBUG="1").err


def test_no_colours_in_a_pipe(on_store: Call, unknown: Any) -> None:
    for command in (("runs", "list"), ("runs", "show", unknown.run.id), ("audit", "facts", unknown.run.id)):
        answer = on_store(*command)
        assert ("\x1b" in answer.out, "\x1b" in answer.err) == (False, False)


def test_text_from_outside_moves_no_cursor(on_store: Call, story: Any) -> None:
    story.start()
    story.plan(("notify", {"text": "\x1b[2J\x07"}), reason="\x1b]0;title\x07\x9b1m")
    shown = on_store("runs", "show", story.run.id).out + on_store("audit", "facts", story.run.id).out
    assert [c for c in shown if not c.isprintable() and c != "\n"] == []


def test_a_reader_that_has_seen_enough_is_no_error(replanned: Any, tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = "from midcourse.daemon.main import main; main()"
    arguments = ("--store", f"sqlite:///{replanned.store}", "audit", "facts", replanned.run.id)
    done = subprocess.run(
        [sys.executable, "-c", command, *arguments],
        cwd=tmp_path,
        stdout=writing,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.parametrize(
    ("closed", "prints", "notes"),
    [("<&-", True, True), (">&-", False, True), ("2>&-", True, False), ("<&- >&- 2>&-", False, False)],
)
def test_a_stream_that_is_closed_takes_nothing_and_is_no_error(
    tmp_path: Path, closed: str, prints: bool, notes: bool
) -> None:
    (tmp_path / "plans").mkdir()
    plan = {"identifier": "p", "name": "n", "description": "d", "output": {"told": 1}}
    steps = [{"id": "E0", "tool_name": "exit", "input": {"status": "success", "output": {"told": 1}}}]
    (tmp_path / "plans" / "p.json").write_text(json.dumps({**plan, "steps": steps}))
    code = "from midcourse.daemon.main import main; main()"
    done = subprocess.run(
        ["sh", "-c", f'"$0" -c "$1" --store sqlite:///own.db plan run p {closed}', sys.executable, code],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout.split()) == (0, ["{", '"told":', "1", "}"] if prints else [])
    assert ("run_completed" in done.stderr) == notes
    audit = ("--store", "sqlite:///own.db", "audit", "verify")
    subprocess.run([sys.executable, "-c", code, *audit], cwd=tmp_path, check=True)


def test_json_may_stand_before_and_behind_the_command(on_store: Call, replanned: Any) -> None:
    before, behind = on_store("--json", "runs", "list"), on_store("runs", "list", "--json")
    assert before.json == behind.json
    assert behind.json["runs"][0]["run_id"] == replanned.run.id


@pytest.fixture
def on_terminal(environment: dict[str, str], replanned: Any, tmp_path: Path) -> Call:
    """Run a command on the store with a terminal of its own, and return what it showed there."""

    def run(*arguments: str, **variables: str) -> str:
        ours, theirs = pty.openpty()
        command = "from midcourse.daemon.main import main; main()"
        process = subprocess.Popen(
            [sys.executable, "-c", command, "--store", f"sqlite:///{replanned.store}", *arguments],
            cwd=tmp_path,
            env=environment | {"TERM": "xterm-256color", "COLUMNS": "100", "LINES": "40"} | variables,
            stdout=theirs,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs)
        shown = bytearray()  # reading ends with an error once nobody holds the other end
        with os.fdopen(ours, "rb", buffering=0) as terminal, contextlib.suppress(OSError):
            while part := terminal.read(4096):
                shown += part
        assert process.wait() in (0, 1)
        return shown.decode()

    return run


def test_colours_on_a_terminal_unless_they_are_not_wanted(on_terminal: Call, replanned: Any) -> None:
    command = ("runs", "show", replanned.run.id)
    assert "\x1b[32m✓" in on_terminal(*command)
    assert "\x1b" not in on_terminal(*command, NO_COLOR="1")
    assert "\x1b" not in on_terminal(*command, "--json")


def test_watch_is_a_live_view_on_a_terminal(on_terminal: Call, replanned: Any) -> None:
    replanned.succeed("booked", "shipment S-1")
    replanned.succeed("sent")
    shown = on_terminal("runs", "watch", replanned.run.id)
    assert shown.count("run_completed") >= 1
    assert "\x1b[?25l" in shown  # the cursor is hidden while it redraws
    assert "E2  sea      \x1b[32mdone" in shown.replace("\x1b[0m", "")
