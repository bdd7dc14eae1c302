"""What the engine knows of a tool, and the catalog of all of them."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

import msgspec

from .authority import Authority
from .budget import Policy
from .builtins import BUILTIN_PREFIX, PACK_OF, how_to_enable
from .children import PLAN_AND_EXECUTE, TAKE_BACK
from .errors import ToolDefinitionError, UnknownTool
from .ids import digest
from .plan import Plan
from .retry import RetryPolicy
from .signals import ANY_SIGNAL, SignalRules

Effect = Literal["read", "reversible", "irreversible"]
__all__ = ["RECEIPT_FIELD", "USER_PREFIX", "Catalog", "Effect", "RetryPolicy", "ToolSpec"]

USER_PREFIX = "user__"
_TRIES = 5
_NO_RULES = Authority()
_NO_PLANS: Mapping[str, Plan] = MappingProxyType({})
TakeInputs: TypeAlias = Callable[[Mapping[str, Any]], tuple[Mapping[str, Any], Sequence[str]]]
"""Returns the inputs of a plan with its defaults, and everything that keeps them from fitting its schema."""
_NO_INPUTS: Mapping[str, TakeInputs] = MappingProxyType({})
_NO_POLICIES: Mapping[str, Policy] = MappingProxyType({})
RECEIPT_FIELD = "receipt"
"""The argument through which an undo tool is handed the receipt of what it takes back."""


class ToolSpec(msgspec.Struct, frozen=True, omit_defaults=True):
    """A tool's contract, without its code.

    Args:
        name: full name, such as ``user__charge``.
        description: what it does, for planners and people.
        effect: what it does to the outside world; undeclared means irreversible.
        undo: full name of the tool that takes a reversible effect back.
        idempotent: a repeat with the same operation key has no second effect.
        identity: names of the arguments that identify the operation; ``None`` means all.
        has_probe: an unknown outcome can be asked about.
        retry: its retry policy.
        timeout_s: seconds one attempt may take.
        heartbeat_timeout_s: seconds of silence after which an attempt is given up.
        input_schema: JSON Schema of its arguments.
        pre: condition values that must hold before it is planned.
        post: condition values that hold after it.
        cost: what planning reckons for one call, in any unit.
        input: template of its arguments, for planners that search.
        replans: why another plan is asked for after every call of it; empty where none is.
        output_schema: JSON Schema of its results, where that is declared.
    """

    name: str
    description: str = ""
    effect: Effect = "irreversible"
    undo: str = ""
    idempotent: bool = False
    identity: tuple[str, ...] | None = None
    has_probe: bool = False
    retry: RetryPolicy = RetryPolicy()
    timeout_s: float | None = None
    heartbeat_timeout_s: float | None = None
    input_schema: Mapping[str, Any] = msgspec.field(default_factory=dict)
    pre: Mapping[str, bool] = msgspec.field(default_factory=dict)
    post: Mapping[str, bool] = msgspec.field(default_factory=dict)
    cost: float = 1.0
    input: Mapping[str, Any] = msgspec.field(default_factory=dict)
    replans: str = ""
    output_schema: Mapping[str, Any] = msgspec.field(default_factory=dict)

    @property
    def repeatable(self) -> bool:
        """Whether another attempt may be made without knowing what became of the last."""
        return self.idempotent or self.effect == "read"

    @property
    def parameters(self) -> frozenset[str]:
        """Names of its arguments, as its schema declares them."""
        return frozenset(self.input_schema.get("properties", ()))

    @property
    def required(self) -> frozenset[str]:
        """Names of the arguments it cannot do without."""
        return frozenset(self.input_schema.get("required", ()))

    @property
    def max_attempts(self) -> int:
        """Tries in all, the default of the policy resolved."""
        return self.max_attempts_after(no_effect=False)

    def max_attempts_after(self, *, no_effect: bool, retry: RetryPolicy | None = None) -> int:
        """Return the tries in all after one that failed.

        Args:
            no_effect: the tool vouches that nothing happened, so that even one that is not repeatable may be
                tried again.
            retry: the policy of its step, in place of its own.
        """
        most = (retry or self.retry).max_attempts
        if most is not None:
            return most
        return _TRIES if self.repeatable or no_effect else 1


_BUILT_IN: Mapping[str, ToolSpec] = MappingProxyType(
    {
        PLAN_AND_EXECUTE: ToolSpec(
            PLAN_AND_EXECUTE,
            "Carry a goal out in a child run: its planner is asked for a plan of its own.",
            effect="reversible",
            undo=TAKE_BACK,
            idempotent=True,
            identity=("query", "inputs", "planner"),
            input_schema={
                "type": "object",
                "properties": {
                    "query": {"type": "string", "minLength": 1},
                    "inputs": {"type": "object"},
                    "planner": {"type": "string"},
                    "requirements": {"type": "array"},
                    "limits": {"type": "object"},
                },
                "required": ["query"],
                "additionalProperties": False,
            },
        ),
        TAKE_BACK: ToolSpec(
            TAKE_BACK,
            "Have a child run undo what it did.",
            idempotent=True,
            input_schema={"type": "object", "properties": {"run": {"type": "string"}}, "required": ["run"]},
        ),
    }
)
"""What every engine can do by itself; no planner is offered it, and none is among the tools of an engine."""


class Catalog:
    """The tools an engine offers, by full name.

    Args:
        specs: the contracts; two with one name are refused, and an undo tool must exist.
        authority: what they may be used for, and who has to agree.
        policies: functions that say whether a run may go on, by name.
        plans: the plans that steps may call, by their names as tools (``plan__…``).
        reviewers: names of those who can be asked for opinions, the judge among them.
        plan_reviewers: those of them who review every proposal of a planner.
        on_stuck: names of the handlers that are asked about stuck runs, in order.
        observers: names of the planners that are asked again after every step.
        inputs: by the same names, what takes their inputs where they have a schema for them.
        planners: names of the planners of the engine; ``None`` where they are not known.
        signals: what is declared of signals.

    Raises:
        ToolDefinitionError: two tools share a name, or an ``undo`` cannot work.
    """

    __slots__ = (
        "_bare", "_specs", "authority", "digest", "guards_steps", "inputs", "observers", "on_stuck",
        "plan_reviewers", "planners", "plans", "policies", "reviewers", "reviews_steps", "signals",
    )  # fmt: skip

    def __init__(  # noqa: PLR0913 - one argument a kind of thing there is to know
        self,
        specs: Iterable[ToolSpec] = (),
        authority: Authority = _NO_RULES,
        policies: Mapping[str, Policy] = _NO_POLICIES,
        plans: Mapping[str, Plan] = _NO_PLANS,
        inputs: Mapping[str, TakeInputs] = _NO_INPUTS,
        *,
        reviewers: frozenset[str] = frozenset(),
        plan_reviewers: tuple[str, ...] = (),
        observers: frozenset[str] = frozenset(),
        on_stuck: tuple[str, ...] = (),
        planners: frozenset[str] | None = None,
        signals: SignalRules = ANY_SIGNAL,
    ) -> None:
        self.signals = signals
        self.planners = planners
        self.on_stuck = on_stuck
        self.observers = observers
        self.reviewers = reviewers
        self.plan_reviewers = plan_reviewers
        self.plans = plans
        self.inputs = inputs
        self.authority = authority
        self.policies = policies
        self.guards_steps = authority.guards_steps
        self.reviews_steps = bool(authority.reviews)
        self._specs: dict[str, ToolSpec] = {}
        for spec in specs:
            if spec.name in self._specs:
                raise ToolDefinitionError(f"two tools are named {spec.name!r}; rename one of them")
            self._specs[spec.name] = spec
        for spec in self._specs.values():
            if spec.undo or spec.effect == "reversible":
                self._check_undo(spec)
        self._bare = self._bare_names()
        self.digest = digest([msgspec.to_builtins(self._specs[name]) for name in sorted(self._specs)])

    def for_planners(self) -> Catalog:
        """Return the catalog as planners see it: without the tools that they may not use."""
        if not self.authority.restricts_planners:
            return self
        offered = Catalog(authority=self.authority)
        offered._specs = {
            name: spec for name, spec in self._specs.items() if self.authority.lets_planners_use(name)
        }
        offered._bare = offered._bare_names()
        offered.digest = self.digest
        return offered

    def _bare_names(self) -> dict[str, list[str]]:
        bare: dict[str, list[str]] = {}
        for name in self._specs:
            if name.startswith(BUILTIN_PREFIX):
                continue  # a pack that is enabled takes no name away from the tools of others
            bare.setdefault(name.partition("__")[2] or name, []).append(name)
        return bare

    def _check_undo(self, spec: ToolSpec) -> None:
        if not spec.undo or spec.effect != "reversible":
            raise ToolDefinitionError(
                f"tool {spec.name!r}: effect 'reversible' and 'undo' go together "
                f"(effect={spec.effect!r}, undo={spec.undo!r})"
            )
        undo = self._specs.get(spec.undo)
        if undo is None:
            raise ToolDefinitionError(
                f"tool {spec.name!r} names {spec.undo!r} as its undo, which is not registered; "
                f"register it with the engine (registered: {self._known()})"
            )
        if not (undo.idempotent or undo.has_probe):
            raise ToolDefinitionError(
                f"tool {undo.name!r} undoes {spec.name!r} and may be called again after a crash: "
                "declare it idempotent=True or give it a probe"
            )
        uncovered = sorted(undo.required - spec.parameters - {RECEIPT_FIELD})
        if uncovered:
            raise ToolDefinitionError(
                f"tool {undo.name!r} undoes {spec.name!r} but requires {', '.join(uncovered)}, which are not "
                f"arguments of {spec.name!r}; take them from its argument 'receipt', or give them a default"
            )

    def _known(self) -> str:
        return ", ".join(sorted(self._specs)) or "none"

    def __iter__(self) -> Iterator[ToolSpec]:
        return iter(self._specs.values())

    def __len__(self) -> int:
        return len(self._specs)

    def get(self, name: str) -> ToolSpec | None:
        """Return the tool of that full name, or ``None``."""
        spec = self._specs.get(name)
        return spec if spec is not None else _BUILT_IN.get(name)

    def has(self, name: str) -> bool:
        """Whether there is a tool or a plan of that full name."""
        return name in self._specs or name in self.plans

    def resolve(self, name: str) -> ToolSpec:
        """Return the tool of a full or unambiguous bare name.

        Raises:
            UnknownTool: no tool, or more than one, goes by that name.
        """
        spec = self.get(name)
        if spec is not None:
            return spec
        candidates = self._bare.get(name, [])
        if len(candidates) == 1:
            return self._specs[candidates[0]]
        if candidates:
            raise UnknownTool(
                f"tool name {name!r} is ambiguous; write one of {', '.join(sorted(candidates))}"
            )
        if how := how_to_enable(name):
            raise UnknownTool(how)
        near = difflib.get_close_matches(name, [*self._specs, *self._bare, *PACK_OF], n=1)
        hint = f" (did you mean {near[0]!r}?)" if near else f" (registered: {self._known()})"
        kind = "user tool" if name.startswith(USER_PREFIX) else "tool"
        raise UnknownTool(f"unknown {kind} {name!r}{hint}")
