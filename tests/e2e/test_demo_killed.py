"""The demo killed with SIGKILL: around every call to the outside world, and while a person watches it."""

from __future__ import annotations

import json
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from midcourse.examples.order.demo import PLANNERS
from midcourse.examples.order.scenario import SCENARIOS
from midcourse.examples.order.world import Summary, World

KILLED_DEMO = Path(__file__).with_name("killed_demo.py")
MIDCOURSE = str(Path(sys.executable).with_name("midcourse"))
DELIVERED = Summary(
    stock_left={"lamp": 8},
    taken_cents=13200,
    shipments=["order 42 by sea to Longyearbyen"],
    messages=["Order 42 travels to Longyearbyen by sea."],
)


@pytest.mark.parametrize("planner", PLANNERS)
@pytest.mark.parametrize("variant", SCENARIOS)
def test_killed_around_any_call_every_effect_happens_once(tmp_path: Path, planner: str, variant: str) -> None:
    program = [sys.executable, str(KILLED_DEMO), str(tmp_path), planner, variant]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    uncrashed, *crashed = (json.loads(line) for line in done.stdout.splitlines())
    assert len(crashed) >= 2 * len(uncrashed["effects"])
    for found in crashed:
        happened = found["kill_at"]["moment"] == "after_commit"
        of_this_case = {"kill_at": found["kill_at"], "killed_by": signal.SIGKILL, "repeated_calls": happened}
        assert {**uncrashed, **of_this_case} == found


@pytest.mark.parametrize("planner", PLANNERS)
@pytest.mark.parametrize("fact", [6, 9, 13])
def test_killed_while_watched_resume_finishes_it(tmp_path: Path, planner: str, fact: int) -> None:
    options = ["--planner", planner, "--variant", "ship", "--pace", "0.02"]
    demo = [MIDCOURSE, "demo", "--keep", str(tmp_path), *options]
    with subprocess.Popen(demo, stdout=subprocess.PIPE, text=True) as watched:
        assert watched.stdout is not None
        seen = next(line for line in watched.stdout if line.startswith(f"{fact:>3} "))
        watched.kill()
    assert watched.returncode == -signal.SIGKILL, seen
    resume = [MIDCOURSE, "--config", str(tmp_path / "midcourse.toml"), "runs", "resume"]
    resumed = subprocess.run(resume, capture_output=True, text=True, check=False)
    assert resumed.returncode == 0, resumed.stderr
    with World(tmp_path / "world.db") as world:
        assert world.summary() == DELIVERED
        assert world.duplicates() == []


def test_killed_between_effect_and_receipt_the_books_show_the_repeated_call(tmp_path: Path) -> None:
    demo = [MIDCOURSE, "demo", "--keep", str(tmp_path), "--variant", "ship", "--pace", "1"]
    with subprocess.Popen(demo, stdout=subprocess.PIPE, text=True) as watched:
        assert watched.stdout is not None
        seen = next(line for line in watched.stdout if line.startswith("  1 "))
        with World(tmp_path / "world.db") as world:
            while not world.effects():
                select.select([], [], [], 0.01)
        watched.kill()
    assert watched.returncode == -signal.SIGKILL, seen
    finished = subprocess.run([*demo[:-2], "--pace", "0"], capture_output=True, text=True, check=True)
    books = finished.stdout[finished.stdout.index("Books") :].splitlines()
    assert books[3].split() == ["reservation-1", "lamp", "2", "pcs", "2", "1", "stands"]
