"""Goal-oriented action planning (GOAP): search for the cheapest plan from what tools declare.

Layout: ``literals`` turns conditions into bits, ``beliefs`` finds their values, ``inputs`` the results that
templates refer to, ``costs`` exact weights; ``opening`` offers undos, ``problem`` puts actions and goal
together, ``heuristic`` estimates, ``search`` searches; ``steps`` writes the proposal, ``explain`` says why
there is none; ``goap`` is the way in.
"""

from .beliefs import Condition, ConditionFunction
from .costs import Cost
from .goap import DEFAULT_NODE_LIMIT, Answer, Goap

__all__ = ["DEFAULT_NODE_LIMIT", "Answer", "Condition", "ConditionFunction", "Cost", "Goap"]
