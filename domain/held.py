"""A proposal that waits for what is in flight."""

from __future__ import annotations

import msgspec

from . import facts as f


class Held(msgspec.Struct, frozen=True, gc=False):
    """A person's proposal that waits until what is in flight is known.

    Args:
        proposal: the proposal.
        version: version of the fact that has it wait.
        reviewers: whose opinions it waits for.
    """

    proposal: f.PlanProposed
    version: int
    reviewers: tuple[str, ...] = ()

    def is_rejected_by(self, fact: f.ProposalRejected) -> bool:
        """Whether a rejection means this proposal."""
        return (fact.digest, fact.epoch) == (self.proposal.digest, self.proposal.epoch)
