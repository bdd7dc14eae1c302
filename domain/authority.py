"""What runs may do, and who has to agree: data, given to an engine and checked by its rules.

Tools are named by globs such as ``user__pay*``; that of a Python tool may leave out the prefix ``user__``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from functools import partial
from typing import Literal

import msgspec

from . import expressions
from .errors import AuthorityInvalid

_PYTHON_TOOL = "user__"


class ApprovalRule(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Steps that need the approval of a person: those for which everything that is said here is so.

    Args:
        tool: glob of the tool's name.
        effect: its declared effect; ``None`` for any.
        when: a CEL expression over ``tool`` (name, effect, idempotent, cost), ``input`` (the rendered
            arguments), ``step`` (id) and ``run`` (id, mode, author, planner, started_by, tags, inputs); empty
            for always. One that cannot be evaluated asks for approval.
    """

    tool: str = "*"
    effect: Literal["read", "reversible", "irreversible"] | None = None
    when: str = ""


class ReviewRule(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Steps that are reviewed, whoever planned them and whatever their plan says of a review.

    Args:
        tool: glob of the tool's name.
        by: who reviews them: a reviewer of the engine, or ``person``.
        max_rounds: how often a step is done before a person chooses what becomes of it.
    """

    tool: str = "*"
    by: str
    max_rounds: int = 3


class Rate(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """No more than ``calls`` calls in any ``per_s`` seconds."""

    calls: int
    per_s: float = 1.0


class ToolLimit(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """How much the tools of a glob, all of them together, may be used.

    What is over a limit of calls or cost fails; what is over a rate or over ``at_once`` waits.

    Args:
        tool: glob of the names of tools.
        calls_per_run: operations that one run may begin; attempts after the first do not count.
        cost_per_run: sum of the declared costs of the operations that one run begins.
        rate_per_run: attempts of one run.
        rate: attempts of all runs of the engine.
        at_once: attempts of all runs of the engine that go on at the same time.
    """

    tool: str = "*"
    calls_per_run: int | None = None
    cost_per_run: float | None = None
    rate_per_run: Rate | None = None
    rate: Rate | None = None
    at_once: int | None = None


class Authority(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What the runs of an engine may do, and who has to agree.

    Args:
        allow: globs of the tools that planners may use.
        deny: globs of the tools that they may not use, though they are allowed.
        approvals: what needs the approval of a person, whoever planned it.
        interactive: what else needs it in interactive mode, where a planner chose it.
        reviews: what is reviewed; the first rule that fits a tool holds.
        limits: how much tools may be used.
        approvers: globs of the actors that may approve, such as ``token:*`` or ``host:alice``.
        four_eyes: nobody approves what happens in a run that they started.
    """

    allow: tuple[str, ...] = ("*",)
    deny: tuple[str, ...] = ()
    approvals: tuple[ApprovalRule, ...] = ()
    interactive: tuple[ApprovalRule, ...] = (ApprovalRule(effect="irreversible"),)
    reviews: tuple[ReviewRule, ...] = ()
    limits: tuple[ToolLimit, ...] = ()
    approvers: tuple[str, ...] = ("token:*",)
    four_eyes: bool = True

    @property
    def restricts_planners(self) -> bool:
        """Whether there are tools that planners may not use."""
        return self.allow != ("*",) or bool(self.deny)

    @property
    def guards_steps(self) -> bool:
        """Whether any step of an autonomous run may be held up or refused."""
        return self.restricts_planners or bool(self.approvals or self.limits)

    def lets_planners_use(self, tool: str) -> bool:
        """Return whether planners may use a tool, by its full name."""
        return any(matches(glob, tool) for glob in self.allow) and not any(
            matches(glob, tool) for glob in self.deny
        )

    def review_of(self, tool: str) -> ReviewRule | None:
        """Return the rule by which steps of a tool are reviewed, if there is one."""
        return next((rule for rule in self.reviews if matches(rule.tool, tool)), None)

    def check(self) -> None:
        """Look whether all of it can be used.

        Raises:
            AuthorityInvalid: it cannot; all problems are listed, each with its place.
        """
        problems = [*self._expression_problems(), *self._limit_problems()]
        problems += [
            f"reviews[{position}].max_rounds: must be 1 or more, not {rule.max_rounds}"
            for position, rule in enumerate(self.reviews)
            if rule.max_rounds < 1
        ]
        if problems:
            raise AuthorityInvalid(problems)

    def _expression_problems(self) -> Iterator[str]:
        for name, rules in (("approvals", self.approvals), ("interactive", self.interactive)):
            for position, rule in enumerate(rules):
                problem = _problem_of(partial(expressions.check, rule.when)) if rule.when else ""
                if problem:
                    yield f"{name}[{position}].when: {problem}"

    def _limit_problems(self) -> Iterator[str]:
        for position, limit in enumerate(self.limits):
            place = f"limits[{position}]"
            if limit.at_once is not None and limit.at_once < 1:
                yield f"{place}.at_once: must be 1 or more, not {limit.at_once}"
            for name in ("rate", "rate_per_run"):
                rate: Rate | None = getattr(limit, name)
                if rate is not None and (rate.calls < 1 or rate.per_s <= 0):
                    yield f"{place}.{name}: needs 1 call or more, and seconds above 0, not {rate}"
            for name in ("calls_per_run", "cost_per_run"):
                most: float | None = getattr(limit, name)
                if most is not None and most < 0:
                    yield f"{place}.{name}: must be 0 or more, not {most}"


def matches(glob: str, tool: str) -> bool:
    """Return whether a glob means a tool, by its full name."""
    return fnmatchcase(tool, glob) or fnmatchcase(tool.removeprefix(_PYTHON_TOOL), glob)


def matches_actor(glob: str, actor: str) -> bool:
    """Return whether a glob means an actor, such as ``token:alice``."""
    return fnmatchcase(actor, glob)


def _problem_of(attempt: Callable[[], None]) -> str:
    try:
        attempt()
    except expressions.ExpressionError as error:
        return str(error)
    return ""
