"""A plan that a command is given, for a run that there is or for those of a schedule."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from ...domain.plan import Plan
from ...domain.plan_file import PlanFile
from ...domain.tools import Catalog
from ...domain.unknown_fields import unknown_fields
from ..errors import PlanFileError
from .folders import PlanFolders


class GivenPlan(NamedTuple):
    """A plan, and the plan file that it was, if it was one.

    Attributes:
        plan: the plan.
        file: the plan file; ``None`` where steps were written without one.
    """

    plan: Plan
    file: PlanFile | None = None


def given_plan(named: str, folders: PlanFolders, catalog: Catalog) -> GivenPlan:
    """Return the plan that a name means: a plan file, or a document that is only what is to be done.

    A plan file has an ``identifier``, and is checked as a whole. Without one a document has the fields of
    `Plan`, and its steps may refer to what its run has done already.

    Args:
        named: an identifier in the plan folders, or a file.
        folders: the plan folders.
        catalog: the tools that a plan file is checked against.

    Raises:
        PlanFileError: there is no such plan, or it cannot be used; all problems are listed.
    """
    loaded = folders.find(named)
    if isinstance(loaded.document, dict) and "identifier" not in loaded.document:
        return GivenPlan(_bare(loaded.document, named))
    problems = loaded.checked(folders.around(loaded, catalog), to_run=True)
    errors = [str(each) for each in problems if each.problem.is_error]
    if loaded.plan is not None and not errors:
        errors = [f"{named}: this version does not carry out {each}" for each in loaded.plan.unsupported()]
    if loaded.plan is None or errors:
        raise PlanFileError("\n  ".join((f"{named} holds no plan that can be used:", *errors)))
    return GivenPlan(loaded.plan.plan(), loaded.plan)


def _bare(document: Any, named: str) -> Plan:
    try:
        plan = msgspec.convert(document, Plan)
    except (msgspec.ValidationError, TypeError) as error:
        raise PlanFileError(f"{named} holds no plan: {error}") from error
    if unknown := list(unknown_fields(document, Plan)):
        raise PlanFileError("\n  ".join((f"{named} holds no plan that can be used:", *unknown)))
    return plan
