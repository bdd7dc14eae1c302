"""Effects that were committed under a step which is in no plan any more, after that plan was left."""

from __future__ import annotations

from .. import facts as f
from ..ledger import Committed
from ..plan import Step
from ..run import Run
from ..tools import Catalog
from . import compensation
from .admission import admit
from .decision import NOTHING, Decision


def undo_unwanted(run: Run, catalog: Catalog) -> Decision:
    """Take strays back, but not those that a step about to begin means just as well."""
    ready = [] if run.is_leaving else [run.steps[step] for step in run.ready]
    unwanted = [
        entry for entry in run.strays.values() if not any(_means(run, step, catalog, entry) for step in ready)
    ]
    if not unwanted:
        return NOTHING
    return Decision(compensation.issue(unwanted, catalog, "late"), (), unwanted[-1].version)


def _means(run: Run, step: Step, catalog: Catalog, entry: Committed) -> bool:
    """Whether a step, were it admitted now, would be satisfied by a committed operation."""
    facts = admit(run, step, catalog, 0.0).facts
    return any(isinstance(fact, f.StepSatisfied) and fact.operation == entry.key for fact in facts)
