"""The worked examples of docs/design/semantics.md: tenants, segments, machines; by their numbers."""

from __future__ import annotations

import pytest

from interlock.model.lock.record import Footprint, Released
from interlock.model.site.inventory import Site, SwitchPortConfig, VlanPool
from interlock.resources import Network, Port, SwitchPort
from policies import footprint
from tests.builders.pod64 import external, hosts, pools, tenant, tor, vpod
from tests.policies.workspace import (
    NA,
    N,
    P,
    V,
    added,
    assumptions,
    changed,
    edited,
    first,
    full_site,
    judged,
    made,
    pair,
    sharing,
    text,
    verdicts,
    with_footprint,
)

SITE = full_site()
TOR = "L:SN-tor-1"
#: Rules that have nothing to look at in a vPOD of one rack, on one switch, without shares, partitions and stated MTUs,
#: rights given to others, released machines, InfiniBand, NVLink, GPU clusters or servers that take GPU nodes whole.
ONLY_FOR_MORE = {
    "ISO-14", "ISO-15", "ISO-16", "ISO-19", "ISO-20", "ISO-21", "ISO-22", "ISO-23", "ISO-25", "ISO-26",
    "EXPO-01", "L3-06", "L3-08", "L3-10", "SEC-14", "TOP-05", "TOP-07", "TOP-11", "TOP-23",
    "ISO-17", "ISO-18", "L3-09", "L3-13", "SEC-09", "SEC-10", "SEC-16", "SW-16", "CST-01",
    "ISO-29", "ISO-30", "LIF-03", "LIF-08", "LIF-12", "TOP-26", "TOP-27",
    *(f"SW-{number:02}" for number in (*range(1, 16), 18, 19)),
}  # fmt: skip


def test_example_01_two_vpods_of_their_own() -> None:
    acme, globex = pair(SITE)
    for plan, other in ((acme.plan, globex), (globex.plan, acme)):
        judgement = judged(SITE, plan, other)
        assert judgement.exit_code == 0
        assert set(verdicts(judgement).values()) == {P, NA}
        assert {rule for rule, found in verdicts(judgement).items() if found is NA} == ONLY_FOR_MORE


def test_example_02_rnic_on_anothers_vlan() -> None:
    acme, globex = pair(SITE)
    name = next(item.name for item in globex.plan.resources if "-rnic-" in item.name)
    machine = name.removeprefix("globex-train-rnic-")
    judgement = judged(SITE, edited(globex.plan, name, vlan=1000), acme)
    assert first(judgement).rule == "ISO-03"
    assert verdicts(judgement)["ISO-02"] == V
    found = next(item for item in judgement.findings if item.rule == "ISO-02")
    assert f"RNIC of {machine}" in text(found)
    assert "tor-1 VLAN 1000" in text(found)
    assert "acme" in text(found)


def test_example_02_seen_by_the_other() -> None:
    acme, globex = pair(SITE)
    name = next(item.name for item in globex.plan.resources if "-rnic-" in item.name)
    moved = with_footprint(SITE, edited(globex.plan, name, vlan=1000), globex.lock)
    found = first(judged(SITE, acme.plan, moved))
    assert found.rule == "ISO-03"
    assert f"RNIC of {name.removeprefix('globex-train-rnic-')}" in found.message


def test_example_03_a_vlan_of_another_tenant() -> None:
    acme = made(SITE, tenant("acme"))
    globex = made(SITE, tenant("globex", machines=8, servers=1), [acme.lock], ipu_data_vlan=1000)
    judgement = judged(SITE, globex.plan, acme)
    assert first(judgement).rule == "ISO-01"
    assert "tor-1 VLAN 1000" in first(judgement).message
    assert "acme's network acme-train-ipu-data claims VLAN 1000 on fabric100g" in first(judgement).witness


def test_example_04_one_id_under_two_physical_networks() -> None:
    legs = {"ipu-data": ("ens161f0", "ens161f1"), "storage": ("ens161f0", "ens161f1")}
    base = full_site()
    networks = tuple(
        base.physical_networks[0].model_copy(update={"name": name}) for name in ("ipu-data", "storage")
    )  # fmt: skip
    site = full_site(
        hosts=tuple(
            host.model_copy(update={"interfaces": legs}) if host.role == "poplar" else host for host in hosts()
        ),
        physical_networks=networks + base.physical_networks[1:],
        pools=pools(
            ipu_data=VlanPool(physical_networks=("ipu-data",), vlans=((1000, 1999),)),
            storage=VlanPool(physical_networks=("storage",), vlans=((1000, 2999),)),
        ),
    )
    acme = made(site, tenant("acme"), storage_vlan=2000)
    globex = made(
        site, tenant("globex", machines=8, servers=1), [acme.lock], ipu_data_vlan=1002, storage_vlan=1000
    )  # fmt: skip
    found = first(judged(site, globex.plan, acme))
    assert found.rule == "ISO-11"
    assert "VLAN 1000 on storage of globex and VLAN 1000 on ipu-data of acme are one wire" in found.message
    assert "tor-1 VLAN 1000 [acme, globex]" in found.witness


def test_example_13_router_on_anothers_subnet() -> None:
    acme, globex = pair(SITE)
    judgement = judged(
        SITE, edited(globex.plan, "globex-train-control-uplink", subnet="acme-train-control-subnet"), acme
    )
    assert verdicts(judgement)["ISO-02"] == V
    assert "which no file of this site describes [foreign]" in text(first(judgement))


def test_example_14_gateways_without_a_scope() -> None:
    site = full_site(external=external(address_scope=None))
    acme, globex = pair(site)
    judgement = judged(site, globex.plan, acme)
    assert first(judgement).rule == "ISO-02"
    assert "external network external" in text(first(judgement))
    unknown = full_site(sharing=sharing(address_scope_closed=None))
    judgement = judged(unknown, globex.plan, acme)
    assert verdicts(judgement)["ISO-02"] == N
    assert first(judgement).missing == ("sharing.external.guards.address_scope_closed",)


def test_example_15_a_tenants_subnet_in_the_scope() -> None:
    acme, globex = pair(SITE)
    assert judged(SITE, acme.plan, globex).exit_code == 0
    inside = edited(acme.plan, "acme-train-control-subnet", subnet_pool="site:SubnetPool/external-pool")
    assert verdicts(judged(SITE, inside, globex))["ISO-02"] == V


def test_example_17_controller_in_the_tenants_project() -> None:
    acme, globex = pair(SITE)
    plan = edited(acme.plan, "acme-train-controller", project="acme-project")
    found = first(judged(SITE, plan, globex))
    assert found.rule == "ISO-05"
    assert "acme-train-controller" in text(found)


@pytest.mark.parametrize("guard", ["ipv4_forwarding_off", "ipv6_forwarding_off"])
def test_example_18_controller_in_the_operators_project(guard: str) -> None:
    acme, globex = pair(SITE)
    unknown = full_site(sharing=sharing(**{guard: None}))
    judgement = judged(unknown, acme.plan, globex)
    assert judgement.exit_code == 3
    assert first(judgement).missing == (f"sharing.vipu-controller.guards.{guard}",)


def test_example_18_a_tenants_key_on_the_controller() -> None:
    acme, globex = pair(SITE)
    found = judged(SITE, edited(acme.plan, "acme-train-controller", keypair="acme-key"), globex)
    assert verdicts(found)["ISO-05"] == V


def test_example_19_one_management_vlan_for_two() -> None:
    acme = made(SITE, tenant("acme"))
    globex = made(SITE, tenant("globex", machines=8, servers=1), [acme.lock], management_vlan=110)
    found = verdicts(judged(SITE, globex.plan, acme))
    assert found["ISO-02"] == P  # only the operator and split copies are on it
    assert found["ISO-01"] == P
    assert found["ISO-11"] == P  # the VLAN is claimed twice, and both networks are the operator's
    assert found["ISO-07"] == V


def test_example_22_poplar_server_on_management() -> None:
    legs = {"mgmt1g": ("eno1",)}
    site = full_site(
        hosts=tuple(host.model_copy(update={"interfaces": dict(host.interfaces) | legs}) for host in hosts())
    )
    trunk = SwitchPortConfig(port=37, mode="trunk", tagged=((110, 199),))
    site = _with_ports(site, "mgmt-1", *(trunk.model_copy(update={"port": port}) for port in range(37, 41)))
    acme, globex = pair(site)
    plan = edited(acme.plan, "acme-train-poplar-0-control", network="acme-train-management", security_groups=())
    found = first(judged(site, plan, globex))
    assert found.rule == "ISO-05"
    assert "acme-train-poplar-0" in text(found)
    assert "mgmt-1 VLAN 110" in text(found)


@pytest.mark.parametrize(("value", "verdict"), [(True, P), (None, N), (False, V)])
def test_example_22_through_the_machine(value: bool | None, verdict: object) -> None:
    acme, globex = pair(SITE)
    site = full_site(assumptions=assumptions(credentials_rotated=value))
    assert verdicts(judged(site, acme.plan, globex))["ISO-05"] == verdict


@pytest.mark.parametrize(("value", "verdict"), [(True, P), (None, N), (False, V)])
def test_example_28_boundary_links(value: bool | None, verdict: object) -> None:
    neighbours = tuple(f"ipum-{n:02}" for n in range(5, 13))
    acme, globex = pair(SITE, globex={"machines": neighbours})
    site = full_site(assumptions=assumptions(one_allocation_each=value))
    judgement = judged(site, acme.plan, globex)
    assert verdicts(judgement)["ISO-02"] == verdict
    if value is not True:
        assert "RNIC of ipum-04" in text(first(judgement))
        assert "RNIC of ipum-05" in text(first(judgement))


def test_example_31_same_addresses_on_own_vlans() -> None:
    acme = made(SITE, tenant("acme"))
    mine = acme.lock.allocation.vpods["train"]
    globex = made(
        SITE, tenant("globex", machines=8, servers=1), [acme.lock],
        ipu_data_subnet=mine.ipu_data_subnet, storage_subnet=mine.storage_subnet,
    )  # fmt: skip
    assert judged(SITE, globex.plan, acme).exit_code == 0


def test_example_34_the_partition_of_a_third() -> None:
    acme, globex = pair(SITE)
    carol = made(SITE, tenant("carol", machines=1, servers=1), [acme.lock, globex.lock])

    def footprint_of(*classes: tuple[str, ...]) -> Footprint:
        return Footprint(classes=classes, labels={}, exclusive=())

    def judged_with(mark: Footprint) -> object:
        third = carol.lock.model_copy(update={"footprint": mark})
        return verdicts(judged(SITE, acme.plan, globex, type(carol)(carol.plan, third)))["ISO-02"]

    s1, s2 = f"{TOR}:1000", f"{TOR}:1001"
    assert judged_with(footprint_of((s1,), (s2,))) == P
    assert judged_with(footprint_of((s1, s2))) == V


def test_example_35_released_but_not_seen_to_let_go() -> None:
    acme, globex = pair(SITE)
    taken = globex.lock.allocation.vpods["train"].machines[0]
    released = (Released(vpod="old", claim="machines", value=taken),)
    lock = acme.lock.model_copy(update={"released": released, "footprint": footprint(SITE, acme.plan, released)})
    found = first(judged(SITE, globex.plan, type(acme)(acme.plan, lock.sealed())))
    assert found.rule == "TOP-06"
    assert "released but is not seen to have let go" in found.message
    assert taken in found.message


def test_example_36_host_without_switch_port_record() -> None:
    acme, globex = pair(SITE)
    lost = acme.lock.allocation.vpods["train"].hosts[0]
    ends = [cable for cable in SITE.cables if cable.a.device == lost and cable.b.device == "tor-1"]
    dropped = {int(cable.b.interface) for cable in ends}
    switch = tor()
    ports = tuple(port for port in switch.ports if port.port not in dropped)
    site = full_site(switches=(switch.model_copy(update={"ports": ports}), SITE.switch["mgmt-1"]))
    judgement = judged(site, acme.plan, globex)
    assert judgement.exit_code == 3
    missing = {fact for item in judgement.findings for fact in item.missing}
    assert missing == {f"switches.tor-1.ports.{port}" for port in dropped}
    # The host's own system may be on any VLAN of such a port, also on globex's.
    assert judged(site, globex.plan, with_footprint(SITE, globex.plan, globex.lock)).exit_code == 3


@pytest.mark.parametrize("routing", [False, None, True])
def test_example_37_switch_that_routes(routing: bool | None) -> None:
    """An undeclared address in a tenant's VLAN is the operator's there, routing or not."""
    acme, globex = pair(SITE)
    switch = tor().model_copy(update={"routed_vlans": (1000, 1001), "ip_routing": routing})
    judgement = judged(full_site(switches=(switch, SITE.switch["mgmt-1"])), acme.plan, globex)
    assert verdicts(judgement)["ISO-02"] == V


def test_example_40_a_server_in_two_vpods() -> None:
    two = tenant("acme", vpods=(vpod("a", machines=2, servers=1), vpod("b", machines=2, servers=1)))
    acme = made(SITE, two)
    assert judged(SITE, acme.plan).exit_code == 0
    port = acme.plan.by_name["acme-b-poplar-0-ipu-data"].resource
    assert isinstance(port, Port)
    extra = port.model_copy(update={"name": "extra", "address": port.address.rpartition(".")[0] + ".77"})
    plan = added(acme.plan, "extra", "acme-a-poplar-0", extra)
    server = plan.by_name["acme-a-poplar-0"].resource
    plan = edited(plan, "acme-a-poplar-0", ports=(*server.ports, "extra"))  # type: ignore[attr-defined]
    judgement = judged(SITE, plan)
    assert first(judgement).rule == "ISO-03"
    assert verdicts(judgement)["ISO-02"] == P


@pytest.mark.parametrize(("value", "verdict"), [(True, P), (None, N), (False, V)])
def test_example_42_two_owners_on_one_hypervisor(value: bool | None, verdict: object) -> None:
    site = full_site(assumptions=assumptions(mitigations=value))
    acme, globex = pair(SITE, globex={"hosts": ("poplar-1",)})
    assert "poplar-1" in acme.lock.allocation.vpods["train"].hosts
    assert verdicts(judged(site, acme.plan, globex))["ISO-02"] == verdict
    assert judged(site, acme.plan).exit_code == 0  # one owner


def test_example_43_one_machine_in_two_locks() -> None:
    acme = made(SITE, tenant("acme"))
    held = acme.lock.allocation.vpods["train"].machines
    globex = made(SITE, tenant("globex"), [acme.lock], machines=held)
    found = first(judged(SITE, globex.plan, acme))
    assert found.rule == "TOP-06"
    assert all(machine in found.message for machine in held)


def test_example_43_one_mac_address_in_two_locks() -> None:
    """The address is the one of an RNIC of each; also where one of the two has released its machine."""
    acme, globex = pair(SITE)
    mine, theirs = (item.lock.allocation.vpods["train"].machines[0] for item in (acme, globex))
    written = {mine: {"rnic": "0C:42:A1:00:00:07", "bmc": "a"}, theirs: {"rnic": "0c-42-a1-00-00-07", "bmc": "a"}}
    machines = tuple(item.model_copy(update={"macs": written.get(item.name, {})}) for item in SITE.machines)
    site = changed(SITE, machines=machines)
    holder = with_footprint(site, globex.plan, globex.lock)
    judgement = judged(site, acme.plan, holder)
    assert first(judgement).rule == "TOP-06"
    assert first(judgement).message == "acme takes what globex holds: MAC address 0c:42:a1:00:00:07"
    gone = Released(vpod="old", claim="machines", value=theirs)
    carol = made(SITE, tenant("carol", machines=1, servers=1), [acme.lock, globex.lock])
    former = carol.lock.model_copy(update={"released": (gone,)})
    left = judged(site, acme.plan, with_footprint(site, carol.plan, former))
    found = next(item for item in left.findings if item.rule == "TOP-06")
    assert found.message.endswith("has released but is not seen to have let go: MAC address 0c:42:a1:00:00:07")


@pytest.mark.parametrize(("value", "verdict"), [(True, P), (None, N), (False, V)])
def test_example_44_pools_of_our_own(value: bool | None, verdict: object) -> None:
    acme, globex = pair(SITE)
    site = full_site(assumptions=assumptions(pools_delegated=value))
    assert verdicts(judged(site, acme.plan, globex))["ISO-02"] == verdict


def test_example_49_an_undeclared_address_of_the_switch() -> None:
    acme = made(SITE, tenant("acme"))
    switch = tor().model_copy(update={"routed_vlans": (1000,), "ip_routing": True})
    found = judged(full_site(switches=(switch, SITE.switch["mgmt-1"])), acme.plan)
    assert verdicts(found)["ISO-01"] == V


def test_shared_network_is_offered_to_everybody() -> None:
    acme, globex = pair(SITE)
    plan = edited(acme.plan, "acme-train-control", shared=True)
    assert isinstance(plan.by_name["acme-train-control"].resource, Network)
    found = judged(SITE, plan, globex)
    assert verdicts(found)["ISO-01"] == V
    assert "foreign" in first(found).message


def test_switch_port_resources_are_read_by_the_cable() -> None:
    """The device a switch port names is a wish; who is behind it is what the cables say."""
    acme, globex = pair(SITE)
    name = "acme-train-rnic-ipum-01"
    behind = globex.lock.allocation.vpods["train"].machines[0]
    port = next(int(c.b.interface) for c in SITE.cables if str(c.a) == f"{behind}:rnic")
    assert isinstance(acme.plan.by_name[name].resource, SwitchPort)
    judgement = judged(SITE, edited(acme.plan, name, port=port), globex)
    assert verdicts(judgement)["ISO-02"] == V
    assert verdicts(judgement)["ISO-03"] == V


def _with_ports(site: Site, name: str, *ports: SwitchPortConfig) -> Site:
    numbers = {port.port for port in ports}
    switches = tuple(
        switch.model_copy(update={"ports": (*(p for p in switch.ports if p.port not in numbers), *ports)})
        if switch.name == name
        else switch
        for switch in site.switches
    )
    return changed(site, switches=switches)


def test_example_08_a_device_behind_a_port_with_leftover_tagged_vlans() -> None:
    """Native 1000 as planned, 1001 left over: whoever controls the device adds a tag. A VF is held to its own."""
    leftover = SwitchPortConfig(port=1, mode="trunk", tagged=((1001, 1001),))
    acme, globex = pair(SITE)
    judgement = judged(_with_ports(full_site(), "tor-1", leftover), acme.plan, globex)
    assert verdicts(judgement)["ISO-02"] == V
    assert "RNIC of ipum-01" in text(next(item for item in judgement.findings if item.rule == "ISO-01"))


def test_what_the_site_file_and_the_plan_say_of_a_port_both_count() -> None:
    """A plain quarantine VLAN on all machine ports joins every machine on it."""
    quarantine = (SwitchPortConfig(port=port, mode="access", untagged=900) for port in range(1, 17))
    acme, globex = pair(SITE)
    judgement = judged(_with_ports(full_site(), "tor-1", *quarantine), acme.plan, globex)
    assert verdicts(judgement)["ISO-02"] == V
    assert "tor-1 VLAN 900" in text(first(judgement))
