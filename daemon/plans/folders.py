"""The plans of a configuration: all files in its plan folders, and which of them a name means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ...domain.plan_file import PlanFile, Surroundings
from ...domain.problems import did_you_mean
from ...domain.shapes import Shape
from ...domain.tools import Catalog
from ..errors import PlanFileError
from .files import SUFFIXES, LoadedPlan, load


class PlanFolders:
    """Plan folders, read once.

    Args:
        folders: the folders, in the order they are searched; one that does not exist has no plans.
        servers: names of the MCP servers that are configured.
    """

    def __init__(self, folders: Sequence[Path], servers: Iterable[str] = ()) -> None:
        self.folders = tuple(folders)
        self.servers = frozenset(servers)
        self._files: list[LoadedPlan] | None = None

    @property
    def files(self) -> list[LoadedPlan]:
        """All plan files in the folders."""
        if self._files is None:
            paths = [path for folder in self.folders if folder.is_dir() for path in sorted(folder.iterdir())]
            self._files = [load(path) for path in paths if path.suffix in SUFFIXES and path.is_file()]
        return self._files

    def find(self, named: str) -> LoadedPlan:
        """Return the plan that a file name or an identifier means.

        Raises:
            PlanFileError: no plan does, or several do.
        """
        path = Path(named)
        if path.suffix in SUFFIXES or len(path.parts) > 1 or path.is_file():
            return load(path)
        found = [each for each in self.files if each.identifier == named]
        if len(found) > 1:
            files = " and ".join(str(each.path) for each in found)
            raise PlanFileError(f"{files} both have the identifier {named!r}; change one, or name the file")
        if not found:
            known = [each.identifier for each in self.files]
            otherwise = f"there are: {', '.join(known)}" if known else "there are none"
            where = ", ".join(map(str, self.folders)) or "no folder"
            hint = did_you_mean(named, known, otherwise=otherwise)
            raise PlanFileError(f"there is no plan {named!r} in {where}{hint}; a file may be named, too")
        return found[0]

    def callable(self) -> list[PlanFile]:
        """Return the plans that steps of others can call: one of a name, and carried out as a whole."""
        known: dict[str, PlanFile | None] = {}
        for each in self.files:
            known[each.identifier] = None if each.identifier in known else each.plan
        plans = (plan for plan in known.values() if plan is not None)
        return [plan for plan in plans if not plan.requires_servers and not plan.unsupported()]

    def around(
        self, plan: LoadedPlan, tools: Catalog, shapes: Mapping[str, Shape] | None = None
    ) -> Surroundings:
        """Return what a plan is looked at together with: the tools, and the plans that can be called.

        Args:
            plan: the plan.
            tools: the tools there are.
            shapes: what was seen of the results of tools, by full name.
        """
        plans, unusable = {}, {}
        for each in self.files:
            if each.path == plan.path or each.identifier == plan.identifier:
                continue
            if each.plan is None:
                unusable[each.identifier] = (
                    f"{each.path} has problems; `midcourse plan validate {each.identifier}` shows them"
                )
                continue
            missing = [name for name in each.plan.requires_servers if name not in self.servers]
            if missing:
                unusable[each.identifier] = f"it needs MCP server {missing[0]!r}, which is not configured"
            elif each.identifier in plans:
                unusable[each.identifier] = "two files have this identifier"
            else:
                plans[each.identifier] = each.plan
        return Surroundings(tools, plans, self.servers, unusable, shapes or {})
