"""The pack ``exec``: real processes."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from midcourse import Engine, Outcome, Plan, Step, ToolDefinitionError
from midcourse.actors.packs import exec_pack
from midcourse.domain import facts as f
from midcourse.testing import wait_for_fact

PYTHON = sys.executable


async def run(
    folder: Path, argv: list[str], *, programs: tuple[str, ...] = (PYTHON,), **more: Any
) -> Outcome:
    tools = exec_pack(programs=programs, folder=folder)
    async with Engine(f"sqlite:///{folder / 'runs.db'}", tools=tools) as engine:
        plan = Plan([Step("A", "builtin__exec", {"argv": argv, **more})])
        return await (await engine.start("it", plan=plan)).outcome(timeout_s=20)


async def test_a_program_runs_with_its_arguments_and_no_shell(tmp_path: Path) -> None:
    code = "import os, sys; print(sys.argv[1], sys.stdin.read(), os.getcwd()); print('e', file=sys.stderr)"
    outcome = await run(tmp_path, [PYTHON, "-c", code, "$HOME; ls"], stdin="in")
    assert outcome.result == {"exit_code": 0, "stdout": f"$HOME; ls in {tmp_path}\n", "stderr": "e\n"}


async def test_an_exit_code_fails_unless_it_is_ok(tmp_path: Path) -> None:
    argv = [PYTHON, "-c", "import sys; print('why', file=sys.stderr); sys.exit(3)"]
    failed = await run(tmp_path, argv)
    assert failed.failure is not None
    assert failed.failure.message == f"{PYTHON} ended with exit code 3: why"
    assert (await run(tmp_path, argv, ok=[0, 3])).result["exit_code"] == 3


@pytest.mark.parametrize("argv", [["rm", "-rf", "x"], [], [f"{PYTHON} -c 1"]])
async def test_only_programs_that_were_named_run(tmp_path: Path, argv: list[str]) -> None:
    outcome = await run(tmp_path, argv)
    assert outcome.failure is not None
    assert f"is not enabled; allowed are {PYTHON}" in outcome.failure.message


async def test_a_text_is_no_list_of_arguments(tmp_path: Path) -> None:
    async with Engine(f"sqlite:///{tmp_path / 'runs.db'}", tools=exec_pack(programs=["*"])) as engine:
        run = await engine.start("it", plan=Plan([Step("A", "builtin__exec", {"argv": "rm -rf x"})]))
        outcome = await run.outcome(timeout_s=20)
    assert outcome.failure is not None
    assert "argv: Expected `array`, got `str`" in outcome.failure.message


@pytest.mark.parametrize("argument", ["no-such-program", "a\0b"])
async def test_what_cannot_be_run_had_no_effect(tmp_path: Path, argument: str) -> None:
    outcome = await run(tmp_path, [argument], programs=("*",))
    assert outcome.failure is not None
    assert "cannot be run in" in outcome.failure.message


async def test_of_one_that_takes_too_long_nobody_knows_what_it_did(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    code = f"import os, time; open({str(pid)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    tools = exec_pack(programs=["*"], timeout_s=1.0)
    async with Engine(f"sqlite:///{tmp_path / 'runs.db'}", tools=tools) as engine:
        run = await engine.start(
            "it", plan=Plan([Step("A", "builtin__exec", {"argv": [PYTHON, "-c", code]})])
        )
        await wait_for_fact(run, f.OutcomeUnknown)
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


@pytest.mark.parametrize("programs", [[], "git", [""]])
def test_programs_have_to_be_named(programs: Any) -> None:
    with pytest.raises(ToolDefinitionError, match="programs names the programs that may be run"):
        exec_pack(programs=programs)
