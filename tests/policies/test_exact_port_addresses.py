"""L3-03, L3-07 and L3-10: which addresses are reserved, which are borrowed, and all that is said of them."""

from __future__ import annotations

from functools import cache

import pytest

from interlock.model.site.inventory import Site, SwitchPortConfig
from interlock.planning.plan import Plan
from interlock.resources import ShareAccess
from policies.about import resources
from policies.facts.prefixes import prefix_of
from policies.rules.port_addresses import L3_03, L3_07, L3_10
from tests.builders.pod64 import management_switch, tor
from tests.policies.asking import answered, messages, told
from tests.policies.test_data_rules import both as storing
from tests.policies.test_data_rules import site_of
from tests.policies.test_rules_l3_ports import PORT, SITE, clean
from tests.policies.workspace import added, assumptions, edited, full_site, with_footprint

SUBNET = "acme-train-control-subnet"
STORAGE = "acme-train-poplar-0-storage"


@cache
def acme() -> Plan:
    return clean()[0].plan


# L3-03.


@pytest.mark.parametrize(
    ("value", "letter", "word", "missing"),
    [(False, "V", "true", []), (None, "N", "not known", ["  missing: assumptions.A2.default_policies"])],
)
def test_all_that_is_said_of_other_policies(value: bool | None, letter: str, word: str, missing: list[str]) -> None:
    answer = answered(L3_03, full_site(assumptions=assumptions(default_policies=value)), acme())
    whether = "whether a tenant can make a port whose device_owner begins with network: is"
    fact = "assumptions.A2.default_policies"
    assert told(answer) == [f"{letter} 30: {whether} {word}", f"  witness: {fact}", *missing]
    # Ports in the operator's project are no tenant's.
    assert answer.count == 6


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("::ffff:10.0.0.1/128", "10.0.0.1/32"),
        ("::ffff:10.0.0.1/127", "10.0.0.0/31"),
        ("::ffff:255.255.255.255", "255.255.255.255/32"),
        ("::ffff:0:0/96", "0.0.0.0/0"),
        # One bit wider: also what is not IPv4.
        ("::ffff:0:0/95", "::fffe:0:0/95"),
        ("::fffe:10.0.0.1/128", "::fffe:a00:1/128"),
        ("10.0.0.1/8", "10.0.0.0/8"),
    ],
)
def test_what_a_prefix_is_compared_as(text: str, expected: str) -> None:
    assert str(prefix_of(text)) == expected


# L3-07.


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("10.30.0.1", ["10.30.0.1 is the gateway of acme-train-control-subnet"]),
        ("10.30.0.0", ["10.30.0.0 is no host's address in 10.30.0.0/24"]),
        ("10.30.0.255", ["10.30.0.255 is no host's address in 10.30.0.0/24"]),
        ("10.30.0.2", []),
        ("10.30.0.246", []),
        ("10.30.0.247", ["10.30.0.247 is in the pool 10.30.0.247-10.30.0.254, which Neutron gives out"]),
        ("10.30.0.254", ["10.30.0.254 is in the pool 10.30.0.247-10.30.0.254, which Neutron gives out"]),
    ],
)
def test_addresses_that_something_gives_out(address: str, expected: list[str]) -> None:
    found = answered(L3_07, SITE, edited(acme(), PORT, address=address))
    assert messages(found) == [f"V {PORT}: {why}" for why in expected]
    # A subnet may be written by any address in it.
    plan = edited(edited(acme(), PORT, address=address), SUBNET, cidr="10.30.0.77/24")
    assert [item.message.split()[1] for item in answered(L3_07, SITE, plan).violated] == [address] * len(expected)


def test_all_that_is_said_of_an_address_that_is_taken() -> None:
    """What takes it is shown with the port where the plan has it."""
    why = "10.30.0.1 is the gateway of acme-train-control-subnet"
    answer = answered(L3_07, SITE, edited(acme(), PORT, address="10.30.0.1"))
    assert told(answer) == [f"V 25: {PORT}: {why}", f"  witness: {PORT} / {why}", f"  about: {PORT}, {SUBNET}"]
    # Four subnets, six ports of servers and two of the controller, the RNICs, BMCs and gateways of four machines.
    assert answer.count == 24


@pytest.mark.parametrize(
    ("cidr", "covers"),
    [
        ("169.254.0.0/16", True),
        ("169.254.169.254/24", True),
        ("168.0.0.0/7", True),
        ("169.253.0.0/16", False),
        ("169.255.0.0/16", False),
    ],
)
def test_a_subnet_over_the_metadata_service(cidr: str, covers: bool) -> None:
    why = f"its prefix {cidr} covers the metadata service's (169.254.0.0/16)"
    found = messages(answered(L3_07, SITE, edited(acme(), "acme-train-storage-subnet", cidr=cidr)))
    assert found == [f"V acme-train-storage-subnet: {why}"] * covers


def test_a_port_on_anothers_subnet_is_not_looked_into() -> None:
    """Nothing of the plan says what is reserved there."""
    plan = edited(acme(), PORT, subnet="globex-train-control-subnet", address="10.30.0.1")
    assert messages(answered(L3_07, SITE, plan)) == []


# L3-10.

OWN = "acme-train-control, its own wire"


def borrowing(pair: str, port: str = PORT, **changes: object) -> Plan:
    return edited(acme(), port, allowed_address_pairs=(pair,), **changes)


@pytest.mark.parametrize(
    ("pair", "is_said"),
    [
        ("10.30.0.0/24", False),
        ("10.30.0.9/24", False),
        ("10.30.0.0/25", False),
        ("10.30.0.128/25", False),
        ("10.30.0.99/32", False),
        ("10.99.0.0/24", False),
        ("0.0.0.0/0", True),
        ("10.30.0.9/0", True),
        ("::/0", True),
    ],
)
def test_on_a_wire_of_its_own_a_port_may_be_anything_but_everybody(pair: str, is_said: bool) -> None:
    expected = [
        f"V W 45: port {PORT} may send from {pair}",
        f"  witness: port {PORT} / allowed address pair {pair} / {OWN}",
        f"  about: {PORT}, acme-train-control",
    ]
    answer = answered(L3_10, SITE, borrowing(pair))
    assert (told(answer), answer.count) == (expected if is_said else [], 1)


def granted(pair: str) -> Plan:
    """A port on the network from which clients mount a share."""
    return edited(storing()[0].plan, STORAGE, allowed_address_pairs=(pair,))


@pytest.mark.parametrize(
    ("pair", "is_said"),
    [
        ("10.21.0.0/24", False),
        ("10.21.0.7/24", False),
        ("10.21.0.0/25", False),
        ("10.21.0.128/25", False),
        ("10.21.0.255/32", False),
        ("10.21.0.0/23", True),
        ("10.21.1.0/32", True),
        ("10.20.255.255/32", True),
        # The same number as the address of a client, of the other kind.
        ("::10.21.0.7/128", True),
    ],
)
def test_where_a_grant_goes_by_address_only_ones_own(pair: str, is_said: bool) -> None:
    reason = "acme-models-access-train lets clients in by their address"
    expected = [
        f"V 100: port {STORAGE} may send from {pair}",
        f"  witness: port {STORAGE} / allowed address pair {pair} / {reason}",
        f"  about: {STORAGE}, acme-models-access-train",
    ]
    assert told(answered(L3_10, site_of(), granted(pair))) == (expected if is_said else [])
    within = edited(granted(pair), "acme-train-storage-subnet", cidr="10.21.0.77/24")
    assert bool(messages(answered(L3_10, site_of(), within))) is is_said


def test_of_two_grants_the_first_is_told() -> None:
    plan, named = granted("10.99.0.0/24"), storing()[0].plan.by_name["acme-models-access-train"].resource
    assert isinstance(named, ShareAccess)
    plan = added(plan, "acme-more-access", "acme", named.model_copy(update={"vip": "10.21.0.201"}))
    (cause,) = answered(L3_10, site_of(), plan).violated
    assert cause.witness[-1] == "acme-models-access-train lets clients in by their address"
    assert cause.about == resources(STORAGE, "acme-models-access-train")


def test_what_another_mounts_by_address_is_told() -> None:
    """Their prefix, with host bits or not, where the pair meets it; the tenant's own is nobody else's."""
    mine, theirs = storing()
    tail = "10.21.1.0/24 of globex-models-access-train"
    for pair, covers in (("10.21.1.7/32", True), ("10.21.0.0/16", True), ("10.22.0.0/16", False)):
        plan = edited(mine.plan, PORT, allowed_address_pairs=(pair,))
        expected = [f"V port {PORT} may send from {pair}, which covers {tail}"] * covers
        assert messages(answered(L3_10, site_of(), plan, theirs)) == expected
    plan = edited(mine.plan, PORT, allowed_address_pairs=("10.21.0.0/25",))
    assert messages(answered(L3_10, site_of(), plan, theirs)) == []
    written = edited(theirs.plan, "globex-models-access-train", prefix="10.21.1.9/24")
    plan = edited(mine.plan, PORT, allowed_address_pairs=("10.21.1.7/32",))
    (cause,) = answered(L3_10, site_of(), plan, with_footprint(site_of(), written, theirs.lock)).violated
    assert cause.message.endswith("which covers 10.21.1.9/24 of globex-models-access-train")


def test_on_a_network_that_is_not_of_the_plan() -> None:
    """Whether the same port is on one of its own or on somebody else's."""
    assert answered(L3_10, SITE, borrowing("10.99.0.0/24")).violated == ()
    (cause,) = answered(L3_10, SITE, borrowing("10.99.0.0/24", network="globex-train-control")).violated
    assert cause.witness[-1] == "globex-train-control, a network of somebody else's"


def test_on_a_wire_of_two_owners() -> None:
    """Both tenants have one VLAN on one switch."""
    mine, theirs = clean()
    vlan = theirs.lock.allocation.vpods["train"].storage_vlan
    plan = edited(
        edited(mine.plan, "acme-train-storage", segmentation_id=vlan), STORAGE, allowed_address_pairs=("10.99.0.0/24",)
    )
    (cause,) = answered(L3_10, SITE, plan, theirs).violated
    assert (cause.witness[-1], cause.severity) == ("the wire of acme and globex", None)
    assert answered(L3_10, SITE, plan).violated == ()


def with_private(mode: str, tagged: tuple[tuple[int, int], ...] = (), untagged: int | None = None) -> Site:
    """Port 31 of the ToR in a private VLAN."""
    fields = {"port": 31, "mode": mode, "tagged": tagged, "untagged": untagged, "private_vlan": "isolated"}
    port = SwitchPortConfig.model_validate(fields)
    return full_site(switches=(tor().model_copy(update={"ports": (*tor().ports, port)}), management_switch()))


@pytest.mark.parametrize(
    ("site", "is_private"),
    [
        (with_private("access", untagged=2000), True),
        (with_private("access", untagged=2001), False),
        (with_private("trunk", tagged=((1999, 2000),)), True),
        (with_private("trunk", tagged=((2001, 2999),)), False),
    ],
)
def test_on_a_private_vlan(site: Site, is_private: bool) -> None:
    """One in which the port's network is, on a switch of its physical network."""
    assert clean()[0].lock.allocation.vpods["train"].storage_vlan == 2000
    found = answered(L3_10, site, borrowing("10.99.0.0/24", STORAGE)).violated
    assert [item.witness[-1] for item in found] == ["tor-1 port 31 is a port of a private VLAN"] * is_private
    elsewhere = edited(borrowing("10.99.0.0/24", STORAGE), "acme-train-storage", physical_network="mgmt1g")
    assert answered(L3_10, site, elsewhere).violated == ()


@pytest.mark.parametrize("kind", ["flat", "vxlan"])
def test_a_network_without_a_vlan_is_on_no_private_one(kind: str) -> None:
    site = with_private("trunk", tagged=((1000, 2999),))
    label = "fabric100g" if kind == "flat" else None
    segment = None if kind == "flat" else 2000
    plan = edited(
        borrowing("10.99.0.0/24", STORAGE), "acme-train-storage",
        network_type=kind, segmentation_id=segment, physical_network=label,
    )  # fmt: skip
    assert [item for item in answered(L3_10, site, plan).violated if "private" in item.witness[-1]] == []
