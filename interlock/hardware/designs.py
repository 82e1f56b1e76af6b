"""Racks as their makers cable them: what `design:` in a site file stands for."""

from __future__ import annotations

from dataclasses import dataclass

from .facts import Fact, Provenance
from .machines import IPU_M2000, POPLAR_R6525, MachineModel, ServerModel
from .switches import ARISTA_7010T, ARISTA_7060X, SwitchModel

#: Role of a block of switch ports -> (first, last).
PortMap = dict[str, tuple[int, int]]


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


_PORTS = (
    "a consistent placeholder from the counts of the design; the official port map is in no document that "
    "could be read, so check it against the rack"
)

IPU_POD64 = RackDesign(
    name="ipu-pod64",
    machine=IPU_M2000,
    machines=Fact(16, "", Provenance.PRIMARY, "Graphcore, IPU-POD64 datasheet"),
    server=POPLAR_R6525,
    max_servers=Fact(4, "", Provenance.PRIMARY, "Graphcore, IPU-POD64 datasheet: 1 to 4 servers"),
    tor=ARISTA_7060X,
    tor_ports=Fact(
        {"machines": (1, 16), "servers": (17, 24), "uplinks": (25, 32), "spare": (33, 34)},
        "",
        Provenance.DERIVED,
        _PORTS,
    ),
    management=ARISTA_7010T,
    management_ports=Fact(
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
    ),
    max_pdus=2,
)

#: Every design that a site file may name.
DESIGNS = {design.name: design for design in (IPU_POD64,)}
