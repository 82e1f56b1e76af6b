"""Where claims stand in lock files, for messages that name both holders of one thing."""

from __future__ import annotations

from dataclasses import dataclass

from interlock.model.load import Workspace
from interlock.model.text.source import Source, Step
from interlock.planning.claims import CLUSTER_CLAIMS, PARTITION_KEYS, Claim
from interlock.vocabulary import CLAIMS_OF, Claimant, SubnetKey

#: Claims in words; a value follows.
WORDS = {
    "machines": "IPU-Machine",
    "hosts": "a server on host",
    "heads": "a head on host",
    "controller_host": "controller on host",
    **{item.vlan: f"{role} VLAN" for role, item in CLAIMS_OF.items()},
    **{item.vni: f"{role} VNI" for role, item in CLAIMS_OF.items() if item.vni is not None},
    "storage_vip": "storage address",
    **{item.subnet: f"{role} subnet" for role, item in CLAIMS_OF.items()},
    PARTITION_KEYS: "P_Key",
}

#: The same of a cluster, whose hosts are its nodes.
WORDS_OF_CLUSTERS = WORDS | {"hosts": "GPU node"}


@dataclass(frozen=True)
class Holder:
    """Who holds a claim, and in which lock it stands."""

    claimant: Claimant
    field: str
    value: str
    #: `file:line:column`.
    position: str
    #: What the claimant is.
    kind: str = "vPOD"

    def __str__(self) -> str:
        who, words = self.claimant, WORDS_OF_CLUSTERS if self.kind == "cluster" else WORDS
        how = ", released and not settled" if who.released else ""
        return f"{self.position}: {who.tenant}, {self.kind} {who.vpod}: {words[self.field]} {self.value}{how}"


class Places:
    """The lock files of a site; one is read again only when a claim in it is to be shown."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._sources: dict[str, Source] = {}

    def holder(self, claim: Claim) -> Holder:
        """A claim with its place."""
        path = self._released(claim) if claim.holder.released else self._in_force(claim)
        position = self.position(claim.holder.tenant, path)
        return Holder(claim.holder, claim.field, claim.value, position, self._kind(claim))

    def _kind(self, claim: Claim) -> str:
        """A vPOD or a cluster; one that is gone may have been either, where no other claim tells."""
        allocation = self.workspace.locks[claim.holder.tenant].allocation
        is_cluster = claim.holder.vpod in allocation.clusters or claim.field in set(CLUSTER_CLAIMS) - {"hosts"}
        return "cluster" if is_cluster else "vPOD"

    def position(self, owner: str, path: tuple[Step, ...] = ()) -> str:
        """`file:line:column` of a value in the lock of a tenant, or of the site (`site`)."""
        file = self.workspace.lock_file(owner)
        if not file.is_file():
            return self.workspace.shown(file)
        if owner not in self._sources:
            self._sources[owner] = Source.read(file, self.workspace.shown(file))
        return self._sources[owner].position(path)

    def _in_force(self, claim: Claim) -> tuple[Step, ...]:
        holder = claim.holder
        allocation = self.workspace.locks[holder.tenant].allocation
        value = getattr(allocation.parts[holder.vpod], claim.field)
        section = "vpods" if holder.vpod in allocation.vpods else "clusters"
        path = ("allocation", section, holder.vpod, claim.field)
        if claim.field == PARTITION_KEYS:
            return (*path, SubnetKey.parse(claim.value).infiniband)
        return (*path, value.index(claim.value)) if isinstance(value, tuple) else path

    def _released(self, claim: Claim) -> tuple[Step, ...]:
        released = self.workspace.locks[claim.holder.tenant].released
        # A device may have another name by now.
        entries = [(item.vpod, item.claim, item.serial or item.value) for item in released]
        return ("released", entries.index((claim.holder.vpod, claim.field, claim.serial or claim.value)), "value")
