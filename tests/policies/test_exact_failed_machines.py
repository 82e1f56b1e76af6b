"""TOP-28: what failed in the middle of a vPOD leaves pieces, or nothing is left, and the ways out are told."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from interlock.model.site.inventory import Cable, Endpoint, Machine, Site, Switch
from interlock.planning.layout import SiteLayout
from interlock.planning.placing import left_in_pieces
from policies import Severity
from policies.about import PlanComponent, SiteDevice
from policies.facts.fabric import PartitionFact
from policies.facts.kinds import VPodFact
from policies.facts.site import SiteFacts
from policies.proof import RuleResult
from tests.builders.states import DEAD, out
from tests.policies.exact_answers import answer, drawn, only, plan_of, share
from tests.policies.forgetting import undeclared
from tests.policies.test_racks import link, name, two_racks
from tests.policies.workspace import NA, N, P, V, changed, full_site, judged, pair, verdicts

SITE = full_site()
ACME, GLOBEX = pair(SITE)


def of(numbers: Iterable[int], site: Site) -> RuleResult:
    vpod = VPodFact("acme-train", tuple(map(name, numbers)))
    return answer("TOP-28", drawn(SiteFacts(site), plan_of(vpods=(vpod,)), share("acme")))


@pytest.mark.parametrize(
    ("failed", "verdict"),
    [
        ((), P),
        ((1,), P),
        ((4,), P),
        ((1, 2), P),
        ((1, 2, 3), P),
        ((1, 2, 3, 4), V),
        ((2,), V),
        ((3,), V),
        ((2, 3), V),
        ((9,), P),
    ],
)
def test_a_hole_is_in_the_middle(failed: tuple[int, ...], verdict: str) -> None:
    result = of(range(1, 5), out(SITE, *map(name, failed)))
    assert (result.verdict, result.count) == (verdict, 1)


def test_what_is_said_of_a_hole() -> None:
    found = only(of(range(1, 9), out(SITE, "ipum-02", "ipum-04")))
    assert found.message == (
        "vPOD acme-train is in pieces: ipum-02 (position 2), ipum-04 (position 4) failed between its machines"
    )
    assert found.witness == (
        f"ipum-02 has failed: {DEAD}", f"ipum-04 has failed: {DEAD}", "ipum-01", "no IPU-Link cable to", "ipum-03",
        "no IPU-Link cable to", "ipum-05 – ipum-06 – ipum-07 – ipum-08",
    )  # fmt: skip
    assert found.hint == (
        "put another unit in the place of ipum-02, ipum-04 and write its serial and MAC addresses into the site file; "
        "or shrink acme-train to 4 (ipum-05, ipum-06, ipum-07, ipum-08 stay, the largest aligned block that is left); "
        "or move it: `interlock lock acme --move`"
    )
    assert (found.specificity, found.missing) == (81, ())
    assert found.subjects == (PlanComponent("acme-train"), SiteDevice("ipum-02"), SiteDevice("ipum-04"))


def test_maintenance_is_no_hole_and_a_cable_around_it_neither() -> None:
    assert of(range(1, 5), out(SITE, "ipum-02", state="maintenance")).verdict == P
    around = changed(SITE, cables=(*SITE.cables, link(1, 3, "ipu-link")))
    assert of(range(1, 5), out(around, "ipum-02")).verdict == P


def too_large(site: Site, machines: int, **ipus: int) -> list[str]:
    """What is said of partitions of these sizes, where ipum-03 failed; `theirs` is in another vPOD."""
    vpod = VPodFact("acme-train", tuple(map(name, range(1, machines + 1))))
    partitions = tuple(
        PartitionFact(label, vpod="globex-x" if label == "theirs" else vpod.name, allocation="a", ipus=size, gcds=1,
                      replicas=1, reconfigurable=True, sync_type="c2-compatible", routing="default")
        for label, size in ipus.items()
    )  # fmt: skip
    failing = SiteFacts(out(site, "ipum-03"))
    found = only(answer("TOP-28", drawn(failing, plan_of(vpods=(vpod,), partitions=partitions), share("acme"))))
    return [line for line in found.witness if line.startswith("partition")]


def test_partitions_that_no_piece_can_hold_are_named() -> None:
    """`half` and `fits` have room on one side; that of another vPOD is another's."""
    assert too_large(SITE, 8, all=32, half=16, fits=20, more=32, theirs=32) == [
        "partition all is of 32 IPUs, and no piece has more than 20",
        "partition more is of 32 IPUs, and no piece has more than 20",
    ]


@pytest.mark.parametrize(("machines", "told"), [(16, True), (17, False)])
def test_of_several_racks_no_piece_is_said_to_be_too_small(machines: int, told: bool) -> None:
    """GW-Links join pieces of one rack with another's."""
    found = too_large(two_racks(), machines, all=64)
    assert found == (["partition all is of 64 IPUs, and no piece has more than 52"] if told else [])


def test_a_way_out_leads_out_of_the_holes_of_all_racks() -> None:
    """To put a unit into one rack mends nothing in the other. What is left may be larger in another rack."""
    first, second = of(range(1, 33), out(two_racks(), "ipum-05", "ipum-09", "ipum-29")).findings
    assert [one.message.split(": ")[1] for one in (first, second)] == [
        "ipum-05 (position 5), ipum-09 (position 9) failed between its machines",
        "ipum-29 (position 13) failed between its machines",
    ]
    stay = ", ".join(map(name, range(17, 25)))
    assert first.hint == second.hint
    assert second.hint == (
        "put another unit in the place of ipum-05, ipum-09, ipum-29 and write its serial and MAC addresses into the "
        f"site file; or shrink acme-train to 8 ({stay} stay, the largest aligned block that is left); "
        "or move it: `interlock lock acme --move`"
    )
    whole = only(of(range(1, 33), out(two_racks(), "ipum-05")))
    assert "shrink acme-train to 16 (ipum-17 to ipum-32 stay, the largest aligned block" in whole.hint


def test_where_nothing_is_left_there_is_no_vpod() -> None:
    found = only(of((1, 2), out(SITE, "ipum-01", "ipum-02")))
    assert found.message == "vPOD acme-train has no machine left: all 2 have failed"
    assert found.witness == (f"ipum-01 has failed: {DEAD}", f"ipum-02 has failed: {DEAD}")
    assert found.hint == (
        "put other units in the place of ipum-01, ipum-02 and write their serials and MAC addresses into the site "
        "file; or move it: `interlock lock acme --move`"
    )
    assert (found.specificity, found.missing) == (81, ())
    assert found.subjects == (PlanComponent("acme-train"), SiteDevice("ipum-01"), SiteDevice("ipum-02"))
    assert of((1, 2), out(SITE, "ipum-01", "ipum-02", state="maintenance")).verdict == P
    both = of(range(1, 33), out(two_racks(), *map(name, range(1, 33))))
    assert only(both).message == "vPOD acme-train has no machine left: all 32 have failed"
    assert "in the place of ipum-01 to ipum-32 and" in only(both).hint


def three_racks(*more: Cable, switch: bool = False) -> Site:
    """A third rack behind the second; with `more` cables, or a GW-Link switch that the outer two hang on."""
    site = two_racks()
    third = tuple(
        Machine(name=name(number), serial=f"SN-{name(number)}", logical_rack="lrack-3", position=number - 32)
        for number in range(33, 49)
    )
    chain = [link(number, number + 1, "ipu-link") for number in range(33, 48)]
    across = [link(number, number + 16, "gw-link") for number in range(17, 33)]
    ports = [
        Cable(
            a=Endpoint(device="gw-1", interface=str(at)), b=Endpoint(device=name(at), interface="gw-link-9"),
            kind="gw-link",
        )
        for at in (1, 33)
    ]  # fmt: skip
    gw = Switch(name="gw-1", serial="SN-gw-1", model="arista-7060px4", role="gw-link", port_groups=((100, 64),))
    cables = (*site.cables, *chain, *across, *more, *(ports if switch else ()))
    switches = (*site.switches, gw) if switch else site.switches
    return changed(site, machines=site.machines + third, cables=cables, switches=switches)


def racks(*numbers: int) -> list[str]:
    return [name(at) for number in numbers for at in range(16 * number - 15, 16 * number + 1)]


@pytest.mark.parametrize(
    ("site", "failed", "verdict"),
    [
        (three_racks(), racks(2), V),
        (three_racks(), racks(1), P),
        (three_racks(), racks(1, 2), P),
        # All that stands between them, and one at their end.
        (three_racks(), [*racks(2), name(48)], V),
        (three_racks(), [*racks(2)[1:]], P),
        (three_racks(link(1, 33, "gw-link")), racks(2), P),
        (three_racks(link(1, 33, "gw-link")), [*racks(2), name(1)], V),
        (three_racks(link(1, 33, "ipu-link")), racks(2), V),
        (three_racks(switch=True), racks(2), P),
        (two_racks(), racks(2), P),
        # They never were joined.
        (two_racks(gateways=False), [], P),
    ],
)
def test_a_rack_that_failed_between_others_leaves_them_apart(site: Site, failed: list[str], verdict: str) -> None:
    """By the rule, and by what says where a vPOD may stay."""
    machines = [one.name for one in site.machines]
    numbers, worn = range(1, len(machines) + 1), out(site, *failed)
    assert of(numbers, worn).verdict == verdict
    assert left_in_pieces(SiteLayout(worn), tuple(machines)) is (verdict == V)


def test_what_is_said_of_racks_that_are_apart() -> None:
    found = only(of(range(1, 49), out(three_racks(), *racks(2))))
    assert found.message == "vPOD acme-train is in pieces: what joins its logical racks has failed"
    assert found.witness == (
        "logical rack lrack-2: 16 of 16 machines have failed", "logical rack lrack-1", "no GW-Link to",
        "logical rack lrack-3",
    )  # fmt: skip
    assert found.hint == (
        "put another unit in the place of ipum-17 to ipum-32 and write its serial and MAC addresses into the site "
        "file; or shrink acme-train to 16 (ipum-01 to ipum-16 stay, the largest aligned block that is left); "
        "or move it: `interlock lock acme --move`"
    )
    assert found.subjects == (PlanComponent("acme-train"), *map(SiteDevice, racks(2)))
    assert (found.specificity, found.missing) == (81, ())
    joined_once = [one for one in three_racks().cables if one.kind != "gw-link" or one.a.device in racks(2)]
    loose = changed(three_racks(), cables=(*joined_once, link(1, 17, "gw-link")))
    apart = only(of(range(1, 49), out(loose, name(1))))
    assert apart.witness == (
        "logical rack lrack-1: 1 of 16 machines have failed", "logical rack lrack-1", "no GW-Link to",
        "logical rack lrack-2 – lrack-3",
    )  # fmt: skip
    assert "put another unit in the place of ipum-01 and write" in apart.hint


def test_a_cable_that_nobody_lists_may_be_around_it() -> None:
    site = undeclared(out(SITE, "ipum-02"), "attachments", "ipum-01", "ipum-03")
    found = only(of(range(1, 5), site))
    assert (found.verdict, found.missing) == (N, ("complete.attachments.ipum-01", "complete.attachments.ipum-03"))


def test_what_never_was_a_run_is_told_elsewhere() -> None:
    assert of((1, 2, 4, 5), out(SITE, "ipum-01")).verdict == P
    assert of((), SITE).verdict in (P, NA)


def test_it_is_an_error_beside_the_warning_and_no_block() -> None:
    judgement = judged(out(SITE, "ipum-02"), ACME.plan, GLOBEX)
    assert (verdicts(judgement)["TOP-28"], judgement.exit_code) == (V, 1)
    assert {(item.rule, item.severity) for item in judgement.findings} == {
        ("TOP-28", Severity.ERROR), ("TOP-24", Severity.WARN)
    }  # fmt: skip
    assert verdicts(judged(SITE, ACME.plan, GLOBEX))["TOP-28"] == P
