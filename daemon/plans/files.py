"""A plan file, read: its document, its plan, and everything that is wrong with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...domain.plan_file import PlanFile, Surroundings, problems_in, read_plan_file
from ...domain.problems import Problem
from ..errors import PlanFileError
from .json_text import read_json
from .marks import Document, Located, Mark, locate
from .schemas import schema_problems
from .yaml_text import read_yaml

SUFFIXES = (".yaml", ".yml", ".json")


class LoadedPlan:
    """A plan file as it is on disk.

    Args:
        path: the file.
        content: its bytes.

    Attributes:
        document: its JSON values; ``None`` if it could not be read.
        plan: the plan, if nothing is wrong with its form.
        problems: everything that is wrong with its form, in the order of the file.
    """

    def __init__(self, path: Path, content: bytes) -> None:
        self.path, self.content = path, content
        read = _read(path, content)
        self.document: Any = read.value
        self._mark = read.mark
        self.plan: PlanFile | None = None
        self.problems = read.problems
        if not read.problems:
            self.plan, problems = read_plan_file(read.value)
            self.problems = self.locate(problems + schema_problems(read.value))
        if any(each.problem.is_error for each in self.problems):
            self.plan = None

    @property
    def identifier(self) -> str:
        """Its identifier; that of the file's name where it has none."""
        named = self.document.get("identifier") if isinstance(self.document, dict) else None
        return named if isinstance(named, str) and named else self.path.stem

    @property
    def has_comments(self) -> bool:
        """Whether lines of it are comments, which are lost when it is written."""
        if self.path.suffix == ".json":
            return False
        return any(line.lstrip().startswith(b"#") for line in self.content.splitlines())

    def locate(self, problems: list[Problem]) -> list[Located]:
        """Return problems with their places in this file."""
        return locate(problems, self._mark, str(self.path))

    def checked(self, around: Surroundings, *, to_run: bool = False) -> list[Located]:
        """Return what is wrong with its form, or else what is missing around it.

        Args:
            around: what there is.
            to_run: it is to run now.
        """
        if self.plan is None:
            return self.problems
        return [*self.problems, *self.locate(problems_in(self.plan, around, to_run=to_run))]


def load(path: Path) -> LoadedPlan:
    """Read a plan file.

    Raises:
        PlanFileError: it cannot be read.
    """
    try:
        return LoadedPlan(path, path.read_bytes())
    except OSError as error:
        raise PlanFileError(f"{path} cannot be read: {error.strerror or error}") from error


def _read(path: Path, content: bytes) -> Document:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        problem = Problem(f"is not UTF-8: {error.reason}; save it as UTF-8")
        return Document(None, Mark(1, 1), [Located(problem, str(path), line, 1)])
    read = read_json if path.suffix == ".json" else read_yaml
    return read(text, str(path))
