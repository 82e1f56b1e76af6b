"""L3-04 and CAP-05: which subnets meet where, and what is counted in a subnet."""

from __future__ import annotations

from functools import cache

import pytest

from interlock.planning.plan import Plan
from policies import Verdict
from policies.rules.addresses import CAP_05, L3_04
from policies.rules.data_grants import SEC_14
from tests.builders.pod64 import tenant, vpod
from tests.policies.one_rule import Said, answer, findings, messages
from tests.policies.test_data_rules import ACCESS, appliance, both, site_of
from tests.policies.workspace import N, V, edited, full_site, made, pair

SITE = full_site()
DATA, MANAGEMENT = "acme-train-ipu-data-subnet", "acme-train-management-subnet"
STORAGE, CONTROL = "acme-train-storage-subnet", "acme-train-control-subnet"


@cache
def clean() -> Plan:
    return pair(SITE)[0].plan


@cache
def two_vpods() -> Plan:
    """2 machines in `a`, 4 in `b`, a server in each."""
    return made(SITE, tenant("acme", vpods=(vpod("a", 2, 1), vpod("b", 4, 1)))).plan


# CAP-05: 4 machines with one address on the data network and two on the management network, 2 servers, a controller.


@pytest.mark.parametrize(
    ("subnet", "cidr", "needed"),
    [
        (DATA, "10.20.0.8/29", ()),  # 2 servers, 4 machines, network and broadcast address: full
        (DATA, "10.20.0.8/30", ("4 addresses, 8 needed", "2 ports of servers", "4 addresses of machines")),
        (MANAGEMENT, "10.3.0.0/28", None),
        (MANAGEMENT, "10.3.0.0/29", ("8 addresses, 11 needed", "1 ports of servers", "8 addresses of machines")),
        (STORAGE, "10.21.0.8/30", None),
        (STORAGE, "10.21.0.10/31", ("2 addresses, 4 needed", "2 ports of servers")),
        # An address inside stands for its subnet, as Neutron reads it.
        (CONTROL, "10.30.0.5/30", ("4 addresses, 7 needed", "3 ports of servers", "1 gateway", "1 DHCP")),
    ],
)
def test_what_is_counted_in_a_subnet(subnet: str, cidr: str, needed: tuple[str, ...] | None) -> None:
    found = findings(CAP_05, SITE, edited(clean(), subnet, cidr=cidr))
    sizes = [item for item in found if "needed" in item.message]
    if not needed:
        # Where nothing is too many, planned addresses may lie outside a subnet that is made smaller; those are others.
        assert sizes == []
        assert needed == () or found == []
        return
    (sums, *parts) = needed
    witness = (f"subnet {subnet} {cidr}", *parts, "2 network and broadcast address")
    assert sizes == [Said(V, f"subnet {subnet} ({cidr}): {sums}", witness, (), 70)]


@pytest.mark.parametrize(("name", "machines"), [("a", 2), ("b", 4)])
def test_machines_of_the_subnets_own_vpod_are_counted(name: str, machines: int) -> None:
    (found,) = findings(CAP_05, SITE, edited(two_vpods(), f"acme-{name}-ipu-data-subnet", cidr="10.20.0.10/32"))[:1]
    parts = ("1 ports of servers", f"{machines} addresses of machines", "2 network and broadcast address")
    assert found.witness[1:] == parts


def test_a_port_outside_its_subnet() -> None:
    found = findings(CAP_05, SITE, edited(clean(), "acme-train-poplar-0-storage", address="10.22.0.10"))
    message = f"10.22.0.10 of port acme-train-poplar-0-storage is not in subnet {STORAGE} (10.21.0.0/24)"
    witness = ("port acme-train-poplar-0-storage 10.22.0.10", f"subnet {STORAGE} 10.21.0.0/24")
    assert found == [Said(V, message, witness, (), 70)]


@pytest.mark.parametrize(("network", "count"), [("acme-train-ipu-data", 4), ("nobody", 3)])
def test_a_subnet_of_a_network_elsewhere_is_not_counted(network: str, count: int) -> None:
    """What is on it nobody here knows: whose network it is, other rules ask."""
    assert answer(CAP_05, SITE, edited(clean(), DATA, network=network)).count == count


def test_a_network_of_which_nobody_says_what_is_on_it() -> None:
    item = clean().by_name["acme-train-ipu-data"]
    rest = tuple(item.model_copy(update={"role": None}) if old is item else old for old in clean().resources)
    fields = {name: getattr(clean(), name) for name in Plan.model_fields}
    (found,) = findings(CAP_05, SITE, Plan(**fields | {"resources": rest}))
    assert (found.verdict, found.order, found.missing) == (N, 70, ("role of network acme-train-ipu-data",))
    assert found.message.endswith("so nobody can say which machines have addresses on it")


# L3-04.


@pytest.mark.parametrize(
    ("changed", "cidr"),
    [(CONTROL, "10.21.0.7/24"), (STORAGE, "10.30.0.7/24"), (STORAGE, "10.30.0.0/16")],
)
def test_prefixes_that_overlap_at_servers(changed: str, cidr: str) -> None:
    """Also where they are written with an address inside."""
    prefixes = {STORAGE: "10.21.0.0/24", CONTROL: "10.30.0.0/24"} | {changed: cidr}
    one, other = (f"subnet {name} ({prefixes[name]})" for name in (STORAGE, CONTROL))
    assert findings(L3_04, SITE, edited(clean(), changed, cidr=cidr)) == [
        Said(
            V,
            f"{one} and {other} overlap and meet at server acme-train-poplar-{number}",
            (
                f"subnet {STORAGE} {prefixes[STORAGE]}",
                f"server acme-train-poplar-{number}",
                f"subnet {CONTROL} {prefixes[CONTROL]}",
            ),
            (),
            85,
        )
        for number in (0, 1)
    ]


@pytest.mark.parametrize(("gateway", "told"), [("site:Network/external", True), (None, False)])
def test_the_network_outside_meets_what_is_behind_its_routers(gateway: str | None, told: bool) -> None:
    plan = edited(edited(clean(), "acme-router", external_network=gateway), CONTROL, cidr="192.0.2.128/25")
    words = f"subnet {CONTROL} (192.0.2.128/25) and subnet of external (192.0.2.0/24) overlap and meet at router"
    assert messages(L3_04, SITE, plan) == ([f"{words} acme-router"] if told else [])


def test_a_subnet_that_no_file_describes() -> None:
    plan = edited(clean(), "acme-train-control-uplink", subnet="nobody")
    message = "nobody states the addresses of nobody, met at router acme-router"
    assert findings(L3_04, SITE, plan) == [Said(N, message, ("router acme-router", "nobody"), ("nobody",), 85)]


def test_where_one_subnet_is_nothing_meets() -> None:
    """The router with a subnet and the way out, two servers and the controller."""
    assert answer(L3_04, SITE, clean()).count == 4
    assert answer(L3_04, SITE, edited(clean(), "acme-router", external_network=None)).count == 3


# Both tenants' storage on one prefix.


@cache
def one_prefix() -> Plan:
    return edited(edited(both()[0].plan, STORAGE, cidr="10.21.1.0/24"), ACCESS, prefix="10.21.1.7/24")


@pytest.mark.parametrize(("value", "verdict"), [(None, N), (False, V), (True, None)])
def test_two_prefixes_at_the_appliance(value: bool | None, verdict: Verdict | None) -> None:
    """It is no fault while the appliance decides by its own address too."""
    site, globex = site_of(appliance(access_by_vip_and_client=value)), both()[1]
    theirs = "globex-models-access-train"
    missing = ("sharing.files.guards.access_by_vip_and_client",) if verdict is N else ()
    expected = Said(
        verdict or N,
        f"10.21.1.7/24 and 10.21.1.0/24 of {theirs} overlap and meet at the storage appliance",
        ("acme-train-storage 10.21.1.7/24", "the storage appliance", f"{theirs} 10.21.1.0/24"),
        missing,
        84,
    )
    assert findings(L3_04, site, one_prefix(), globex) == ([expected] if verdict else [])
    assert answer(L3_04, site, one_prefix(), globex).count == (5 if verdict else 4)
    # Of the grants SEC-14 says the same.
    alike = [item for item in findings(SEC_14, site, one_prefix(), globex) if "looks at clients alone" in item.message]
    expected = Said(
        verdict or N,
        f"{ACCESS} and {theirs} are for 10.21.1.7/24 and 10.21.1.0/24, and the appliance looks at clients alone",
        (f"{ACCESS}: 10.21.1.7/24 at 10.21.0.200", "the storage appliance", f"{theirs}: 10.21.1.0/24"),
        missing,
        89,
    )
    assert alike == ([expected] if verdict else [])


def test_a_doubt_of_the_plan_and_one_at_the_appliance() -> None:
    site, plan = site_of(appliance(access_by_vip_and_client=None)), one_prefix()
    plan = edited(plan, "acme-train-control-uplink", subnet="nobody")
    found = findings(L3_04, site, plan, both()[1])
    assert [(item.verdict, item.order) for item in found] == [(N, 85), (N, 84)]


def test_addresses_of_machines_lie_in_their_subnets() -> None:
    """Those behind switch ports as well as those of ports: of each the one that lies outside is told."""
    found = findings(CAP_05, SITE, edited(clean(), "acme-train-mgmt-ipum-02", addresses=("10.3.0.10", "10.9.0.1")))
    assert [item.message for item in found] == [
        "10.9.0.1 of port acme-train-mgmt-ipum-02 is not in subnet acme-train-management-subnet (10.3.0.0/24)"
    ]
