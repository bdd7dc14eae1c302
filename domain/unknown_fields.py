"""Fields that a person wrote and nobody reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args, get_origin

import msgspec

from .problems import did_you_mean

_LISTS = (tuple, list, Sequence)


def unknown_fields(value: Any, type_: Any, path: str = "") -> Iterator[str]:
    """Yield a sentence for every field that a JSON value has and its type does not.

    The types of facts let unknown fields pass, since a newer version may have written them; people mistype.

    Args:
        value: the value.
        type_: what it is to become.
        path: where it stands.
    """
    if get_origin(type_) in _LISTS and isinstance(value, (list, tuple)):
        for index, each in enumerate(value):
            yield from unknown_fields(each, get_args(type_)[0], f"{path}[{index}]")
    elif isinstance(type_, type) and issubclass(type_, msgspec.Struct) and isinstance(value, Mapping):
        types = {field.name: field.type for field in msgspec.structs.fields(type_)}
        for name, each in value.items():
            where = f"{path}.{name}" if path else name
            if name in types:
                yield from unknown_fields(each, types[name], where)
            else:
                hint = did_you_mean(name, types, otherwise=f"it takes: {', '.join(types)}")
                yield f"{where}: there is no field {name!r}{hint}"
