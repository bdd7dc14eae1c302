"""What a run is for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec


class Requirement(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Something a run has to show before it is complete.

    Args:
        id: its name.
        text: what is required, in words.
        evidence: what shows it, one of: ``operation``, a glob over the tools or keys of committed operations;
            ``expr``, a CEL expression over ``ledger`` (a list of the ``operation``, ``tool``, ``step``,
            ``input``, ``result`` and ``effect`` of what is committed), ``board`` and ``input``; ``judge``, a
            question to the judge of the engine, who has to cite keys of the ledger. What was undone is no
            evidence.
    """

    id: str
    text: str
    evidence: Mapping[str, str]

    @property
    def operation(self) -> str:
        """The glob, if an operation shows it."""
        return self.evidence.get("operation", "")

    @property
    def expr(self) -> str:
        """The expression, if one shows it."""
        return self.evidence.get("expr", "")

    @property
    def judge(self) -> str:
        """The question, if the judge says whether it is met."""
        return self.evidence.get("judge", "")


class Goal(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """What a run is to reach.

    Args:
        text: the goal in words a person understands.
        inputs: JSON values the plan may use as ``{{input.…}}``.
        requirements: what the run has to show before it is complete; frozen at its start.
    """

    text: str
    inputs: Mapping[str, Any] = msgspec.field(default_factory=dict)
    requirements: tuple[Requirement, ...] = ()
