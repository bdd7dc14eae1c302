"""What an engine needs for the orders of one folder; `midcourse.toml` in the folder names this module."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from midcourse import Planner, Tool
from midcourse.examples.order.calls import KillAt
from midcourse.examples.order.desk import ServiceDesk
from midcourse.examples.order.pacing import slowed
from midcourse.examples.order.planners import order_planners
from midcourse.examples.order.scenario import prepare
from midcourse.examples.order.tools import order_tools
from midcourse.examples.order.world import World

CONFIG = """\
# Made by the order example, so that `midcourse runs resume` finds its tools and planners.
store = "sqlite:///orders.db"
tools = [{ call = "midcourse.examples.order.kit:kit" }]
"""


class Kit:
    """Tools and planners bound to the world of a folder, and the folder's configuration file.

    Args:
        folder: where the store `orders.db` and the world `world.db` are; it is made if it is missing.
        pause_s: seconds each call of a tool takes, half of them before and half after the world acts, so that
            a person can follow, and can kill it in between.
        kill_at: where the process kills itself, for crash tests.
    """

    def __init__(self, folder: Path, *, pause_s: float = 0.0, kill_at: KillAt | None = None) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.store = f"sqlite:///{(folder / 'orders.db').absolute()}"
        self.config = folder / "midcourse.toml"
        if not self.config.exists():
            self.config.write_text(CONFIG, encoding="utf-8")
        self.world = World(folder / "world.db", kill_at=kill_at)
        prepare(self.world)
        self.tools: list[Tool] = [slowed(each, pause_s) for each in order_tools(self.world)]
        self.planners: Mapping[str, Planner] = order_planners(ServiceDesk(self.store).change_address)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the world."""
        self.world.close()


def kit(*, folder: Path) -> Kit:
    """What the configuration file calls."""
    return Kit(folder)
