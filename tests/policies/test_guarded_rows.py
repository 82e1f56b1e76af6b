"""The rows that guards decide, edge by edge: held, denied and not stated, from premises alone."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from interlock.model.lock.record import Premise
from interlock.model.site.guards import ASSUMPTION_GUARDS, SHARING_GUARDS
from interlock.model.site.inventory import Cable, Endpoint, Site
from policies.about import Fact
from policies.edges.guarded import GUARDED_EDGES
from policies.edges.plan import EXTERNAL_REFERENCE
from policies.edges.shape import GraphFragment, Relation, Union, premise
from policies.facts.site import SiteFacts
from tests.policies.joining import declared
from tests.policies.workspace import assumptions, changed, full_site, sharing

#: The ends of an edge, and the facts that are unstated, that are broken, and that keep it away.
Row = tuple[str, str, tuple[str, ...], tuple[str, ...], tuple[str, ...]]

SITE = full_site()
GUID = "00000001000000aa"


def rows(row: str, site: Site, *premises: Premise, labels: dict[str, frozenset[str]] | None = None) -> list[Row]:
    """The edges of one row with these premises of one owner's."""
    union = Union(SiteFacts(site), [GraphFragment("acme", (), labels or {}, premises)])
    edges = (edge for rule in GUARDED_EDGES if rule.id == row for edge in rule.edges(union))
    return [(edge.a, edge.b, _words(edge.missing), _words(edge.broken), _words(edge.held)) for edge in edges]


def _words(facts: Iterable[Fact]) -> tuple[str, ...]:
    return tuple(map(str, facts))


def guards(place: str, *names: str) -> tuple[str, ...]:
    return tuple(sorted(f"{place}.{name}" for name in names))


ALL = {name: guards(f"assumptions.{name}", *known) for name, known in ASSUMPTION_GUARDS.items()}

SERVER, HOST, FABRIC = "dev:acme:s", "poplar-1", "fabric:ib"
#: Row, premise, the ends of its edges with the assumption and the guards of it that keep each away.
CASES: list[tuple[str, Premise, list[tuple[str, str, str, tuple[str, ...]]]]] = [
    ("A2", premise(Relation.CAPABILITY, "cap:acme"), [("cap:acme", "cloud:sandbox", "A2", ALL["A2"])]),
    (
        "A9", premise(Relation.SETTLED, "former:acme:machine:1", "dev:1/rnic"),
        [("dev:1/rnic", "former:acme:machine:1", "A9", ALL["A9"])],
    ),
    (
        "A10", premise(Relation.CLAIM, "V:sandbox:vxlan:7", "acme", "net", "VXLAN 7", "held"),
        [("V:sandbox:vxlan:7", "foreign:sandbox", "A10", ALL["A10"])],
    ),
    ("E17", premise(Relation.NVLINK, "N:d:1", "fabric:d"), [("N:d:1", "fabric:d", "A8", ALL["A8"])]),
    (
        "E18", premise(Relation.GUEST, SERVER, "nobodys", "server"),
        [
            (SERVER, "dev:nobodys", "A5", guards("assumptions.A5", "iommu", "no_host_network", "pages_zeroed")),
            (SERVER, "cpu:nobodys", "A5", guards("assumptions.A5", "mitigations")),
        ],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("row", "fact", "expected"), CASES, ids=[case[0] for case in CASES])
def test_an_edge_that_an_assumption_keeps_away(
    row: str, fact: Premise, expected: list[tuple[str, str, str, tuple[str, ...]]]
) -> None:
    assert rows(row, SITE, fact) == [(a, b, (), (), held) for a, b, _, held in expected]
    for a, b, name, held in expected:
        for guard in held:
            short = guard.rpartition(".")[2]
            denied = rows(row, full_site(assumptions=assumptions(**{short: False})), fact)
            unknown = rows(row, full_site(assumptions=assumptions(**{short: None})), fact)
            assert (a, b, (), (guard,), ()) in denied, name
            assert (a, b, (guard,), (), ()) in unknown, name
            assert len(denied) == len(unknown) == len(expected)


def test_a_host_is_its_serial_where_the_site_lists_it() -> None:
    serial = SITE.host[HOST].serial
    found = rows("E18", SITE, premise(Relation.GUEST, SERVER, HOST, "server"))
    assert [row[1] for row in found] == [f"dev:{serial}", f"cpu:{serial}"]


def test_only_a_listed_host_has_a_bmc() -> None:
    assert rows("E14", SITE, premise(Relation.METAL, SERVER, "nobodys")) == []
    (found,) = rows("E14", SITE, premise(Relation.METAL, SERVER, HOST))
    assert (found[0], found[4]) == (SERVER, ALL["A13"])


# Gateways.


def gateway(router: str, addresses: str, outside: str = EXTERNAL_REFERENCE) -> Premise:
    return premise(Relation.GATEWAY, f"R:acme:{router}", outside, addresses, "acme")


def test_gateways() -> None:
    """Each by itself: one that leads elsewhere, and one whose addresses nothing translates, leave the others alone."""
    scope = {*guards("sharing.external.guards", *SHARING_GUARDS["external-network"]), "external.address_scope"}
    facts = (gateway("a", "filtered", "cloud:Network/x"), gateway("b", "filtered"), gateway("c", "IPv6"))
    found = rows("E11", SITE, *facts)
    copies = [f"X:external@R:acme:{name}" for name in "bc"]
    assert [row[:2] for row in found] == [
        ("R:acme:a", found[0][1]), ("R:acme:b", copies[0]), (copies[0], "X:external"), ("R:acme:c", copies[1]),
        (copies[1], "X:external"),
    ]  # fmt: skip
    assert found[0][1].startswith("ref:")
    assert [row[2:] for row in found] == [
        ((), (), ()), ((), (), ()), ((), (), found[2][4]), ((), (), ()),
        ((), ("a subnet of the router is IPv6, and the scope outside is for IPv4",), ()),
    ]  # fmt: skip
    assert set(found[2][4]) == scope


@pytest.mark.parametrize("table", ["scopes.external", "rights.AddressScope", "rights.SubnetPool"])
def test_scopes_that_nobody_listed_may_be_behind_a_gateway(table: str) -> None:
    """A gateway that is filtered perhaps lets them pass; one that is known to let all pass does, whatever is listed."""
    name, _, of = table.partition(".")
    left = tuple(
        item.model_copy(
            update={"devices": tuple(device for device in item.devices if (item.table, device) != (name, of))}
        )
        for item in SITE.complete
    )
    assert left != SITE.complete
    fact, unlisted = gateway("b", "filtered"), (f"complete.{table}",)
    filtering = guards("sharing.external.guards", "l3_agent_enforces_scopes")[0]
    for stated, expected in (
        (True, (unlisted, (), ())), (False, ((), (filtering,), ())), (None, ((*unlisted, filtering), (), ())),
    ):  # fmt: skip
        shared = sharing(l3_agent_enforces_scopes=stated)
        copy, hub = rows("E11", full_site(sharing=shared, complete=left), fact)
        assert (copy[2:], hub[2:]) == (((), (), ()), expected)


# Terminals.


def test_a_terminal_of_a_kind_that_the_site_declares_only_of_infiniband_ports() -> None:
    """Such a port has no address to be met at, so the appliance itself is not declared."""
    copy = premise(Relation.COPY, SERVER, "port:acme:p", "storage-appliance", "acme")
    shared = (*sharing(), *declared(GUID, "storage-appliance")[-1:])
    (found,) = rows("E9", full_site(sharing=shared), copy)
    assert found == (SERVER, "port:acme:p", (), ("sharing declares no storage-appliance",), ())
    (held,) = rows("E9", full_site(sharing=(*sharing(), *declared("files", "storage-appliance")[-1:])), copy)
    assert held[4] == guards("sharing.extra.guards", *SHARING_GUARDS["storage-appliance"])


def test_who_is_not_welcome_meets_the_terminal_itself() -> None:
    """An InfiniBand port that is declared for another tenant: an edge besides the one that the guards keep away."""
    key = [premise(Relation.KEY, "K:ib-1:5", f"guid:{guid}", how, FABRIC) for guid, how in (
        ("0000000100000001", "limited"), (GUID, "full"),
    )]  # fmt: skip
    labels = {"guid:0000000100000001": frozenset({"acme"})}
    for audience, met in (("acme", 0), ("globex", 1)):
        shared = (*sharing(), *declared(GUID, "storage-appliance", audience)[-1:])
        found = rows("E19", full_site(sharing=shared), *key, labels=labels)
        assert len([row for row in found if row[3] == (f"sharing.{shared[-1].name}.audience",)]) == met


def test_a_terminal_does_not_meet_itself() -> None:
    """Also where its port carries the label of a tenant that it is not declared for."""
    shared = (*sharing(), *declared(GUID, "storage-appliance", "acme")[-1:])
    key = premise(Relation.KEY, "K:ib-1:5", f"guid:{GUID}", "full", FABRIC)
    found = rows("E19", full_site(sharing=shared), key, labels={f"guid:{GUID}": frozenset({"globex"})})
    assert [row for row in found if row[0] == row[1]] == []


# Links.


def test_the_parts_of_every_machine_are_apart() -> None:
    """Management passes neither to the RNIC nor, by the gateway, to the BMC."""
    serials = [machine.serial for machine in SITE.machines]
    pairs = [
        (f"dev:{serial}/{a}", f"dev:{serial}/{b}") for serial in serials for a, b in (("rnic", "gw"), ("gw", "bmc"))
    ]
    assert rows("E15", SITE) == [(a, b, (), (), ALL["A3"]) for a, b in pairs]


def test_a_link_with_one_machine_joins_nothing() -> None:
    """The other end is of a machine that the site does not list."""
    plain = full_site(cables=(), physical_networks=SITE.physical_networks)
    ends = [Endpoint(device=SITE.machines[0].name, interface="x"), Endpoint(device="nobodys", interface="y")]
    for a, b in (ends, ends[::-1]):
        cable = Cable.model_validate({"a": a, "b": b, "kind": "ipu-link"})
        assert rows("E16", changed(plain, cables=(cable,))) == []


def test_only_links_that_are_no_network_join_machines() -> None:
    """Two management ports on one cable are a wire like any other."""
    one, other = (item.name for item in SITE.machines[:2])
    plain = full_site(cables=(), physical_networks=SITE.physical_networks)
    ends = {"a": Endpoint(device=one, interface="x"), "b": Endpoint(device=other, interface="y")}
    for kind, count in (("ipu-link", 1), ("sync-link", 1), ("gw-link", 1), ("ethernet", 0)):
        cable = Cable.model_validate(ends | {"kind": kind})
        assert len(rows("E16", changed(plain, cables=(cable,)))) == count
