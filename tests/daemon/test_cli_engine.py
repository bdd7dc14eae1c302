"""``runs resume`` and ``runs watch``: engines in processes of their own, stopped, steered and watched."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

Call = Callable[..., Any]

SHOP = """
import asyncio
from pathlib import Path

from midcourse import NoPlan, Plan, Step, tool

GATE = Path(__file__).with_name("gate")

@tool(effect="reversible", undo="release", idempotent=True)
async def reserve(sku: str) -> str:
    return f"one {sku}"

@tool(idempotent=True)
async def release(sku: str) -> None: ...

@tool(effect="read")
def gate() -> str:
    "Wait in a thread until somebody writes into the pipe."
    return GATE.read_text()

@tool(effect="read")
async def for_ever() -> None:
    await asyncio.Event().wait()

@tool
async def express(to: str) -> str:
    return to

@tool
async def sea(to: str) -> str:
    return to

@tool(idempotent=True)
async def unship(to: str) -> None: ...

@tool
async def notify(text: str) -> str:
    return text

class Planners:
    def __init__(self, *names):
        self.tools = [reserve, release, gate, for_ever, express, sea, unship, notify]
        self.planners = {"orders": lambda context: self.plan(names, context)}

    def plan(self, names, context):
        if not names:
            return NoPlan("nothing can be done", give_up=True)
        inputs = {"reserve": {"sku": "lamp"}, "notify": {"text": "done"}}
        return Plan(tuple(Step(tool_name=name, input=inputs.get(name, {})) for name in names))

def shop(*, folder, plan):
    return Planners(*plan)
"""


@pytest.fixture
def shop(tmp_path: Path) -> Callable[..., None]:
    """Write a configuration whose planner wants these steps."""
    (tmp_path / "shop.py").write_text(SHOP)
    os.mkfifo(tmp_path / "gate")

    def write(*plan: str) -> None:
        tools = f'tools = [{{ call = "shop:shop", with = {{ plan = {list(plan)} }} }}]'
        (tmp_path / "midcourse.toml").write_text(f'store = "sqlite:///orders.db"\n{tools}\n')

    return write


class Process:
    """``midcourse`` in the background; its stderr is read line by line."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        self.err: list[str] = []

    def wait_for(self, text: str) -> None:
        """Return once a line of stderr holds this text."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.err.append(line)
            if text in line:
                return
        raise AssertionError(f"{text!r} was never said: {self.err}")

    def end(self) -> tuple[int, str]:
        """Return exit code and stdout."""
        out, err = self.process.communicate()
        self.err += err.splitlines(keepends=True)
        return self.process.returncode, out


Background = Callable[..., Any]


@pytest.fixture
def background(tmp_path: Path, environment: dict[str, str]) -> Background:
    @contextmanager
    def start(*arguments: str) -> Iterator[Process]:
        command = "from midcourse.daemon.main import main; main()"
        with subprocess.Popen(
            [sys.executable, "-c", command, *arguments],
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            try:
                yield Process(process)
            finally:
                process.kill()

    return start


def topics(call: Call, run: str = "key:order-42") -> list[str]:
    return [fact["topic"] for fact in call("audit", "facts", run, "--json").json_lines]


def test_resume_carries_a_run_to_its_end(call: Call, story: Any, shop: Any) -> None:
    shop("reserve", "notify")
    story.start()
    answer = call("runs", "resume")
    assert (answer.code, answer.out) == (0, f'{story.run.id}  completed  "done"\n')
    assert [int(line.split()[0]) for line in answer.err.splitlines()] == list(range(3, 1 + len(topics(call))))
    assert topics(call)[-1] == "run_completed"


def test_resume_as_json_is_a_line_for_each_run(call: Call, story: Any, shop: Any, store: Path) -> None:
    shop("notify")
    story.start()
    other = type(story)(store, "01gzzzzzzzzzzzz0")
    other.start(key="other")
    answer = call("runs", "resume", "--json", "--quiet")
    assert (answer.code, answer.err) == (0, "")
    endings = {ending["run"]: (ending["status"], ending["result"]) for ending in answer.json_lines}
    assert endings == {story.run.id: ("completed", "done"), other.run.id: ("completed", "done")}


def test_resume_waits_for_the_runs_that_are_named(call: Call, story: Any, shop: Any) -> None:
    shop("notify")
    story.start()
    assert call("runs", "resume", "key:order-42", "01f").lines == [f'{story.run.id}  completed  "done"']
    again = call("runs", "resume", "key:order-42")
    assert (again.code, again.lines) == (0, [f'{story.run.id}  completed  "done"'])
    assert call("runs", "resume", "none").code == 1


def test_resume_of_nothing(call: Call, story: Any, shop: Any) -> None:
    shop("notify")
    story.start()
    call("runs", "resume")
    answer = call("runs", "resume")
    assert (answer.code, answer.out, answer.err) == (0, "", "No runs to resume\n")


def test_a_run_that_fails_is_code_1(call: Call, story: Any, shop: Any) -> None:
    shop()
    story.start()
    answer = call("runs", "resume", "-q")
    assert (answer.code, answer.out) == (1, f"{story.run.id}  failed  nothing can be done\n")


def test_a_run_that_needs_a_person_is_code_5(call: Call, unknown: Any, shop: Any) -> None:
    shop("notify")
    operation = next(iter(unknown.run.unknown))
    answer = call("runs", "resume", "-q")
    assert (answer.code, answer.out) == (5, f"{unknown.run.id}  attention\n")
    assert f"midcourse runs settle {unknown.run.id} {operation} --happened RESULT" in answer.err
    ending = call("runs", "resume", "-q", "--json")
    assert [item["kind"] for item in ending.json_lines[0]["attention"]] == ["unknown_outcome"]
    call("runs", "settle", "01f", operation, "--happened", '"booked"')
    assert call("runs", "resume", "-q").out == f'{unknown.run.id}  completed  "by sea"\n'


def test_parts_that_are_missing_are_named_and_nothing_is_recorded(
    call: Call, on_store: Call, replanned: Any, shop: Any
) -> None:
    for answer in (on_store("runs", "resume"), on_store("runs", "resume", "01f")):
        assert (answer.code, answer.out) == (1, "")
        assert f"run {replanned.run.id} needs tool user__sea, tool user__notify, " in answer.err
        assert "planner orders. " in answer.err
        assert "midcourse.toml" in answer.err
    assert len(on_store("audit", "facts", "01f").lines) == 14
    shop("notify")
    assert call("runs", "resume", "-q").code == 5  # the sea freight was under way and cannot be asked about


def test_interrupted_it_lets_steps_finish_and_says_how_to_go_on(
    call: Call, background: Background, story: Any, shop: Any, tmp_path: Path
) -> None:
    shop("reserve", "gate", "notify")
    story.start()
    with background("--config", "midcourse.toml", "runs", "resume") as engine:
        engine.wait_for("E1 gate()")
        engine.process.send_signal(signal.SIGINT)
        engine.wait_for("Stopping")
        (tmp_path / "gate").write_text("open")
        assert engine.end() == (130, "")
    assert engine.err[-1] == "Interrupted; go on with: midcourse --config midcourse.toml runs resume\n"
    assert [step["state"] for step in call("runs", "show", "01f", "--json").json["steps"][:2]] == [
        "done",
        "done",
    ]
    assert call("runs", "resume", "-q").out == f'{story.run.id}  completed  "done"\n'
    assert topics(call).count("step_completed") == 3


def test_sigterm_is_the_same_with_its_own_code(
    call: Call, background: Background, story: Any, shop: Any, tmp_path: Path
) -> None:
    shop("gate", "notify")
    story.start()
    with background("runs", "resume", "key:order-42") as engine:
        engine.wait_for("E0 gate()")
        engine.process.terminate()
        engine.wait_for("Stopping")
        (tmp_path / "gate").write_text("open")
        assert engine.end() == (143, "")
    assert engine.err[-1] == "Interrupted; go on with: midcourse runs resume key:order-42\n"
    assert call("runs", "resume", "-q").code == 0


def test_a_second_interrupt_is_not_waited_for(
    call: Call, background: Background, story: Any, shop: Any
) -> None:
    shop("reserve", "for_ever")
    story.start()
    with background("runs", "resume") as engine:
        engine.wait_for("E1 for_ever()")
        engine.process.send_signal(signal.SIGINT)
        engine.wait_for("Stopping")
        engine.process.send_signal(signal.SIGINT)
        assert engine.end() == (130, "")
    assert call("audit", "verify").code == 0
    assert topics(call)[-1] == "step_started"


def test_a_signal_and_a_cancel_beside_a_running_engine(
    call: Call, background: Background, story: Any, shop: Any
) -> None:
    shop("reserve", "for_ever", "notify")
    story.start()
    with background("runs", "resume") as engine:
        engine.wait_for("E1 for_ever()")
        assert call("runs", "signal", "01f", "news", '{"it": "rains"}').code == 0
        engine.wait_for("signal_received")
        assert call("runs", "cancel", "01f", "--reason", "enough").code == 0
        engine.wait_for("cancel_requested")
        assert engine.end() == (1, f"{story.run.id}  cancelled  enough\n")
    assert topics(call)[-3:] == ["compensation_started", "compensation_completed", "run_cancelled"]
    assert [entry["state"] for entry in call("runs", "show", "01f", "--json").json["ledger"]] == ["undone"]


def test_one_engine_at_a_time(call: Call, background: Background, story: Any, shop: Any) -> None:
    shop("for_ever")
    story.start()
    with background("runs", "resume") as engine:
        engine.wait_for("for_ever")
        answer = call("runs", "resume")
        assert (answer.code, answer.out) == (1, "")
        assert f"is owned by the engine of process {engine.process.pid}" in answer.err


def test_watch_prints_what_lands_until_the_end(
    call: Call, background: Background, story: Any, shop: Any, tmp_path: Path
) -> None:
    shop("reserve", "gate")
    story.start()
    with background("runs", "resume") as engine:
        engine.wait_for("gate()")
        with (
            background("runs", "watch", "key:order-42", "--json") as watcher,
            background("runs", "watch", "01f") as other,
        ):
            (tmp_path / "gate").write_text("open")
            assert engine.end()[0] == 0
            code, out = watcher.end()
            assert (code, other.end()[0]) == (0, 0)
    assert [line.partition('"topic":"')[2].partition('"')[0] for line in out.splitlines()] == topics(call)


def test_watch_interrupted_leaves_the_run_alone(
    call: Call, background: Background, story: Any, shop: Any
) -> None:
    shop("notify")
    story.start()
    with background("runs", "watch", "01f") as watcher:
        assert watcher.process.stdout is not None
        assert "run_started" in watcher.process.stdout.readline()
        watcher.process.send_signal(signal.SIGINT)
        assert watcher.end()[0] == 130
    assert watcher.err == ["Stopped watching; the run is left alone\n"]
    assert call("runs", "resume", "-q").code == 0


def test_watch_of_a_run_that_failed_is_code_1(call: Call, story: Any, shop: Any) -> None:
    shop()
    story.start()
    call("runs", "resume")
    assert call("runs", "watch", "01f").code == 1


def test_the_demo_can_be_kept_and_looked_at(call: Call, tmp_path: Path) -> None:
    answer = call("demo", "--keep", "kept", "--variant", "ship", "--json", "--pace", "0")
    assert (answer.code, answer.err) == (0, "")
    assert isinstance(answer.json, dict)
    config = ("--config", "kept/midcourse.toml")
    assert [run["key"] for run in call(*config, "runs", "list", "--json").json["runs"]] == ["order-42"]
    assert call(*config, "audit", "verify").code == 0
    assert call(*config, "runs", "resume").err == "No runs to resume\n"
    assert len(call(*config, "tools", "list", "--json").json) > 8
