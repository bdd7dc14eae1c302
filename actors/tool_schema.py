"""The arguments of a tool: read from its signature, shown as JSON Schema, converted before a call."""

from __future__ import annotations

import difflib
import inspect
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from ..domain.errors import ToolDefinitionError
from .context import ToolContext
from .errors import ToolArgumentsError
from .json_values import UNREADABLE, as_json, is_unreadable, text

_AS_THEY_COME = frozenset((str, int, float, bool))
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


class Parameter(msgspec.Struct, frozen=True):
    """One argument of a tool.

    Args:
        name: its name.
        type: its annotation; ``Any`` without one.
        required: it has no default.
        default: its default, where there is one.
    """

    name: str
    type: Any
    required: bool
    default: Any = None


class Parameters:
    """The arguments of a tool.

    Args:
        tool: full name of the tool, for errors.
        function: what is called.

    Attributes:
        context: name of the parameter that takes the `ToolContext`; empty where there is none.
        schema: JSON Schema of the arguments, an object with ``properties``.

    Raises:
        ToolDefinitionError: the signature cannot be called with named JSON values.
    """

    __slots__ = ("_parameters", "_required", "_simple", "_tool", "context", "schema")

    def __init__(self, tool: str, function: Callable[..., Any]) -> None:
        self._tool = tool
        self.context = ""
        self._parameters: dict[str, Parameter] = {}
        hints = _hints(tool, function)
        for raw in inspect.signature(function).parameters.values():
            _check_kind(tool, raw)
            annotation = hints.get(raw.name, Any)
            if _is_context(raw, annotation):
                self.context = raw.name
            else:
                required = raw.default is inspect.Parameter.empty
                self._parameters[raw.name] = Parameter(
                    raw.name, annotation, required, None if required else raw.default
                )
        self._required = frozenset(name for name, found in self._parameters.items() if found.required)
        self._simple = _simple_types(self._parameters.values())
        self.schema = _schema(tool, tuple(self._parameters.values()))

    def __contains__(self, name: object) -> bool:
        return name in self._parameters

    def __iter__(self) -> typing.Iterator[str]:
        return iter(self._parameters)

    def bind(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the keyword arguments of a call.

        Args:
            values: JSON values by argument.

        Raises:
            ToolArgumentsError: with all arguments that are missing, unknown, or do not fit.
        """
        simple = self._simple
        if simple and len(values) == len(simple):
            for name, value in values.items():
                if simple.get(name) is not type(value):
                    break
            else:
                return dict(values)
        bound: dict[str, Any] = {}
        problems: list[str] = []
        parameters = self._parameters
        for name, value in values.items():
            parameter = parameters.get(name)
            if parameter is None:
                problems.append(self._unknown(name))
            elif type(value) is parameter.type and parameter.type in _AS_THEY_COME:
                bound[name] = value
            else:
                try:
                    bound[name] = _converted(parameter, value)
                except Exception as error:  # noqa: BLE001 - a boundary: the tool's types raise what they like
                    problems.append(_located(name, error))
        if not self._required <= values.keys():
            missing = [name for name in parameters if name in self._required and name not in values]
            problems.extend(f"{name}: is missing" for name in missing)
        if problems:
            raise ToolArgumentsError(self._tool, problems)
        return bound

    def _unknown(self, name: str) -> str:
        near = difflib.get_close_matches(str(name), self._parameters, n=1)
        known = ", ".join(self._parameters) or "none"
        return f"{name}: no such argument" + (
            f" (did you mean {near[0]!r}?)" if near else f" (arguments: {known})"
        )


def _simple_types(parameters: Iterable[Parameter]) -> dict[str, type]:
    """Return the type of each argument, if values of these very types need no conversion; else nothing."""
    types_ = {parameter.name: parameter.type for parameter in parameters}
    return types_ if all(each in _AS_THEY_COME for each in types_.values()) else {}


def _converted(parameter: Parameter, value: Any) -> Any:
    if is_unreadable(value):
        lost = value[UNREADABLE]
        raise ValueError(
            f"is the result of an earlier step that could not be recorded ({lost.get('type')}: "
            f"{'; '.join(lost.get('problems', ()))}); have that tool return JSON values"
        )
    # A copy: the value belongs to a recorded fact, which the tool must not be able to change.
    copy = as_json(value)
    if parameter.type is Any:
        return copy
    return msgspec.convert(copy, parameter.type, str_keys=True, dec_hook=_load_model)


def _located(name: str, error: Exception) -> str:
    problem, _, path = text(error).partition(" - at `$")
    return f"{name}{path.rstrip('`')}: {problem}"


def _load_model(kind: Any, value: Any) -> Any:
    try:
        return kind.model_validate(value)
    except ValueError as error:
        raise ValueError(_model_problems(error)) from error


def _model_problems(error: ValueError) -> str:
    """Say what pydantic found in one line; its own text has three lines and a link for each problem."""
    if not hasattr(error, "errors"):
        return str(error)
    found = [(".".join(map(str, problem["loc"])), problem["msg"]) for problem in error.errors()]
    return "; ".join(f"{path}: {message}" if path else message for path, message in found)


def _hints(tool: str, function: Callable[..., Any]) -> dict[str, Any]:
    source: Any = function
    while hasattr(source, "func"):  # a functools.partial
        source = source.func
    if not (inspect.isroutine(source) or inspect.isclass(source)):
        source = type(source).__call__
    try:
        return typing.get_type_hints(source, include_extras=True)
    except Exception as error:
        raise ToolDefinitionError(
            f"tool {tool!r}: an annotation cannot be read ({error}); it must name something that exists at "
            "run time at the top of its module, not under TYPE_CHECKING and not inside a function"
        ) from error


def _check_kind(tool: str, raw: inspect.Parameter) -> None:
    if raw.name == "self" and raw.annotation is inspect.Parameter.empty:
        raise ToolDefinitionError(
            f"tool {tool!r} is a method without its object; make the tool of the bound method: "
            "tool(effect=…)(instance.method)"
        )
    if raw.kind not in _NAMED:
        raise ToolDefinitionError(
            f"tool {tool!r}: parameter {str(raw)!r} cannot be given by name; plans name each argument, so "
            "declare every one by itself, without *, ** or /"
        )


def _is_context(raw: inspect.Parameter, annotation: Any) -> bool:
    if annotation is Any:
        return raw.name == "context" and raw.annotation is inspect.Parameter.empty
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return ToolContext in typing.get_args(annotation)
    return annotation is ToolContext


def _schema(tool: str, parameters: Sequence[Parameter]) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    for parameter in parameters:
        try:
            # Unions that look alike in JSON are found only here, not by the schema.
            msgspec.json.Decoder(parameter.type, dec_hook=_load_model)
            msgspec.json.schema(parameter.type, schema_hook=_model_schema(nested))
        except (TypeError, RuntimeError) as error:
            raise ToolDefinitionError(
                f"tool {tool!r}: parameter {parameter.name!r} has a type that no JSON value can be converted "
                f"to ({error}). Use JSON types, dataclasses, TypedDicts, attrs classes, msgspec Structs or "
                "pydantic models"
            ) from error
    schemas, components = msgspec.json.schema_components(
        [parameter.type for parameter in parameters],
        schema_hook=_model_schema(nested),
        ref_template="#/$defs/{name}",
    )
    properties = {
        parameter.name: _with_default(schema, parameter)
        for parameter, schema in zip(parameters, schemas, strict=True)
    }
    required = [parameter.name for parameter in parameters if parameter.required]
    schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    definitions = {**components, **nested}
    return {**schema, "$defs": definitions} if definitions else schema


def _with_default(schema: dict[str, Any], parameter: Parameter) -> dict[str, Any]:
    if parameter.required:
        return schema
    try:
        return {**schema, "default": as_json(parameter.default)}
    except Exception:  # noqa: BLE001 - a default that JSON cannot show stays the function's own affair
        return schema


def _model_schema(nested: dict[str, Any]) -> Callable[[Any], dict[str, Any]]:
    def describe(kind: Any) -> dict[str, Any]:
        if not hasattr(kind, "model_json_schema"):
            raise TypeError(f"{kind!r} is not a type with a form in JSON")
        schema: dict[str, Any] = kind.model_json_schema(ref_template="#/$defs/{model}")
        nested.update(schema.pop("$defs", {}))
        return schema

    return describe


def schema_problem(schema: Mapping[str, Any]) -> str:
    """Return why the schema that a tool declares for its results is no JSON Schema; empty if it is one."""
    if not schema:
        return ""
    import jsonschema_rs

    try:
        jsonschema_rs.Draft202012Validator(dict(schema), offline=True)
    except jsonschema_rs.ValidationError as error:
        where = "".join(f".{part}" for part in error.instance_path)
        return f"output_schema{where} is no JSON Schema: {error.message}"
    except (jsonschema_rs.ReferencingError, ValueError) as error:
        return f"output_schema is no JSON Schema that can be used: {str(error).partition(chr(10))[0]}"
    return ""
