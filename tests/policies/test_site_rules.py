"""Rules about the inventory and the machines of one vPOD: one flaw each, and the same thing without it.

Two logical racks of 16 machines in two physical racks, GW-Links between equal positions; feeds A and B with 20 kW,
PDUs on each; every machine 1 U and 1 kW.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from interlock.model.site.inventory import Cable, Endpoint, SegmentRangeSpec, Site
from interlock.model.site.networks import FabricProfile, PhysicalNetwork, Underlay
from interlock.model.site.physical import Device, Feed, LogicalRack, Placement, Rack, Room
from interlock.planning import plan_site
from interlock.planning.plan import Plan
from policies import Finding, Judgement, Severity, Verdict
from policies.findings.report import verdict
from tests.builders.pod64 import cable, partition, site_locked, tenant, vpod
from tests.policies.test_examples_switches import leaves
from tests.policies.test_racks import link, two_racks
from tests.policies.workspace import NA, P, V, changed, edited, full_site, judged, made, verdicts


def standing() -> Site:
    """The two racks with everything about power stated."""
    site = two_racks()
    racks = tuple(
        Rack(
            name=f"rack-{number}", room="hall", units=42, max_weight_kg=900, cooling="in-row-air",
            feeds=(Feed(name="A", capacity_w=22000), Feed(name="B", capacity_w=22000)),
            pdus={f"pdu-{number}a": "A", f"pdu-{number}b": "B"},
        )
        for number in (1, 2)
    )  # fmt: skip
    placed = tuple(
        Placement(
            device=machine.name, rack=f"rack-{machine.logical_rack[-1]}", unit=machine.position,
            nameplate_w=1000, weight_kg=16.4,
        )
        for machine in site.machines
    )  # fmt: skip
    cords = tuple(
        Cable(
            a=Endpoint(device=machine.name, interface=f"psu-{plug}"),
            b=Endpoint(device=f"pdu-{machine.logical_rack[-1]}{side}", interface=f"outlet-{machine.position}"),
            kind="power",
        )
        for machine in site.machines
        for plug, side in ((1, "a"), (2, "b"))
    )
    pdus = tuple(Device(name=f"pdu-{number}{side}", role="pdu") for number in (1, 2) for side in "ab")
    return changed(
        site,
        rooms=(Room(name="hall", power_w=32000, floor_kg_m2=600),),
        physical_racks=racks,
        placements=placed,
        cables=(*with_four_links(site), *cords),
        devices=pdus,
        machines=tuple(
            machine.model_copy(update={"macs": {part: f"{part}-{machine.name}" for part in ("bmc", "gw", "rnic")}})
            for machine in site.machines
        ),
        logical_racks=(LogicalRack(name="lrack-1", number=1), LogicalRack(name="lrack-2", number=2)),
    )


def with_four_links(site: Site) -> tuple[Cable, ...]:
    """The second rack's chain has one cable between neighbours; the design has four."""
    single = [item for item in site.cables if item.kind == "ipu-link" and item.a.device >= "ipum-17"]
    more = tuple(
        Cable(
            a=item.a.model_copy(update={"interface": f"{item.a.interface}-{number}"}),
            b=item.b.model_copy(update={"interface": f"{item.b.interface}-{number}"}),
            kind="ipu-link",
        )
        for item in single
        for number in (2, 3, 4)
    )
    return (*site.cables, *more)


def of_site(site: Site) -> Judgement:
    return judged(site, plan_site(site, site_locked(site)))


def with_cables(*extra: Cable, without: tuple[str, ...] = ()) -> Site:
    site = standing()
    kept = tuple(item for item in site.cables if not {str(item.a), str(item.b)} & set(without))
    return changed(site, cables=(*kept, *extra))


def with_rack(**changes: object) -> Site:
    site = standing()
    first, *rest = site.physical_racks
    return changed(site, physical_racks=(first.model_copy(update=changes), *rest))


def with_room(**changes: object) -> Site:
    site = standing()
    return changed(site, rooms=tuple(item.model_copy(update=changes) for item in site.rooms))


def with_machine(name: str, **changes: object) -> Site:
    site = standing()
    return changed(
        site,
        placements=tuple(item.model_copy(update=changes) if item.device == name else item for item in site.placements),
    )


def with_networks(mtu: int | None = 9000, profile: str | None = "roce", profile_mtu: int = 4200) -> Site:
    """A second label on the ToR, so that both are one fabric."""
    site = standing()
    profiles = tuple(
        FabricProfile(name=name, pfc_priority=priority, dscp=26, ecn=True, mtu=profile_mtu)
        for name, priority in (("roce", 3), ("other", 4))
    )
    fabric, *rest = site.physical_networks
    fabric = fabric.model_copy(update={"mtu": 9000, "profile": "roce"})
    second = PhysicalNetwork(name="second", switches=("tor-1",), mtu=mtu, profile=profile)
    return changed(site, physical_networks=(fabric, second, *rest), fabric_profiles=profiles)


def torus(*closing: Cable) -> Site:
    site = standing()
    racks = tuple(
        rack.model_copy(update={"topology": "torus"}) if rack.name == "lrack-1" else rack for rack in site.logical_racks
    )
    return changed(site, logical_racks=racks, cables=(*site.cables, *closing))


def around(count: int) -> tuple[Cable, ...]:
    """Cables from the last machine of the first logical rack back to its first."""
    return tuple(
        Cable(
            a=Endpoint(device="ipum-16", interface=f"ipu-link-down-{number}"),
            b=Endpoint(device="ipum-01", interface=f"ipu-link-up-{number}"),
            kind="ipu-link",
        )
        for number in range(1, count + 1)
    )


def same_mac() -> Site:
    site = standing()
    first, *rest = site.machines
    return changed(site, machines=(first.model_copy(update={"macs": dict(rest[0].macs)}), *rest))


def legs_apart() -> Site:
    return with_cables(cable("poplar-1:ens161f1", "mgmt-1:30"), without=("poplar-1:ens161f1",))


def weak_feed() -> Site:
    return with_rack(feeds=(Feed(name="A", capacity_w=22000), Feed(name="B", capacity_w=16000)))


def one_plug_twice() -> Site:
    return with_cables(link(1, 2, "ipu-link"), link(1, 2, "ipu-link"))


def ranged(low: int, high: int, network: str | None = "fabric100g") -> Site:
    kind = "vlan" if network else "vxlan"
    found = SegmentRangeSpec.model_validate(
        {"network_type": kind, "physical_network": network, "minimum": low, "maximum": high}
    )
    return changed(standing(), segment_ranges=(found,))


@dataclass(frozen=True)
class Flaw:
    """A rule about the inventory, the site that it finds fault with, and words of the finding."""

    rule: str
    site: Callable[[], Site]
    words: str


FLAWS = (
    Flaw("TOP-07", torus, "no IPU-Link cable ipum-16 – ipum-01"),
    Flaw("TOP-08", lambda: with_cables(link(16, 17, "ipu-link")), "leaves its logical rack"),
    Flaw("TOP-08", lambda: with_cables(link(3, 7, "ipu-link")), "joins no neighbours"),
    Flaw("TOP-08", lambda: with_cables(without=("ipum-03:ipu-link-down-1",)), "have 3 IPU-Link cables, not 4"),
    Flaw("TOP-08", one_plug_twice, "cables are in the IPU-Link port"),
    Flaw("TOP-08", lambda: with_cables(*around(2)), "have 2 IPU-Link cables, not 4"),
    Flaw("TOP-09", lambda: with_cables(link(1, 18, "gw-link")), "joins positions 1 and 2"),
    Flaw("TOP-09", lambda: with_cables(link(1, 5, "gw-link")), "stays in logical rack"),
    Flaw("TOP-09", lambda: with_cables(*(link(1, n, "gw-link") for n in (17, 17))), "has 3 GW-Links on 2 ports"),
    Flaw("TOP-14", same_mac, "have one MAC address"),
    Flaw("TOP-15", legs_apart, "end at mgmt-1 and tor-1"),
    Flaw("TOP-21", lambda: with_networks(profile="other"), "different profiles"),
    Flaw("TOP-21", lambda: with_networks(profile="unheard"), "nothing describes its profile"),
    Flaw("TOP-23", lambda: with_networks(mtu=1500), "different MTUs"),
    Flaw("TOP-23", lambda: with_networks(profile_mtu=9500), "sends 9500 bytes"),
    Flaw("CAP-03", lambda: with_cables(cable("spare:eth0", "tor-1:99")), "has no port 99"),
    Flaw("ISO-13", lambda: ranged(2900, 3100), "2900-2999"),
    Flaw("ISO-13", lambda: ranged(4000, 5000, None), "5000-5000"),
    Flaw("PWR-01", lambda: with_rack(cooling_limit_w=15000), "16000 W"),
    Flaw("PWR-01", lambda: with_rack(cooling="room-air"), "room-air usually takes 15000 W"),
    Flaw("PWR-02", weak_feed, "feed B"),
    Flaw("PWR-03", lambda: with_cables(without=("ipum-05:psu-2",)), "ipum-05 hangs on A alone"),
    Flaw("PWR-03", lambda: with_cables(without=("ipum-05:psu-1", "ipum-05:psu-2")), "ipum-05 has no power cord"),
    Flaw("PWR-03", lambda: with_rack(pdus={"pdu-1a": "A", "pdu-1b": "A"}), "hangs on A alone"),
    Flaw("PWR-04", lambda: with_rack(units=12), "takes units 13 to 13"),
    Flaw("PWR-04", lambda: with_rack(max_weight_kg=200), "the rack carries 200 kg"),
    Flaw("PWR-04", lambda: with_machine("ipum-02", unit=1), "both take unit 1"),
    Flaw("PWR-05", lambda: with_room(power_w=31999), "room hall: 32000 W"),
    Flaw("PWR-05", lambda: with_room(power_w=None), "what this room gives is not stated"),
    Flaw("PWR-05", lambda: with_machine("ipum-02", nameplate_w=None), "not stated for ipum-02"),
    Flaw("PWR-05", lambda: with_rack(room=None), "in which room rack-1 stands"),
    Flaw("PWR-07", lambda: with_room(floor_kg_m2=550), "the floor carries 550 kg/m² on 0.72 m²"),
    Flaw("PWR-07", lambda: with_room(floor_kg_m2=None), "what the floor of this room carries is not stated"),
    Flaw("PWR-07", lambda: with_machine("ipum-02", weight_kg=None), "not stated for ipum-02"),
    Flaw("PWR-07", lambda: with_rack(room=None), "nobody states in which room it stands"),
    Flaw("PWR-06", lambda: with_machine("ipum-02", nameplate_w=None), "nameplate of ipum-02"),
    # These two are about a vPOD, and have their cases below.
    Flaw("TOP-04", standing, ""),
    Flaw("TOP-10", standing, ""),
    Flaw("TOP-11", standing, ""),
)
SITE_FLAWS = tuple(flaw for flaw in FLAWS if flaw.words)


def found(judgement: Judgement, rule: str) -> list[Finding]:
    return [item for item in judgement.findings if item.rule == rule]


def test_the_intact_site() -> None:
    judgement = of_site(standing())
    assert judgement.findings == ()
    looked_at = {rule for rule, answer in verdicts(judgement).items() if answer is P}
    # Without a torus, a profile and an MTU there is nothing to look at for three of them.
    assert {flaw.rule for flaw in SITE_FLAWS} - looked_at == {"TOP-07", "TOP-21", "TOP-23"}
    for site, rule in ((with_networks(), "TOP-21"), (with_networks(), "TOP-23"), (torus(*around(4)), "TOP-07")):
        assert verdicts(of_site(site))[rule] == P


@pytest.mark.parametrize("flaw", SITE_FLAWS, ids=lambda flaw: f"{flaw.rule} {flaw.words}")
def test_a_flaw_is_found_by_its_rule(flaw: Flaw) -> None:
    judgement = of_site(flaw.site())
    messages = [item.message + " ".join(item.witness) for item in found(judgement, flaw.rule)]
    assert any(flaw.words in message for message in messages), messages
    assert all(item.hint for item in judgement.findings)


@pytest.mark.parametrize("flaw", SITE_FLAWS, ids=lambda flaw: f"{flaw.rule} {flaw.words}")
def test_tenants_reports_stay_short(flaw: Flaw) -> None:
    """What only the inventory decides is said in the report of the site's stack, not in each tenant's."""
    plan = made(full_site(), tenant("acme")).plan
    if flaw.rule not in ("TOP-15", "CAP-03"):  # those cables lead to switch ports that nobody describes
        assert judged(flaw.site(), plan).exit_code == 0
    assert found(judged(flaw.site(), plan), flaw.rule) == []


@pytest.mark.parametrize(
    "site",
    [
        with_machine("ipum-02", nameplate_w=None),
        with_machine("ipum-02", unit=None),
        with_machine("ipum-02", weight_kg=None),
        with_rack(cooling=None),
        with_rack(feeds=()),
        with_rack(max_weight_kg=None),
        changed(standing(), cables=tuple(item for item in standing().cables if item.kind != "power")),
        changed(standing(), machines=two_racks().machines),
    ],
)
def test_a_figure_that_nobody_stated_is_named_and_stops_nothing(site: Site) -> None:
    judgement = of_site(site)
    assert judgement.findings
    assert {item.verdict for item in judgement.findings} == {Verdict.NOT_PROVABLE}
    assert {item.severity for item in judgement.findings} == {Severity.WARN}
    assert all(item.missing for item in judgement.findings)
    assert verdict(judgement) == "proved"


def test_too_much_is_an_error_whatever_else_is_unknown() -> None:
    site = with_rack(cooling_limit_w=10000)
    placed = tuple(
        item.model_copy(update={"nameplate_w": None}) if item.device == "ipum-02" else item for item in site.placements
    )
    assert verdicts(of_site(changed(site, placements=placed)))["PWR-01"] == V


def test_one_feed_is_a_warning() -> None:
    judgement = of_site(with_rack(feeds=(Feed(name="A", capacity_w=22000),)))
    assert [item.severity for item in found(judgement, "PWR-02")] == [Severity.WARN]
    assert judgement.exit_code == 0


def test_pdus_draw_nothing_themselves() -> None:
    site = standing()
    pdu = Placement(device="pdu-1a", rack="rack-1", unit=None, height_u=0, weight_kg=5.0)
    assert of_site(changed(site, placements=(*site.placements, pdu))).findings == ()


# vPODs.


def taken(*positions: int) -> Plan:
    machines = tuple(f"ipum-{position:02}" for position in positions)
    wish = tenant("acme", machines=len(machines), servers=1)
    return made(full_site(), wish, machines=machines).plan


@pytest.mark.parametrize(
    ("positions", "answer"), [((1, 2), P), ((3, 4), P), ((4, 5), V), ((5, 6, 7, 8), P), ((3, 4, 5, 6), V), ((16,), P)]
)
def test_aligned_blocks(positions: tuple[int, ...], answer: Verdict) -> None:
    judgement = judged(full_site(), taken(*positions))
    assert verdicts(judgement)["TOP-04"] == answer
    assert judgement.exit_code == 0


ALLOCATION = "acme-train-allocation"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"machines": ("ipum-01", "ipum-01", "ipum-02", "ipum-03")}, "names ipum-01 twice"),
        ({"machines": ("ipum-01", "ipum-02", "ipum-03")}, "lacks ipum-04"),
        ({"machines": ("ipum-01", "ipum-02", "ipum-03", "ipum-04", "ipum-09")}, "takes ipum-09"),
        ({"controller": "acme-train-poplar-0"}, "not the controller"),
        ({"controller": "globex-train-controller"}, "not the controller"),
    ],
)
def test_allocations(change: dict[str, object], words: str) -> None:
    acme = made(full_site(), tenant("acme"))
    judgement = judged(full_site(), edited(acme.plan, ALLOCATION, **change))
    assert any(words in item.message for item in found(judgement, "TOP-10"))


def test_an_allocation_that_takes_a_neighbours_machine() -> None:
    """Whatever the rules about allocations say: the two tenants meet on that machine."""
    acme = made(full_site(), tenant("acme"))
    globex = made(full_site(), tenant("globex", machines=8, servers=1), [acme.lock])
    theirs = globex.lock.allocation.vpods["train"].machines[0]
    plan = edited(acme.plan, ALLOCATION, machines=("ipum-01", "ipum-02", "ipum-03", "ipum-04", theirs))
    judgement = judged(full_site(), plan, globex)
    assert (verdicts(judgement)["ISO-02"], verdicts(judgement)["TOP-06"]) == (V, V)


def test_a_vpod_without_its_allocation() -> None:
    acme = made(full_site(), tenant("acme")).plan
    fields = {name: getattr(acme, name) for name in Plan.model_fields}
    rest = tuple(item for item in acme.resources if item.name != ALLOCATION)
    assert verdicts(judged(full_site(), Plan(**(fields | {"resources": rest}))))["TOP-10"] == V


def divided(*ipus: int, **options: object) -> Plan:
    pod = vpod(machines=4, servers=1)
    cut = tuple(partition(f"p{number}", size, **options) for number, size in enumerate(ipus))
    return made(full_site(), tenant("acme", vpods=(pod.model_copy(update={"partitions": cut}),))).plan


@pytest.mark.parametrize(
    ("plan", "answer"),
    [
        (divided(16), P),
        (divided(8, 4, 4, gcds=2, replicas=4), P),
        (divided(), NA),
        (divided(32), V),
        (divided(12), V),
        (divided(16, 8), V),
        (divided(4, gcds=3), V),
        (divided(4, gcds=2, replicas=3), V),
        (divided(4, reconfigurable=True, sync_type="pod-native-default"), V),
        (divided(16, routing="ringswnc"), V),
        (edited(divided(4), "acme-train-partition-p0", allocation="globex-train-allocation"), V),
    ],
)
def test_partitions(plan: Plan, answer: Verdict) -> None:
    assert verdicts(judged(full_site(), plan))["TOP-11"] == answer


def test_an_allocation_that_is_called_a_torus() -> None:
    whole = made(full_site(), tenant("acme", machines=16, servers=1)).plan
    ring = edited(whole, ALLOCATION, topology="torus")
    assert verdicts(judged(full_site(), ring))["TOP-07"] == V
    closed = changed(full_site(), cables=(*full_site().cables, *around(4)))
    assert verdicts(judged(closed, ring))["TOP-07"] == P
    part = edited(made(full_site(), tenant("acme")).plan, ALLOCATION, topology="torus")
    assert verdicts(judged(closed, part))["TOP-07"] == V


@pytest.mark.parametrize(("mtu", "answer"), [(9000, P), (9216, V)])
def test_frames_of_a_network(mtu: int, answer: Verdict) -> None:
    acme = made(full_site(), tenant("acme")).plan
    site = with_networks()
    assert verdicts(judged(site, edited(acme, "acme-train-storage", mtu=mtu)))["TOP-23"] == answer


@pytest.mark.parametrize(("mtu", "answer"), [(1450, P), (1500, V)])
def test_frames_of_a_tunnel(mtu: int, answer: Verdict) -> None:
    acme = made(full_site(), tenant("acme")).plan
    site = full_site(underlays=(Underlay(name="tunnels", mtu=1500),))
    assert verdicts(judged(site, edited(acme, "acme-train-control", mtu=mtu)))["TOP-23"] == answer


@pytest.mark.parametrize(("mtu", "cabled", "answer"), [(1500, True, V), (9000, True, P), (1500, False, P)])
def test_switches_that_are_cabled_are_one_fabric(mtu: int, cabled: bool, answer: Verdict) -> None:
    """Two leaves with a network each, and a spine between them that is in neither."""
    site = leaves()
    one, other, *rest = site.physical_networks
    sizes = (one.model_copy(update={"mtu": 9000}), other.model_copy(update={"mtu": mtu}))
    kept = site.cables if cabled else tuple(item for item in site.cables if item.b.device != "spine-1")
    assert verdicts(of_site(changed(site, physical_networks=(*sizes, *rest), cables=kept)))["TOP-23"] == answer


def test_a_partition_that_is_too_large_is_said_once() -> None:
    def said(plan: Plan) -> list[str]:
        return [item.message for item in found(judged(full_site(), plan), "TOP-11")]

    assert len(said(divided(32))) == 1
    assert len(said(divided(16, 8))) == 1
