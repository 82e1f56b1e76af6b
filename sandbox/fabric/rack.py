"""The sandbox's switches as a fabric: a network namespace at the other end of each cable of `switches/devices.py`.

What has several ports has several namespaces, `ipum-01-rnic` and `ipum-01-mgmt` for instance: nothing is forwarded
between them, so what passes from one to another passed through a switch.
"""

from __future__ import annotations

from pathlib import Path

from sandbox.switches.devices import SWITCHES

from .fabric import Fabric
from .wiring import End, Wiring


def wiring() -> Wiring:
    """All cables of the sandbox's switches; none leads from one switch to the other."""
    ports = {switch.name: tuple(port.name for port in switch.ports) for switch in SWITCHES}
    ends = {(switch.name, port): there for switch in SWITCHES for port, there in switch.neighbors.items()}
    return Wiring(ports, {f"{there.system}-{there.port}": End(*here) for here, there in ends.items()})


def fabric_of(instance: Path) -> Fabric:
    """The fabric of the instance of the sandbox in this folder, whether it is up or not."""
    return Fabric(wiring(), instance / "frames")
