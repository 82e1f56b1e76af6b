"""What a plan labels, holds alone, and says of its servers."""

from __future__ import annotations

import pytest

from policies.facts import identities as ids
from policies.facts.access import KeypairFact
from policies.facts.data import BucketPolicyFact, VolumeFact
from policies.facts.fabric import SwitchPortFact
from policies.facts.kinds import ServerFact
from policies.facts.rights import FloatingIpFact
from tests.builders.pod64 import flavors
from tests.policies.plan_share import (
    MACHINE,
    P,
    controller,
    plan,
    port,
    premises,
    server,
    share,
    site,
)

# Labels, and what a plan has alone.


def set_port(device: str, interface: str, at: str = "a", number: int = 5) -> SwitchPortFact:
    return SwitchPortFact("sp", at, number, device, interface, 100, None)


@pytest.mark.parametrize(
    ("item", "labelled", "held"),
    [
        (set_port("m", "rnic"), {"dev:SN-m/rnic"}, MACHINE),
        (set_port("m", "mgmt"), set(), MACHINE),
        (set_port("w", "e0"), {"dev:SN-w/e0"}, {ids.host_identity("SN-w")}),
        (set_port("w", "bmc"), set(), {ids.host_identity("SN-w")}),
        (set_port("h", "e0"), set(), set()),
        (set_port("gone", "e0"), set(), set()),
    ],
)  # fmt: skip
def test_whose_device_is_behind_a_port_that_a_plan_sets(
    item: SwitchPortFact, labelled: set[str], held: set[str]
) -> None:
    found = share(plan(switch_ports=(item,)))
    assert {node for node in found.labels if node != "cap:acme"} == labelled
    assert found.exclusive == {*held, ids.port_identity("SN-a", 5)}
    assert premises(plan(switch_ports=(item,)), "untagged") == [("SN-a", "5", "100")]


def test_a_port_of_a_switch_that_the_site_does_not_list() -> None:
    facts = plan(switch_ports=(set_port("gone", "e0", at="nowhere"),))
    assert share(facts).exclusive == set()
    assert premises(facts, "untagged") == []


@pytest.mark.parametrize(
    ("item", "of", "expected"),
    [
        (server("s", "p"), "acme", {"acme"}), (server("s", "p"), "op", {"op"}),
        # Split off; but whoever has the port in its own project takes it elsewhere.
        (controller("p"), "op", None), (controller("p"), "acme", {"acme"}),
    ],
)  # fmt: skip
def test_whose_a_port_is(item: ServerFact, of: str, expected: set[str] | None) -> None:
    labels = share(plan(ports=(port(owner=of),), servers=(item,))).labels
    assert labels.get(P) == expected
    assert labels[f"dev:acme:{item.name}"] == item.labels


def test_a_lent_host_carries_the_labels_of_its_server() -> None:
    both = frozenset({"acme", "globex"})
    found = share(plan(servers=(server(host="w", labels=both, is_bare_metal=True), server("v", host="h"))))
    assert {found.labels[node] for node in ("dev:SN-w/e0", "dev:SN-w/e1", "dev:acme:s")} == {both}
    assert "dev:SN-h/e0" not in found.labels
    assert found.exclusive == {ids.host_identity("SN-w")}
    assert share(plan(servers=(server(host="gone", is_bare_metal=True),))).exclusive == set()


def test_a_volume_is_its_owners() -> None:
    assert share(plan(volumes=(VolumeFact("v", "acme", "site:VolumeType/ceph", encrypted=False),))).labels[
        ids.volume("acme", "v")
    ] == {"acme"}


@pytest.mark.parametrize(("labels", "is_own"), [({"acme"}, True), ({"acme", "op"}, True), ({"op"}, False)])
def test_keys_that_open_servers(labels: set[str], is_own: bool) -> None:
    item = server(labels=frozenset(labels), login_keys=("in-user-data",))
    pair = KeypairFact(name="k", fingerprints=("in-pair",))
    found = share(plan(servers=(item,), keypairs=(pair,))).exclusive
    expected = {"in-pair", *(["in-user-data"] if is_own else [])}
    assert found == {ids.login_key_identity(name) for name in expected}


def test_entries_from_outside() -> None:
    entry = FloatingIpFact("f", "acme", "site:Network/external", "192.0.2.7", "p")
    policies = (
        BucketPolicyFact(name="open", bucket="b", credential="k", grants=((("somebody", "*"), ("read", "write")),)),
        BucketPolicyFact(name="shut", bucket="c", credential="k", grants=((("somebody",), ("read",)),)),
    )
    found = share(plan(floating_ips=(entry,), bucket_policies=policies)).exposures
    assert found == ("bucket b: everybody may read and write", "floating address 192.0.2.7 leads to p")


# What a server takes of its host, and the devices that its flavour hands out.


def test_what_servers_take() -> None:
    guests = (server("s", flavor="site:Flavor/poplar.half"), controller(), server("far", host="gone"))
    facts = plan(servers=guests)
    found = premises(facts, "takes")
    assert [line[:2] for line in found] == [
        (ids.processors("SN-h"), "dev:acme:c"), (ids.processors("SN-h"), "dev:acme:s"),
    ]  # fmt: skip
    assert premises(facts, "guest") == [
        ("dev:acme:c", "h", "controller"), ("dev:acme:far", "gone", "server"), ("dev:acme:s", "h", "server"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("flavor", "hands_out"), [("site:Flavor/gpu", True), ("site:Flavor/poplar.half", False), ("site:Flavor/no", False)]
)
def test_devices_that_a_flavour_hands_out(flavor: str, hands_out: bool) -> None:
    gpu = flavors()[0].model_copy(update={"name": "gpu", "extra_specs": {"pci_passthrough:alias": "x:1"}})
    facts = plan(servers=(server(flavor=flavor), server("w", host="w", is_bare_metal=True, flavor=flavor)))
    found = premises(facts, "passthrough", site(flavors=(*flavors(), gpu)))
    assert found == ([("dev:acme:s", "h", flavor)] if hands_out else [])
