"""What the networks of a vPOD are for, and the claims of a lock that each of them is made from."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class NetworkRole(StrEnum):
    """What a network of a vPOD or GPU cluster is for. The planner states it; no name says so."""

    IPU_DATA = "ipu-data"
    STORAGE = "storage"
    CONTROL = "control"
    MANAGEMENT = "management"
    #: In-band network of a GPU cluster: of its nodes, and of nothing else.
    CLUSTER = "cluster"
    #: RoCE network of a GPU cluster: the Ethernet compute ports of its nodes, and nothing else.
    ROCE = "roce"

    @property
    def word(self) -> str:
        """As keys of files and fields of locks spell it."""
        return self.value.replace("-", "_")


@dataclass(frozen=True)
class RoleClaims:
    """Names of the fields of a lock's vPOD that one network is made from; `vni` None: it is never an overlay."""

    role: NetworkRole
    vlan: str
    #: Physical network of the VLAN.
    network: str
    subnet: str
    vni: str | None = None

    def segment(self, network_type: str) -> str:
        """The field with the segment's id on a network of this type."""
        return self.vni if self.vni is not None and network_type == "vxlan" else self.vlan


def _claims(role: NetworkRole, *, vni: bool = False) -> RoleClaims:
    return RoleClaims(
        role, f"{role.word}_vlan", f"{role.word}_network", f"{role.word}_subnet", f"{role.word}_vni" if vni else None
    )


#: Role -> its claims. `ROLE_OF` is the way back, from each of their names.
CLAIMS_OF = {
    NetworkRole.IPU_DATA: _claims(NetworkRole.IPU_DATA),
    NetworkRole.STORAGE: _claims(NetworkRole.STORAGE),
    NetworkRole.CONTROL: _claims(NetworkRole.CONTROL, vni=True),
    NetworkRole.MANAGEMENT: _claims(NetworkRole.MANAGEMENT),
    NetworkRole.CLUSTER: _claims(NetworkRole.CLUSTER),
    NetworkRole.ROCE: _claims(NetworkRole.ROCE),
}

ROLE_OF = {
    claim: role
    for role, item in CLAIMS_OF.items()
    for claim in (item.vlan, item.vni, item.network, item.subnet)
    if claim is not None
}
