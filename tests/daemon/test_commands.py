"""Tools that are commands of the configuration: real processes."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from midcourse import Engine, Plan, Step, ToolDefinitionError
from midcourse.daemon.commands import Command, command_tool
from midcourse.daemon.declared import Argument
from midcourse.domain import facts as f
from midcourse.testing import wait_for_fact

PYTHON = sys.executable


def script(code: str, *more: str, **terms: Any) -> Command:
    return Command(argv=(PYTHON, "-c", code, *more), **terms)


async def run_once(tmp_path: Path, command: Command, **input: Any) -> Any:
    made = command_tool("it", command, tmp_path)
    async with Engine(f"sqlite:///{tmp_path / 'runs.db'}", tools=[made]) as engine:
        run = await engine.start("it", plan=Plan([Step("A", "it", input)]))
        return await run.outcome()


async def test_each_element_is_one_argument_and_no_shell_reads_it(tmp_path: Path) -> None:
    args = {"name": "string", "count": Argument("integer", 3), "tags": "array"}
    code = "import sys, json; print(json.dumps(sys.argv[1:]))"
    command = script(code, "{{name}}", "n={{count}}", "{{tags}}", args=args, output="json", effect="read")
    outcome = await run_once(tmp_path, command, name="a b; rm -rf $HOME", tags=["x"])
    assert outcome.result == ["a b; rm -rf $HOME", "n=3", '["x"]']


@pytest.mark.parametrize(("output", "result"), [("text", "a\nb\n"), ("lines", ["a", "b"])])
async def test_output(tmp_path: Path, output: Any, result: Any) -> None:
    assert (await run_once(tmp_path, script("print('a'); print('b')", output=output))).result == result


async def test_it_reads_what_it_is_given_and_sees_few_variables_and_the_operation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHARED", "yes")
    monkeypatch.setenv("HIDDEN", "no")
    code = (
        "import sys, os, json; print(json.dumps([sys.stdin.read(), os.environ.get('SHARED'), "
        "os.environ.get('HIDDEN'), os.environ['MIDCOURSE_OPERATION'].split(':')[0], os.getcwd()]))"
    )
    (tmp_path / "sub").mkdir()
    command = script(
        code, args={"text": "string"}, stdin="{{text}}", env={"SHARED": ""}, cwd="sub", output="json"
    )
    outcome = await run_once(tmp_path, command, text="hello")
    assert outcome.result == ["hello", "yes", None, "user__it", str(tmp_path / "sub")]


async def test_an_exit_code_that_is_not_ok_fails_with_what_it_said(tmp_path: Path) -> None:
    outcome = await run_once(tmp_path, script("import sys; sys.exit('no such branch')"))
    assert outcome.failure.message.endswith("ended with exit code 1: no such branch")
    assert (await run_once(tmp_path, script("import sys; sys.exit(3)", ok=(0, 3)))).status == "completed"


async def test_a_program_that_is_not_there_had_no_effect(tmp_path: Path) -> None:
    outcome = await run_once(tmp_path, Command(argv=("no-such-program",)))
    assert (
        outcome.failure.message == f"'no-such-program' cannot be run in {tmp_path}: No such file or directory"
    )


async def test_what_was_to_be_json_and_is_not_fails(tmp_path: Path) -> None:
    outcome = await run_once(tmp_path, script("print('{')", output="json"))
    assert "was to write JSON" in outcome.failure.message


async def test_a_command_that_takes_too_long_is_killed_with_its_children_and_its_outcome_is_unknown(
    tmp_path: Path,
) -> None:
    pids = tmp_path / "pids"
    code = (
        "import os, subprocess, sys; "
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']); "
        f"open({str(pids)!r}, 'w').write(f'{{os.getpid()}} {{child.pid}}'); child.wait()"
    )
    made = command_tool("it", script(code, timeout_s=1.0), tmp_path)
    async with Engine(f"sqlite:///{tmp_path / 'runs.db'}", tools=[made]) as engine:
        run = await engine.start("it", plan=Plan([Step("A", "it")]))
        await wait_for_fact(run, f.OutcomeUnknown)
    for pid in map(int, pids.read_text().split()):
        assert not _is_alive(pid)


def _is_alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and that nobody has waited for does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")
    return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        (Command(argv=()), "argv needs a program"),
        (Command(argv=("x", "{{y}}")), r"reads 'y', which is not in args \(none\)"),
        (Command(argv=("x", "{{y"), args={"y": "string"}), "'{{y'"),
        (Command(argv=("x",), args={"y": "text"}), "args.y is 'text'; it is one of string, integer"),
        (Command(argv=("x",), effect="reversible"), "undo"),
        (Command(argv=("x",), identity=("z",)), "identity names z"),
    ],
)
def test_a_command_that_cannot_work_is_refused(command: Command, problem: str, tmp_path: Path) -> None:
    with pytest.raises(ToolDefinitionError, match=problem):
        command_tool("it", command, tmp_path)


def test_commands_of_the_configuration_are_tools(call: Any, tmp_path: Path) -> None:
    argv = [PYTHON, "-c", "import sys; print('hello', sys.argv[1])", "{{who}}"]
    (tmp_path / "midcourse.toml").write_text(
        f"[commands.hello]\nargv = {json.dumps(argv)}\n"
        'args = { who = "string" }\neffect = "read"\noutput = "lines"\n'
    )
    (tmp_path / "plans").mkdir()
    (tmp_path / "plans" / "greet.yaml").write_text(
        "identifier: greet\nname: Greet\ndescription: Says hello.\nsteps:\n"
        '  - {id: A, tool_name: hello, input: {who: world}}\noutput: {said: "{{A.0}}"}\n'
    )
    assert call("plan", "run", "greet", "-q").json == {"said": "hello world"}
    assert "hello  read" in call("tools", "list").out
    (tmp_path / "midcourse.toml").write_text("[commands.hello]\nargs = {}\nagrv = ['x']\n")
    said = call("tools", "list").err
    assert "commands.hello.agrv: unknown key (did you mean 'argv'?)" in said
    assert "commands.hello: needs argv" in said
