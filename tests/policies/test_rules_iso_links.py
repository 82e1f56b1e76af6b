"""Rules about links and what hangs on them after its release: ISO-14, ISO-15, ISO-16, ISO-27."""

from __future__ import annotations

from functools import cache

import pytest

from interlock.model.lock.record import Released
from interlock.model.site.inventory import Cable, Endpoint, PhysicalNetwork, Site, Switch, SwitchPortConfig
from interlock.planning import plan_site
from policies import Judgement, Verdict, footprint
from tests.builders.pod64 import management_switch, site_locked, tenant, tor, vpod
from tests.policies.test_examples_switches import NONE, WIDE, leaves, two
from tests.policies.workspace import (
    NA,
    Made,
    N,
    P,
    V,
    assumptions,
    changed,
    edited,
    first,
    full_site,
    judged,
    made,
    pair,
    text,
    verdicts,
)


def of_site(site: Site, *others: Made) -> Judgement:
    return judged(site, plan_site(site, site_locked(site)), *others)


def with_uplink(site: Site, switch: str, port: int, **changes: object) -> Site:
    """The site with one switch port changed; without changes, without a record of it."""
    found = site.switch[switch]
    kept = [item for item in found.ports if item.port != port]
    kept += [item.model_copy(update=changes) for item in found.ports if item.port == port and changes]
    # A fresh switch: a copy would keep what the old one cached.
    fields = {name: getattr(found, name) for name in Switch.model_fields} | {"ports": tuple(kept)}
    again = Switch.model_validate(fields)
    return changed(site, switches=tuple(again if item.name == switch else item for item in site.switches))


# ISO-14


def test_example_06_a_trunk_without_a_list_joins_two_owners() -> None:
    site = leaves(tagged=None)
    acme, globex = two(site)
    for plan, other in ((acme.plan, globex), (globex.plan, acme)):
        judgement = judged(site, plan, other)
        assert first(judgement).rule == "ISO-14"
        assert "without a list of VLANs" in first(judgement).message
        assert "leaf-2 VLAN 1000" in text(first(judgement))
        assert "leaf-1 VLAN 1000" in text(first(judgement))


def test_example_06_a_trunk_that_neutron_fills_joins_two_leaf_groups() -> None:
    """Whoever is second is told, and the site's own judgement too; the leaves' ends list nothing."""
    site = leaves(tagged=WIDE)
    for switch in ("leaf-1", "leaf-2"):
        site = with_uplink(site, switch, 32, mode="trunk", tagged=NONE, filled_by="neutron")
    acme, globex = two(site)
    for plan, other in ((acme.plan, globex), (globex.plan, acme)):
        judgement = judged(site, plan, other)
        assert first(judgement).rule == "ISO-14"
        assert "which Neutron fills" in first(judgement).message
        assert "give each leaf group VLAN ids of its own" in first(judgement).hint
        assert verdicts(judgement)["ISO-11"] == V
    judgement = of_site(site, acme, globex)
    assert (verdicts(judgement)["ISO-11"], verdicts(judgement)["ISO-14"]) == (V, P)


def test_example_06_ids_of_their_own_stay_apart_on_trunks_that_neutron_fills() -> None:
    site = leaves(tagged=WIDE)
    for switch in ("leaf-1", "leaf-2"):
        site = with_uplink(site, switch, 32, mode="trunk", tagged=NONE, filled_by="neutron")
    acme, globex = two(site, vlan=1005)
    assert judged(site, globex.plan, acme).exit_code == 0


def test_example_05_pruned_links_join_nobody() -> None:
    site = leaves(tagged=((1500, 1599),))
    acme, globex = two(site)
    judgement = judged(site, globex.plan, acme)
    assert judgement.exit_code == 0
    assert verdicts(judgement)["ISO-14"] == NA  # no segment of globex spans a link


def test_a_tenants_own_segment_over_a_link() -> None:
    site = leaves(tagged=WIDE)
    acme, globex = two(site, vlan=1005)
    judgement = judged(site, globex.plan, acme)
    assert judgement.exit_code == 0
    assert verdicts(judgement)["ISO-14"] == P


def test_one_id_over_a_link_with_a_list_is_not_the_links_fault() -> None:
    site = leaves(tagged=WIDE)
    acme, globex = two(site)
    judgement = judged(site, globex.plan, acme)
    assert (verdicts(judgement)["ISO-14"], verdicts(judgement)["ISO-11"]) == (P, V)


@pytest.mark.parametrize(
    ("tagged", "verdict", "words"),
    [
        (WIDE, P, ""),
        (NONE, P, ""),
        (None, V, "carries every VLAN"),
        (((1000, 1999), (3200, 3210)), V, "carries VLAN 3200, which nothing in the site file declares"),
    ],
)
def test_the_sites_links(tagged: tuple[tuple[int, int], ...] | None, verdict: Verdict, words: str) -> None:
    judgement = of_site(leaves(tagged=tagged))
    assert verdicts(judgement)["ISO-14"] == verdict
    if words:
        assert first(judgement).rule == "ISO-14"
        assert words in first(judgement).message


def test_a_link_that_nobody_describes() -> None:
    judgement = of_site(with_uplink(leaves(), "spine-1", 2))
    assert (verdicts(judgement)["ISO-14"], verdicts(judgement)["ISO-15"]) == (N, N)
    assert first(judgement).missing == ("switches.spine-1.ports.2",)
    assert verdicts(of_site(full_site()))["ISO-14"] == NA


# ISO-15


def spoken_on_the_spine(site: Site) -> Site:
    names = [item for item in site.physical_networks if item.name != "fabric-2"]
    spine = PhysicalNetwork(name="fabric-2", switches=("leaf-2", "spine-1"))
    return changed(site, physical_networks=(*names, spine))


def untagged(natives: tuple[int | None, int | None]) -> tuple[Site, Judgement]:
    """acme has 1000 on leaf 1, globex 1002 on the spine."""
    site = leaves(natives=natives)
    acme, _ = two(site)
    globex = made(site, tenant("globex", machines=1, servers=1), [acme.lock], hosts=("poplar-2",), ipu_data_vlan=1005)
    site = spoken_on_the_spine(site)
    plan = edited(globex.plan, "globex-train-ipu-data", physical_network="fabric-2", segmentation_id=1002)
    return site, judged(site, plan, acme)


def test_example_07_native_vlans_that_differ() -> None:
    site, judgement = untagged((1000, 1002))
    found = next(item for item in judgement.findings if item.rule == "ISO-15")
    assert found.verdict is V
    assert "the link leaf-1 port 32 – spine-1 port 1, untagged, joins" in found.message
    assert "spine-1 VLAN 1002 [globex] – leaf-1 VLAN 1000 [acme]" in text(found)
    assert verdicts(of_site(site))["ISO-15"] == V


def test_the_native_vlan_is_what_explains_it_best() -> None:
    """Both tenants in one physical network of both leaves, so that nothing else is wrong."""
    site = leaves(natives=(1000, 1002))
    both = PhysicalNetwork(name="fabric-1", switches=("leaf-1",))
    site = changed(site, physical_networks=(both, *site.physical_networks[1:]))
    site = with_uplink(site, "leaf-2", 32, untagged=1002, tag_native=False)
    site = with_uplink(site, "spine-1", 2, untagged=1002, tag_native=False)
    acme, globex = two(site, vlan=1002)
    found = first(judged(site, globex.plan, acme))
    assert (found.rule, found.verdict) == ("ISO-15", V)
    assert "leaf-2 VLAN 1002 [globex] – spine-1 VLAN 1002 – leaf-1 VLAN 1000 [acme]" in text(found)


def test_native_vlans_that_are_dead() -> None:
    site, judgement = untagged((3999, 3999))
    assert "ISO-15" not in {item.rule for item in judgement.findings}
    assert verdicts(of_site(site))["ISO-15"] == P


@pytest.mark.parametrize(
    ("native", "tagged", "verdict"),
    [
        (1000, False, V),
        (1000, None, N),
        (1000, True, P),
        (10, False, V),
        (10, None, N),
        (3999, None, P),
        (None, None, P),
    ],
)
def test_the_sites_native_vlans(native: int | None, tagged: bool | None, verdict: Verdict) -> None:
    """1000 is a tenant's, 10 is in use on access ports of the management switch."""
    site = with_uplink(leaves(), "leaf-1", 32, untagged=native, tag_native=tagged)
    judgement = of_site(site)
    assert verdicts(judgement)["ISO-15"] == verdict
    assert verdict is P or "leaf-1 port 32" in first(judgement).message


# ISO-16


def with_ports(*ports: SwitchPortConfig) -> Site:
    numbers = {port.port for port in ports}
    switch: Switch = tor()
    kept = tuple(item for item in switch.ports if item.port not in numbers)
    return full_site(switches=(switch.model_copy(update={"ports": (*kept, *ports)}), management_switch()))


def released(made_of: Made, site: Site, machine: str) -> Made:
    gone = (Released(vpod="old", claim="machines", value=machine),)
    mark = footprint(site, made_of.plan, gone)
    return Made(made_of.plan, made_of.lock.model_copy(update={"released": gone, "footprint": mark}).sealed())


def after_release(*ports: SwitchPortConfig) -> Judgement:
    """acme released ipum-06 and globex ipum-08, neither seen to be power-cycled."""
    site = with_ports(*ports)
    acme, globex = pair(full_site())
    return of_site(site, released(acme, site, "ipum-06"), released(globex, site, "ipum-08"))


def port(number: int, **settings: object) -> SwitchPortConfig:
    return SwitchPortConfig.model_validate({"port": number, "mode": "access"} | settings)


def test_example_46_a_quarantine_that_is_an_ordinary_vlan() -> None:
    judgement = after_release(port(6, untagged=4000), port(8, untagged=4000))
    assert first(judgement).rule == "ISO-16"
    assert "tor-1 VLAN 4000 is no quarantine" in first(judgement).message
    assert {"RNIC of ipum-06 [acme]", "RNIC of ipum-08 [globex]"} <= set(first(judgement).witness)


def test_example_46_ports_disabled() -> None:
    judgement = after_release(port(6, mode="disabled"), port(8, mode="disabled"))
    assert judgement.exit_code == 0
    assert verdicts(judgement)["ISO-16"] == P


def test_quarantines_of_their_own() -> None:
    judgement = after_release(port(6, untagged=4000), port(8, untagged=4001))
    assert verdicts(judgement)["ISO-16"] == P


def test_a_released_machine_beside_the_operators() -> None:
    judgement = after_release(port(6, untagged=4000), port(7, untagged=4000), port(8, mode="disabled"))
    assert first(judgement).rule == "ISO-16"
    assert "RNIC of ipum-07 [op]" in text(first(judgement))


def test_a_released_machine_at_a_port_that_nobody_describes() -> None:
    site = with_ports(port(6, untagged=4000))
    bare = site.switch["tor-1"].model_copy(
        update={"ports": tuple(item for item in site.switch["tor-1"].ports if item.port != 8)}
    )
    site = changed(site, switches=(bare, management_switch()))
    acme, globex = pair(full_site())
    judgement = of_site(site, released(acme, site, "ipum-06"), released(globex, site, "ipum-08"))
    assert verdicts(judgement)["ISO-16"] == N
    found = next(item for item in judgement.findings if item.rule == "ISO-16")
    assert found.missing == ("switches.tor-1.ports.8",)


# ISO-27


@cache
def neighbours() -> tuple[Made, Made]:
    """acme on ipum-01..04, globex on ipum-05..12: four cables cross over."""
    return pair(full_site(), globex={"machines": tuple(f"ipum-{n:02}" for n in range(5, 13))})


@pytest.mark.parametrize("guard", ["one_allocation_each", "secure_tls", "operator_run"])
@pytest.mark.parametrize(("value", "verdict"), [(True, P), (None, N), (False, V)])
def test_example_28_cables_over_the_boundary(guard: str, value: bool | None, verdict: Verdict) -> None:
    acme, globex = neighbours()
    site = full_site(assumptions=assumptions(**{guard: value}))
    judgement = judged(site, acme.plan, globex)
    assert verdicts(judgement)["ISO-27"] == verdict
    if value is True:
        return
    found = next(item for item in judgement.findings if item.rule == "ISO-27")
    # What `--secure` means for calls is told before what it means for cables.
    assert guard == "secure_tls" or first(judgement) == found
    assert "4 IPU-Link cables between ipum-04 of acme and ipum-05 of globex" in found.message
    assert "IPU-Link ipum-04:ipu-link-down-1 – ipum-05:ipu-link-up-1" in found.witness
    assert found.missing == ((f"assumptions.A4.{guard}",) if value is None else ())


def test_the_count_is_that_of_boundary_cables() -> None:
    acme, globex = neighbours()
    results = {item.rule: item for item in judged(full_site(), globex.plan, acme).results}
    assert results["ISO-27"].count == 8  # four to acme, four to a machine that nobody has


def test_a_boundary_between_vpods_of_one_tenant() -> None:
    wish = tenant("acme", vpods=(vpod("a", machines=2, servers=1), vpod("b", machines=2, servers=1)))
    plan = made(full_site(), wish).plan
    judgement = judged(full_site(assumptions=assumptions(secure_tls=False)), plan)
    messages = [item.message for item in judgement.findings if item.rule == "ISO-27"]
    assert any("ipum-02 of acme and ipum-03 of acme" in message for message in messages)


def test_gateway_links_by_way_of_a_switch() -> None:
    acme, globex = neighbours()
    switch = Switch(name="gw-1", serial="SN-gw-1", model="arista-7060px4", role="gw-link", port_groups=((100, 64),))
    plugs = tuple(
        Cable(
            a=Endpoint(device="gw-1", interface=str(number)),
            b=Endpoint(device=f"ipum-{number:02}", interface="gw-link-1"),
            kind="gw-link",
        )
        for number in (1, 12)
    )
    base = full_site(assumptions=assumptions(secure_tls=None))
    site = changed(base, switches=(*base.switches, switch), cables=(*base.cables, *plugs))
    messages = [item.message for item in judged(site, acme.plan, globex).findings if item.rule == "ISO-27"]
    assert any("2 GW-Link cables between ipum-01 of acme and ipum-12 of globex" in message for message in messages)
