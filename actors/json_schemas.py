"""Whether values fit JSON Schemas, draft 2020-12; what checks them is imported with the first one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..domain.errors import InvalidInputError

if TYPE_CHECKING:
    import jsonschema_rs


def validator_of(
    schema: Mapping[str, Any] | bool, *, mask: str | None = None
) -> jsonschema_rs.Draft202012Validator:
    """Return what checks values against a schema; references to elsewhere are not followed.

    Args:
        schema: the schema.
        mask: what problems call the values, where they are not to be repeated.

    Raises:
        InvalidInputError: it is no JSON Schema, or refers to what is not there.
    """
    import jsonschema_rs

    try:
        return jsonschema_rs.Draft202012Validator(
            schema if isinstance(schema, bool) else dict(schema), offline=True, mask=mask
        )
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as error:
        said = str(error).partition("\n")[0]
        raise InvalidInputError(f"is no JSON Schema that can be used: {said}") from error


def problems_of(validator: jsonschema_rs.Draft202012Validator, value: Any) -> Sequence[str]:
    """Return everything that keeps a value from fitting, each with its path."""
    return [f"{_path(error.instance_path)}{error.message}" for error in validator.iter_errors(value)]


def _path(path: list[str | int]) -> str:
    return f"{'.'.join(map(str, path))}: " if path else ""
