"""Values on their way into facts: what a replay will read back, and never an error instead of a fact."""

from __future__ import annotations

from typing import Any

import msgspec

from ..domain.finite import not_finite
from ..domain.receipt import Receipt, Resource

UNREADABLE = "unreadable_result"
"""The key of what stands in for a value that JSON cannot carry."""

_MOST_EXCERPT = 500


def dump_model(value: Any) -> Any:
    """Encode what msgspec does not know: models of pydantic, or anything else with its ``model_dump``."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    raise TypeError(
        f"{type(value).__qualname__} is no JSON value; use JSON types, a dataclass or a msgspec Struct"
    )


_encode = msgspec.json.Encoder(enc_hook=dump_model).encode
_decode = msgspec.json.decode
_decode_receipt = msgspec.json.Decoder(Receipt).decode


def as_json(value: Any) -> Any:
    """Return a value as it will be read back from a fact: keys become text.

    Raises:
        ValueError: it holds NaN or an infinity, which JSON would write as null.
        Exception: whatever the value raises where it cannot be encoded.
    """
    if value is None or value is True or value is False:
        return value
    return _decode(_written(value))


def _written(value: Any) -> bytes:
    written = _encode(value)
    if b"null" in written:
        found = not_finite(msgspec.to_builtins(value, enc_hook=dump_model))
        if found:
            raise ValueError(f"{found}, which JSON cannot carry; return None or a finite number")
    return written


def readable(value: Any) -> Any:
    """Return ``as_json(value)``, or a marker where JSON cannot carry it."""
    try:
        return as_json(value)
    except Exception as error:  # noqa: BLE001 - a boundary: a value of a tool raises what it likes
        return unreadable(value, [str(error) or type(error).__name__])


def text(value: Any) -> str:
    """Return ``str(value)`` as text that JSON can carry, whatever it raises or contains."""
    try:
        words = str(value)
    except Exception as error:  # noqa: BLE001 - a boundary: an exception of a tool may not even be printable
        return f"<{type(value).__name__} that raises {type(error).__name__} when printed>"
    return words.encode("utf-8", "backslashreplace").decode()


def unreadable(value: Any, problems: list[str]) -> dict[str, Any]:
    """Return the marker that stands in for a value.

    It has the one key `UNREADABLE`, so a template that reaches into the lost value fails by naming it, and
    `is_unreadable` keeps it from being handed to a tool as if it were the value.
    """
    try:
        excerpt = repr(value)
    except Exception as error:  # noqa: BLE001 - as in `text`
        excerpt = f"<repr raises {type(error).__name__}>"
    return {
        UNREADABLE: {
            "type": f"{type(value).__module__}.{type(value).__qualname__}",
            "problems": [text(problem) for problem in problems],
            "excerpt": text(excerpt[:_MOST_EXCERPT]),
        }
    }


def is_unreadable(value: Any) -> bool:
    """Return whether a value is the marker of one that was lost."""
    return type(value) is dict and len(value) == 1 and UNREADABLE in value


def receipt_of(value: Any) -> Receipt:
    """Return the receipt of an operation that returned ``value``. It never fails: the effect has happened.

    A value that JSON cannot carry leaves a receipt with a marker for a result. A receipt with a part that
    cannot be recorded keeps its other parts.

    Args:
        value: what the tool returned: a `Receipt`, or any value that becomes the result of one.
    """
    if not isinstance(value, Receipt):
        return Receipt(readable(value))
    try:
        return _decode_receipt(_written(value))
    except Exception as error:  # noqa: BLE001 - a boundary, as in `readable`
        return _salvage(value, error)


def _salvage(receipt: Receipt, error: Exception) -> Receipt:
    problems: list[str] = [str(error)]

    def part(name: str, kind: Any, default: Any) -> Any:
        try:
            return msgspec.convert(as_json(getattr(receipt, name)), kind)
        except Exception as part_error:  # noqa: BLE001 - a boundary, as in `readable`
            problems.append(f"{name}: {part_error}")
            return default

    resources = part("resources", tuple[Resource, ...], ())
    undo_input = part("undo_input", dict[str, Any] | None, None)
    observed_at = part("observed_at", float | None, None)
    result = unreadable(receipt, problems[1:] or problems)
    return Receipt(result, resources, undo_input, observed_at)
