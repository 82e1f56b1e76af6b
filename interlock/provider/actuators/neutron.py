"""What the kinds of Neutron share: one body for creation, of which some attributes can be set later."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, TypeVar

from interlock.provider.clouds import Cloud
from interlock.provider.markers import join, split
from interlock.resources import Resource

from .base import Actuator, Observed, Target

R = TypeVar("R", bound=Resource)


class NeutronActuator(Actuator[R]):
    """An object that Neutron keeps under `/<PATH>/<id>`."""

    SERVICE: ClassVar[str] = "network"
    PATH: ClassVar[str]
    ONE: ClassVar[str]
    #: Attributes that an update sends, all of them each time.
    MUTABLE: ClassVar[tuple[str, ...]]

    @abstractmethod
    def body(self, cloud: Cloud, target: Target[R]) -> dict[str, Any]:
        """All attributes of a new object but its marker and project."""

    @abstractmethod
    def observe(self, cloud: Cloud, raw: dict[str, Any]) -> Observed:
        """What Neutron's record says."""

    def search(self, cloud: Cloud, mark: str, project: str) -> Sequence[str]:
        # Neutron compares the whole description, so a longer one that contains ours is not found.
        found = cloud.api("network").items(
            f"/{self.PATH}", self._many, project_id=project, description=mark, fields=["id", "description"]
        )
        return [str(item["id"]) for item in found if item["description"] == mark]

    def create(self, cloud: Cloud, target: Target[R]) -> str:
        body = self.body(cloud, target) | self._carried(target) | {"project_id": self.project(cloud, target)}
        answer = cloud.api("network").post(f"/{self.PATH}", {self.ONE: body})
        return str(answer[self.ONE]["id"])

    def read(self, cloud: Cloud, ident: str, target: Target[R] | None = None) -> Observed | None:
        found = cloud.api("network").find(f"/{self.PATH}/{ident}")
        return None if found is None else self.observe(cloud, found[self.ONE])

    def update(self, cloud: Cloud, target: Target[R], seen: Observed, changed: frozenset[str]) -> None:
        wanted = self.body(cloud, target) | self._carried(target)
        body = {key: wanted[key] for key in (*self.MUTABLE, *self._carried(target)) if key in wanted}
        cloud.api("network").put(f"/{self.PATH}/{seen.id}", {self.ONE: body})

    def delete(self, cloud: Cloud, ident: str, target: Target[R]) -> None:
        cloud.api("network").delete(f"/{self.PATH}/{ident}")

    def _carried(self, target: Target[R]) -> dict[str, str]:
        return {"description": target.marker}

    @property
    def _many(self) -> str:
        return self.PATH.replace("-", "_")


class NamedNeutronActuator(NeutronActuator[R]):
    """A Neutron object without a description: its name on the cloud is `<name> <marker>`."""

    def search(self, cloud: Cloud, mark: str, project: str) -> Sequence[str]:
        found = cloud.api("network").items(f"/{self.PATH}", self._many, fields=["id", "name", "project_id"])
        return [
            str(item["id"])
            for item in found
            # A shared segment range belongs to no project; only an administrator can make one. Neutron's own
            # default ranges have no name at all.
            if split(item.get("name"))[1] == mark and item.get("project_id") in (project, None, "")
        ]

    def _carried(self, target: Target[R]) -> dict[str, str]:
        return {"name": join(target.spec.canonical()["name"], target.marker)}
