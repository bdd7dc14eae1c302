"""Control steps: what the engine carries out by itself, instead of calling a tool.

``parse_control`` reads the input of a step whose tool name is in ``CONTROLS`` into one of the structs of
``model``; a step of a plan that was checked is read by ``as_control``. Texts in the structs may hold
templates: who carries a step out renders each of them when it is needed, over the scope that its field
names, and never renders the branch not taken.

Layout: ``model`` has the structs, ``parse`` reads them, ``bodies`` reads steps and bodies, ``fields`` is how
objects are read, ``naming`` renames the tools in bodies, ``references`` says what a step reads, bodies and
expressions included.
"""

from .bodies import RESERVED_IDS, as_step, idle_fields, unsupported_fields
from .model import (
    CARRIED_OUT,
    CONTROLS,
    Agent,
    Ask,
    Body,
    Condition,
    Control,
    Decide,
    Exit,
    Filter,
    Gate,
    Map,
    PlanStep,
    Question,
    Reduce,
    Wait,
    steps_of,
)
from .naming import tools_called, with_names
from .parse import as_control, bodies_of, parse_control
from .references import Site, outside_references, possible_outside_references, sites_of

__all__ = [
    "CARRIED_OUT",
    "CONTROLS",
    "RESERVED_IDS",
    "Agent",
    "Ask",
    "Body",
    "Condition",
    "Control",
    "Decide",
    "Exit",
    "Filter",
    "Gate",
    "Map",
    "PlanStep",
    "Question",
    "Reduce",
    "Site",
    "Wait",
    "as_control",
    "as_step",
    "bodies_of",
    "idle_fields",
    "outside_references",
    "parse_control",
    "possible_outside_references",
    "sites_of",
    "steps_of",
    "tools_called",
    "unsupported_fields",
    "with_names",
]
