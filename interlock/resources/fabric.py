"""What switches and fabric managers set.

Of these switch ports can be set yet, by Neutron, and partitions of InfiniBand, by UFM.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import model_validator

from .base import IN_PLACE, REPLACE, Frozen, Refers, Resource

#: Who sets a switch port: Neutron through the driver of its switch, a pipeline that owns the switch's configuration, a
#: person; or Ironic, which binds the `Port` of a host's own interface when it deploys the host.
Wirer = Literal["neutron", "export", "hand", "ironic"]


class SwitchPort(Resource):
    """A switch port in access mode on one VLAN, with the device behind it.

    Wired by Neutron it is a Neutron port of its own (VNIC type `baremetal`) that the driver of the switch binds.
    """

    KIND: ClassVar[str] = "SwitchPort"
    RESERVED: ClassVar[bool] = True

    switch: Annotated[str, REPLACE]
    port: Annotated[int, REPLACE]
    #: Name of the device and the interface of it that is cabled there: `rnic` or `mgmt` of an IPU-Machine, the
    #: interface's own name of a bare-metal host.
    device: Annotated[str, REPLACE]
    interface: Annotated[str, REPLACE]
    #: That of `network`.
    vlan: Annotated[int, REPLACE]
    wired_by: Annotated[Wirer, REPLACE] = "hand"
    #: What the switch itself calls the port; None: nobody states it.
    port_name: Annotated[str | None, REPLACE] = None
    #: System MAC address of the switch, by which a driver may know it; None: it knows it by name.
    switch_mac: Annotated[str | None, REPLACE] = None
    #: VLAN in which its driver leaves a port that nobody uses; None: such ports are shut.
    quarantine_vlan: Annotated[int | None, IN_PLACE] = None
    project: Annotated[str | None, Refers(("Project",)), REPLACE] = None
    network: Annotated[str | None, Refers(("Network",)), REPLACE] = None
    subnet: Annotated[str | None, Refers(("Subnet",)), REPLACE] = None
    #: Addresses of what is behind the port, ascending: of the RNIC, or of BMC and gateway.
    addresses: Annotated[tuple[str, ...], IN_PLACE] = ()

    @property
    def is_declared(self) -> bool:
        """True if Neutron wires it."""
        return self.wired_by == "neutron"

    @property
    def comes_with_another(self) -> bool:
        """True if Ironic wires it, with the host behind it."""
        return self.wired_by == "ironic"

    @model_validator(mode="after")
    def _bindable(self) -> SwitchPort:
        needed = (self.port_name, self.project, self.network, self.subnet)
        if self.is_declared and None in needed:
            raise ValueError("a port that Neutron wires has a port_name, a project, a network and a subnet")
        return self


class PartitionMember(Frozen):
    """One InfiniBand port in a partition, by its GUID (16 hex digits)."""

    guid: str
    membership: Literal["full", "limited"]


class PartitionKey(Resource):
    """An InfiniBand partition: 15 bits of P_Key on one subnet, and the ports in it. UFM makes it."""

    KIND: ClassVar[str] = "PartitionKey"

    #: Name of the subnet in the site file, and in `fabrics.yaml`, which says where its UFM is.
    infiniband: Annotated[str, REPLACE]
    key: Annotated[int, REPLACE]
    #: All members; a partition without any is none, and UFM drops it.
    members: Annotated[tuple[PartitionMember, ...], IN_PLACE]
    #: Whether it is the first key of its ports, which NCCL uses: a tenant's compute key is. A port has one such key.
    index0: Annotated[bool, IN_PLACE] = True
    #: Whether the subnet manager makes the multicast group of IP over InfiniBand in it, as UFM does unasked.
    ip_over_ib: Annotated[bool, IN_PLACE] = True
    #: Whether several stacks have members in it. Each puts its own in and takes them out, one stack at a time.
    shared: Annotated[bool, REPLACE] = False
    #: Of a shared one the GUIDs of the operator's that may be full members, ascending; everybody else is limited.
    servers: Annotated[tuple[str, ...], IN_PLACE] = ()

    @model_validator(mode="after")
    def _full_members_are_servers(self) -> PartitionKey:
        full = {member.guid for member in self.members if member.membership == "full"}
        if self.shared and not full <= {*self.servers}:
            raise ValueError("in a shared partition the servers alone are full members")
        return self


class NvlinkPartition(Resource):
    """A group of GPUs of one NVLink domain that may reach each other, and no other."""

    KIND: ClassVar[str] = "NvlinkPartition"
    HAS_ACTUATOR: ClassVar[bool] = False

    name: Annotated[str, IN_PLACE]
    domain: Annotated[str, REPLACE]
    partition: Annotated[int, REPLACE]
    gpus: Annotated[tuple[str, ...], REPLACE]
