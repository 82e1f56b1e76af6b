"""The fabric itself: up and down, several beside one another, read back, and ports that are down."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox.fabric.fabric import Fabric, SwitchDrifted
from sandbox.fabric.frames import Kind, Mark, Probe, read, written
from sandbox.fabric.namespaces import FabricFailed, with_prefix
from sandbox.fabric.prober import NothingShown, Prober, everybody
from sandbox.fabric.wiring import End, Wiring, WrongWiring
from sandbox.switches.table import PortState, SwitchState

from .conftest import ROOT, folder
from .plant import ALL_VLANS, CONTROL, DOWN, LINKS, SWITCHES, Stage

PAIR = Wiring({"tor": ("swp1", "swp2")}, {"one": End("tor", "swp1"), "two": End("tor", "swp2")})
UP = PortState(enabled=True, mode="access", access_vlan=1, native_vlan=None, allowed=())


def switched_on(fabric: Fabric) -> None:
    """Both ports of the pair in VLAN 1."""
    before = fabric.load("tor")
    fabric.backend("tor").apply(before, replace(before, ports={"swp1": UP, "swp2": UP}))


def processes(fabric: Fabric) -> list[str]:
    """Command lines that name this fabric's folder."""
    found = (path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists())
    return [
        words.decode() for words in found if str(fabric.folder).encode() in words and b"ovs" in words.split(b"\0")[0]
    ]


@pytest.fixture
def small() -> Iterator[Fabric]:
    fabric = Fabric(PAIR, folder("small"))
    yield fabric
    fabric.down()


@pytest.fixture(scope="module")
def kept() -> Iterator[Fabric]:
    """A fabric that several tests set, one after the other."""
    with Fabric(PAIR, folder("kept")).running() as fabric:
        yield fabric


def test_several_beside_one_another_do_not_meet(small: Fabric) -> None:
    """Same names, same VLAN, at the same time; one goes and the other works on."""
    other = Fabric(PAIR, folder("other"))
    with small.running(), other.running(), Prober(small) as here, Prober(other) as there:
        for fabric in (small, other):
            switched_on(fabric)
        both = everybody(PAIR.hosts)
        there.begin()
        here.probe([Probe("one"), Probe("two")], control=both)
        assert there.arrived([Probe("one"), Probe("two")]) == []
        there.probe([Probe("one"), Probe("two")], control=both)
        small.down()
        there.probe([Probe("one"), Probe("two")], control=both)


def test_up_and_down_twice(small: Fabric) -> None:
    small.down()
    for _ in range(2):
        small.up()
        assert len(with_prefix(small.prefix)) == 3
        assert len(processes(small)) == 2
    for _ in range(2):
        small.down()
        assert (with_prefix(small.prefix), processes(small)) == ([], [])


@pytest.mark.parametrize("seconds", [0.05, 0.25])
def test_what_a_killed_process_left_goes_with_the_next_one(small: Fabric, seconds: float) -> None:
    program = f"""if True:
        from pathlib import Path
        from tests.packets.test_fabric import PAIR, Fabric
        import time
        fabric = Fabric(PAIR, Path({str(small.folder)!r}))
        print("now", flush=True)
        fabric.up()
        time.sleep(60)
    """
    with subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"now\n"
        time.sleep(seconds)
        child.send_signal(signal.SIGKILL)
    with small.running(), Prober(small) as prober:
        switched_on(small)
        prober.probe([Probe("one"), Probe("two")], control=everybody(PAIR.hosts))
    assert (with_prefix(small.prefix), processes(small)) == ([], [])


def test_what_fails_on_the_way_up_leaves_nothing(small: Fabric, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandbox.fabric.fabric._SCHEMA", "/nowhere/vswitch.ovsschema")
    with pytest.raises(FabricFailed, match="/nowhere/vswitch"):
        small.up()
    assert with_prefix(small.prefix) == []


STATES = (
    {"swp1": UP, "swp2": DOWN},
    {"swp1": replace(UP, mode="trunk", native_vlan=5, allowed=(5, 7, 8, 9, 20)), "swp2": replace(UP, access_vlan=4000)},
    {"swp1": replace(UP, mode="trunk", allowed=ALL_VLANS), "swp2": replace(UP, mode="trunk", native_vlan=9)},
    {"swp1": replace(UP, enabled=False, access_vlan=7), "swp2": UP},
)


def test_what_was_applied_is_read_back(kept: Fabric) -> None:
    names = {1: "default", 5: 'a "name", with\n words', 7: "x", 8: "", 20: "é"}
    before = kept.load("tor")
    assert {item.enabled for item in before.ports.values()} == {False}
    for ports in (*STATES, *reversed(STATES)):
        after = SwitchState("tor", ports, names)
        kept.backend("tor").apply(before, after)
        before = kept.backend("tor").load()
        assert before == after


def test_a_fabric_may_begin_with_a_state(small: Fabric) -> None:
    state = SwitchState("tor", {"swp1": UP, "swp2": UP}, {1: "default"})
    small.up({"tor": state})
    assert small.load("tor") == state
    with Prober(small) as prober:
        prober.probe([Probe("one"), Probe("two")], control=everybody(PAIR.hosts))


def test_settings_that_are_refused_change_nothing(kept: Fabric) -> None:
    switched_on(kept)
    before = kept.load("tor")
    wrong = replace(before, ports={**before.ports, "swp2": replace(UP, access_vlan=5000)}, vlans={5000: "x"})
    with pytest.raises(FabricFailed, match="ovs-vsctl"):
        kept.backend("tor").apply(before, wrong)
    assert kept.load("tor") == before


CHANGES = {
    "set Port s0p0 tag=9": "set Port s0p0 tag=1",
    "clear Port s0p0 tag": "set Port s0p0 tag=1",
    "clear Port s0p0 vlan_mode": "set Port s0p0 vlan_mode=access",
    "set Port s0p0 trunks=7": "clear Port s0p0 trunks",
    "del-port s0p1": "add-port s0 s0p1 -- set Port s0p1 vlan_mode=access tag=1",
}
"""What somebody else does to a bridge, and what undoes it."""


@pytest.mark.parametrize("change", CHANGES)
def test_a_bridge_that_somebody_else_changed_is_no_state(kept: Fabric, change: str) -> None:
    switched_on(kept)
    kept._vsctl(*change.split())
    with pytest.raises(SwitchDrifted, match=r"tor: s0p[01] forwards otherwise than it was set"):
        kept.load("tor")
    kept._vsctl(*CHANGES[change].split())
    kept.load("tor")


def test_wrong_wirings_are_refused() -> None:
    with pytest.raises(WrongWiring, match="tor has no port swp3"):
        Wiring({"tor": ("swp1",)}, {"one": End("tor", "swp3")})
    with pytest.raises(WrongWiring, match="tor port swp1 has two cables"):
        Wiring({"tor": ("swp1",)}, {"one": End("tor", "swp1"), "two": End("tor", "swp1")})


def test_no_frame_and_no_control_are_errors(stage: Stage) -> None:
    one, two = f"{SWITCHES[0]}-host-1", f"{SWITCHES[0]}-host-2"
    stage.set({s: replace(stage.now[s], ports=dict.fromkeys(stage.now[s].ports, DOWN)) for s in SWITCHES})
    with Prober(stage.fabric, [one, two], patience=0.2) as prober:
        with pytest.raises(NothingShown, match="no frame was sent"):
            prober.probe([])
        with pytest.raises(NothingShown, match=f"positive control: no frame of {one} to {two}"):
            prober.probe([Probe(one)], control=[(one, two)])


def together(stage: Stage, host: PortState) -> dict[str, SwitchState]:
    """Every host's port of the plant like this, and the first switch as the middle of a star."""
    ends, names = set(stage.fabric.wiring.hosts.values()), {1: "default", CONTROL: "control", 4000: "quarantine"}
    spokes = {End(s, port) for pair, port in LINKS.items() if SWITCHES[0] in pair for s in pair}
    uplink = replace(UP, mode="trunk", allowed=ALL_VLANS)
    return {
        switch: SwitchState(
            switch,
            {p: host if End(switch, p) in ends else uplink if End(switch, p) in spokes else DOWN for p in ports},
            names,
        )
        for switch, ports in stage.fabric.wiring.switches.items()
    }


def test_everything_that_can_arrive_is_there_when_the_switches_have_settled(stage: Stage) -> None:
    """No patience and no control: what is absent from a round would count as kept away."""
    hosts = stage.fabric.wiring.hosts
    stage.set(together(stage, replace(UP, access_vlan=CONTROL)))
    for _ in range(30):
        stage.fabric.control("revalidator/purge")
        seen = stage.prober.probe([Probe(host, (), kind) for host in hosts for kind in Kind])
        assert seen.pairs == everybody(hosts)
        assert len(seen.arrivals) == len(hosts) * (len(hosts) - 1) * len(Kind), "each frame once"


def test_ports_that_are_down_are_dead_also_to_each_other(stage: Stage) -> None:
    """In whichever VLAN, and with whichever tag; before and after it the same ports forward."""
    hosts = stage.fabric.wiring.hosts
    up, down = (together(stage, replace(UP, enabled=enabled, access_vlan=4000)) for enabled in (True, False))
    probes = [Probe(host, tags) for host in hosts for tags in ((), (1,), (CONTROL,), (4000,), (4095,))]
    for _ in range(2):
        stage.set(up)
        stage.prober.probe(probes, control=everybody(hosts))
        stage.set(down)
        assert stage.prober.probe(probes).arrivals == ()


def test_one_dead_port_among_others(stage: Stage) -> None:
    """Nothing comes in or out of it, and the others go on."""
    hosts = stage.fabric.wiring.hosts
    dead = f"{SWITCHES[1]}-host-2"
    found = together(stage, replace(UP, access_vlan=CONTROL))
    stage.set(found)
    stage.prober.probe([Probe(host) for host in hosts], control=everybody(hosts))
    state, port = found[SWITCHES[1]], hosts[dead].port
    stage.set({state.name: replace(state, ports={**state.ports, port: replace(state.ports[port], enabled=False)})})
    seen = stage.prober.probe([Probe(host, tags) for host in hosts for tags in ((), (CONTROL,))])
    assert seen.pairs == everybody(set(hosts) - {dead})


@pytest.mark.parametrize("kind", Kind)
def test_frames_are_read_as_they_were_written(kind: Kind) -> None:
    mark = Mark(7, 3, 2)
    for tags in ((), (10,), (10, 20)):
        frame = written(Probe("x", tags, kind), mark)
        assert read(frame) == mark
        assert len(frame) >= 60
    assert read(b"") is read(bytes(60)) is None
