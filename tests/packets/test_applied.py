"""Request, plan, Neutron, its driver, ssh, the switch's command line, bridge: what frames do in the end.

Two tenants of the demo's site by `pulumi up` on a sandbox whose switches forward frames. The story is told once; each
test looks at what was seen of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
import yaml

from sandbox.fabric.frames import Kind
from sandbox.fabric.rack import fabric_of
from sandbox.switches import keys
from sandbox.switches.devices import QUARANTINE
from tests.conftest import FRAMES, Sandbox, cloud_folder
from tests.e2e.project import Project
from tests.sandbox.switch_sessions import Client

from .applied import BMCS, RNICS, TRUNKS, Plug, Pod, Round, expected, observed
from .proved import Wires, proved
from .traffic import Traffic, traffic

SITE, ACME, GLOBEX = "lyon-site", "lyon-acme", "lyon-globex"
#: Of a machine that is nobody's: while a tenant comes and goes its ports hear every VLAN of their switches.
HEARS = {"tor-1": ("ipum-08-rnic", "Ethernet8/1"), "mgmt-1": ("ipum-08-mgmt", "Ethernet8")}
#: A machine that is nobody's and rests.
IDLE = 7


@dataclass(frozen=True)
class Story:
    """What was seen before the tenants were applied, with both, with one, with both again, and on the way."""

    acme: Pod
    globex: Pod
    #: By the prover's graphs: for certain, and possibly.
    proved: tuple[Wires, Wires]
    before: Round
    both: Round
    one: Round
    again: Round
    leaving: Traffic
    coming: Traffic


@dataclass(frozen=True)
class Stand:
    """A sandbox with frames, and the project that is applied on it."""

    sandbox: Sandbox
    project: Project

    def pod(self, tenant: str) -> Pod:
        return Pod.locked(self.project.folder / "stacks" / "lyon" / "tenants" / f"{tenant}.lock.json")

    def seen(self, *tenants: str) -> Round:
        """With these tenants applied."""
        pods = {name: self.pod(name) for name in ("acme", "globex")}
        applied = expected(pods[name] for name in tenants)
        return observed(fabric_of(self.sandbox.dir), tuple(pods.values()), applied)

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
        acme, globex = self.pod("acme"), self.pod("globex")
        for switch, (_, port) in HEARS.items():
            trunk = ("switchport mode trunk", "switchport trunk allowed vlan all", "switchport trunk native vlan tag")
            self.typed(switch, f"interface {port}", *trunk, "no shutdown")
        watched = [Plug(host) for host in (*acme.rnics, *acme.bmcs)]
        others = [*map(Plug, (*globex.rnics[:2], *globex.bmcs[:2])), *sorted(globex.storage.plugs)]
        hearing = {RNICS[IDLE - 1], BMCS[IDLE - 1], *TRUNKS, *(host for host, _ in HEARS.values())}
        with traffic(fabric_of(self.sandbox.dir), watched, others, hearing) as going:
            yield going
        for switch, (_, port) in HEARS.items():
            rest = ("shutdown",) if switch == "tor-1" else ()
            self.typed(switch, f"interface {port}", "switchport mode access", *rest)

    def story(self) -> Story:
        project = self.project
        project.init(SITE, ACME, GLOBEX)
        self.up(SITE)
        before = self.seen()
        self.up(ACME, GLOBEX)
        both = self.seen("acme", "globex")
        with self.traffic() as leaving:
            project.must(project.pulumi("destroy", ACME, "--yes", "--skip-preview"))
        one = self.seen("globex")
        with self.traffic() as coming:
            self.up(ACME)
        wires = proved(project.folder / "stacks", "lyon")
        again = self.seen("acme", "globex")
        return Story(self.pod("acme"), self.pod("globex"), wires, before, both, one, again, leaving, coming)


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    """The story. Without root or Open vSwitch an error names the line to run."""
    sandbox = Sandbox(cloud_folder(FRAMES))
    sandbox.supervise("reset", "--frames")
    try:
        yield Stand(sandbox, Project.make(tmp_path_factory.mktemp("frames") / "project", sandbox.clouds_yaml)).story()
    finally:
        sandbox.supervise("down")


def test_before_up_machines_are_dead_to_each_other_too(story: Story) -> None:
    """BMCs rest in a VLAN of their own, where the operator sanitises them; nobody else is there."""
    rest = expected(())
    assert story.before.absent(rest) == set()
    assert story.before.stray(rest) == set()
    everybody = map(Plug, (*RNICS, *BMCS))
    assert story.before.between(map(Plug, RNICS), everybody) == frozenset()


@pytest.mark.parametrize("which", ["both", "again"])
def test_with_both_tenants_exactly_their_segments_meet(story: Story, which: str) -> None:
    """Every plug with every other one of its segment, by ARP, neighbour discovery and anything; and with no other."""
    seen: Round = getattr(story, which)
    segments = expected((story.acme, story.globex))
    assert seen.absent(segments) == set()
    assert seen.stray(segments) == set()


def test_frames_agree_with_the_proof(story: Story) -> None:
    """Plug by plug: each wire of the graphs is who hears whom, and nothing here is uncertain."""
    must, may = story.proved
    assert must == may == {item.plugs for pod in (story.acme, story.globex) for item in pod.segments}
    plugs = frozenset().union(*must)
    heard = {(a, b) for a, b, _ in story.both.meetings if a in plugs and b in plugs}
    assert heard == {(a, b) for wire in must for a in wire for b in wire if a != b}


def test_inside_a_vpod_frames_of_all_kinds_arrive(story: Story) -> None:
    for pod in (story.acme, story.globex):
        guests = [plug for plug in pod.data.plugs if plug.tag is not None]
        rnics = [Plug(host) for host in pod.rnics]
        assert len(story.both.between(rnics, rnics)) == len(rnics) * (len(rnics) - 1) * len(Kind)
        assert len(story.both.between(rnics, guests)) == 2 * len(rnics) * len(guests) * len(Kind)


def test_between_vpods_nothing_arrives(story: Story) -> None:
    assert story.both.between(story.acme.plugs, story.globex.plugs) == frozenset()


def test_from_the_fabric_no_management_port_is_reached(story: Story) -> None:
    """Not by guests, not by RNICs, not with the tag of the management VLAN either."""
    sending = [plug for plug in story.both.sent if plug.host in {*RNICS, *TRUNKS} and not plug.host.startswith("infra")]
    assert {story.acme.management.vlan, story.globex.management.vlan} <= {plug.tag for plug in sending}
    assert story.both.between(sending, map(Plug, BMCS)) == frozenset()


def test_bmcs_reach_the_controller_of_their_vpod_and_no_other(story: Story) -> None:
    for own, other in ((story.acme, story.globex), (story.globex, story.acme)):
        bmcs = [Plug(host) for host in own.bmcs]
        controller = own.management.plugs - {*bmcs}
        assert len(controller) == 1
        assert len(story.both.between(bmcs, controller)) == 2 * len(bmcs) * len(Kind)
        assert story.both.between(bmcs, other.management.plugs) == frozenset()


def test_after_destroy_the_ports_are_dead_and_the_other_tenant_lives(story: Story) -> None:
    segments = expected((story.globex,))
    assert story.one.absent(segments) == set()
    assert story.one.stray(segments) == set()
    assert story.one.between(map(Plug, story.acme.rnics), map(Plug, RNICS)) == frozenset()


def own_vlans(pod: Pod) -> dict[str, int]:
    return dict.fromkeys(pod.rnics, pod.data.vlan) | dict.fromkeys(pod.bmcs, pod.management.vlan)


def slipped(going: Traffic, pods: tuple[Pod, ...], resting: frozenset[str]) -> set[tuple[Plug, Plug]]:
    """What came to others than a machine's own vPOD, trunks that carry its VLAN, and BMCs that rest beside its own."""
    homes = {host: vlan for pod in pods for host, vlan in own_vlans(pod).items()}
    mates = {host: side for pod in pods for side in (pod.rnics, pod.bmcs) for host in side}
    hearing = {host for host, _ in HEARS.values()}

    def is_known(sender: str, there: Plug) -> bool:
        on_trunk = there.tag == homes[sender] and there.tag in TRUNKS.get(there.host, ())
        at_rest = sender in resting and there in {*map(Plug, resting)}
        return there in {*map(Plug, mates[sender])} or on_trunk or at_rest or there.host in hearing

    return {pair for pair in going.arrived if pair[0].host in homes and not is_known(pair[0].host, pair[1])}


@pytest.mark.parametrize("which", ["leaving", "coming"])
def test_while_a_tenant_goes_and_comes_no_frame_slips(story: Story, which: str) -> None:
    """To no port of the other tenant, of nobody's machines, of another switch; and from none of them."""
    going: Traffic = getattr(story, which)
    pods = (story.acme, story.globex)
    assert slipped(going, pods, frozenset(BMCS) - {*story.globex.bmcs}) == set()
    for pod in pods:  # the positive control: both tenants got their own meanwhile
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
    switch = "tor-1" if ports[0] in RNICS else "mgmt-1"
    return going.got([*map(Plug, ports)], HEARS[switch][0])


def others_stay(story: Story, going: Traffic) -> None:
    assert heard_of(going, story.globex.rnics) == {story.globex.data.vlan}
    assert heard_of(going, story.globex.bmcs) == {story.globex.management.vlan}


def test_a_trunk_carries_what_its_hypervisor_tags(story: Story) -> None:
    """The wire does not keep a hypervisor from the VLAN of another's vPOD: that is the hypervisor's to do (A5)."""
    outside = {there.host for _, there, _ in story.both.meetings if there.tag == story.acme.data.vlan}
    assert outside == {host for host in TRUNKS if not host.startswith("infra")}
