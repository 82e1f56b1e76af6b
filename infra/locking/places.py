"""Where claims stand in lock files, for messages that name both holders of one thing."""

from __future__ import annotations

from dataclasses import dataclass

from interlock.model.load import Workspace
from interlock.model.text.source import Source, Step
from interlock.planning.claims import RELEASED, Claim

#: Claims in words; a value follows.
WORDS = {
    "machines": "IPU-Machine",
    "hosts": "a server on host",
    "controller_host": "controller on host",
    "ipu_data_vlan": "ipu-data VLAN",
    "storage_vlan": "storage VLAN",
    "management_vlan": "management VLAN",
    "control_vlan": "control VLAN",
    "control_vni": "control VNI",
    "storage_vip": "storage address",
    "ipu_data_subnet": "ipu-data subnet",
    "storage_subnet": "storage subnet",
    "control_subnet": "control subnet",
    "management_subnet": "management subnet",
}


@dataclass(frozen=True)
class Holder:
    """Who holds a claim, and in which lock it stands."""

    tenant: str
    vpod: str
    field: str
    value: str
    released: bool
    #: `file:line:column`.
    position: str

    def __str__(self) -> str:
        how = ", released and not settled" if self.released else ""
        return f"{self.position}: {self.tenant}, vPOD {self.vpod}: {WORDS[self.field]} {self.value}{how}"


class Places:
    """The lock files of a site; one is read again only when a claim in it is to be shown."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._sources: dict[str, Source] = {}

    def holder(self, claim: Claim) -> Holder:
        """A claim with its place."""
        vpod, released = vpod_of(claim)[1], claim.holder.endswith(RELEASED)
        path = self._released(claim, vpod) if released else self._in_force(claim, vpod)
        position = self.position(claim.tenant, path)
        return Holder(claim.tenant, vpod, claim.field, claim.value, released, position)

    def position(self, owner: str, path: tuple[Step, ...] = ()) -> str:
        """`file:line:column` of a value in the lock of a tenant, or of the site (`site`)."""
        file = self.workspace.lock_file(owner)
        if not file.is_file():
            return self.workspace.shown(file)
        if owner not in self._sources:
            self._sources[owner] = Source.read(file, self.workspace.shown(file))
        return self._sources[owner].position(path)

    def _in_force(self, claim: Claim, vpod: str) -> tuple[Step, ...]:
        value = getattr(self.workspace.locks[claim.tenant].allocation.vpods[vpod], claim.field)
        path = ("allocation", "vpods", vpod, claim.field)
        return (*path, value.index(claim.value)) if isinstance(value, tuple) else path

    def _released(self, claim: Claim, vpod: str) -> tuple[Step, ...]:
        entries = [(item.vpod, item.claim, item.value) for item in self.workspace.locks[claim.tenant].released]
        return ("released", entries.index((vpod, claim.field, claim.value)), "value")


def vpod_of(claim: Claim) -> tuple[str, str]:
    """(tenant, vPOD) of a claim."""
    return claim.tenant, claim.holder.removesuffix(RELEASED).removeprefix(f"{claim.tenant}/")
