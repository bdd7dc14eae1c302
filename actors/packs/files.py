"""The pack ``files``: reading and writing in one folder, with writes that can be taken back.

What a write replaces is kept in ``.midcourse`` before, under the operation key. So the same operation, tried
again after a crash, finds what there was before the first try; and the undo puts that back, unless somebody
has changed the file since.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from pathlib import Path
from typing import Any, Literal

import msgspec

from ...domain.receipt import Receipt, Resource
from ..context import ToolContext
from ..tools import Tool
from .builtin import builtin, record
from .folder import Folder, refused
from .vouching import for_this_attempt

Format = Literal["text", "lines", "json", "base64"]

_MAX_BYTES = 10_000_000


def files_pack(root: str | Path, *, max_bytes: int = _MAX_BYTES) -> list[Tool]:
    """Return ``builtin__read_file``, ``builtin__write_file`` and its undo, ``builtin__restore_file``.

    Args:
        root: the folder that no path may leave, by ``..`` or by symbolic links.
        max_bytes: the largest file.
    """
    folder = Folder(Path(root), max_bytes=max_bytes)

    def read_file(path: str, format: Format = "text") -> Any:  # noqa: A002 - the name of the argument
        """Read a file: its text, its lines, its JSON, or its bytes in base64."""
        file = folder.find(path)
        content = folder.read(file)
        if content is None:
            raise refused(f"there is no file {path!r} in {root}")
        return {"path": path, "size": len(content), "content": _decoded(content, format, path)}

    def write_file(
        path: str,
        content: Any,
        format: Format = "text",  # noqa: A002 - the name of the argument
        *,
        context: ToolContext,
    ) -> Receipt:
        """Write a file, whole or not at all. What was there before is put back if the run is undone."""
        with for_this_attempt(context, idempotent=True):
            file = folder.find(path)
            new = _encoded(content, format)
            folder.check_size(file, len(new))
            kept = hashlib.sha256(context.operation.encode()).hexdigest()[:32]
            before = folder.read(file)
            was_tried, former = folder.kept(kept)
            if not was_tried:
                folder.keep(kept, before)
            elif before not in (new, former):
                raise refused(
                    f"{path!r} was changed by somebody else while it was written; it was left alone"
                )
            if before != new:
                folder.write(file, new)
        result = {"path": path, "size": len(new), "sha256": _digest(new)}
        undo = {"path": path, "kept": kept, "sha256": result["sha256"]}
        return Receipt(result, (Resource("file", path, version=_digest(new)),), undo)

    def restore_file(path: str, kept: str = "", sha256: str = "") -> Any:
        """Put back what a write replaced, unless the file was changed since."""
        file = folder.find(path)
        is_known, former = folder.kept(kept) if kept.isalnum() else (False, None)
        if not is_known:
            raise refused(f"what {path!r} was before is not known; put it right by hand")
        now = folder.read(file)
        if now != former and (now is None or _digest(now) != sha256):
            raise refused(f"{path!r} was changed after it was written; it was left alone")
        if former is None:
            folder.remove(file)
        elif now != former:
            folder.write(file, former)
        return {"path": path, "restored": former is not None}

    found = record(path="string", size="integer", content="any")
    written = record(path="string", size="integer", sha256="string")
    return [
        builtin(read_file, effect="read", output_schema=found),
        builtin(
            write_file,
            effect="reversible",
            undo="builtin__restore_file",
            idempotent=True,
            output_schema=written,
        ),
        builtin(restore_file, effect="irreversible", idempotent=True),
    ]


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _decoded(content: bytes, form: Format, path: str) -> Any:
    if form == "base64":
        return base64.b64encode(content).decode()
    try:
        text = content.decode("utf-8")
        if form == "json":
            return msgspec.json.decode(text)
    except (UnicodeDecodeError, msgspec.DecodeError) as error:
        raise refused(f"{path!r} cannot be read as {form}: {error}; read it as 'base64', say") from error
    return text.splitlines() if form == "lines" else text


def _encoded(content: Any, form: Format) -> bytes:
    if form == "json":
        return msgspec.json.format(msgspec.json.encode(content), indent=2) + b"\n"
    if form == "lines":
        if not isinstance(content, list) or not all(isinstance(each, str) for each in content):
            raise refused("content must be a list of texts, to be written as lines")
        return "".join(f"{each}\n" for each in content).encode()
    if not isinstance(content, str):
        raise refused(f"content must be a text, to be written as {form}; write other values as 'json'")
    if form == "text":
        return content.encode()
    try:
        return base64.b64decode(content, validate=True)
    except binascii.Error as error:
        raise refused(f"content is not base64: {error}") from error
