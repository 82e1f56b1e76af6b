"""What `applied` makes of frames on the sandbox's switches when one port is set wrong: each is seen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from sandbox.fabric.fabric import Fabric
from sandbox.fabric.rack import fabric_of
from sandbox.rack.reading import named
from sandbox.switches.devices import access
from sandbox.switches.table import PortState, SwitchState

from .applied import Field, Plug, Pod, expected, observed
from .conftest import ROOT, folder

LYON = Field(named("lyon"))
TENANTS = ROOT / "stacks" / "lyon" / "tenants"
((ACME,), (GLOBEX,)) = (Pod.locked(LYON, TENANTS / f"{name}.lock.json").values() for name in ("acme", "globex"))
PODS = (ACME, GLOBEX)
SEGMENTS = expected(LYON, PODS)


def planned(fabric: Fabric) -> dict[str, SwitchState]:
    """Both switches as the locks want them."""
    ends = fabric.wiring.hosts
    found = {switch.name: dict(switch.initial.ports) for switch in LYON.rack.switches}
    vlans = {switch.name: dict(switch.initial.vlans) for switch in LYON.rack.switches}
    for pod in PODS:
        for segment in pod.segments:
            vlans[segment.switch][segment.vlan] = f"vlan-{segment.vlan}"
            for plug in segment.plugs:
                if plug.tag is None:
                    found[segment.switch][ends[plug.host].port] = access(segment.vlan)
    return {name: SwitchState(name, ports, vlans[name]) for name, ports in found.items()}


@pytest.fixture(scope="module")
def fabric() -> Iterator[Fabric]:
    """The sandbox's switches without their command line."""
    with fabric_of(folder("rack")).running() as made:
        made.apply([(made.load(name), state) for name, state in planned(made).items()])
        yield made


def test_as_planned_nothing_is_absent_or_stray(fabric: Fabric) -> None:
    seen = observed(fabric, LYON, PODS, SEGMENTS)
    assert seen.absent(SEGMENTS) == seen.stray(SEGMENTS) == set()
    assert seen.between(ACME.plugs, GLOBEX.plugs) == frozenset()


WRONG: dict[str, tuple[str, PortState]] = {
    "RNIC in the VLAN of another": (ACME.rnics[0], access(GLOBEX.data.vlan)),
    "machine of nobody in a VLAN": ("ipum-08-rnic", access(ACME.data.vlan)),
    "RNIC as a trunk": (ACME.rnics[1], PortState(True, "trunk", 1, None, tuple(range(1, 4095)))),
    "operator's port in a management VLAN": ("poplar-1-eno1", access(ACME.management.vlan)),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_port_that_is_set_wrong_is_seen(fabric: Fabric, name: str) -> None:
    host, port = WRONG[name]
    end = fabric.wiring.hosts[host]
    right = fabric.load(end.switch)
    wrong = replace(right, ports={**right.ports, end.port: port})
    fabric.apply([(right, wrong)])
    try:
        strays = observed(fabric, LYON, PODS, ()).stray(SEGMENTS)
    finally:
        fabric.apply([(wrong, right)])
    assert strays
    assert all(host in (sender.host, there.host) for sender, there, _ in strays)


def test_a_port_that_is_shut_is_absent(fabric: Fabric) -> None:
    end = fabric.wiring.hosts[ACME.rnics[0]]
    right = fabric.load(end.switch)
    shut = replace(right, ports={**right.ports, end.port: replace(right.ports[end.port], enabled=False)})
    fabric.apply([(right, shut)])
    try:
        seen = observed(fabric, LYON, PODS, ())
    finally:
        fabric.apply([(shut, right)])
    assert seen.stray(SEGMENTS) == set()
    assert {plug for a, b, _ in seen.absent(SEGMENTS) for plug in (a, b)} == ACME.data.plugs
    assert all(Plug(ACME.rnics[0]) in (a, b) for a, b, _ in seen.absent(SEGMENTS))
