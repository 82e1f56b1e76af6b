"""Discovered links against a site's cables: each way in which a subnet can be cabled otherwise, and the intact twin."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest

from interlock.model.site.inventory import Cable, Device, Endpoint, Site
from interlock.ufm.answers import UfmMisread
from interlock.ufm.cabling import fabric_cable_findings, has_cables
from interlock.ufm.client import UfmClient
from interlock.ufm.discovered import DiscoveredFabric, FabricLink, LinkEnd, hosts_of, links_of, switches_of
from interlock.ufm.errors import UfmError
from interlock.ufm.findings import CableFinding
from tests.builders.gpu_sites import gpu_site, guid_of
from tests.ufm.double import Double

NEW, UFM = "0002c9000000ff01", "0002c9000000ff02"
_PLAIN = gpu_site(units=1, nodes=2, spines=1)
#: With a UFM at the last port of a leaf.
SITE = _PLAIN.with_parts(
    devices=(*_PLAIN.devices, Device(name="ufm-1", role="appliance")),
    cables=(
        *_PLAIN.cables,
        Cable(
            a=Endpoint(device="leaf-su01-r1", interface="64"), b=Endpoint(device="ufm-1", interface="1"),
            kind="infiniband",
        ),
    ),
)  # fmt: skip
SWITCHES = {item.name: item.guid or "" for item in SITE.fabric_switches}


def end(text: str) -> LinkEnd:
    """`leaf-su01-r1:1`, `su01-n01:compute1`, or a GUID."""
    device, _, interface = text.partition(":")
    if device in SWITCHES:
        return LinkEnd(SWITCHES[device], int(interface))
    if device == "ufm-1":
        return LinkEnd(UFM, 1)
    if not interface:
        return LinkEnd(text, 1)
    return LinkEnd(guid_of(int(device[2:4]), int(device[-2:]), int(interface.removeprefix("compute"))), 1)


def link(a: str, b: str) -> FabricLink:
    first, second = sorted((end(a), end(b)))
    return FabricLink(first, second)


def whole() -> DiscoveredFabric:
    """The subnet, cabled as the site has it."""
    links = tuple(sorted(link(str(one.a), str(one.b)) for one in SITE.cables if one.kind == "infiniband"))
    ports = {port.guid: node.name for node in SITE.gpu_nodes for port in node.ports if port.guid}
    return DiscoveredFabric(links, ports | {UFM: "ufm-1"}, {guid: name for name, guid in SWITCHES.items()})


def cabled(
    *,
    out: tuple[FabricLink, ...] = (),
    put: tuple[FabricLink, ...] = (),
    hosts: Mapping[str, str] = MappingProxyType({}),
) -> DiscoveredFabric:
    """Links taken out and put in, and hosts besides."""
    base = whole()
    assert set(out) <= set(base.links)
    links = tuple(sorted({*base.links, *put} - {*out}))
    return replace(base, links=links, hosts={**base.hosts, **hosts})


def gone(fabric: DiscoveredFabric, *guids: str) -> DiscoveredFabric:
    """Without these ports."""
    return replace(fabric, hosts={guid: name for guid, name in fabric.hosts.items() if guid not in guids})


def found(fabric: DiscoveredFabric, site: Site = SITE) -> list[CableFinding]:
    return list(fabric_cable_findings(site, "compute", fabric))


def told(fabric: DiscoveredFabric, site: Site = SITE) -> list[str]:
    """`<kind>: <where>` of each finding."""
    return [f"{one.found}: {one.where}" for one in found(fabric, site)]


LEAF, NODE = "leaf-su01-r1:1", "su01-n01:compute1"
OTHER_LEAF, OTHER_NODE = "leaf-su01-r2:2", "su01-n02:compute2"
OLD = guid_of(1, 1, 1)


def test_as_it_is_stated_nothing_is_found() -> None:
    assert found(whole()) == []
    assert has_cables(SITE, "compute")
    assert not has_cables(SITE, "elsewhere")


def test_swapped_cables_are_named_with_both_ends_of_both() -> None:
    swapped = cabled(
        out=(link(LEAF, NODE), link(OTHER_LEAF, OTHER_NODE)), put=(link(LEAF, OTHER_NODE), link(OTHER_LEAF, NODE))
    )
    first, second = found(swapped)
    assert (first.where, second.where) == (f"cable {LEAF} to {NODE}", f"cable {OTHER_LEAF} to {OTHER_NODE}")
    assert first.says == f"{LEAF} with {OTHER_NODE}, and {NODE} with {OTHER_LEAF}"
    assert second.says == f"{OTHER_LEAF} with {NODE}, and {OTHER_NODE} with {LEAF}"
    assert (first.nodes, second.nodes) == (("su01-n01",), ("su01-n02",))
    assert first.is_difference


def test_a_replaced_adapter_is_named_with_node_port_and_both_guids() -> None:
    fabric = gone(cabled(out=(link(LEAF, NODE),), put=(link(LEAF, NEW),), hosts={NEW: "su01-n01"}), OLD)
    (one,) = found(fabric)
    assert str(one) == (
        f"compute: node {NODE}: the site has GUID {OLD} for it; the subnet manager has discovered no port {OLD}, and "
        f"{NEW} port 1 (su01-n01) at {LEAF}, where it is cabled"
    )
    assert (one.guids, one.nodes, one.is_difference) == ((OLD, NEW), ("su01-n01",), True)


def test_the_node_that_lost_an_adapter_to_another_is_told_of_both() -> None:
    """The old adapter hangs at the other node's cable: whoever has it there is in the first one's partition."""
    other = guid_of(1, 2, 2)
    moved = cabled(
        out=(link(LEAF, NODE), link(OTHER_LEAF, OTHER_NODE)),
        put=(link(LEAF, NEW), link(OTHER_LEAF, NODE)),
        hosts={NEW: "su01-n01"},
    )
    assert told(gone(moved, other)) == [
        f"other peer: cable {LEAF} to {NODE}",
        f"other peer: cable {OTHER_LEAF} to {OTHER_NODE}",
    ]
    assert NEW in str(found(gone(moved, other))[0])


CASES: dict[str, tuple[Callable[[], DiscoveredFabric], list[str]]] = {
    "a cable is down": (
        lambda: gone(cabled(out=(link(LEAF, NODE),)), OLD),
        [f"not found: cable {LEAF} to {NODE}"],
    ),
    "a link to a spine is down": (
        lambda: cabled(out=(link("leaf-su01-r1:33", "spine-1:1"),)),
        ["not found: cable leaf-su01-r1:33 to spine-1:1"],
    ),
    "a cable is in another port of its leaf": (
        lambda: cabled(out=(link(LEAF, NODE),), put=(link("leaf-su01-r1:9", NODE),)),
        [f"other peer: cable {LEAF} to {NODE}"],
    ),
    "a cable more": (
        lambda: cabled(put=(link("leaf-su01-r1:40", "leaf-su01-r2:40"),)),
        ["not stated: link leaf-su01-r1:40 to leaf-su01-r2:40"],
    ),
    "a host that nobody knows": (
        lambda: cabled(put=(link("leaf-su01-r1:40", NEW),), hosts={NEW: "somebody"}),
        [f"stranger: GUID {NEW} (somebody)"],
    ),
    "a host that nobody knows, without a link": (
        lambda: cabled(hosts={NEW: ""}),
        [f"stranger: GUID {NEW} (a host without a name)"],
    ),
    "another host where the UFM is": (
        lambda: gone(
            cabled(
                out=(link("leaf-su01-r1:64", "ufm-1:1"),),
                put=(link("leaf-su01-r1:64", NEW),),
                hosts={NEW: "somebody"},
            ),
            UFM,
        ),
        ["stranger: cable leaf-su01-r1:64 to ufm-1:1"],
    ),
    "a host that calls itself as the UFM, elsewhere": (
        lambda: cabled(put=(link("leaf-su01-r1:40", NEW),), hosts={NEW: "ufm-1"}),
        [f"stranger: GUID {NEW} (ufm-1)"],
    ),
    "a switch that nobody knows": (
        lambda: replace(
            cabled(put=(link("leaf-su01-r1:40", NEW),)), switches={**whole().switches, NEW: "leaf-su01-r9"}
        ),
        [f"not stated: link {NEW} port 1 (leaf-su01-r9) to leaf-su01-r1:40"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_otherwise_is_found_once(case: str) -> None:
    fabric, wanted = CASES[case]
    assert sorted(told(fabric())) == wanted
    assert all(one.is_difference and one.hint for one in found(fabric()))


def test_a_node_that_is_off_is_told_once_and_is_no_difference() -> None:
    """Whoever has such a node in a partition hears of it there."""
    links = tuple(link(f"leaf-su01-r{rail}:1", f"su01-n01:compute{rail}") for rail in range(1, 9))
    off = gone(cabled(out=links), *(guid_of(1, 1, rail) for rail in range(1, 9)))
    (one,) = found(off)
    assert (str(one.found), one.where, one.is_difference) == ("absent", "node su01-n01", False)
    assert len(found(gone(cabled(out=links[1:]), *(guid_of(1, 1, rail) for rail in range(2, 9))))) == 7


def without_guids(*names: str) -> Site:
    """These switches and ports without a stated GUID."""
    switches = tuple(
        item.model_copy(update={"guid": None}) if item.name in names else item for item in SITE.fabric_switches
    )
    nodes = tuple(
        node.model_copy(
            update={
                "ports": tuple(
                    port.model_copy(update={"guid": None}) if f"{node.name}:{port.name}" in names else port
                    for port in node.ports
                )
            }
        )
        for node in SITE.gpu_nodes
    )
    return SITE.with_parts(fabric_switches=switches, gpu_nodes=nodes)


def test_a_switch_without_a_guid_is_known_by_its_name() -> None:
    site, guid = without_guids("leaf-su01-r1"), SWITCHES["leaf-su01-r1"]
    assert told(whole(), site) == []
    renamed = replace(whole(), switches={**whole().switches, guid: "MF0;some-switch"})
    (unknown,) = found(renamed, site)
    assert (str(unknown.found), unknown.where) == ("unknown", "switch leaf-su01-r1")
    assert not unknown.is_difference
    assert told(renamed) == [], "by its GUID it is known all the same"
    twice = replace(whole(), switches={**whole().switches, NEW: "LEAF-su01-r1"})
    assert told(twice, site) == ["unknown: switch leaf-su01-r1"]


def test_a_port_without_a_guid_is_unknown_and_its_guid_told() -> None:
    (unknown,) = found(whole(), without_guids(NODE))
    assert (str(unknown.found), unknown.where) == ("unknown", f"node {NODE}")
    assert OLD in unknown.says


def test_a_port_of_which_no_cable_is_stated_is_looked_for_all_the_same() -> None:
    cables = tuple(one for one in SITE.cables if NODE not in (str(one.a), str(one.b)))
    site = SITE.with_parts(cables=cables)
    assert told(whole(), site) == [f"not stated: link {NODE} to {LEAF}"]
    assert told(gone(cabled(out=(link(LEAF, NODE),)), OLD), site) == [f"not found: node {NODE}"]


# What UFM says

NAMED = {"source_port_name": "248a070300f88fe0_20", "destination_port_name": "0xEC0D9A03007D7D0B_2"}
BOTH = LinkEnd("248a070300f88fe0", 20), LinkEnd("ec0d9a03007d7d0b", 2)


@pytest.mark.parametrize(
    "value",
    [
        [{"name": "248a070300f88fe0_20:ec0d9a03007d7d0b_2", "destination_guid": "b8599f03000a77d0"}],
        [{"name": "ec0d9a03007d7d0b_2:248a070300f88fe0_20"}],
        [NAMED | {"name": "something"}],
        {"data": [NAMED], "num_of_pages": 1},
        [NAMED, NAMED],
    ],
)
def test_links_in_each_of_their_forms(value: Any) -> None:
    assert links_of(value) == (FabricLink(*BOTH),)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"data": [NAMED], "num_of_pages": 3}, "the list of links is one page of 3"),
        ({"links": []}, "the list of links is no list"),
        (["248a070300f88fe0_20"], "one of the links is str, not an object"),
        ([{"source_guid": "248a070300f88fe0"}], "does not say between which ports"),
        ([{"name": "a:b:c"}], "does not say between which ports"),
        ([{"name": "248a070300f88fe0:ec0d9a03007d7d0b"}], "is no name of a port"),
        ([{"name": "248a_1:ec0d9a03007d7d0b_2"}], "'248a' is no GUID"),
    ],
)
def test_links_that_cannot_be_read(value: Any, said: str) -> None:
    with pytest.raises(UfmMisread, match=said):
        links_of(value)


def test_hosts_and_switches_by_guid() -> None:
    assert hosts_of([{"guid": "0xAB00000000000001", "system_name": None}]) == {"ab00000000000001": ""}
    assert switches_of([{"system_guid": "ab00000000000002", "system_name": "leaf"}]) == {"ab00000000000002": "leaf"}
    with pytest.raises(UfmMisread, match="is no GUID"):
        switches_of([{"system_name": "leaf"}])


def test_a_list_that_cannot_be_read_names_ufm_and_path(double: Double, client: UfmClient) -> None:
    double.instead["GET", "/resources/links"] = (200, {}, '{"data": [], "num_of_pages": 2}')
    with pytest.raises(UfmError, match=r"UFM of ib-1 .* GET /resources/links: the list of links is one page of 2"):
        client.fabric()
