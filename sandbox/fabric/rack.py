"""The switches of a sandbox as a fabric: a network namespace at the other end of each cable of its rack.

What has several ports has several namespaces, `ipum-01-rnic` and `ipum-01-mgmt` for instance: nothing is forwarded
between them, so what passes from one to another passed through a switch.
"""

from __future__ import annotations

from pathlib import Path

from sandbox.rack.reading import rack_of
from sandbox.rack.table import Rack

from .fabric import Fabric
from .wiring import End, Wiring

FOLDER = "frames"


def wiring(rack: Rack) -> Wiring:
    """All cables of the switches; those from one to another are links, and have no namespace."""
    ports = {switch.name: tuple(port.name for port in switch.ports) for switch in rack.switches}
    ends = {End(switch.name, port): there for switch in rack.switches for port, there in switch.neighbors.items()}
    hosts = {f"{there.system}-{there.port}": here for here, there in ends.items() if there.system not in ports}
    pairs = ((here, End(there.system, there.port)) for here, there in ends.items() if there.system in ports)
    return Wiring(ports, hosts, tuple(sorted((here, there) for here, there in pairs if here < there)))


def fabric_of(instance: Path) -> Fabric:
    """The fabric of the instance of the sandbox in this folder, whether it is up or not. Raises WrongRack."""
    return Fabric(wiring(rack_of(instance)), instance / FOLDER)


def remains_of(instance: Path) -> Fabric:
    """Whatever is up of it, to be seen or taken down, whatever rack it was made of."""
    return Fabric(Wiring({}, {}), instance / FOLDER)
