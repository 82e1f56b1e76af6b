"""What switches, V-IPU controllers and fabric managers set. Planned and proved; nothing can set it yet."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from .base import IN_PLACE, REPLACE, Change, Frozen, Refers, Resource, forbidden


class SwitchPort(Resource):
    """A switch port in access mode on one VLAN, with the device behind it."""

    KIND: ClassVar[str] = "SwitchPort"
    HAS_ACTUATOR: ClassVar[bool] = False
    RESERVED: ClassVar[bool] = True

    switch: Annotated[str, REPLACE]
    port: Annotated[int, REPLACE]
    #: Name of the device and the interface of it that is cabled there: `rnic` or `mgmt` of an IPU-Machine, the
    #: interface's own name of a bare-metal host.
    device: Annotated[str, IN_PLACE]
    interface: Annotated[str, IN_PLACE]
    vlan: Annotated[int, IN_PLACE]


class VipuAllocation(Resource):
    """The machines of one vPOD at its own V-IPU controller: the boundary of who shares partitions."""

    KIND: ClassVar[str] = "VipuAllocation"
    HAS_ACTUATOR: ClassVar[bool] = False
    RESERVED: ClassVar[bool] = True

    name: Annotated[str, REPLACE]
    controller: Annotated[str, Refers(("Server",)), REPLACE]
    #: IPU-Machines in the order of their positions.
    machines: Annotated[tuple[str, ...], forbidden("partitions on machines that are removed must be deleted first")]
    topology: Annotated[Literal["mesh", "torus"], REPLACE] = "mesh"

    @classmethod
    def change_of(cls, field: str, before: Any, after: Any) -> Change:
        """Machines may be added in place: no partition is on them yet."""
        if field == "machines" and set(before) <= set(after):
            return IN_PLACE
        return super().change_of(field, before, after)


class VipuPartition(Resource):
    """A V-IPU partition of a power of two of IPUs inside one allocation."""

    KIND: ClassVar[str] = "VipuPartition"
    HAS_ACTUATOR: ClassVar[bool] = False

    name: Annotated[str, REPLACE]
    allocation: Annotated[str, Refers(("VipuAllocation",)), REPLACE]
    ipus: Annotated[int, REPLACE]
    gcds: Annotated[int, REPLACE] = 1
    replicas: Annotated[int, REPLACE] = 1
    reconfigurable: Annotated[bool, REPLACE] = False
    sync_type: Annotated[Literal["c2-compatible", "pod-native-default"], REPLACE] = "c2-compatible"
    routing: Annotated[Literal["default", "ringswnc"], REPLACE] = "default"


class PartitionMember(Frozen):
    """One InfiniBand port in a partition, by its GUID (16 hex digits)."""

    guid: str
    membership: Literal["full", "limited"]


class PartitionKey(Resource):
    """An InfiniBand partition: 15 bits of P_Key on one subnet, and the ports in it."""

    KIND: ClassVar[str] = "PartitionKey"
    HAS_ACTUATOR: ClassVar[bool] = False

    infiniband: Annotated[str, REPLACE]
    key: Annotated[int, REPLACE]
    members: Annotated[tuple[PartitionMember, ...], IN_PLACE]


class NvlinkPartition(Resource):
    """A group of GPUs of one NVLink domain that may reach each other, and no other."""

    KIND: ClassVar[str] = "NvlinkPartition"
    HAS_ACTUATOR: ClassVar[bool] = False

    name: Annotated[str, IN_PLACE]
    domain: Annotated[str, REPLACE]
    partition: Annotated[int, REPLACE]
    gpus: Annotated[tuple[str, ...], REPLACE]
