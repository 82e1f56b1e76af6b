"""What the V-IPU controller of one vPOD is told: agents, a cluster of them, an allocation, users, partitions.

V-IPU resizes nothing: what consists of other machines is deleted and recreated, and all that stands on it with it. So
each kind names what it stands on, down to the controller's server.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from .base import IN_PLACE, REPLACE, Change, Effect, Refers, Resource

#: Who tells controllers what a plan says: `pulumi up`, by the commands of V-IPU; or a person.
ManagedBy = Literal["interlock", "hand"]
_LET_GO = Change(Effect.NEW_ONLY, "it stays at the controller as it is; a person tells that of it from now on")
_TOLD = Change(Effect.IN_PLACE, "`pulumi up` makes it, or takes over what is there, if that is exactly what is planned")


class VipuObject(Resource):
    """An object at the V-IPU controller of one vPOD. It carries no marker: the controller's server does."""

    RESERVED: ClassVar[bool] = True

    #: Its id at the controller, which serves this one vPOD.
    name: Annotated[str, REPLACE]
    controller: Annotated[str, Refers(("Server",)), REPLACE]
    managed_by: Annotated[ManagedBy, IN_PLACE] = "hand"
    #: Address of the controller on the vPOD's control subnet: how it is reached may be said with it.
    address: Annotated[str, IN_PLACE] = ""

    YOUNGER: ClassVar[Mapping[str, Any]] = {"managed_by": "hand", "address": ""}

    @property
    def is_declared(self) -> bool:
        """True if `pulumi up` tells the controller of it."""
        return self.HAS_ACTUATOR and self.managed_by == "interlock"

    @classmethod
    def change_of(cls, field: str, before: Any, after: Any) -> Change:
        """Who tells the controller is no difference of the object: it stays, whoever that is."""
        if field == "managed_by" and before != after:
            return _LET_GO if after == "hand" else _TOLD
        return super().change_of(field, before, after)


class VipuAgent(VipuObject):
    """The agent of one IPU-Machine, as the controller asks it. Another board is another agent, wherever it stands."""

    KIND: ClassVar[str] = "VipuAgent"

    machine: Annotated[str, REPLACE]
    serial: Annotated[str, REPLACE]
    #: Address of the machine's gateway on the vPOD's management subnet.
    host: Annotated[str, REPLACE]
    port: Annotated[int, REPLACE] = 8080


class VipuCluster(VipuObject):
    """The machines of a vPOD as one V-IPU cluster: how their links are used."""

    KIND: ClassVar[str] = "VipuCluster"

    #: In the order of their positions.
    agents: Annotated[tuple[str, ...], Refers(("VipuAgent",)), REPLACE]
    topology: Annotated[Literal["mesh", "torus"], REPLACE] = "mesh"
    #: Logical racks, each an IPU-Link domain of its own.
    link_domains: Annotated[int, REPLACE] = 1
    #: How the domains are joined by GW-Links.
    cluster_topology: Annotated[Literal["none", "looped"], REPLACE] = "none"


class VipuAllocation(VipuObject):
    """The machines of one vPOD at its own V-IPU controller: the boundary of who shares partitions."""

    KIND: ClassVar[str] = "VipuAllocation"

    cluster: Annotated[str, Refers(("VipuCluster",)), REPLACE]
    #: IPU-Machines in the order of their positions.
    machines: Annotated[tuple[str, ...], REPLACE]
    topology: Annotated[Literal["mesh", "torus"], REPLACE] = "mesh"


class VipuUser(VipuObject):
    """A user of the allocations that it names, for one Poplar server. Its access key is given out by no output:
    whoever hands it to the server asks the controller for a new one. It goes with its allocation, since no source says
    what a user of no allocation may do: all, or nothing.
    """

    KIND: ClassVar[str] = "VipuUser"

    allocations: Annotated[tuple[str, ...], Refers(("VipuAllocation",)), REPLACE]


class VipuPartition(VipuObject):
    """A V-IPU partition of a power of two of IPUs inside one allocation."""

    KIND: ClassVar[str] = "VipuPartition"
    RESERVED: ClassVar[bool] = False

    allocation: Annotated[str, Refers(("VipuAllocation",)), REPLACE]
    ipus: Annotated[int, REPLACE]
    gcds: Annotated[int, REPLACE] = 1
    replicas: Annotated[int, REPLACE] = 1
    reconfigurable: Annotated[bool, REPLACE] = False
    sync_type: Annotated[Literal["c2-compatible", "pod-native-default"], REPLACE] = "c2-compatible"
    routing: Annotated[Literal["default", "ringswnc"], REPLACE] = "default"
    #: Whether it may be deleted and recreated, which ends what runs on it, when anything of it or below it changes.
    replaceable: Annotated[bool, IN_PLACE] = False

    def refuses_replacement(self) -> str:
        """The request says whether what runs on it may end."""
        if self.replaceable:
            return ""
        return (
            "V-IPU resizes nothing, so it would be deleted and made again, which ends what runs on it: say "
            "`replaceable: true` in its entry below `partitions:`, or take the entry out"
        )
