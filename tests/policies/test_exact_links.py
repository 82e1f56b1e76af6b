"""ISO-27: which cables cross a boundary, also by way of a switch, and all that is said of them."""

from __future__ import annotations

from functools import cache

import pytest

from interlock.model.site.inventory import Cable, Endpoint, Site, Switch
from interlock.planning import plan_site
from interlock.planning.plan import Plan
from policies.rules.links import ISO_27
from tests.builders.pod64 import site_locked, tenant
from tests.policies.asking import answered, messages, told
from tests.policies.test_rules_iso_links import neighbours
from tests.policies.workspace import Made, assumptions, changed, full_site, made


def site_of(value: bool | None) -> Site:
    return full_site(assumptions=assumptions(one_allocation_each=value))


@cache
def three() -> tuple[Made, Made, Made]:
    """acme on ipum-01..04, globex on ipum-05..12, carol on ipum-13."""
    acme, globex = neighbours()
    locks = [acme.lock, globex.lock]
    return acme, globex, made(full_site(), tenant("carol", machines=1, servers=1), locks, machines=("ipum-13",))


def gw_link(a: str, b: str) -> Cable:
    ends = [Endpoint(device=device, interface=plug) for device, plug in (a.split(":"), b.split(":"))]
    return Cable(a=ends[0], b=ends[1], kind="gw-link")


@cache
def switched(*plugged: str, value: bool | None = False) -> Site:
    """Two GW-Link switches that are joined; machines at the first, every other cable written from the switch."""
    base = site_of(value)
    switches = (
        Switch(name=name, serial=f"SN-{name}", model="arista-7060px4", role="gw-link", port_groups=((100, 64),))
        for name in ("gw-1", "gw-2")
    )
    ends = [(f"{name}:gw-link-1", f"gw-1:{number}") for number, name in enumerate(plugged, start=1)]
    links = (gw_link(*(pair if number % 2 else pair[::-1])) for number, pair in enumerate(ends))
    between = gw_link("gw-1:64", "gw-2:64")
    return changed(base, switches=(*base.switches, *switches), cables=(*base.cables, *links, between))


def of_site(site: Site) -> Plan:
    return plan_site(site, site_locked(site))


@pytest.mark.parametrize(
    ("value", "letter", "words", "missing", "reason"),
    [
        (False, "V", "nothing keeps", [], " (not held: assumptions.A4.one_allocation_each)"),
        (None, "N", "nobody states what keeps", ["  missing: assumptions.A4.one_allocation_each"], ""),
    ],
)
def test_all_that_is_said_of_four_cables(
    value: bool | None, letter: str, words: str, missing: list[str], reason: str
) -> None:
    acme, globex = neighbours()
    cables = [f"IPU-Link ipum-04:ipu-link-down-{n} – ipum-05:ipu-link-up-{n}" for n in range(1, 5)]
    between = "ipum-04 of acme and ipum-05 of globex"
    expected = [
        f"{letter} 84: {words} 4 IPU-Link cables between {between} from carrying data",
        f"  witness: RNIC of ipum-04 [acme] / {' / '.join(cables)} / RNIC of ipum-05 [globex]{reason}",
        *missing,
        "  about: acme, globex, ipum-04, ipum-05",
    ]
    site = site_of(value)
    answer = answered(ISO_27, site, acme.plan, globex)
    assert (told(answer), answer.count) == (expected, 4)
    # The operator answers for the boundary to a machine that nobody has as well.
    own = answered(ISO_27, site, of_site(site), acme, globex)
    assert (told(own)[: len(expected)], own.count, len(own.violated + own.unknown)) == (expected, 8, 2)


def pairs(site: Site, plan: Plan, *others: Made) -> list[str]:
    """The pairs that a switch joins, in words."""
    found = messages(answered(ISO_27, site, plan, *others))
    return [line.partition(" between ")[2].removesuffix(" from carrying data") for line in found if "GW-Link" in line]


def test_machines_at_one_switch() -> None:
    """Both ways to write a cable; a cable between switches joins no machines by itself."""
    acme, globex, carol = three()
    site = switched("ipum-01", "ipum-06", "ipum-02", "ipum-13")
    with_carol = [f"ipum-0{number} of acme and ipum-13 of carol" for number in (1, 2)]
    with_globex = [f"ipum-0{number} of acme and ipum-06 of globex" for number in (1, 2)]
    of_two = "ipum-06 of globex and ipum-13 of carol"
    assert pairs(site, acme.plan, globex, carol) == [with_globex[0], with_carol[0], with_globex[1], with_carol[1]]
    assert pairs(site, globex.plan, acme, carol) == [*with_globex, of_two]
    assert pairs(site, carol.plan, acme, globex) == [*with_carol, of_two]
    assert len(pairs(site, of_site(site), acme, globex, carol)) == 5


def test_who_has_nothing_at_a_switch_is_not_asked() -> None:
    acme, globex, carol = three()
    site = switched("ipum-06", "ipum-13")
    assert pairs(site, acme.plan, globex, carol) == []
    assert pairs(site, carol.plan, acme, globex) == ["ipum-06 of globex and ipum-13 of carol"]


def test_the_cables_by_way_of_a_switch_are_shown() -> None:
    acme, globex, _ = three()
    found = answered(ISO_27, switched("ipum-01", "ipum-06"), acme.plan, globex).violated
    (cause,) = (item for item in found if "GW-Link" in item.message)
    assert cause.message.startswith("nothing keeps 2 GW-Link cables between ")
    assert cause.witness[1:-1] == ("GW-Link gw-1:1 – ipum-01:gw-link-1", "GW-Link ipum-06:gw-link-1 – gw-1:2")
    assert {getattr(item, "name", "") for item in cause.about} == {"acme", "globex", "ipum-01", "ipum-06", "gw-1"}
