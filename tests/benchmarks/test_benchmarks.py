import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
EXPECTED = {
    "append": ["1 in flight", "16 in flight", "256 in flight"],
    "dormant": ["50 waiting runs"],
    "long_run": ["10 steps", "20 steps", "step 20 against step 50", "20 wide", "opening at step 100"],
    "loop_delay": [
        "256 in flight, callback",
        "idle, callback",
        "256 in flight, timer of 1 ms",
        "idle, timer of 1 ms",
    ],
    "plan_files": ["20 steps"],
    "recover": ["4 runs"],
    "replay": ["runs of 20 steps"],
    "startup": ["midcourse --help", "import midcourse", "python -c pass"],
    "steps": ["1 in flight", "16 in flight", "256 in flight"],
}
ALWAYS_THERE = {"benchmark", "cpus", "load_1min_at_start", "midcourse", "python", "quick", "rounds", "sqlite"}

NEVER = ("repeats_with_receipt", "repeats_not_idempotent", "forgotten")


def quick_run(name: str, folder: Path) -> list[dict[str, Any]]:
    done = subprocess.run(
        [sys.executable, BENCHMARKS / f"{name}.py", "--quick", "--folder", folder],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_every_benchmark_is_listed() -> None:
    found = {path.stem for path in BENCHMARKS.glob("*.py") if not path.stem.startswith("_")}
    assert found == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_quick_run_prints_its_measurements_and_leaves_nothing_behind(name: str, tmp_path: Path) -> None:
    lines = quick_run(name, tmp_path)
    assert [line["measurement"] for line in lines] == EXPECTED[name]
    assert [line for line in lines if not line.keys() >= ALWAYS_THERE] == []
    assert list(tmp_path.iterdir()) == []
    if name == "recover":
        assert {key: lines[0][key] for key in NEVER} == dict.fromkeys(NEVER, 0)
