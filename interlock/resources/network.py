"""Segments and what joins them: Neutron networks, subnets, routers, ports, security groups, id ranges."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import model_validator

from .base import IN_PLACE, REPLACE, Frozen, Refers, Resource

NetworkType = Literal["flat", "vlan", "vxlan"]
VnicType = Literal["normal", "direct", "baremetal"]


class SegmentRange(Resource):
    """Ids that Neutron may hand out when a network names none; never those of the site's pools."""

    KIND: ClassVar[str] = "SegmentRange"

    name: Annotated[str, REPLACE]
    network_type: Annotated[Literal["vlan", "vxlan"], REPLACE]
    physical_network: Annotated[str | None, REPLACE] = None
    minimum: Annotated[int, IN_PLACE]
    maximum: Annotated[int, IN_PLACE]


class AddressScope(Resource):
    """Addresses that are routed among each other without NAT; outside it un-NATed packets are dropped."""

    KIND: ClassVar[str] = "AddressScope"

    name: Annotated[str, IN_PLACE]
    ip_version: Annotated[Literal[4, 6], REPLACE] = 4
    shared: Annotated[bool, REPLACE] = False


class SubnetPool(Resource):
    """Prefixes of one address scope; a subnet joins a scope by being allocated from such a pool."""

    KIND: ClassVar[str] = "SubnetPool"

    name: Annotated[str, IN_PLACE]
    address_scope: Annotated[str, Refers(("AddressScope",)), REPLACE]
    prefixes: Annotated[tuple[str, ...], REPLACE]
    default_prefix_length: Annotated[int, IN_PLACE] = 24
    shared: Annotated[bool, REPLACE] = False


class Network(Resource):
    """A Neutron network on one segment. The segment (switch, VLAN or VNI) is its identity, never its name."""

    KIND: ClassVar[str] = "Network"

    name: Annotated[str, IN_PLACE]
    #: None: the project of the operator's own credential.
    project: Annotated[str | None, Refers(("Project",)), REPLACE] = None
    network_type: Annotated[NetworkType, REPLACE]
    physical_network: Annotated[str | None, REPLACE] = None
    segmentation_id: Annotated[int | None, REPLACE] = None
    external: Annotated[bool, REPLACE] = False
    shared: Annotated[bool, REPLACE] = False
    #: On an SR-IOV port this is the spoof check of the VF; security groups do nothing there.
    port_security: Annotated[bool, IN_PLACE] = True
    mtu: Annotated[int | None, IN_PLACE] = None


class Subnet(Resource):
    """Addresses of a network. `gateway` None means no gateway."""

    KIND: ClassVar[str] = "Subnet"

    name: Annotated[str, IN_PLACE]
    project: Annotated[str | None, Refers(("Project",)), REPLACE] = None
    network: Annotated[str, Refers(("Network",)), REPLACE]
    cidr: Annotated[str, REPLACE]
    gateway: Annotated[str | None, IN_PLACE] = None
    dhcp: Annotated[bool, IN_PLACE] = True
    dns: Annotated[tuple[str, ...], IN_PLACE] = ()
    #: (first, last) addresses that Neutron may hand out by itself.
    pools: Annotated[tuple[tuple[str, str], ...], IN_PLACE] = ()
    subnet_pool: Annotated[str | None, Refers(("SubnetPool",)), REPLACE] = None


class Router(Resource):
    """A Neutron router; `external_network` is its gateway."""

    KIND: ClassVar[str] = "Router"

    name: Annotated[str, IN_PLACE]
    project: Annotated[str, Refers(("Project",)), REPLACE]
    external_network: Annotated[str | None, Refers(("Network",)), IN_PLACE] = None
    snat: Annotated[bool, IN_PLACE] = True


class RouterInterface(Resource):
    """One subnet attached to one router, at the subnet's gateway address."""

    KIND: ClassVar[str] = "RouterInterface"

    project: Annotated[str, Refers(("Project",)), REPLACE]
    router: Annotated[str, Refers(("Router",)), REPLACE]
    subnet: Annotated[str, Refers(("Subnet",)), REPLACE]


class SecurityGroupRule(Frozen):
    """One rule of a security group. `port_min` and `port_max` only with a protocol that has ports.

    Who is at the other end: `remote_prefix`, or whoever has a port in `remote_group`, or anybody. Neutron takes no
    rule with both.
    """

    direction: Literal["ingress", "egress"]
    ethertype: Literal["IPv4", "IPv6"] = "IPv4"
    protocol: Literal["tcp", "udp", "icmp"] | None = None
    port_min: int | None = None
    port_max: int | None = None
    remote_prefix: str | None = None
    #: A security group that the plan lists before this one, or this very one.
    remote_group: str | None = None

    @model_validator(mode="after")
    def _one_remote(self) -> SecurityGroupRule:
        if self.remote_prefix is not None and self.remote_group is not None:
            raise ValueError("a rule has a remote prefix or a remote group: write two rules, or leave one out")
        return self


class SecurityGroup(Resource):
    """A security group as a whole rule set: rules that are not listed are removed, Neutron's defaults too."""

    KIND: ClassVar[str] = "SecurityGroup"

    name: Annotated[str, IN_PLACE]
    project: Annotated[str, Refers(("Project",)), REPLACE]
    rules: Annotated[tuple[SecurityGroupRule, ...], Refers(("SecurityGroup",), inside="remote_group"), IN_PLACE]


class Port(Resource):
    """An attachment of a server to a network. `direct` is a virtual function, `baremetal` a host's own interface."""

    KIND: ClassVar[str] = "Port"

    name: Annotated[str, IN_PLACE]
    project: Annotated[str, Refers(("Project",)), REPLACE]
    network: Annotated[str, Refers(("Network",)), REPLACE]
    subnet: Annotated[str, Refers(("Subnet",)), REPLACE]
    address: Annotated[str, IN_PLACE]
    vnic_type: Annotated[VnicType, REPLACE] = "normal"
    #: Anti-spoofing; on a VF the spoof check, without which the VF counts as seeing every VLAN of its port.
    port_security: Annotated[bool, IN_PLACE] = True
    security_groups: Annotated[tuple[str, ...], Refers(("SecurityGroup",)), IN_PLACE] = ()
    #: Prefixes that the port may send from besides its own address.
    allowed_address_pairs: Annotated[tuple[str, ...], IN_PLACE] = ()


class TrunkSubPort(Frozen):
    """One sub-port of a trunk. `vlan` is the tag inside the guest, and means nothing outside."""

    port: str
    vlan: int


class Trunk(Resource):
    """A Neutron trunk: sub-ports of other networks on the wire of a parent port."""

    KIND: ClassVar[str] = "Trunk"
    HAS_ACTUATOR: ClassVar[bool] = False

    name: Annotated[str, IN_PLACE]
    project: Annotated[str, Refers(("Project",)), REPLACE]
    port: Annotated[str, Refers(("Port",)), REPLACE]
    sub_ports: Annotated[tuple[TrunkSubPort, ...], IN_PLACE] = ()


class FloatingIp(Resource):
    """An address of an external network that leads to one port: an entry from outside."""

    KIND: ClassVar[str] = "FloatingIp"

    project: Annotated[str, Refers(("Project",)), REPLACE]
    external_network: Annotated[str, Refers(("Network",)), REPLACE]
    #: None: Neutron takes one of the network's pool, and an output says which. It stays while the object is there.
    address: Annotated[str | None, REPLACE] = None
    port: Annotated[str, Refers(("Port",)), IN_PLACE]
    #: The router's interface by which it leads in: Neutron takes it off the router only when no floating IP needs it.
    uplink: Annotated[str | None, Refers(("RouterInterface",)), REPLACE] = None


class RbacPolicy(Resource):
    """A right that one project gives to another at Neutron. `target`: `*`, or `cloud:Project/<tenant's id>`."""

    KIND: ClassVar[str] = "RbacPolicy"
    HAS_ACTUATOR: ClassVar[bool] = False

    project: Annotated[str, Refers(("Project",)), REPLACE]
    object: Annotated[str, Refers(("Network", "SecurityGroup", "AddressScope", "SubnetPool")), REPLACE]
    action: Annotated[Literal["access_as_shared", "access_as_external"], REPLACE]
    target: Annotated[str, IN_PLACE]
