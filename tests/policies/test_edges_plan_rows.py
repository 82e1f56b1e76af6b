"""A plan's own edges, row by row, and what it states for others about them."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from policies.edges.plan_fragment import volume_holders
from policies.facts import identities as ids
from policies.facts.data import AttachmentFact, ShareAccessFact, VolumeFact
from policies.facts.fabric import AllocationFact, NvlinkFact, PartitionKeyFact
from policies.facts.kinds import RouterFact, ServerFact, SubnetFact
from policies.facts.rights import TrunkFact
from tests.builders.pod64 import external
from tests.policies.joining import vlan
from tests.policies.plan_share import (
    A100,
    GUID,
    MACHINE,
    SHARED_GUID,
    P,
    edges,
    leg,
    network,
    plan,
    port,
    premises,
    server,
    share,
    site,
)

# E5, E6, E7: ports.

FUNCTIONS = "a virtual function with a VLAN set by the host"
ORDINARY = "an ordinary vNIC reaches its network's segment"
NEUTRONS = "V:sandbox:vxlan:7"


@pytest.mark.parametrize(
    ("net", "item", "number", "row"),
    [
        ({}, {}, 100, "E6"),
        ({}, {"port_security": False}, 100, "E5"),
        ({"port_security": False}, {}, 100, "E5"),
        ({"segment": 0}, {}, 0, "E5"),
        # The cloud chooses it: nobody knows which VLAN that is.
        ({"segment": None}, {}, 0, "E6"),
        ({"kind": "flat", "segment": None}, {}, 0, "E5"),
        ({"kind": "flat", "segment": 100}, {}, 0, "E5"),
    ],
)
def test_a_virtual_function(net: dict[str, Any], item: dict[str, Any], number: int, row: str) -> None:
    facts = plan(networks=(network(**net),), ports=(port(vnic_type="direct", **item),))
    assert edges(FUNCTIONS, facts) == [(P, leg(number), row), (P, leg(number, "e1"), row)]
    assert edges(ORDINARY, facts) == []
    free = [(P, "SN-h/e0"), (P, "SN-h/e1")] if row == "E5" else []
    assert premises(facts, "every-vlan") == free


def test_a_virtual_function_that_takes_every_tag() -> None:
    """4095 is no VLAN: the premise alone says where it gets to."""
    facts = plan(networks=(network(segment=4095),), ports=(port(vnic_type="direct"),))
    assert edges(FUNCTIONS, facts) == []
    assert premises(facts, "every-vlan") == [(P, "SN-h/e0"), (P, "SN-h/e1")]


@pytest.mark.parametrize(
    ("net", "wires"),
    [
        ({}, [leg(100), leg(100, "e1")]),
        ({"segment": None}, [leg(0), leg(0, "e1")]),
        ({"segment": 4095}, [leg(4095), leg(4095, "e1")]),
        ({"kind": "vxlan", "segment": 7, "physical_network": None}, [NEUTRONS]),
        ({"kind": "vxlan", "segment": None, "physical_network": None}, ["V:sandbox:vxlan:0"]),
    ],
)
def test_an_ordinary_port(net: dict[str, Any], wires: list[str]) -> None:
    facts = plan(networks=(network(**net),), ports=(port(), port("far", network="elsewhere")))
    assert edges(ORDINARY, facts) == [(P, wire, "E7") for wire in wires]
    assert edges(FUNCTIONS, facts) == []
    assert premises(facts, "every-vlan") == []


SPARE = "a port without a server, on somebody else's network"


@pytest.mark.parametrize(
    ("net", "item", "wires"),
    [
        ({"owner": "op"}, {}, [A100]),
        ({"owner": "op"}, {"server": "s"}, []),
        ({}, {}, []),
        ({"owner": "op", "kind": "vxlan", "segment": 7}, {}, [NEUTRONS]),
        ({"kind": "flat", "segment": None}, {}, [leg(0), leg(0, "e1")]),
        ({"kind": "flat", "segment": None}, {"server": "s"}, []),
        # Without a number nobody knows which wire it is.
        ({"owner": "op", "segment": None}, {}, []),
    ],
)
def test_a_port_without_a_server(net: dict[str, Any], item: dict[str, Any], wires: list[str]) -> None:
    facts = plan(networks=(network(**net),), ports=(port(**({"server": None, "host": None} | item)),))
    assert edges(SPARE, facts) == [(P, wire, "E7") for wire in wires]


@pytest.mark.parametrize(
    ("kind", "claimed"), [("vlan", [A100]), ("flat", []), ("vxlan", ["V:sandbox:vxlan:100"]), ("gre", [])]
)
def test_what_a_network_claims(kind: str, claimed: list[str]) -> None:
    """A flat one has no id, whatever number stands there; nor has a kind that the proof does not know."""
    found = share(plan(networks=(network(kind=kind),)))
    assert [node for node in found.labels if node != "cap:acme"] == claimed
    assert found.exclusive == {ids.segment_identity(wire) for wire in claimed}


@pytest.mark.parametrize(
    ("net", "item", "place"),
    [
        ({}, {"host": "h"}, None),
        ({}, {"host": "gone"}, ("gone", "fabric", "100")),
        ({"physical_network": "other"}, {"host": "h"}, ("h", "other", "100")),
        ({"physical_network": "other", "segment": None}, {"host": "h"}, ("h", "other", "0")),
        ({"physical_network": None}, {"host": "h"}, ("h", "", "100")),
        ({"kind": "vxlan"}, {"host": "gone"}, None),
        ({}, {"host": None}, None),
        ({}, {"host": "w", "vnic_type": "baremetal"}, None),
        ({"physical_network": "none"}, {"host": "w", "vnic_type": "baremetal"}, ("w", "none", "100")),
        # A virtual server on a host that is given out whole has no interface there.
        ({}, {"host": "w"}, ("w", "fabric", "100")),
        # And a whole host that the site runs as a hypervisor has its bridges.
        ({}, {"host": "h", "vnic_type": "baremetal"}, None),
    ],
)
def test_a_port_whose_place_nobody_knows(
    net: dict[str, Any], item: dict[str, Any], place: tuple[str, str, str] | None
) -> None:
    facts = plan(networks=(network(**net),), ports=(port(**item),))
    assert premises(facts, "unplaced") == ([] if place is None else [(P, *place)])


# E5: whole hosts.

METAL, METAL_PORT = "a bare-metal server is on every interface of its host", "a bare-metal port is on the switch ports"


@pytest.mark.parametrize(
    ("name", "met"),
    [("w", ["dev:SN-w/e0", "dev:SN-w/e1"]), ("h", ["dev:SN-h", "dev:SN-h/e0", "dev:SN-h/e1"]), ("gone", ["ref:gone"])],
)
def test_a_bare_metal_server(name: str, met: list[str]) -> None:
    facts = plan(servers=(server(host=name, is_bare_metal=True), server("v", host=name)))
    assert edges(METAL, facts) == [("dev:acme:s", node, "E5") for node in met]
    bridges = [("dev:acme:s", f"SN-h/{leg}") for leg in ("e0", "e1")] if name == "h" else []
    assert premises(facts, "every-vlan") == bridges
    assert premises(facts, "metal") == [("dev:acme:s", name)]
    assert premises(facts, "guest") == [("dev:acme:v", name, "server")]


def test_a_bare_metal_port() -> None:
    net = network()
    facts = plan(networks=(net,), ports=(port(host="w", vnic_type="baremetal"), port("q", host="w")))
    assert edges(METAL_PORT, facts) == [(P, "port:SN-a/3", "E5")]
    assert premises(facts, "every-vlan") == []


def test_a_bare_metal_port_on_a_hypervisor_is_held_to_no_vlan() -> None:
    facts = plan(networks=(network(),), ports=(port(vnic_type="baremetal"),))
    assert edges(METAL_PORT, facts) == []
    assert premises(facts, "every-vlan") == [(P, "SN-h/e0"), (P, "SN-h/e1")]


# E8 and E9: trunks and servers.

TRUNKS, DEVICES = "who has the parent port of a trunk", "a server forwards between its ports"


def trunk(parent: str, *subs: str) -> TrunkFact:
    return TrunkFact("t", "acme", parent, tuple((name, number) for number, name in enumerate(subs, start=7)))


def test_a_trunk_joins_its_ports() -> None:
    facts = plan(ports=(port(), port("q")), servers=(server("s", "p"),), trunks=(trunk("p", "q", "far"),))
    assert edges(TRUNKS, facts) == [(P, "port:acme:q", "E8"), (P, "ref:far", "E8")]


@pytest.mark.parametrize(("owner", "is_split"), [("op", True), ("acme", False)])
def test_a_trunk_of_a_controller(owner: str, is_split: bool) -> None:
    """Only where it is the operator's alone: whose server it is decides, not what it is called."""
    item = server("c", "p", labels=frozenset({owner}), is_controller=True)
    facts = plan(ports=(port(), port("q")), servers=(item,), trunks=(trunk("p", "q"),))
    assert edges(TRUNKS, facts) == ([] if is_split else [(P, "port:acme:q", "E8")])
    assert edges(DEVICES, facts) == ([] if is_split else [("dev:acme:c", P, "E9")])
    copies = [("dev:acme:c", P, "vipu-controller", "acme")] if is_split else []
    assert premises(facts, "copy") == copies


def test_a_sub_port_of_a_whole_host_is_on_its_networks_wire() -> None:
    metal, other, plain = (port(name, vnic_type=kind) for name, kind in (
        ("q", "baremetal"), ("r", "baremetal"), ("v", "normal"),
    ))  # fmt: skip
    facts = plan(networks=(network(),), ports=(port(), metal, other, plain), trunks=(trunk("p", "q", "v"),))
    assert edges(TRUNKS, facts) == [
        (P, "port:acme:q", "E8"), (P, "port:acme:v", "E8"), ("port:acme:q", A100, "E8"),
    ]  # fmt: skip


def test_the_ports_of_a_server() -> None:
    facts = plan(ports=(port(),), servers=(server("s", "p", "far"),))
    assert edges(DEVICES, facts) == [("dev:acme:s", P, "E9"), ("dev:acme:s", "ref:far", "E9")]


# E9, E16, E17: what servers, controllers and fabric managers join.


def test_volumes_at_servers() -> None:
    attached = tuple(AttachmentFact(f"{a}-{b}", a, b) for a in ("s", "far") for b in ("v", "gone"))
    facts = plan(
        servers=(server(),),
        volumes=(VolumeFact("v", "acme", "site:VolumeType/ceph", encrypted=False),),
        attachments=attached,
    )
    own, volume = "dev:acme:s", ids.volume("acme", "v")
    assert edges("a server reads and writes the volumes", facts) == sorted(
        (a, b, "E9") for a in (own, "ref:far") for b in (volume, "ref:gone")
    )


@pytest.mark.parametrize(
    ("servers", "expected"),
    [
        ((server(),), {"acme"}),
        ((server(labels=frozenset({"acme", "globex"})),), {"acme"}),
        ((server(labels=frozenset({"op", "globex"})),), {"acme", "op", "globex"}),
        ((), {"acme", "foreign"}),
    ],
)
def test_who_has_an_attached_volume(servers: tuple[ServerFact, ...], expected: set[str]) -> None:
    volumes = (
        VolumeFact("v", "acme", "site:VolumeType/ceph", encrypted=False),
        VolumeFact("w", "acme", "site:VolumeType/ceph", encrypted=False),
    )
    attached = (AttachmentFact("1", "s", "v"), AttachmentFact("2", "s", "none"))
    assert volume_holders(plan(servers=servers, volumes=volumes, attachments=attached)) == {
        ids.volume("acme", "v"): expected
    }


def test_two_servers_of_one_volume_are_both_counted() -> None:
    servers = (server("s", labels=frozenset({"op"})), server("t", labels=frozenset({"globex"})))
    attached = (AttachmentFact("1", "s", "v"), AttachmentFact("2", "t", "v"))
    facts = plan(
        servers=servers,
        volumes=(VolumeFact("v", "acme", "site:VolumeType/ceph", encrypted=False),),
        attachments=attached,
    )
    assert volume_holders(facts) == {ids.volume("acme", "v"): {"acme", "op", "globex"}}


def test_an_allocation_joins_its_machines() -> None:
    item = AllocationFact("al", "acme", None, "c", ("m", "gone"), "mesh")
    facts, node = plan(allocations=(item,)), ids.allocation("acme", "al")
    assert edges("a V-IPU allocation joins its machines", facts) == [
        ("dev:SN-m/rnic", node, "E16"), ("ref:gone", node, "E16"),
    ]  # fmt: skip
    found = share(facts)
    assert found.labels == dict.fromkeys(sorted({node, "dev:SN-m/rnic", "ref:gone", "cap:acme"}), frozenset({"acme"}))
    assert found.exclusive == MACHINE


def test_an_nvlink_partition_joins_its_gpus() -> None:
    facts = plan(nvlinks=(NvlinkFact("nv", "d", 3, ("0", "1")),))
    node, gpus = ids.nvlink_partition("d", 3), [ids.gpu("d", name) for name in ("0", "1")]
    assert edges("an NVLink partition joins its GPUs", facts) == [(gpu, node, "E17") for gpu in gpus]
    assert set(share(facts).labels) == {"cap:acme", node, *gpus}
    assert share(facts).exclusive == {node, *gpus}
    assert premises(facts, "nvlink") == [(node, ids.fabric("d"))]


@pytest.mark.parametrize(("name", "prefix"), [("ib", "fe80000000000000"), ("elsewhere", "elsewhere")])
@pytest.mark.parametrize("is_tenant", [True, False])
def test_a_partition_key(name: str, prefix: str, is_tenant: bool) -> None:
    """A declared port is nobody's; what the operator lets into a key of its own is not the operator's."""
    item = PartitionKeyFact("key", name, 0x8005, ((GUID, "full"), (SHARED_GUID, "full")))
    facts = plan(keys=(item,), owner="acme" if is_tenant else "op", is_tenant=is_tenant)
    key, own = ids.partition_key(prefix, 0x8005), ids.infiniband_port(GUID)
    held = {key, own} if is_tenant else {key}
    found = share(facts)
    assert {node for node in found.labels if node != "cap:acme"} == held
    assert found.exclusive == held
    ports = (own, ids.infiniband_port(SHARED_GUID))
    assert set(premises(facts, "key")) == {(key, node, "full", ids.fabric(prefix)) for node in ports}


# E7, E10, E12, E13: networks.


@pytest.mark.parametrize(("net", "wires"), [("net", [A100]), ("far", ["ref:far"])])
def test_the_appliance_has_an_address_on_the_network_of_a_grant(net: str, wires: list[str]) -> None:
    item = ShareAccessFact("g", "acme", "sh", net, "10.0.0.0/24", "10.0.0.9", root_squash=True)
    facts, address = plan(networks=(network(),), accesses=(item,)), ids.share_address("sandbox", "10.0.0.9")
    assert edges("the storage appliance has an address", facts) == [(address, wire, "E7") for wire in wires]
    found = share(facts)
    assert address in found.exclusive
    assert found.grants == ("share sh at 10.0.0.9: 10.0.0.0/24",)
    assert premises(facts, "copy") == [(ids.share_service("sandbox"), address, "storage-appliance", "acme")]


def router(*subnets: str, **fields: Any) -> RouterFact:
    known: dict[str, Any] = {"name": "r", "owner": "acme", "external_network": None, "subnets": subnets}
    return RouterFact(**(known | fields))


def subnet(name: str, net: str = "net", **fields: Any) -> SubnetFact:
    known: dict[str, Any] = {
        "name": name, "owner": "acme", "network": net, "cidr": "10.0.0.0/24", "gateway": None, "dhcp": False,
        "subnet_pool": None,
    }  # fmt: skip
    return SubnetFact(**(known | fields))


def test_a_router_joins_the_segments_of_its_interfaces() -> None:
    nets = (network(), network("out", external=True, kind="flat", segment=None))
    subnets = (subnet("one"), subnet("two", "out"), subnet("three", "far"))
    facts = plan(networks=nets, subnets=subnets, routers=(router("one", "two", "three", "four"),))
    met = [A100, "X:acme%2Fout", "ref:three", "ref:four"]
    assert edges("a router joins the segments", facts) == sorted(("R:acme:r", node, "E10") for node in met)
    assert share(facts).labels["R:acme:r"] == {"acme"}


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("plain",), "filtered"), (("plain", "pooled"), "in scope"), (("plain", "six"), "IPv6"),
        (("six", "pooled"), "in scope"), (("far",), "filtered"), ((), "filtered"),
    ],
)  # fmt: skip
def test_the_gateway_of_a_router(names: tuple[str, ...], said: str) -> None:
    subnets = (subnet("plain"), subnet("pooled", subnet_pool="pool"), subnet("six", cidr="fd00::/64"))
    closed, open_ = router(*names, name="in"), router(*names, external_network="site:Network/external")
    facts = plan(subnets=subnets, routers=(closed, open_))
    assert premises(facts, "gateway") == [("R:acme:r", "site:Network/external", said, "acme")]


def test_ports_outside() -> None:
    nets = (network(), network("out", external=True, kind="flat", segment=None))
    places = ("site:Network/external", "out", "far", "net")
    ports = tuple(port(f"p{number}", network=name) for number, name in enumerate(places))
    assert edges("a port on an external network reaches its hub", plan(networks=nets, ports=ports)) == [
        ("port:acme:p0", "X:external", "E12"), ("port:acme:p1", "X:acme%2Fout", "E12"),
        ("port:acme:p2", "ref:far", "E7"),
    ]  # fmt: skip


Kind = Literal["flat", "vlan"]


@pytest.mark.parametrize(
    ("kind", "segment", "physical", "hub", "wires"),
    [
        ("flat", None, "fabric", "X:acme%2Fnet", [leg(0), leg(0, "e1")]),
        ("vlan", 100, "fabric", "X:acme%2Fnet", [A100]),
        ("vlan", 300, "fabric", "X:external", [vlan("a", 300)]),
        ("vlan", 300, "other", "X:acme%2Fnet", [vlan("b", 300)]),
    ],
)
def test_an_external_network_of_a_plan(
    kind: Kind, segment: int | None, physical: str, hub: str, wires: list[str]
) -> None:
    """The site's own is VLAN 300 of `fabric`."""
    on = site(external=external(physical_network="fabric", network_type="vlan", vlan=300))
    item = network(kind=kind, segment=segment, physical_network=physical, external=True, shared=True)
    facts = plan(networks=(item, network("inner", segment=7)))
    assert edges("the wire of an external network", facts, on) == [(hub, wire, "E12") for wire in wires]
    plugged = edges("a project may plug into its own networks", facts, on)
    assert plugged == sorted([("cap:acme", hub, "E13"), ("cap:acme", vlan("a", 7), "E13")])
    labels = share(facts, on).labels
    assert labels[hub] == {"world"}
    assert not set(wires) & set(labels)
    claimed = wires if kind == "vlan" else []
    assert premises(facts, "offered", on) == sorted((node,) for node in (hub, *claimed))


@pytest.mark.parametrize(
    ("fields", "is_tenant", "points"),
    [
        ({}, True, [A100]), ({"owner": "op"}, True, []), ({"kind": "flat"}, True, [leg(0), leg(0, "e1")]),
        ({}, False, []),
    ],
)  # fmt: skip
def test_a_project_may_plug_into_its_own_networks(fields: dict[str, Any], is_tenant: bool, points: list[str]) -> None:
    facts = plan(networks=(network(**fields),), is_tenant=is_tenant)
    found = edges("a project may plug into its own networks", facts)
    assert found == [("cap:acme", point, "E13") for point in points]
    assert premises(facts, "capability") == ([("cap:acme",)] if is_tenant else [])


@pytest.mark.parametrize(("shared", "is_external"), [(True, False), (False, True), (False, False)])
def test_what_a_network_offers_and_claims(shared: bool, is_external: bool) -> None:
    facts = plan(networks=(network(shared=shared, external=is_external),))
    assert premises(facts, "offered") == ([(A100,)] if shared else [])
    assert premises(facts, "claim") == [(A100, "acme", "net", "VLAN 100 on fabric", "held")]
