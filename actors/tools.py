"""Tools: functions with a contract that says what they do to the world outside."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, overload

import msgspec

from ..domain.errors import ToolDefinitionError
from ..domain.tools import USER_PREFIX, Effect, RetryPolicy, ToolSpec
from .json_values import as_json
from .rules import ReplanRule
from .tool_schema import Parameters, schema_problem

Probe = Callable[[str], Any]
"""Asked with an operation key what became of it: a `Receipt` or the result, ``None`` if it did not happen."""

_EFFECTS: Final = ("read", "reversible", "irreversible")
_DEFAULT_RETRY: Final = RetryPolicy()


class Tool:
    """A function and its contract; calling it calls the function.

    Args:
        function: what is called.
        spec: the contract, all of it but the schema of the arguments.
        probe: asked what became of an operation.
        rules: look at the result of every call for a reason to plan anew.

    Attributes:
        spec: the contract.
        function: what is called.
        parameters: its arguments.
        is_async: whether it runs on the event loop; else in a thread.
        probe: see `Probe`.
        rules: see `ReplanRule`.

    Raises:
        ToolDefinitionError: function, probe and contract do not fit each other.
    """

    __slots__ = ("__weakref__", "function", "is_async", "parameters", "probe", "rules", "spec")

    def __init__(
        self,
        function: Callable[..., Any],
        spec: ToolSpec,
        *,
        probe: Probe | None = None,
        rules: Sequence[ReplanRule] = (),
    ) -> None:
        self.function = function
        self.probe = probe
        self.rules = tuple(rules)
        self.is_async = is_async(function)
        self.parameters = Parameters(spec.name, function)
        spec = msgspec.structs.replace(spec, input_schema=self.parameters.schema, has_probe=probe is not None)
        self.spec = _checked(spec)
        self._check()

    @property
    def name(self) -> str:
        """Full name, such as ``user__charge``."""
        return self.spec.name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function itself, as if it were no tool."""
        return self.function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<Tool {self.spec.name} ({self.spec.effect})>"

    def _check(self) -> None:
        spec, parameters = self.spec, self.parameters
        for field, names in (("identity", spec.identity or ()), ("input", spec.input)):
            unknown = [name for name in names if name not in parameters]
            if unknown:
                raise _wrong(
                    spec.name,
                    f"{field} names {', '.join(unknown)}, which its function does not take "
                    f"(arguments: {', '.join(parameters) or 'none'})",
                )
        if bool(spec.undo) != (spec.effect == "reversible"):
            remedy = (
                "add effect='reversible', or drop undo"
                if spec.undo
                else ("name the tool that takes the effect back in undo=, or declare another effect")
            )
            raise _wrong(
                spec.name,
                f"effect='reversible' and undo go together (effect={spec.effect!r}, undo={spec.undo!r}); "
                f"{remedy}",
            )
        if spec.heartbeat_timeout_s is not None and not parameters.context:
            raise _wrong(
                spec.name,
                "heartbeat_timeout_s needs heartbeats; take a parameter 'context: ToolContext' and call "
                "context.heartbeat()",
            )
        if inspect.isgeneratorfunction(self.function) or inspect.isasyncgenfunction(self.function):
            raise _wrong(spec.name, "its function is a generator; return one value")
        if self.probe is not None:
            _check_probe(spec.name, self.probe)


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...


@overload
def tool(
    *,
    effect: Effect = ...,
    undo: str | Tool = ...,
    identity: Sequence[str] | None = ...,
    idempotent: bool = ...,
    probe: Probe | None = ...,
    retry: RetryPolicy = ...,
    timeout_s: float | None = ...,
    heartbeat_timeout_s: float | None = ...,
    pre: Mapping[str, bool] | None = ...,
    post: Mapping[str, bool] | None = ...,
    cost: float = ...,
    input: Mapping[str, Any] | None = ...,
    output_schema: Mapping[str, Any] | None = ...,
    name: str = ...,
    description: str = ...,
) -> Callable[[Callable[..., Any]], Tool]: ...


def tool(  # noqa: PLR0913 - a contract has as many terms
    function: Callable[..., Any] | None = None,
    /,
    *,
    effect: Effect = "irreversible",
    undo: str | Tool = "",
    identity: Sequence[str] | None = None,
    idempotent: bool = False,
    probe: Probe | None = None,
    retry: RetryPolicy = _DEFAULT_RETRY,
    timeout_s: float | None = None,
    heartbeat_timeout_s: float | None = None,
    pre: Mapping[str, bool] | None = None,
    post: Mapping[str, bool] | None = None,
    cost: float = 1.0,
    input: Mapping[str, Any] | None = None,
    output_schema: Mapping[str, Any] | None = None,
    name: str = "",
    description: str = "",
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Make a tool of a function: ``@tool``, or ``@tool(effect="read")`` with the terms of its contract.

    Any callable that takes named arguments will do: ``async def`` runs on the event loop, anything else in a
    thread. Arguments are converted to their annotations; a parameter annotated `ToolContext` is given one. A
    returned value becomes the result of the operation's receipt; return a `Receipt` to say more. The tool
    that undoes another may take a ``receipt: Receipt``.

    Args:
        function: what is called.
        effect: what it does to the world outside: ``read``, ``reversible`` or ``irreversible``.
        undo: the tool that takes a reversible effect back, or its name.
        identity: names of the arguments that make two calls the same operation; ``None`` means all.
        idempotent: a repeat with the same operation key has no second effect.
        probe: function of an operation key that returns the `Receipt` or result of an operation, ``None`` if
            it did not happen, and raises if it cannot tell.
        retry: how often and how patiently it is tried again.
        timeout_s: seconds one attempt may take.
        heartbeat_timeout_s: seconds of silence after which an attempt is given up.
        pre: condition values that must hold before it is planned.
        post: condition values that hold after it.
        cost: what planning reckons for one call.
        input: template of its arguments, for planners that search.
        output_schema: JSON Schema of its results, for those who write plans.
        name: its name; by default that of the function.
        description: what it does, for planners and people; by default the first paragraph of its docstring.

    Raises:
        ToolDefinitionError: the contract cannot be kept, or the function cannot be called by name.
    """
    if function is not None and not callable(function):
        raise ToolDefinitionError(
            f"@tool({function!r}) is handed no function; a name goes in name=: @tool(name={function!r})"
        )
    if not isinstance(retry, RetryPolicy):
        raise ToolDefinitionError(f"retry is {retry!r}; write RetryPolicy(max_attempts=3), say")

    def define(target: Callable[..., Any]) -> Tool:
        if isinstance(target, Tool):
            raise _wrong(target.name, "it is a tool already; decorate its function once")
        spec = ToolSpec(
            name=_own_name(target, name),
            description=description or _summary(target),
            effect=effect,
            undo=undo.name if isinstance(undo, Tool) else undo and full_name(undo),
            idempotent=idempotent,
            identity=None if identity is None else _names(target, identity),
            retry=retry,
            timeout_s=timeout_s,
            heartbeat_timeout_s=heartbeat_timeout_s,
            pre=pre or {},
            post=post or {},
            cost=cost,
            input=input or {},
            output_schema=output_schema or {},
        )
        return Tool(target, spec, probe=probe)

    return define if function is None else define(function)


def as_tool(candidate: Tool | Callable[..., Any]) -> Tool:
    """Return a tool as it is, and a tool of any other callable, with the contract of a bare ``@tool``."""
    if isinstance(candidate, Tool):
        return candidate
    if not callable(candidate):
        raise ToolDefinitionError(
            f"{candidate!r} is no tool and cannot be called; hand in tools or functions"
        )
    return tool(candidate)


def as_tools(candidates: Iterable[Tool | Callable[..., Any]]) -> list[Tool]:
    """Return tools made of a list of tools and callables."""
    if isinstance(candidates, (str, Mapping)) or not isinstance(candidates, Iterable):
        raise ToolDefinitionError(f"tools is {candidates!r}; hand in a list: Engine(store, tools=[…])")
    return [as_tool(each) for each in candidates]


def full_name(name: str) -> str:
    """Return the full name of a tool: a bare name is that of a Python function."""
    return name if "__" in name else USER_PREFIX + name


def is_async(function: Callable[..., Any]) -> bool:
    """Return whether calling it makes a coroutine."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 - an object with an async __call__ is asked about it
    )


def _own_name(function: Callable[..., Any], name: str) -> str:
    source: Any = function
    while isinstance(source, functools.partial):
        source = source.func
    bare = (name or getattr(source, "__name__", "")).removeprefix(USER_PREFIX)
    if not bare.isidentifier() or "__" in bare:
        raise ToolDefinitionError(
            f"a tool cannot be named {bare!r}{'' if name else f' (made of {function!r})'}; name it with "
            "letters, digits and single underscores (in Python by name=)"
        )
    return USER_PREFIX + bare


def _names(function: Callable[..., Any], identity: Sequence[str]) -> tuple[str, ...]:
    if isinstance(identity, str):
        raise ToolDefinitionError(f"identity of {function!r} is a list of argument names, not {identity!r}")
    return tuple(identity)


def _summary(function: Callable[..., Any]) -> str:
    doc = inspect.getdoc(function) if inspect.isroutine(function) else inspect.getdoc(type(function))
    return " ".join((doc or "").partition("\n\n")[0].split())


def _checked(spec: ToolSpec) -> ToolSpec:
    """Return the contract with every field as its type says, for it goes into digests and to planners."""
    if spec.effect not in _EFFECTS:
        raise _wrong(spec.name, f"effect is {spec.effect!r}; write one of {', '.join(_EFFECTS)}")
    try:
        checked = msgspec.convert(as_json(spec), ToolSpec)
    except Exception as error:
        raise _wrong(spec.name, f"its contract does not fit: {error}") from error
    for field in ("timeout_s", "heartbeat_timeout_s"):
        seconds = getattr(checked, field)
        if seconds is not None and seconds <= 0:
            raise _wrong(spec.name, f"{field} is {seconds}; it is a number of seconds above 0, or None")
    if checked.cost < 0:
        raise _wrong(spec.name, f"cost is {checked.cost}; it cannot be negative")
    if problem := checked.retry.problem() or schema_problem(checked.output_schema):
        raise _wrong(spec.name, problem)
    return checked


def _check_probe(name: str, probe: Probe) -> None:
    try:
        inspect.signature(probe).bind("operation")
    except TypeError as error:
        raise _wrong(
            name, f"its probe {probe!r} must be a function of one argument, the operation key ({error})"
        ) from error


def _wrong(name: str, problem: str) -> ToolDefinitionError:
    return ToolDefinitionError(f"tool {name!r}: {problem}")
