"""TOP-02 to TOP-07: which machines make a vPOD, which cables join them, and who holds what of them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import pytest

from interlock.model.site.inventory import Cable, Endpoint, Site, Switch
from interlock.model.site.physical import LogicalRack
from policies.about import PlanComponent, PlanResource, SiteDevice
from policies.facts.fabric import AllocationFact
from policies.facts.kinds import VPodFact
from policies.facts.site import SiteFacts
from policies.proof import RuleResult
from tests.policies.exact_answers import answer, drawn, messages, only, plan_of, share
from tests.policies.forgetting import undeclared
from tests.policies.test_racks import link, name, two_racks
from tests.policies.test_site_rules import around
from tests.policies.workspace import NA, N, P, V, changed, full_site

BOTH = range(1, 33)


@cache
def racks() -> Site:
    return two_racks()


def of(rule: str, numbers: Iterable[int], site: Site | None = None, *allocations: AllocationFact) -> RuleResult:
    vpod = VPodFact("acme-train", tuple(map(name, numbers)))
    return answer(
        rule, drawn(SiteFacts(site or racks()), plan_of(vpods=(vpod,), allocations=allocations), share("acme"))
    )


# TOP-02 and TOP-04.


@pytest.mark.parametrize(("count", "verdict"), [(1, P), (2, P), (3, V), (8, P), (12, V), (16, P), (24, V), (32, P)])
def test_sizes(count: int, verdict: str) -> None:
    result = of("TOP-02", range(1, count + 1))
    assert (result.verdict, result.count) == (verdict, 1)
    if verdict == V:
        found = only(result)
        assert found.message == (
            f"vPOD acme-train has {count} machines; there are 1, 2, 4, 8, 16, and 2, 4, 8 … whole racks"
        )
        assert (found.witness[1:], found.specificity) == (tuple(map(name, range(1, count + 1))), 82)


@pytest.mark.parametrize(
    ("numbers", "count", "told"),
    [
        (range(3, 7), 1, ("of 4 machines begins at position 3", "ipum-03: position 3 of lrack-1")),
        (range(22, 24), 1, ("of 2 machines begins at position 6", "ipum-22: position 6 of lrack-2")),
        (range(5, 9), 1, None),
        (range(1, 17), 1, None),
        (range(1, 18), 0, None),
        # Over two racks TOP-03 has it.
        ((14, 15, 16, 17), 1, None),
    ],
)
def test_aligned_blocks(numbers: Iterable[int], count: int, told: tuple[str, str] | None) -> None:
    result = of("TOP-04", numbers)
    assert (result.count, len(result.findings)) == (count, int(told is not None))
    if told is not None:
        found, size = only(result), len(tuple(numbers))
        assert found.message == f"vPOD acme-train {told[0]}"
        assert found.witness == (told[1], f"blocks of {size} begin at 1")
        rest = f"others leave holes where no vPOD of {size} fits"
        assert found.hint == f"take a block that begins at 1, {1 + size}, …: {rest}"
        assert found.specificity == 20


# TOP-03.


def test_a_vpod_over_two_racks_of_few_machines() -> None:
    found = only(of("TOP-03", (16, 17)))
    assert found.witness == ("logical rack lrack-1: ipum-16", "logical rack lrack-2: ipum-17")
    assert (found.verdict, found.specificity) == (V, 80)
    assert of("TOP-03", BOTH).verdict is P


def allocation(name: str, vpod: str) -> AllocationFact:
    return AllocationFact(name, "acme", vpod, "ctl", (), "mesh")


def test_a_hole_in_a_run() -> None:
    found = only(of("TOP-03", (1, 2, 4), None, allocation("mine", "acme-train"), allocation("other", "acme-b")))
    assert found.message == "the machines of vPOD acme-train are not joined by IPU-Links of their own"
    assert found.witness == ("ipum-01 – ipum-02", "no IPU-Link cable to", "ipum-04")
    assert (found.verdict, found.missing) == (V, ())
    assert found.subjects == (PlanResource("mine"), PlanComponent("acme-train"))


def test_a_hole_that_an_unlisted_cable_may_close() -> None:
    site = undeclared(full_site(), "attachments", "ipum-02", "ipum-04")
    found = only(of("TOP-03", (1, 2, 4), site))
    assert (found.verdict, found.missing) == (N, ("complete.attachments.ipum-02", "complete.attachments.ipum-04"))


def test_only_ipu_links_make_a_run() -> None:
    kept = tuple(item for item in racks().cables if item.kind != "ipu-link")
    sync = link(1, 2, "sync-link")
    assert of("TOP-03", (1, 2), changed(racks(), cables=(*kept, sync))).verdict is V
    assert of("TOP-03", (1, 2), changed(racks(), cables=(*kept, link(1, 2, "ipu-link")))).verdict is P


def test_a_machine_that_the_site_does_not_list() -> None:
    found = only(of("TOP-03", (1, 2, 77)))
    assert found.message == "the site does not list ipum-77 of vPOD acme-train"
    assert (found.verdict, found.witness, found.specificity) == (N, ("ipum-77",), 80)
    assert found.missing == ("machines.ipum-77",)


# TOP-05.


def gw_switch(number: int, role: str = "gw-link") -> Switch:
    fields = {"name": f"gw-{number}", "serial": f"SN-gw-{number}", "model": "arista-7060px4", "role": role}
    return Switch.model_validate(fields | {"port_groups": ((100, 64),)})


def plug(device: str, *numbers: int, kind: str = "gw-link") -> tuple[Cable, ...]:
    """Cables from a device to machines."""
    return tuple(
        Cable.model_validate(
            {
                "a": Endpoint(device=device, interface=str(number)),
                "b": Endpoint(device=name(number), interface="gw-link-1"),
                "kind": kind,
            }
        )
        for number in numbers
    )


def without_links(*positions: int, more: Iterable[Cable] = (), switches: Iterable[Switch] = ()) -> Site:
    """The two racks without the GW-Links at these positions."""
    gone = {name(position) for position in positions}
    kept = tuple(item for item in racks().cables if item.kind != "gw-link" or item.a.device not in gone)
    return changed(racks(), cables=(*kept, *more), switches=(*racks().switches, *switches))


BETWEEN = Cable(a=Endpoint(device="gw-1", interface="1"), b=Endpoint(device="gw-2", interface="1"), kind="gw-link")
CROOKED = "has GW-Links between machines of unequal positions"
APART = "stands in logical racks that GW-Links do not join"
PAIR = "position 5: ipum-05, no GW-Link to ipum-21"


@pytest.mark.parametrize(
    ("site", "told", "witness"),
    [
        (racks(), None, ()),
        (without_links(5), APART, (PAIR,)),
        (
            without_links(1, 16), APART,
            ("position 1: ipum-01, no GW-Link to ipum-17", "position 16: ipum-16, no GW-Link to ipum-32"),
        ),
        # Over one GW-Link switch they reach each other, and by no other device or cable.
        (without_links(5, more=plug("gw-1", 5, 21), switches=(gw_switch(1),)), None, ()),
        (without_links(5, more=plug("gw-1", 5, 21), switches=(gw_switch(1, "spine"),)), APART, (PAIR,)),
        (without_links(5, more=plug("panel", 5, 21)), APART, (PAIR,)),
        (without_links(5, more=plug("gw-1", 5, 21, kind="sync-link"), switches=(gw_switch(1),)), APART, (PAIR,)),
        (without_links(5, more=plug("gw-1", 5), switches=(gw_switch(1),)), APART, (PAIR,)),
        # Two switches that are joined, and no machine at them.
        (
            without_links(
                more=(BETWEEN,), switches=(gw_switch(1), gw_switch(2)),
            ),
            None, (),
        ),
        (
            without_links(more=(link(3, 20, "gw-link"),)), CROOKED,
            ("ipum-03:gw-link-3-20 – ipum-20:gw-link-3-20: positions 3 and 4",),
        ),
        # To a machine that is not of the vPOD, and the site does not even list.
        (without_links(more=(link(3, 77, "gw-link"), link(77, 3, "gw-link"))), None, ()),
    ],
)  # fmt: skip
def test_gateway_links(site: Site, told: str | None, witness: tuple[str, ...]) -> None:
    result = of("TOP-05", BOTH, site)
    assert messages(result) == ([f"vPOD acme-train of 32 machines {told}"] if told else [])
    assert [(item.witness, item.specificity) for item in result.findings] == ([(witness, 81)] if told else [])


def test_whole_racks_above_sixteen_machines() -> None:
    found = only(of("TOP-05", range(1, 25)))
    assert found.message == "vPOD acme-train of 24 machines takes parts of logical racks"
    assert found.witness == ("logical rack lrack-1: 16 of 16 machines", "logical rack lrack-2: 8 of 16 machines")
    assert (of("TOP-05", range(1, 17)).verdict, of("TOP-05", range(1, 18)).verdict) == (NA, V)


# TOP-07.


def tori(*names: str) -> Site:
    """Logical racks that are called a torus; the first one closes to a ring, the second does not."""
    listed = ("lrack-1", "lrack-2")
    fields = [{"name": item, "topology": "torus" if item in names else "mesh"} for item in listed]
    logical = tuple(LogicalRack.model_validate(item) for item in fields)
    return changed(racks(), logical_racks=logical, cables=(*racks().cables, *around(4)))


@pytest.mark.parametrize(("names", "told"), [((), 0), (("lrack-1",), 0), (("lrack-1", "lrack-2"), 1)])
def test_the_rings_of_a_site(names: tuple[str, ...], told: int) -> None:
    result = answer("TOP-07", drawn(SiteFacts(tori(*names)), plan_of("op"), share("op")))
    assert (result.count, len(result.findings)) == (len(names), told)
    for found in result.findings:
        assert found.message == "logical rack lrack-2 is called a torus, and its machines in lrack-2 close to no ring"
        assert (found.witness, found.specificity) == (("no IPU-Link cable ipum-32 – ipum-17",), 79)
        assert found.subjects == (SiteDevice("ipum-32"), SiteDevice("ipum-17"))


def test_each_gap_of_a_ring_once() -> None:
    kept = tuple(item for item in racks().cables if {item.a.device, item.b.device} != {"ipum-17", "ipum-18"})
    whole = changed(tori("lrack-2"), cables=kept)
    found = only(answer("TOP-07", drawn(SiteFacts(whole), plan_of("op"), share("op"))))
    assert found.witness == ("no IPU-Link cable ipum-17 – ipum-18", "no IPU-Link cable ipum-32 – ipum-17")


@pytest.mark.parametrize(
    ("numbers", "topology", "witness"),
    [
        (range(1, 17), "torus", []),
        (range(1, 17), "mesh", []),
        (range(1, 9), "torus", ["8 of 16 machines of logical rack lrack-1"]),
        (range(1, 25), "torus", ["8 of 16 machines of logical rack lrack-2"]),
        (BOTH, "torus", ["no IPU-Link cable ipum-32 – ipum-17"]),
    ],
)
def test_the_rings_of_an_allocation(numbers: Iterable[int], topology: str, witness: list[str]) -> None:
    item = AllocationFact("pool", "acme", "acme-train", "ctl", tuple(map(name, numbers)), topology)
    result = of("TOP-07", (), tori(), item)
    assert [found.witness[0] for found in result.findings] == witness
    assert result.count == (topology == "torus")
    assert all(found.message.startswith("allocation pool is called a torus") for found in result.findings)
    assert all(found.subjects[0] == PlanResource("pool") for found in result.findings)
