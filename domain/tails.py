"""What is left of a tail when some of its steps are left out."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from .plan import Step
from .readiness import is_dag


def rest_of(tail: Sequence[Step], rest: Sequence[Step]) -> Sequence[Step]:
    """Return the steps of a tail that are left, so that what is left of a DAG is no sequence."""
    if not rest or not is_dag(tail) or is_dag(rest):
        return rest
    return (msgspec.structs.replace(rest[0], needs=()), *rest[1:])
