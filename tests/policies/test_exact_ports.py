"""TOP-13 and TOP-14: which planned switch ports are wrong and how certain that is; which addresses are one."""

from __future__ import annotations

from functools import cache

import pytest

from interlock.model.site.inventory import Machine, Site
from interlock.planning import plan_site
from interlock.planning.plan import Plan
from policies.rules.ports import TOP_13, TOP_14
from tests.builders.pod64 import machines, pod64, site_locked
from tests.policies.asking import answered, messages, told
from tests.policies.test_rules_l3_ports import SITE, clean
from tests.policies.workspace import assumptions, changed, edited, full_site, sharing

ONE = "acme-train-rnic-ipum-01"


@cache
def acme() -> Plan:
    return clean()[0].plan


@cache
def undeclared(*tables: str) -> Site:
    """The site without what somebody said of these tables."""
    kept = tuple(item for item in full_site().complete if item.table not in tables)
    return changed(full_site(), complete=kept)


def at(**changes: object) -> Plan:
    return edited(acme(), ONE, **changes)


BEHIND = "behind tor-1 port"


@pytest.mark.parametrize(
    ("change", "place", "why"),
    [
        ({"switch": "tor-9"}, "tor-9 port 1", "the site has no switch tor-9"),
        ({"port": 0}, "tor-1 port 0", "tor-1, a arista-7060x, has no port 0"),
        ({"port": 35}, "tor-1 port 35", "tor-1, a arista-7060x, has no port 35"),
        ({"port": 34}, "tor-1 port 34", f"{BEHIND} 34 is no cable, not ipum-01:rnic"),
        ({"port": 2}, "tor-1 port 2", f"{BEHIND} 2 is ipum-02:rnic, not ipum-01:rnic"),
    ],
)
def test_ports_that_are_not_behind_the_device(change: dict[str, object], place: str, why: str) -> None:
    """This switch has 32 and 2 ports."""
    answer = answered(TOP_13, SITE, at(**change))
    behind = ", ipum-02" if "ipum-02" in why else ""
    assert told(answer) == [
        f"V 83: ipum-01:rnic of vPOD acme-train at {place}: {why}",
        f"  witness: ipum-01:rnic / {place}, VLAN 1000 / {why}",
        f"  about: acme-train, ipum-01, {place.split()[0]}{behind}",
    ]
    assert answer.count == 8


LACKING = {"attachments": "complete.attachments.spare-1", "cables": "complete.cables.tor-1"}


@pytest.mark.parametrize(
    ("tables", "change", "letter"),
    [
        (("attachments", "cables"), {"device": "spare-1", "port": 34}, "N"),
        (("cables",), {"device": "spare-1", "port": 34}, "N"),
        (("attachments",), {"device": "spare-1", "port": 34}, "N"),
        # Another cable is in one of the two plugs, or there is no such plug.
        (("attachments", "cables"), {"port": 34}, "V"),
        (("attachments", "cables"), {"device": "spare-1", "port": 2}, "V"),
        (("attachments", "cables"), {"device": "spare-1", "port": 35}, "V"),
        (("attachments", "cables"), {"device": "spare-1", "switch": "tor-9"}, "V"),
    ],
)
def test_a_cable_that_may_be_there_unlisted(tables: tuple[str, ...], change: dict[str, object], letter: str) -> None:
    answer = answered(TOP_13, undeclared(*tables), at(**change))
    (cause,) = answer.violated + answer.unknown
    assert messages(answer)[0][0] == letter
    # Of a device that the site does not have nobody declared anything.
    expected = [LACKING[table] for table in ("attachments", "cables") if table in tables or table == "attachments"]
    assert list(map(str, cause.missing)) == (expected if letter == "N" else [])


MANAGEMENT = {"switch": "mgmt-1", "port": 1, "interface": "mgmt"}


@pytest.mark.parametrize(
    ("vlan", "why"),
    [
        (1000, "VLAN 1000 on fabric100g (acme-train-ipu-data) does not reach mgmt-1"),
        (2000, "VLAN 2000 on fabric100g (acme-train-storage) does not reach mgmt-1"),
        (110, None),
        # Of no network of this vPOD, which other rules tell: nobody's, and an overlay's.
        (777, None),
        (5000, None),
    ],
)
def test_a_vlan_that_does_not_reach_the_switch(vlan: int, why: str | None) -> None:
    found = answered(TOP_13, SITE, at(**MANAGEMENT, vlan=vlan))
    network = why.partition("(")[2].partition(")")[0] if why else ""
    assert told(found) == ([] if why is None else [
        f"V 83: ipum-01:mgmt of vPOD acme-train at mgmt-1 port 1: {why}",
        f"  witness: ipum-01:mgmt / mgmt-1 port 1, VLAN {vlan} / {why}",
        f"  about: acme-train, ipum-01, mgmt-1, {network}",
    ])  # fmt: skip


def test_a_vpod_may_have_one_id_on_two_physical_networks() -> None:
    """One of them has to reach the switch, whichever comes first."""
    for name, network in (("acme-train-management", "mgmt1g"), ("acme-train-storage", "mgmt1g")):
        plan = edited(at(**MANAGEMENT, vlan=1000), name, segmentation_id=1000, physical_network=network)
        assert messages(answered(TOP_13, SITE, plan)) == []


def test_of_two_that_do_not_reach_the_switch_the_first_is_told() -> None:
    plan = edited(at(**MANAGEMENT, vlan=1000), "acme-train-storage", segmentation_id=1000)
    (cause,) = answered(TOP_13, SITE, plan).violated
    assert cause.witness[-1] == "VLAN 1000 on fabric100g (acme-train-ipu-data) does not reach mgmt-1"


def test_a_network_of_another_vpod_is_not_meant() -> None:
    plan = at(**MANAGEMENT, vlan=1000)
    networks = (item for item in plan.resources if item.name == "acme-train-ipu-data")
    others = [item.model_copy(update={"vpod": "acme-serve"}) for item in networks]
    fields = {name: getattr(plan, name) for name in Plan.model_fields}
    rest = tuple(item for item in plan.resources if item.name != "acme-train-ipu-data")
    assert messages(answered(TOP_13, SITE, Plan(**(fields | {"resources": (*rest, *others)})))) == []


# What Neutron wires has the VLAN of the network that it names.


def by_neutron(**changes: object) -> Plan:
    return at(wired_by="neutron", port_name="Ethernet1/1", **changes)


def renetworked(**changes: object) -> Plan:
    """The port is as it was, and its network another one."""
    return edited(by_neutron(), "acme-train-ipu-data", **changes)


@pytest.mark.parametrize(
    ("plan", "why"),
    [
        (by_neutron(vlan=1001), "network acme-train-ipu-data is VLAN 1000 on fabric100g, not VLAN 1001"),
        (
            renetworked(segmentation_id=1001),
            "network acme-train-ipu-data is VLAN 1001 on fabric100g, not VLAN 1000",
        ),
        (
            renetworked(network_type="vxlan", physical_network=None),
            "network acme-train-ipu-data is VXLAN 1000, not VLAN 1000",
        ),
        (
            by_neutron(network="acme-train-storage", vlan=1000),
            "network acme-train-storage is VLAN 2000 on fabric100g, not VLAN 1000",
        ),
        (
            renetworked(physical_network="mgmt1g"),
            "VLAN 1000 on mgmt1g (acme-train-ipu-data) does not reach tor-1",
        ),
        (
            by_neutron(project="site:Project/controllers"),
            "its project is one of op, and that of network acme-train-ipu-data one of acme",
        ),
    ],
)
def test_neutron_sets_the_vlan_of_the_network(plan: Plan, why: str) -> None:
    answer = answered(TOP_13, SITE, plan)
    name = why.partition("acme-train-")[2].partition(" ")[0].strip(")")
    # Ports of other machines of the vPOD are on the network as well, and so told besides.
    assert told(answer)[:3] == [
        f"V 83: ipum-01:rnic of vPOD acme-train at tor-1 port 1: {why}",
        f"  witness: ipum-01:rnic / tor-1 port 1, VLAN {1001 if 'not VLAN 1001' in why else 1000} / {why}",
        f"  about: acme-train, ipum-01, tor-1, acme-train-{name}",
    ]


def test_a_network_of_another_vpod_is_no_place_for_a_port() -> None:
    plan = by_neutron()
    moved = tuple(
        item.model_copy(update={"vpod": None}) if item.name == "acme-train-ipu-data" else item
        for item in plan.resources
    )
    fields = {name: getattr(plan, name) for name in Plan.model_fields}
    answer = answered(TOP_13, SITE, Plan(**(fields | {"resources": moved})))
    assert messages(answer)[0].endswith("tor-1 port 1: network acme-train-ipu-data is of no vPOD")


def test_neutron_wires_what_is_planned() -> None:
    assert messages(answered(TOP_13, SITE, by_neutron())) == []
    # A network that is not of the plan is told by FACT-01.
    assert messages(answered(TOP_13, SITE, by_neutron(network="site:Network/elsewhere", vlan=77))) == []


# TOP-14.


def addressed(**macs: dict[str, str]) -> tuple[Machine, ...]:
    """The first machines with these addresses, `first` to `third`, and all others with their own."""
    own = {name: {part: f"{part}-{name}" for part in ("bmc", "gw", "rnic")} for name in ("first", "second", "third")}
    names = {"ipum-01": "first", "ipum-02": "second", "ipum-05": "third"}
    return tuple(
        item.model_copy(
            update={"macs": (own | macs)[names[item.name]] if item.name in names else _of_its_own(item.name)}
        )
        for item in machines()
    )


def _of_its_own(name: str) -> dict[str, str]:
    return {part: f"{part}-{name}" for part in ("bmc", "gw", "rnic")}


def of_machines(found: tuple[Machine, ...]) -> list[str]:
    site = pod64(sharing=sharing(), assumptions=assumptions(), machines=found)
    answer = answered(TOP_14, site, plan_site(site, site_locked(site)))
    # Gateway, BMC and RNIC of each.
    assert answer.count == 16 * 3
    return told(answer)


A, B, C = "00:11:22:aa:bb:cc", "00:11:22:aa:bb:cd", "00:11:22:aa:bb:ce"


def test_addresses_of_their_own() -> None:
    assert of_machines(addressed()) == []


@pytest.mark.parametrize("again", [A, A.upper(), A.replace(":", "-")])
def test_one_address_however_it_is_written(again: str) -> None:
    found = addressed(first={"bmc": A, "gw": B, "rnic": C}, second={"bmc": "b", "gw": "g", "rnic": again})
    assert of_machines(found) == [
        f"V 33: bmc of ipum-01 and rnic of ipum-02 have one MAC address, {A}",
        "  witness: bmc of ipum-01 / rnic of ipum-02",
        "  about: ipum-01, ipum-02",
    ]


@pytest.mark.parametrize(
    ("macs", "message", "witness"),
    [
        (
            {"first": {"bmc": A}},
            "1 machines of logical rack lrack-1 lack MAC addresses, ipum-01 those of gw, rnic",
            "ipum-01",
        ),
        (
            {"first": {"gw": A, "rnic": B}, "second": {}},
            "2 machines of logical rack lrack-1 lack MAC addresses, ipum-01 those of bmc",
            "ipum-01 … ipum-02",
        ),
        (
            {"first": {}, "second": {}, "third": {"bmc": A}},
            "3 machines of logical rack lrack-1 lack MAC addresses, ipum-01 those of bmc, gw, rnic",
            "ipum-01 … ipum-05",
        ),
    ],
)
def test_addresses_that_nobody_stated(macs: dict[str, dict[str, str]], message: str, witness: str) -> None:
    assert of_machines(addressed(**macs)) == [
        f"N W 5: {message}",
        f"  witness: {witness}",
        "  missing: machines.ipum-01.macs",
    ]
