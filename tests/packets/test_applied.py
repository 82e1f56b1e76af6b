"""Request, plan, Neutron, its driver, ssh, the switch's command line, bridge: what frames do in the end.

Two tenants by `pulumi up` on a sandbox whose switches forward frames, with two leaf groups that reuse VLAN ids: acme's
vPOD is on the first, globex has one beside it and one on the second. The story is told once; each test looks at what
was seen of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pytest
import yaml

from sandbox.fabric.frames import Kind
from sandbox.fabric.rack import fabric_of
from sandbox.rack.reading import named
from sandbox.switches import keys
from tests.builders.leaf_groups import SITE as LEAVES
from tests.builders.leaf_groups import write_stacks
from tests.conftest import FRAMES, Sandbox, cloud_folder
from tests.e2e.project import Project, Result
from tests.sandbox.switch_sessions import Client

from .applied import Field, Plug, Pod, Round, Segment, expected, observed, on_trunk
from .proved import Wires, proved
from .traffic import Traffic, traffic

SITE, ACME, GLOBEX = (f"{LEAVES}-{name}" for name in ("site", "acme", "globex"))
FIELD = Field(named(LEAVES))
RNICS, BMCS, TRUNKS = FIELD.rnics, FIELD.bmcs, FIELD.trunks
QUARANTINE = FIELD.rack.quarantine_vlan
#: Of machines that are nobody's: while a tenant comes and goes these ports hear every VLAN of their switches.
HEARS = {
    "tor-1": ("ipum-08-rnic", "Ethernet8/1"),
    "tor-2": ("ipum-16-rnic", "Ethernet8/1"),
    "mgmt-1": ("ipum-08-mgmt", "Ethernet8"),
}
#: A machine of each leaf group that is nobody's and rests.
IDLE = ("ipum-07", "ipum-15")
#: A VLAN of no network.
STRANGE = 1555
#: The port of both ToRs at which the other one is cabled.
UPLINK = "Ethernet25/1"


@dataclass(frozen=True)
class Story:
    """What was seen before the tenants were applied, with both, with one, with both again, and on the way.

    `joined`: when a reused id is on the uplink, by hand; `audits` before that and with it, and with two VLANs that
    somebody changed on trunks that Neutron fills. `carried`: what those carried on the way, switch and port by name.
    """

    acme: Pod
    #: Globex's beside acme's, and on the other leaf group.
    lab: Pod
    research: Pod
    #: By the prover's graphs: for certain, and possibly.
    proved: tuple[Wires, Wires]
    before: Round
    both: Round
    one: Round
    again: Round
    joined: Round
    audits: tuple[Result, Result]
    carried: dict[str, dict[str, frozenset[int]]]
    leaving: Traffic
    coming: Traffic

    @property
    def globex(self) -> tuple[Pod, Pod]:
        """Both of its vPODs."""
        return self.lab, self.research

    @property
    def pods(self) -> tuple[Pod, ...]:
        """All vPODs."""
        return self.acme, *self.globex


@dataclass(frozen=True)
class Stand:
    """A sandbox with frames, and the project that is applied on it."""

    sandbox: Sandbox
    project: Project

    def pods(self, *tenants: str) -> dict[str, Pod]:
        """VPODs of tenants by name."""
        folder = self.project.folder / "stacks" / LEAVES / "tenants"
        locked = (Pod.locked(FIELD, folder / f"{tenant}.lock.json") for tenant in tenants)
        return {name: pod for pods in locked for name, pod in pods.items()}

    def seen(self, *tenants: str) -> Round:
        """With these tenants applied."""
        pods = tuple(self.pods("acme", "globex").values())
        applied = expected(FIELD, self.pods(*tenants).values())
        return observed(fabric_of(self.sandbox.dir), FIELD, pods, applied)

    def up(self, *stacks: str) -> None:
        """Several at once."""
        with ThreadPoolExecutor() as pool:
            done = list(pool.map(self.project.plain_up, stacks))
        for result in done:
            self.project.must(result)

    def typed(self, switch: str, *lines: str) -> None:
        """Commands of the user who configures."""
        entry = yaml.safe_load((self.sandbox.dir / "switches.yaml").read_text())["switches"][switch]
        writer = keys.user_key_file(self.sandbox.dir / "state" / "switches", keys.WRITER)
        text = "\n".join(("configure", *lines))
        answer = Client(entry).attempt(text, username=keys.WRITER, key_file=str(writer))
        assert [code for code, _ in answer["answers"]] == [0], answer

    @contextmanager
    def traffic(self) -> Iterator[Traffic]:
        """Acme's machines and servers send without end, globex's now and then; one of nobody's hears everything."""
        (acme,), globex = self.pods("acme").values(), self.pods("globex").values()
        for switch, (_, port) in HEARS.items():
            trunk = ("switchport mode trunk", "switchport trunk allowed vlan all", "switchport trunk native vlan tag")
            self.typed(switch, f"interface {port}", *trunk, "no shutdown")
        watched = [Plug(host) for host in (*acme.rnics, *acme.bmcs)]
        others = [Plug(host) for pod in globex for host in (*pod.rnics[:2], *pod.bmcs[:2])]
        others += sorted(plug for pod in globex for plug in pod.storage.plugs)
        idle = (f"{machine}-{port}" for machine in IDLE for port in ("rnic", "mgmt"))
        hearing = {*idle, *TRUNKS, *(host for host, _ in HEARS.values())}
        with traffic(fabric_of(self.sandbox.dir), watched, others, hearing) as going:
            yield going
        for switch, (_, port) in HEARS.items():
            rest = ("shutdown",) if FIELD.rack.switch[switch].shut_unused else ()
            self.typed(switch, f"interface {port}", "switchport mode access", *rest)

    def carried(self) -> dict[str, frozenset[int]]:
        """The VLANs of each trunk that Neutron's driver fills."""
        fabric = fabric_of(self.sandbox.dir)
        states = {switch.name: (fabric.load(switch.name), switch.filled) for switch in FIELD.rack.switches}
        return {
            f"{name} {port}": frozenset(state.ports[port].allowed)
            for name, (state, ports) in states.items()
            for port in ports
        }

    def uplinked(self, vlan: int) -> None:
        """A VLAN more on the uplink, at both ends, behind Neutron's back."""
        for switch in ("tor-1", "tor-2"):
            self.typed(switch, f"interface {UPLINK}", f"switchport trunk allowed vlan add {vlan}")

    def story(self) -> Story:
        project = self.project
        project.must(project.interlock("lock"))
        project.init(SITE, ACME, GLOBEX)
        self.up(SITE)
        before, carried = self.seen(), {"before": self.carried()}
        self.up(ACME, GLOBEX)
        both = self.seen("acme", "globex")
        carried["both"] = self.carried()
        with self.traffic() as leaving:
            project.must(project.pulumi("destroy", ACME, "--yes", "--skip-preview"))
        one = self.seen("globex")
        carried["one"] = self.carried()
        with self.traffic() as coming:
            self.up(ACME)
        wires = proved(FIELD, project.folder / "stacks", LEAVES)
        again = self.seen("acme", "globex")
        carried["again"] = self.carried()
        pods, clean = self.pods("acme", "globex"), project.interlock("audit")
        self.uplinked(pods["train"].data.vlan)
        joined = self.seen("acme", "globex")
        lost, strange = pods["train"].data.vlan, STRANGE
        self.typed("tor-1", "interface Ethernet17/1", f"switchport trunk allowed vlan remove {lost}")
        self.typed("tor-1", "interface Ethernet18/1", f"switchport trunk allowed vlan add {strange}")
        told = project.interlock("audit")
        return Story(
            pods["train"], pods["lab"], pods["research"], wires, before, both, one, again, joined, (clean, told),
            carried, leaving, coming,
        )  # fmt: skip


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    """The story. Without root or Open vSwitch an error names the line to run."""
    sandbox = Sandbox(cloud_folder(FRAMES))
    sandbox.supervise("reset", "--frames", "--rack", LEAVES)
    try:
        yield Stand(sandbox, project_in(tmp_path_factory.mktemp("frames"), sandbox.clouds_yaml)).story()
    finally:
        sandbox.supervise("down")


def project_in(folder: Path, clouds_yaml: Path) -> Project:
    """A project whose one site is that of the rack."""
    project = Project.make(folder / "project", clouds_yaml)
    write_stacks(project.only_stacks())
    return project


def test_before_up_machines_are_dead_to_each_other_too(story: Story) -> None:
    """BMCs rest in a VLAN of their own, where the operator sanitises them; nobody else is there."""
    rest = expected(FIELD, ())
    assert story.before.absent(rest) == set()
    assert story.before.stray(rest) == set()
    everybody = map(Plug, (*RNICS, *BMCS))
    assert story.before.between(map(Plug, RNICS), everybody) == frozenset()


@pytest.mark.parametrize("which", ["both", "again"])
def test_with_both_tenants_exactly_their_segments_meet(story: Story, which: str) -> None:
    """Every plug with every other one of its segment, by ARP, neighbour discovery and anything; and with no other."""
    seen: Round = getattr(story, which)
    segments = expected(FIELD, story.pods)
    assert seen.absent(segments) == set()
    assert seen.stray(segments) == set()


def test_frames_agree_with_the_proof(story: Story) -> None:
    """Plug by plug: each wire of the graphs is who hears whom, and nothing here is uncertain."""
    must, may = story.proved
    assert must == may == {item.plugs for pod in story.pods for item in pod.segments}
    plugs = frozenset().union(*must)
    heard = {(a, b) for a, b, _ in story.both.meetings if a in plugs and b in plugs}
    assert heard == {(a, b) for wire in must for a in wire for b in wire if a != b}


def test_inside_a_vpod_frames_of_all_kinds_arrive(story: Story) -> None:
    for pod in story.pods:
        guests = [plug for plug in pod.data.plugs if plug.tag is not None]
        rnics = [Plug(host) for host in pod.rnics]
        assert len(story.both.between(rnics, rnics)) == len(rnics) * (len(rnics) - 1) * len(Kind)
        assert len(story.both.between(rnics, guests)) == 2 * len(rnics) * len(guests) * len(Kind)


def test_between_vpods_nothing_arrives(story: Story) -> None:
    for one, other in ((story.acme, story.lab), (story.acme, story.research), (story.lab, story.research)):
        assert story.both.between(one.plugs, other.plugs) == frozenset()


def reused(story: Story) -> list[tuple[Segment, Segment]]:
    """Segments of two tenants with one id, on the two leaf groups."""
    return [(story.acme.data, story.research.data), (story.acme.storage, story.research.storage)]


@pytest.mark.parametrize("which", ["both", "again"])
def test_between_leaf_groups_that_reuse_an_id_nothing_arrives(story: Story, which: str) -> None:
    """While the same ports reach each other over the uplink as soon as it carries the VLAN that they are in."""
    seen: Round = getattr(story, which)
    for one, other in reused(story):
        assert one.vlan == other.vlan
        assert one.switch != other.switch
        pairs = {(a.host, b.host) for a, b in product(one.plugs, other.plugs)}
        assert pairs | {(b, a) for a, b in pairs} <= seen.control
        assert seen.between(one.plugs, other.plugs) == frozenset()


def test_a_reused_id_on_the_uplink_joins_two_tenants(story: Story) -> None:
    """Everybody with everybody in that VLAN, and in no other: the storage VLANs have one id as well."""
    data, storage = reused(story)
    for one, other in product(*(segment.plugs for segment in data)):
        assert len(story.joined.between([one], [other])) == 2 * len(Kind)
    assert story.joined.between(*(segment.plugs for segment in storage)) == frozenset()
    strays = story.joined.stray(expected(FIELD, story.pods))
    assert {plug for a, b, _ in strays for plug in (a, b)} >= data[0].plugs | data[1].plugs


def test_an_audit_reads_what_is_on_the_trunks(story: Story) -> None:
    """It has nothing to say of what the driver did to the trunks, and names both ends of one that was set by hand."""
    clean, told = story.audits
    assert clean.code == 0, clean.text
    assert f"{LEAVES}: no drift" in clean.out
    assert told.code == 1
    for switch in ("tor-1", "tor-2"):
        where = f"{switch} 25 ({UPLINK}): trunk"
        assert f"{where}: the site file has trunk 20 native none; the switch says 20,{story.acme.data.vlan}" in told.out


@pytest.mark.parametrize(("when", "tenants"), [("before", ""), ("both", "al"), ("one", "l"), ("again", "al")])
def test_neutron_fills_trunks_and_empties_them(story: Story, when: str, tenants: str) -> None:
    """With the data and storage VLANs of exactly those vPODs that are on the leaf group at that time."""
    pods = [pod for letter, pod in (("a", story.acme), ("l", story.lab)) if letter in tenants]
    wanted = frozenset(segment.vlan for pod in pods for segment in (pod.data, pod.storage))
    assert story.carried[when] == {f"tor-1 Ethernet{port}/1": wanted for port in range(17, 21)}
    assert {segment.switch for pod in pods for segment in (pod.data, pod.storage)} <= {"tor-1"}


def test_an_audit_tells_what_is_missing_on_a_filled_trunk_and_what_is_nobodys(story: Story) -> None:
    """It had nothing to say of the same trunks while the driver alone had set them."""
    clean, told = story.audits
    assert "17/1" not in clean.out
    acme = f"tor-1 17 (Ethernet17/1): trunk: the plan of {ACME} has networks in VLAN {story.acme.data.vlan}, "
    assert f"{acme}which Neutron puts onto it; the switch says trunk " in told.out
    assert f"tor-1 18 (Ethernet18/1): trunk: nothing has a network in VLAN {STRANGE} there" in told.out
    assert "tor-1 19 (Ethernet19/1)" not in told.out


def test_from_the_fabric_no_management_port_is_reached(story: Story) -> None:
    """Not by guests, not by RNICs, not with the tag of the management VLAN either."""
    sending = [plug for plug in story.both.sent if plug.host in {*RNICS, *TRUNKS} and not plug.host.startswith("infra")]
    assert {pod.management.vlan for pod in story.pods} <= {plug.tag for plug in sending}
    assert story.both.between(sending, map(Plug, BMCS)) == frozenset()


def test_bmcs_reach_the_controller_of_their_vpod_and_no_other(story: Story) -> None:
    for own, other in product(story.pods, story.pods):
        bmcs = [Plug(host) for host in own.bmcs]
        controller = own.management.plugs - {*bmcs}
        assert len(controller) == 1
        assert len(story.both.between(bmcs, controller)) == 2 * len(bmcs) * len(Kind)
        assert own is other or story.both.between(bmcs, other.management.plugs) == frozenset()


def test_after_destroy_the_ports_are_dead_and_the_other_tenant_lives(story: Story) -> None:
    segments = expected(FIELD, story.globex)
    assert story.one.absent(segments) == set()
    assert story.one.stray(segments) == set()
    assert story.one.between(map(Plug, story.acme.rnics), map(Plug, RNICS)) == frozenset()


def own_segments(pod: Pod) -> dict[str, Segment]:
    return dict.fromkeys(pod.rnics, pod.data) | dict.fromkeys(pod.bmcs, pod.management)


def slipped(going: Traffic, pods: tuple[Pod, ...], resting: frozenset[str]) -> set[tuple[Plug, Plug]]:
    """What came to others than a machine's own vPOD, trunks that carry its VLAN, and BMCs that rest beside its own."""
    homes = {host: segment for pod in pods for host, segment in own_segments(pod).items()}
    mates = {host: side for pod in pods for side in (pod.rnics, pod.bmcs) for host in side}
    hearing = {host for host, _ in HEARS.values()}

    def is_known(sender: str, there: Plug) -> bool:
        home = homes[sender]
        carried = on_trunk(FIELD, home.switch, home.vlan, there)
        at_rest = sender in resting and there in {*map(Plug, resting)}
        return there in {*map(Plug, mates[sender])} or carried or at_rest or there.host in hearing

    return {pair for pair in going.arrived if pair[0].host in homes and not is_known(pair[0].host, pair[1])}


@pytest.mark.parametrize("which", ["leaving", "coming"])
def test_while_a_tenant_goes_and_comes_no_frame_slips(story: Story, which: str) -> None:
    """To no port of the other tenant, of nobody's machines, of another switch; and from none of them."""
    going: Traffic = getattr(story, which)
    taken = {bmc for pod in story.globex for bmc in pod.bmcs}
    assert slipped(going, story.pods, frozenset(BMCS) - taken) == set()
    for pod in story.pods:  # the positive control: both tenants got their own meanwhile
        assert going.arrived[Plug(pod.rnics[0]), Plug(pod.rnics[1])] > 0
        assert going.arrived[Plug(pod.bmcs[0]), Plug(pod.bmcs[1])] > 0


def test_while_a_tenant_goes_its_ports_are_in_no_vlan_of_another(story: Story) -> None:
    """What hears everything hears even the driver's stop in VLAN 1, and RNICs in quarantine before they are shut."""
    going = story.leaving
    assert heard_of(going, story.acme.rnics) - {QUARANTINE} == {story.acme.data.vlan, 1}
    assert heard_of(going, story.acme.bmcs) - {1} == {story.acme.management.vlan, QUARANTINE}
    others_stay(story, going)


def test_while_a_tenant_comes_its_ports_are_in_no_vlan_of_another(story: Story) -> None:
    """The driver shuts ports while it sets them, so there is no stop on this way."""
    going = story.coming
    assert heard_of(going, story.acme.rnics) == {story.acme.data.vlan}
    assert heard_of(going, story.acme.bmcs) == {story.acme.management.vlan, QUARANTINE}
    others_stay(story, going)


def heard_of(going: Traffic, ports: tuple[str, ...]) -> set[int | None]:
    """The VLANs in which some ports of one switch were."""
    return going.got([*map(Plug, ports)], HEARS[FIELD.switch(ports[0])][0])


def others_stay(story: Story, going: Traffic) -> None:
    """And what hears everything on one leaf group hears nothing of the other one."""
    for pod in story.globex:
        assert heard_of(going, pod.rnics) == {pod.data.vlan}
        assert heard_of(going, pod.bmcs) == {pod.management.vlan}
    assert going.got([*map(Plug, story.acme.rnics)], HEARS["tor-2"][0]) == set()
    assert going.got([*map(Plug, story.research.rnics)], HEARS["tor-1"][0]) == set()


def test_a_trunk_carries_what_its_hypervisor_tags(story: Story) -> None:
    """The wire does not keep a hypervisor from the VLAN of another's vPOD: that is the hypervisor's to do (A5)."""
    data = story.acme.data
    outside = {
        there.host for sender, there, _ in story.both.meetings if sender in data.plugs and there.tag == data.vlan
    }
    assert outside == {host for host in TRUNKS if FIELD.switch(host) == data.switch}
