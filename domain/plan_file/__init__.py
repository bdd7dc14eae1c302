"""Plan files as data: what stands in them, and every rule they have to keep, without files and positions.

``read_plan_file`` takes the decoded document and returns the plan with all problems of its first layer,
each at a path in the document. ``problems_in`` looks at it together with tools, other plans and servers.
``written`` turns a plan into a document again, in one order and one spelling. Reading text, naming lines
and columns, and checking inputs against JSON Schema is the shell's.
"""

from ..goal import Requirement
from .catalog import Surroundings, problems_in
from .document import read_plan_file
from .model import PlanFile, Solver, plans_by_name
from .schema import plan_file_schema
from .writing import normal_document, written

__all__ = [
    "PlanFile",
    "Requirement",
    "Solver",
    "Surroundings",
    "normal_document",
    "plan_file_schema",
    "plans_by_name",
    "problems_in",
    "read_plan_file",
    "written",
]
