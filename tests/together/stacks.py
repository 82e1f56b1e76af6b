"""Stacks of sixteen tenants, each applied and destroyed by a provider process of its own, claims and all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from interlock.resources import Admission, Network, Project, Resource, Subnet
from interlock.store.records import Taking
from tests.support.engine.process import Process, Recorded
from tests.support.engine.stack import Stack
from tests.together.applying import claims, wanted

SITE_OWNER = "5172eb"

#: The segments of these tenants begin here.
SEGMENTS = 310_000


@dataclass
class Claiming(Stack):
    """A stack whose proof says what it takes from the others."""

    taking: Taking | None = None

    def admission(self) -> Admission:
        assert self.taking is not None
        return super().admission().model_copy(update={"claims": self.taking.model_dump(mode="json")})

    def diff(self, name: str, inputs: Mapping[str, Any] | None = None) -> dict[str, bool]:
        """As the engine asks; claims are the one kind of which the new is made before the old goes."""
        return {} if self.resources[name].KIND == "Claims" else super().diff(name, inputs)


def stack(url: str, folder: str, number: int, state: dict[str, Recorded]) -> Claiming:
    """Tenant `number`, in a provider process of its own."""
    t = f"w{number}"
    taking = wanted(t, [f"segment:V:sandbox:vxlan:{SEGMENTS + number}"], [f"dev:{t}"])
    objects: Any = {"taking": taking, "state": state}
    resources: dict[str, Resource] = {f"{t}-claims": claims(url, taking), **_objects(t, SEGMENTS + number)}
    return Claiming(Process(), taking.stack, taking.owner, resources, SITE_OWNER, Path(folder), **objects)


def up(url: str, folder: str, number: int) -> dict[str, Recorded]:
    """An apply from nothing, after which nothing is to do; the state. Raises `Refused`."""
    program = stack(url, folder, number, {})
    try:
        assert program.admit(preview=False) == []
        program.create_all()
        assert [name for name in program.resources if program.diff(name)] == []
        assert all(program.read(name, record=False) for name in program.resources)
    finally:
        program.process.close()
    return program.state


def destroy(url: str, folder: str, number: int, state: dict[str, Recorded]) -> list[str]:
    """What the state holds afterwards. Raises `Refused`."""
    program = stack(url, folder, number, state)
    try:
        program.delete_all()
    finally:
        program.process.close()
    return list(program.state)


def _objects(t: str, segment: int) -> dict[str, Resource]:
    project = f"{t}-project"
    return {
        project: Project(name=t),
        f"{t}-net": Network(name="net", project=project, network_type="vxlan", segmentation_id=segment),
        f"{t}-subnet": Subnet(name="net", project=project, network=f"{t}-net", cidr="10.0.0.0/24", dhcp=False),
    }
