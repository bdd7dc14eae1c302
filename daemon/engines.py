"""The engine of a command: one that works as the configuration says, with the parts it names."""

from __future__ import annotations

from ..actors.engine import Engine
from .config import Config
from .parts import Parts


def engine_of(store: str, config: Config, parts: Parts) -> Engine:
    """Return an engine, to be opened.

    Args:
        store: the store's URL.
        config: how it works.
        parts: what it works with.
    """
    return Engine(
        store,
        tools=parts.tools,
        planners=parts.planners,
        settings=config.settings,
        plans=parts.plans,
        authority=parts.authority,
        policies=parts.policies,
        reviewers=parts.reviewers,
        plan_reviewers=parts.plan_reviewers,
        on_stuck=parts.on_stuck,
        signals=config.signals,
    )
