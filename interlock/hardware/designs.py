"""Racks and pods as their makers cable them: what `design:` in a site file stands for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .facts import Fact, Provenance
from .machines import BOW_2000, IPU_M2000, POPLAR_R6525, MachineModel, ServerModel
from .switches import ARISTA_7010T, ARISTA_7060PX4, ARISTA_7060X, PortGroups, SwitchModel

#: Role of a block of switch ports -> (first, last).
PortMap = dict[str, tuple[int, int]]

#: How GW-Links join logical racks: not at all, each machine to its peer, in a ring, through switches.
GatewayMode = Literal["none", "direct-pair", "looped", "switched"]

#: A design's racks are filled from the lowest unit up in this order.
Shelf = Literal["machines", "servers", "management", "tor", "gw-switches"]


@dataclass(frozen=True)
class RackDesign:
    """One logical rack: a chain of IPU-Machines, servers, a ToR and a management switch."""

    name: str
    machine: MachineModel
    machines: Fact[int]
    server: ServerModel
    max_servers: Fact[int]
    tor: SwitchModel
    tor_ports: Fact[PortMap]
    management: SwitchModel
    management_ports: Fact[PortMap]
    max_pdus: int
    #: True if a cable from the last machine back to the first is possible: the full chain makes a torus.
    closure: Fact[bool]
    #: What stands where, from below.
    order: Fact[tuple[Shelf, ...]]
    #: Logical racks that stand in one physical rack at most.
    logical_racks_per_rack: Fact[int]


@dataclass(frozen=True)
class GatewaySwitches:
    """The switches that join the GW-Links of a pod: GW-Link port n of every machine leads to the n-th of them."""

    model: SwitchModel
    count: Fact[int]
    #: The ports as they are used, numbered from 1; not as they are delivered: some may be split.
    port_groups: Fact[PortGroups]

    @property
    def ports(self) -> int:
        """How many ports each has, of all speeds."""
        return sum(count for _, count in self.port_groups.value)


@dataclass(frozen=True)
class PodDesign:
    """Logical racks of one design, and how their GW-Links are cabled."""

    name: str
    rack: RackDesign
    logical_racks: Fact[int]
    gateway: Fact[GatewayMode]
    #: For `switched`; None: the design has none.
    gw_switches: GatewaySwitches | None = None

    @property
    def machines(self) -> int:
        """IPU-Machines of the whole pod."""
        return self.rack.machines.value * self.logical_racks.value


_PORTS = (
    "a consistent placeholder from the counts of the design; the official port map is in no document that "
    "could be read, so check it against the rack"
)
_UNITS = (
    "an order that is easy to build: machine 1 lowest, switches on top; the official elevation is in no "
    "document that could be read, so check it against the rack"
)
_POD64 = "Graphcore, IPU-POD64 datasheet"
_POD128 = "Graphcore, IPU-POD128 datasheet"
_BOW64 = "Graphcore, Bow Pod64 build and test guide"
_BOW256 = "Graphcore, Bow Pod256 datasheet"

_TOR_PORTS: Fact[PortMap] = Fact(
    {"machines": (1, 16), "servers": (17, 24), "uplinks": (25, 32), "spare": (33, 34)},
    "",
    Provenance.DERIVED,
    _PORTS,
)
_MANAGEMENT_PORTS: Fact[PortMap] = Fact(
    {
        "machines": (1, 16),
        "machines-second": (17, 32),
        "idrac": (33, 36),
        "servers": (37, 44),
        "tor": (45, 45),
        "pdus": (46, 47),
        "spare": (48, 48),
        "uplinks": (49, 52),
    },
    "",
    Provenance.DERIVED,
    _PORTS,
)
_ORDER: Fact[tuple[Shelf, ...]] = Fact(
    ("machines", "servers", "management", "tor", "gw-switches"), "", Provenance.DERIVED, _UNITS
)
_TWO_IN_A_RACK = Fact(2, "", Provenance.PRIMARY, f"{_POD128}: a logical rack is half a physical one, two fit into it")

IPU_POD64 = RackDesign(
    name="ipu-pod64",
    machine=IPU_M2000,
    machines=Fact(16, "", Provenance.PRIMARY, _POD64),
    server=POPLAR_R6525,
    max_servers=Fact(4, "", Provenance.PRIMARY, f"{_POD64}: 1 to 4 servers"),
    tor=ARISTA_7060X,
    tor_ports=_TOR_PORTS,
    management=ARISTA_7010T,
    management_ports=_MANAGEMENT_PORTS,
    max_pdus=2,
    closure=Fact(True, "", Provenance.PRIMARY, f"{_POD64}: the full rack is a 2D torus"),
    order=_ORDER,
    logical_racks_per_rack=_TWO_IN_A_RACK,
)

BOW_POD64 = RackDesign(
    name="bow-pod64",
    machine=BOW_2000,
    machines=Fact(16, "", Provenance.PRIMARY, f"{_BOW64}, components"),
    server=POPLAR_R6525,
    max_servers=Fact(4, "", Provenance.PRIMARY, f"{_BOW64}: 1 to 4 servers"),
    tor=ARISTA_7060X,
    tor_ports=_TOR_PORTS,
    management=ARISTA_7010T,
    management_ports=_MANAGEMENT_PORTS,
    max_pdus=2,
    closure=Fact(
        True, "", Provenance.DERIVED, "the panel and the chain are those of an IPU-POD64, which is a 2D torus"
    ),
    order=_ORDER,
    logical_racks_per_rack=_TWO_IN_A_RACK,
)

_ONE = Fact(1, "", Provenance.PRIMARY, f"{_POD64}; {_BOW64}")
_NO_GATEWAY: Fact[GatewayMode] = Fact(
    "none", "", Provenance.DERIVED, "GW-Links join logical racks, and there is only one"
)

IPU_POD128 = PodDesign(
    name="ipu-pod128",
    rack=IPU_POD64,
    logical_racks=Fact(2, "", Provenance.PRIMARY, _POD128),
    gateway=Fact(
        "direct-pair",
        "",
        Provenance.PRIMARY,
        "Graphcore, IPU-POD128 network guide: both GW-Link ports to the same-numbered machine of the other "
        "logical rack; which port meets which is not said, so 1 meets 1 and 2 meets 2",
    ),
)

BOW_POD256 = PodDesign(
    name="bow-pod256",
    rack=BOW_POD64,
    logical_racks=Fact(4, "", Provenance.PRIMARY, _BOW256),
    gateway=Fact("switched", "", Provenance.PRIMARY, f"{_BOW256}: GW-Links through Arista DCS-7060PX4-32-F"),
    gw_switches=GatewaySwitches(
        model=ARISTA_7060PX4,
        count=Fact(2, "", Provenance.PRIMARY, f"{_BOW256}: two of them, redundant"),
        port_groups=Fact(
            ((100, 64), (400, 16), (10, 2)),
            "Gb/s",
            Provenance.DERIVED,
            "64 machines have 128 GW-Link ports of 100G; half of them on each switch are 64, which are 16 of its "
            "32 ports of 400G split in four. GW-Link port 1 to switch 1 and port 2 to switch 2 is a consistent "
            "placeholder: check it against the pod",
        ),
    ),
)

#: Logical racks, of which pods are made.
DESIGNS = {design.name: design for design in (IPU_POD64, BOW_POD64)}

#: Every design that a site file may name. One logical rack alone is a pod, too.
POD_DESIGNS = {
    pod.name: pod
    for pod in (
        PodDesign(IPU_POD64.name, IPU_POD64, _ONE, _NO_GATEWAY),
        IPU_POD128,
        PodDesign(BOW_POD64.name, BOW_POD64, _ONE, _NO_GATEWAY),
        BOW_POD256,
    )
}
