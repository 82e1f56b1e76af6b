"""The world of the tests with the real CLI: one site, two tenants, and a third, small one that tests alter."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.conftest import Sandbox
from tests.e2e.project import Project
from tests.e2e.victim import move_in
from tests.support.cloud.stage import Stage

SITE, TENANTS = "lyon-site", ("lyon-acme", "lyon-globex")


@dataclass
class Standing:
    """A project, and which of its stacks are applied. The small tenant is locked, and applied by tests alone."""

    project: Project
    applied: set[str] = field(default_factory=set)

    def apply(self, *stacks: str) -> Project:
        """The project with these stacks applied, as far as they are not."""
        for stack in stacks:
            if stack not in self.applied:
                self.project.must(self.project.plain_up(stack))
                self.applied.add(stack)
        return self.project

    def requests(self) -> dict[str, str]:
        """Every tenant's request, as it is written now."""
        folder = self.project.folder / "stacks" / "lyon" / "tenants"
        return {path.name: path.read_text() for path in sorted(folder.glob("*.yaml"))}


@contextmanager
def standing(stage: Stage, sandbox: Sandbox, folder: Path) -> Iterator[Standing]:
    """Nothing applied so far. To destroy tenants takes longer than a fresh cloud, which leaves nothing for sure."""
    project = Project.make(folder, sandbox.clouds_yaml)
    project.init(SITE, *TENANTS)
    found = Standing(move_in(project))
    yield found
    if stage.ending or not found.applied:
        return
    if found.applied == {SITE}:
        project.destroy(SITE)
    else:
        stage.reset()
