"""HTTP effects whose process is killed in the middle of a call, seen by a service in another process."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal
from urllib.request import Request, urlopen

import pytest

from midcourse.actors.testing.crash import (
    MOMENTS,
    CrashAt,
    Moment,
    ScenarioEndedError,
    kill_scenario,
    run_scenario,
)

from . import service_process
from .calling import calls

MOST_S = 30.0
NEVER = CrashAt(0, "before")


@pytest.fixture(scope="module")
def service() -> Iterator[str]:
    with subprocess.Popen(
        [sys.executable, service_process.__file__], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        process.terminate()


def seen(url: str) -> Any:
    with urlopen(url) as answer:
        return json.load(answer)


def tell(url: str, **kill: Any) -> None:
    with urlopen(Request(url, json.dumps(kill).encode(), method="PUT")) as answer:
        assert answer.status == 200


@pytest.mark.parametrize("moment", ["before", "after"])
def test_killed_in_the_middle_of_every_call(
    service: str, crash_folder: Path, subtests: pytest.Subtests, moment: Literal["before", "after"]
) -> None:
    """Whether the service had the effect before or not: it has it once in the end."""
    for call in (1, 2):
        url, folder = f"{service}/call-{call}-{moment}", crash_folder / f"http-call-{call}-{moment}"
        folder.mkdir()
        with subtests.test(f"killed {moment} the effect of call {call}"):
            tell(url, call=call, moment=moment)
            arguments = {"url": url, "kinds": ("kept", "asked")}
            kill_scenario(calls, NEVER, folder=folder, arguments=arguments, timeout_s=MOST_S)
            ended = run_scenario(calls, folder=folder, arguments=arguments, timeout_s=MOST_S)
            assert ended.result == {"status": "completed", "steps": ["done", "done"]}
            told = seen(url)
            assert len(told["effects"]) == len(set(told["effects"])) == 2
            # What can be asked about is called again only if it did not happen.
            assert len(told["calls"]) == (2 if (call, moment) == (2, "after") else 3)


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_call_that_nobody_can_ask_about_is_not_repeated(
    service: str, crash_folder: Path, moment: Literal["before", "after"]
) -> None:
    url, folder = f"{service}/plain-{moment}", crash_folder / f"http-plain-{moment}"
    folder.mkdir()
    tell(url, call=1, moment=moment)
    arguments = {"url": url, "kinds": ("plain", "kept")}
    kill_scenario(calls, NEVER, folder=folder, arguments=arguments, timeout_s=MOST_S)
    ended = run_scenario(calls, folder=folder, arguments=arguments, timeout_s=MOST_S)
    assert ended.result["status"] == "attention"
    told = seen(url)
    assert (len(told["calls"]), len(told["effects"])) == (1, 1 if moment == "after" else 0)


@pytest.mark.parametrize("moment", MOMENTS)
def test_killed_at_every_fact_of_a_run_of_calls(
    service: str, crash_folder: Path, subtests: pytest.Subtests, moment: Moment
) -> None:
    for append in range(1, 20):
        url, folder = f"{service}/fact-{append}-{moment}", crash_folder / f"http-fact-{append}-{moment}"
        folder.mkdir()
        arguments = {"url": url, "kinds": ("kept", "asked")}
        with subtests.test(f"killed {moment} append {append}"):
            try:
                kill_scenario(
                    calls, CrashAt(append, moment), folder=folder, arguments=arguments, timeout_s=MOST_S
                )
            except ScenarioEndedError:
                assert append > 1
                return
            ended = run_scenario(calls, folder=folder, arguments=arguments, timeout_s=MOST_S)
            assert ended.result["status"] == "completed"
            effects = seen(url)["effects"]
            assert len(effects) == len(set(effects)) == 2
    pytest.fail("it went on and on")
