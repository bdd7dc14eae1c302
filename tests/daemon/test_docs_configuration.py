"""``docs/configuration.md`` describes the configuration there is: its file works, its table is complete."""

from __future__ import annotations

import re
from pathlib import Path

from midcourse import Budget, Limits, Settings
from midcourse.daemon.config import KEYS, load_config

TEXT = (Path(__file__).parents[2] / "docs" / "configuration.md").read_text("utf-8")
[FILE] = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)


def test_its_file_is_one(tmp_path: Path) -> None:
    file = tmp_path / "midcourse.toml"
    file.write_text(FILE)
    config = load_config(file)
    assert [source.target for source in config.tools] == ["shop", "shop.more:pack", "shop:make"]
    assert config.settings == Settings(max_active_runs=100, tool_threads=4)
    assert config.limits == Limits(
        replans=5, budgets=(Budget(steps=500, cost=20.0), Budget(policy="thrift", then="fail"))
    )


def test_its_file_and_its_table_have_every_key() -> None:
    table = re.findall(r"^\| (`.*?) \|", TEXT, re.MULTILINE)
    named = {name.partition(".")[0] for row in table for name in re.findall(r"`([\w.]+)`", row)}
    shown = set(re.findall(r"^\[?(\w+)", FILE, re.MULTILINE))
    assert set(KEYS) <= named
    assert set(KEYS) <= shown
