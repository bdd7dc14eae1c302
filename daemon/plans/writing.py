"""Writing plan files: YAML that reads back as it was, put in place whole, and never over another plan."""

from __future__ import annotations

import contextlib
import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from ...domain.plan_file import normal_document
from ..errors import PlanFileError
from .json_text import read_json
from .yaml_text import read_yaml

_WIDTH: Final = 110
_NUMBER_LIKE: Final = re.compile(
    r"([-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|0o[0-7]+|0x[0-9a-fA-F]+)\Z"
)


class _Dumper(yaml.SafeDumper):
    """Writes texts so that both YAML 1.1 and 1.2 read them as texts, and long ones as blocks."""

    def ignore_aliases(self, _data: Any) -> bool:
        """Write a value out wherever it stands."""
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> Any:  # noqa: ARG002 - PyYAML's
        """Indent the items of a list below their key."""
        return super().increase_indent(flow, False)


def _text(dumper: Any, text: str) -> Any:
    style = "|" if "\n" in text else "'" if _NUMBER_LIKE.match(text) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def as_text(document: Mapping[str, Any], path: Path) -> str:
    """Return the text of a document: JSON for a ``.json`` file, else YAML.

    Raises:
        PlanFileError: it would not read back as it is.
    """
    ordered = normal_document(document)
    if path.suffix == ".json":
        text = json.dumps(ordered, indent=2, ensure_ascii=False) + "\n"
        read = read_json(text, str(path))
    else:
        text = yaml.dump(ordered, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_WIDTH)
        read = read_yaml(text, str(path))
    if read.problems or read.value != ordered:
        raise PlanFileError(f"{path} was not written: its text would not read back as it is")
    return text


def create(path: Path, document: Mapping[str, Any]) -> None:
    """Write a new file, whole or not at all.

    Raises:
        PlanFileError: there is a file already, or it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _beside(path, as_text(document, path)) as made:
            os.link(made, path)  # unlike a rename it never replaces a file
    except FileExistsError as error:
        raise PlanFileError(
            f"{path} exists; nothing was written. Choose another identifier or folder"
        ) from error
    except OSError as error:
        raise PlanFileError(f"{path} cannot be written: {error.strerror or error}") from error


def replace(path: Path, document: Mapping[str, Any], *, read: bytes) -> None:
    """Write a file anew, whole or not at all.

    Args:
        path: the file.
        document: what it is to hold.
        read: what it held when the change was made.

    Raises:
        PlanFileError: it was changed meanwhile, or cannot be written.
    """
    target = path.resolve()
    try:
        with _beside(target, as_text(document, path)) as made:
            made.chmod(target.stat().st_mode & 0o7777)
            if target.read_bytes() != read:
                raise PlanFileError(f"{path} was changed by somebody else; nothing was written. Try again")
            made.replace(target)
    except OSError as error:
        raise PlanFileError(f"{path} cannot be written: {error.strerror or error}") from error


@contextlib.contextmanager
def _beside(path: Path, text: str) -> Iterator[Path]:
    """Give a file with a text in the same folder, on disk; it is gone afterwards if nobody moved it."""
    number, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    made = Path(name)
    try:
        with os.fdopen(number, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        yield made
    finally:
        made.unlink(missing_ok=True)
