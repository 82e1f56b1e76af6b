"""IPU-Machines and servers: what a rack of the reference design is made of."""

from __future__ import annotations

from dataclasses import dataclass

from .facts import Fact, Provenance

_PANEL = (
    "Graphcore, Bow Pod64 build and test guide, components; IPU-POD direct-attach guide, kit: front panel"
)
_SERVER = "Graphcore, IPU-POD64 build and test guide, server and switch configuration"
_OPENSTACK = "Graphcore, OpenStack reference design, 5.2 hypervisor configuration"


@dataclass(frozen=True)
class MachineModel:
    """An IPU-Machine: ports on the front panel, and how many of them the design cables."""

    name: str
    ipus: Fact[int]
    ipu_link_ports: Fact[int]
    ipu_links_per_neighbour: Fact[int]
    sync_link_ports: Fact[int]
    gw_link_ports: Fact[int]
    rnic_ports: Fact[int]
    rnic_ports_cabled: Fact[int]
    management_ports_cabled: Fact[int]


@dataclass(frozen=True)
class ServerModel:
    """A Poplar server, bare: what Nova may give out of it is the operator's setting, below these figures."""

    name: str
    threads: Fact[int]
    numa_nodes: Fact[int]
    ram: Fact[int]
    huge_pages: Fact[int]
    fabric_ports: Fact[int]
    management_ports: Fact[int]


IPU_M2000 = MachineModel(
    name="ipu-m2000",
    ipus=Fact(4, "", Provenance.PRIMARY, "Graphcore, IPU-POD64 datasheet: 64 IPUs in 16 IPU-M2000"),
    ipu_link_ports=Fact(8, "", Provenance.PRIMARY, _PANEL),
    ipu_links_per_neighbour=Fact(
        4, "", Provenance.DERIVED, "8 IPU-Link ports, two neighbours in the chain of a logical rack"
    ),
    sync_link_ports=Fact(8, "", Provenance.PRIMARY, _PANEL),
    gw_link_ports=Fact(2, "", Provenance.PRIMARY, _PANEL),
    rnic_ports=Fact(2, "", Provenance.PRIMARY, _PANEL),
    rnic_ports_cabled=Fact(
        1,
        "",
        Provenance.PRIMARY,
        "Graphcore, OpenStack reference design, low-level design: one 100G connection",
    ),
    management_ports_cabled=Fact(
        1,
        "",
        Provenance.PRIMARY,
        "Graphcore, OpenStack reference design: split mode of the second port is untested",
    ),
)

POPLAR_R6525 = ServerModel(
    name="dell-r6525",
    threads=Fact(256, "", Provenance.DERIVED, f"2 EPYC 7742 of 64 cores, hyper-threading on ({_SERVER})"),
    numa_nodes=Fact(
        8,
        "",
        Provenance.PRIMARY,
        "Graphcore, OpenStack reference design, 3.1 physical installation: NPS=4, two sockets",
    ),
    ram=Fact(512, "GiB", Provenance.PRIMARY, _SERVER),
    huge_pages=Fact(464, "GiB", Provenance.PRIMARY, f"{_OPENSTACK}: 464 pages of 1 GB"),
    fabric_ports=Fact(
        2,
        "",
        Provenance.PRIMARY,
        "Graphcore, OpenStack reference design, 3.1: both 100G ports to the same ToR",
    ),
    management_ports=Fact(2, "", Provenance.PRIMARY, f"{_SERVER}: dual-port GbE, and iDRAC beside it"),
)
