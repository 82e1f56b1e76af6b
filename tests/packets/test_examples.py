"""Worked examples of docs/design/semantics.md §11 that are about switches, with frames.

The site of each example is set on the switches as it stands in tests/oracle. A namespace is the plug of a machine or of
a whole host: whoever has it sends frames with any tag and hears all. Of a hypervisor it is the uplink, and what stands
for the adapter's tagging of a virtual function is that the test sends from there with the function's tag only, and
counts only what arrives there with it. *Violated*: a frame of one tenant comes to the other; *proved*: none does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from sandbox.fabric.frames import Kind, Probe
from sandbox.fabric.prober import Arrival
from tests.oracle.drafting import Draft
from tests.oracle.examples import EXAMPLES
from tests.oracle.examples_wire import machine_on_anothers_vlan

from .plant import Placed, Plug, Stage

VLANS = (1001, 1002, 4000, 999)
ANY = ((), *((vlan,) for vlan in VLANS))


@dataclass(frozen=True)
class Attached:
    """Something of a tenant's. `tags`: of what it sends; `hears`: the tag of what it hears, where not everything."""

    plug: Plug
    tags: tuple[tuple[int, ...], ...] = ANY
    hears: int | None = None


def function(host: str, vlan: int) -> Attached:
    """A virtual function of a hypervisor, with the VLAN that the host set."""
    return Attached((host, "pf0"), ((vlan,),), vlan)


def whole(device: str, interface: str) -> Attached:
    """The plug of a machine, or of a host that is given out whole."""
    return Attached((device, interface))


@dataclass(frozen=True)
class Case:
    """A worked example by its number, and what acme and globex have in it."""

    number: str
    acme: Attached
    globex: Attached
    #: What the site of the example lacks for frames: somebody of globex's on a VLAN that it only claims.
    add: Callable[[Draft], object] = id


CASES = (
    Case("2", function("hv-1", 1001), whole("ipum-05", "rnic")),
    Case("5", function("hv-1", 1001), function("hv-2", 1001)),
    Case("6", function("hv-1", 1001), function("hv-2", 1001)),
    Case(
        "7",
        function("hv-1", 1001),
        whole("globex-device", "e0"),
        lambda draft: draft.appliance("globex-device", "spine-1", untagged=1002),
    ),
    Case("8a", whole("bm-1", "e0"), function("hv-1", 1002)),
    Case("8b", function("hv-2", 1001), function("hv-1", 1002)),
    Case("46a", whole("ipum-03", "rnic"), whole("ipum-09", "rnic")),
    Case("46b", whole("ipum-03", "rnic"), whole("ipum-09", "rnic")),
)
BY_NUMBER = {example.number: example for example in EXAMPLES}


def crossed(stage: Stage, draft: Draft, acme: Attached, globex: Attached) -> list[Arrival]:
    """Frames of one tenant that the other hears, after a positive control on the same ports and cables."""
    placed = Placed.of(draft.made().site, VLANS)
    stage.control(placed)
    stage.set(placed.states())
    both = {placed.host[item.plug]: item for item in (acme, globex)}
    probes = [Probe(host, tags, kind) for host, item in both.items() for tags in item.tags for kind in Kind]
    arrivals = stage.prober.probe(probes).arrivals
    return [item for item in arrivals if item.receiver in both and both[item.receiver].hears in (None, item.tag)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.number}-{BY_NUMBER[case.number].make.__name__}")
def test_frames_say_what_the_page_says(stage: Stage, case: Case) -> None:
    example = BY_NUMBER[case.number]
    draft = example.make()
    case.add(draft)
    found = crossed(stage, draft, case.acme, case.globex)
    assert (example.expected, bool(found)) in (("V", True), ("P", False)), found
    # Neighbours find each other by broadcast and by multicast, so both get through where anything does.
    assert {item.probe.kind for item in found} == (set(Kind) if found else set())


def test_the_machine_of_example_2_on_its_own_vlan(stage: Stage) -> None:
    """Nobody hears acme's there, and the machine is still heard: in globex's VLAN, at the same uplink."""
    draft = machine_on_anothers_vlan()
    port = next(n for n, item in draft.switches["leaf-1"].ports.items() if item.mode == "access")
    draft.change_port("leaf-1", port, untagged=1002)
    rnic = whole("ipum-05", "rnic")
    assert crossed(stage, draft, function("hv-1", 1001), rnic) == []
    assert crossed(stage, draft, function("hv-1", 1002), rnic) != []
