"""The command line of the sandbox's switches over bridges that forward: what is typed is what frames do."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sandbox.fabric.fabric import Fabric
from sandbox.fabric.frames import Probe
from sandbox.fabric.prober import Prober, everybody
from sandbox.fabric.wiring import End, Wiring
from sandbox.rack.reading import named
from sandbox.switches.command_line import Device, Session

from .conftest import folder

TOR = named("lyon").switch["tor-1"]
PORTS = ("Ethernet1/1", "Ethernet2/1", "Ethernet3/1")
NAMES = ("one", "two", "three")
WIRING = Wiring(
    {TOR.name: tuple(port.name for port in TOR.ports)},
    {name: End(TOR.name, port) for name, port in zip(NAMES, PORTS, strict=True)},
)


@pytest.fixture
def fabric() -> Iterator[Fabric]:
    made = Fabric(WIRING, folder("cli"))
    made.up({TOR.name: TOR.initial})
    yield made
    made.down()


def typed(fabric: Fabric, *lines: str) -> None:
    """A session of its own, as each login has one; every line is understood."""
    session = Session(Device(TOR, fabric.backend(TOR.name)))
    for line in ("enable", "configure terminal", *lines, "end"):
        session.run(line)
        assert not session.failed, line


def plugged(port: str, vlan: int) -> tuple[str, ...]:
    return f"interface {port}", "switchport mode access", f"switchport access vlan {vlan}", "no shutdown"


def test_what_is_typed_is_what_frames_do(fabric: Fabric) -> None:
    with Prober(fabric) as prober:
        probes = [Probe(name) for name in NAMES]
        assert prober.probe(probes).arrivals == (), "ports that nobody uses rest shut"
        lines = [line for port in PORTS for line in plugged(port, 1001)]
        typed(fabric, "vlan 1001", "name acme", "vlan 1002", "exit", *lines)
        prober.probe(probes, control=everybody(NAMES))
        typed(fabric, f"interface {PORTS[2]}", "switchport access vlan 1002")
        assert prober.probe(probes, control=[("one", "two")]).pairs == everybody(NAMES[:2])
        typed(fabric, f"interface {PORTS[1]}", "shutdown")
        assert prober.probe(probes).arrivals == ()
        typed(fabric, *plugged(PORTS[1], 1002))
        assert prober.probe(probes, control=[("two", "three")]).pairs == everybody(NAMES[1:])
        typed(fabric, "no vlan 1002")
        assert prober.probe(probes).arrivals == ()
