"""What remains of what was released or cleaned, and what the operator runs for all, fact by fact."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from interlock.model.lock.record import Released, Settled
from interlock.model.site.inventory import Machine, Site, Underlay
from interlock.model.site.offers import FlavorSpec
from interlock.model.site.physical import Vtep
from interlock.vocabulary import nodes
from policies.edges.operated import OPERATED, is_asked_by_devices, is_of_host, operated_nodes
from policies.edges.residue import cleaned_by, erases, lost_segments, with_released, with_settled
from policies.edges.shape import GraphFragment, Relation, Union, premise
from policies.facts import identities as ids
from policies.facts.site import SiteFacts
from tests.builders.pod64 import cable
from tests.policies.joining import access, host, marked, small, switch, vlan
from tests.policies.plan_share import MAC, MACHINE, site
from tests.policies.workspace import assumptions

A100, B200 = vlan("a", 100), vlan("b", 200)
PLAIN = GraphFragment("acme", (), {}, ())


def released(*claims: tuple[str, str], share: GraphFragment = PLAIN, on: Site | None = None) -> GraphFragment:
    """The share after these claims were given up."""
    entries = tuple(Released(vpod="train", claim=claim, value=value, flavor="big") for claim, value in claims)
    return with_released(SiteFacts(on or site()), share, entries)


def tuples(share: GraphFragment, relation: Relation) -> list[tuple[str, ...]]:
    return sorted(item.tuple for item in share.premises if item.relation == relation)


# Released claims.


def test_a_released_machine_is_its_former_holders() -> None:
    found = released(("machines", "m"), ("machines", "gone"))
    assert found.labels == {"dev:SN-m/rnic": {"acme"}}
    assert found.exclusive == MACHINE
    assert tuples(found, Relation.RESIDUE) == sorted((identity, "acme", "train") for identity in MACHINE)
    assert tuples(found, Relation.CLAIM) == []


def test_a_released_whole_host_is_its_former_holders() -> None:
    found = released(("hosts", "w"))
    assert found.labels == {"dev:SN-w/e0": {"acme"}, "dev:SN-w/e1": {"acme"}}
    assert found.exclusive == {ids.host_identity("SN-w")}
    assert tuples(found, Relation.TAKES) == []


def test_what_it_has_already_stays_labelled() -> None:
    share = GraphFragment("acme", (), {"dev:SN-m/rnic": frozenset({"globex"})}, (), exclusive=frozenset({"other"}))
    found = released(("machines", "m"), share=share)
    assert found.labels == {"dev:SN-m/rnic": {"acme", "globex"}}
    assert found.exclusive == {"other", *MACHINE}


def test_a_released_address_of_the_appliance() -> None:
    address = ids.share_address("sandbox", "10.0.0.9")
    found = released(("storage_vip", "10.0.0.9"))
    assert found.labels == {address: {"acme"}}
    assert found.exclusive == {address}
    assert tuples(found, Relation.CLAIM) == []


@pytest.mark.parametrize(
    ("claim", "value", "node", "owner"),
    [
        ("ipu_data_vlan", "fabric:100", A100, "acme"),
        ("storage_vlan", "fabric:100", A100, "acme"),
        # The wire is the operator's: tenants' machines only hang on it.
        ("management_vlan", "fabric:100", A100, "op"),
        ("control_vni", "7", "V:sandbox:vxlan:7", "acme"),
    ],
)
def test_a_released_wire(claim: str, value: str, node: str, owner: str) -> None:
    found = released((claim, value))
    identity, words = ids.segment_identity(node), f"{claim} {value}"
    assert found.labels == {node: {owner}}
    assert found.exclusive == {identity}
    assert tuples(found, Relation.CLAIM) == [(node, "acme", f"train {words}", words, "released")]
    assert tuples(found, Relation.RESIDUE) == [(identity, "acme", "train")]
    assert tuples(found, Relation.SOMEWHERE) == []


def test_a_released_wire_that_its_owner_claims_again() -> None:
    held = premise(Relation.CLAIM, A100, "acme", "net", "VLAN 100 on fabric", "held")
    found = released(("ipu_data_vlan", "fabric:100"), share=GraphFragment("acme", (), {}, (held,)))
    assert tuples(found, Relation.CLAIM) == [held.tuple]
    other = premise(Relation.OFFERED, A100)
    assert (
        len(
            tuples(
                released(("ipu_data_vlan", "fabric:100"), share=GraphFragment("acme", (), {}, (other,))), Relation.CLAIM
            )
        )
        == 1
    )


@pytest.mark.parametrize(("claim", "value"), [("ipu_data_subnet", "10.0.0.0/24"), ("control_subnet", "10.1.0.0/24")])
def test_what_is_released_inside_of_another_claim(claim: str, value: str) -> None:
    assert released((claim, value)) == PLAIN


def test_a_released_vlan_whose_network_nobody_knows() -> None:
    found = released(("ipu_data_vlan", "gone:100"))
    words = "train ipu_data_vlan gone:100"
    node = ids.lost_claim("acme", words)
    assert found.labels == {node: {"acme"}}
    assert found.exclusive == set()
    assert tuples(found, Relation.SOMEWHERE) == [(node, "100", f"released claim {words} of acme")]
    lost = Released(vpod="train", claim="ipu_data_vlan", value="gone:100")
    anywhere = {ids.segment_identity(vlan(name, 100)) for name in "ab"}
    assert set(lost_segments(SiteFacts(site()), lost)) == anywhere
    for known in (lost.model_copy(update={"value": "fabric:100"}), lost.model_copy(update={"claim": "machines"})):
        assert list(lost_segments(SiteFacts(site()), known)) == []


def takes(server: str, place: str) -> GraphFragment:
    """A share with a server that is only applied, and two that are planned, beside what is no room at all."""
    names = (server, "dev:acme:planned", "dev:acme:another")
    facts = [premise(Relation.TAKES, place, name, "1", "1", "0", "0") for name in names]
    facts += [premise(Relation.COPY, place, server, kind, "acme") for kind in ("monitoring", "bastion")]
    return GraphFragment("acme", (), {}, tuple(facts), former=frozenset({server}))


def room(found: GraphFragment) -> list[tuple[str, ...]]:
    """Places and servers of what was given up."""
    return [item[:2] for item in tuples(found, Relation.TAKES) if "released" in item]


def test_room_of_servers_that_were_given_up() -> None:
    """One for each; of no known host nothing; one that is known to be applied says it by itself."""
    cpus, memory = ids.processors("SN-h"), ids.host_identity("SN-h")
    first, second = (ids.server("acme", f"released hosts h {number}") for number in (1, 2))
    keeper = ids.server("acme", "released controller_host h 1")
    assert room(released(("hosts", "h"), ("hosts", "h"))) == sorted([(cpus, first), (cpus, second)])
    assert room(released(("hosts", "gone"), ("hosts", "w"), ("hosts", "h"))) == [(cpus, first)]
    assert room(released(("controller_host", "h"))) == [(memory, keeper)]
    assert room(released(("hosts", "h"), share=takes("dev:acme:old", cpus))) == []
    assert room(released(("hosts", "h"), ("hosts", "h"), share=takes("dev:acme:old", cpus))) == [(cpus, first)]
    assert room(released(("hosts", "h"), share=takes("dev:acme:old", memory))) == [(cpus, first)]


# What was cleaned.


def settled(identity: str, share: GraphFragment = PLAIN, **stated: bool | None) -> GraphFragment:
    note = Settled(identity=identity, at="2026-11-23T10:00:00Z", by="Anne")
    return with_settled(SiteFacts(site(assumptions=assumptions(**stated))), share, [note])


HELD_MACHINE, HELD_W, HELD_H = (
    str(nodes.HeldMachine("SN-m")), str(nodes.HeldHost("SN-w")), str(nodes.HeldHost("SN-h")),
)  # fmt: skip


@pytest.mark.parametrize(
    ("identity", "devices"),
    [
        (HELD_MACHINE, ["dev:SN-m/rnic"]),
        (HELD_W, ["dev:SN-w/e0", "dev:SN-w/e1"]),
        # A hypervisor by now.
        (HELD_H, ["dev:SN-h"]),
        (str(nodes.HeldHost("gone")), []),
        (ids.gpu("d", "0"), [ids.gpu("d", "0")]),
        (ids.mac_identity(MAC), []),
    ],
)
def test_devices_that_were_cleaned(identity: str, devices: list[str]) -> None:
    former = ids.former_holder("acme", identity)
    found = settled(identity)
    assert tuples(found, Relation.SETTLED) == [(former, device) for device in devices]
    assert found.labels == ({former: {"acme"}} if devices else {})
    # Not known to be the operator's: no label is better than a wrong one.
    bare = settled(identity, steps_erase=None)
    assert bare.labels == ({former: {"acme"}} | dict.fromkeys(devices, frozenset()) if devices else {})
    kept = GraphFragment("acme", (), dict.fromkeys(devices, frozenset({"globex"})), ())
    assert all(settled(identity, kept, steps_erase=None).labels[device] == {"globex"} for device in devices)


def test_what_cleaning_rests_on() -> None:
    """No wipe of disks reaches the firmware of a whole host."""
    assert (cleaned_by(HELD_MACHINE), cleaned_by(HELD_W)) == (("A9",), ("A9", "A23"))
    for value in (True, None, False):
        facts = SiteFacts(site(assumptions=assumptions(steps_erase=value)))
        assert erases(facts, HELD_MACHINE) is erases(facts, HELD_W) is (value is True)
    only = tuple(item for item in assumptions() if item.id != "A23")
    facts = SiteFacts(site(assumptions=only))
    assert (erases(facts, HELD_MACHINE), erases(facts, HELD_W)) == (True, False)


# What the operator runs for all.

Joined = set[tuple[str, str, tuple[str, ...]]]


def met(name: str, on: Site, *shares: GraphFragment) -> Joined:
    """The pairs of an assumption, with what nobody states of them."""
    (item,) = (item for item in OPERATED if item.assumption == name)
    return {(a, b, tuple(map(str, facts))) for a, b, facts in item.ends(Union(SiteFacts(on), shares))}


def facts(*items: tuple[Any, ...]) -> GraphFragment:
    return GraphFragment("acme", (), {}, tuple(premise(*item) for item in items))


def cloud(service: str) -> str:
    return ids.operated("sandbox", service)


@pytest.mark.parametrize(
    ("name", "given", "node", "service"),
    [
        ("A16", (Relation.CAPABILITY, "cap:acme"), "cap:acme", "load-balancers"),
        ("A18", (Relation.CLAIM, A100, "acme", "net", "VLAN", "held"), A100, "network-nodes"),
        ("A18", (Relation.CLAIM, A100, "acme", "net", "VLAN", "released"), None, ""),
        ("A19", (Relation.GUEST, "dev:acme:s", "h", "server"), "dev:acme:s", "migration-and-consoles"),
        ("A20", (Relation.GUEST, "dev:acme:s", "h", "server"), "dev:acme:s", "back-end-storage"),
        (
            "A21",
            (Relation.GATEWAY, "R:acme:r", "site:Network/external", "filtered", "acme"),
            "R:acme:r",
            "behind-external",
        ),
        ("A21", (Relation.GATEWAY, "R:acme:r", "site:Network/other", "filtered", "acme"), None, ""),
    ],
)
def test_what_meets_a_service(name: str, given: tuple[Any, ...], node: str | None, service: str) -> None:
    assert met(name, site(), facts(given)) == ({(node, cloud(service), ())} if node else set())


def test_overlays_meet_at_their_underlay() -> None:
    vtep = Vtep(vlan=200, vni=7, underlay="spine", encapsulation="vxlan")
    on = small(switch("a", vteps=(vtep,)), underlays=(Underlay(name="spine", neutron=False),))
    found = met("A17", on, marked("V:sandbox:vxlan:7", A100))
    assert found == {
        ("V:sandbox:vxlan:7", ids.operated("sandbox", "underlay"), ()),
        (vlan("a", 200), ids.operated("spine", "underlay"), ()),
    }


WAY = cloud("bmc-access")


@pytest.mark.parametrize(
    ("named", "nodes"),
    [
        ((), set()),
        (("dev:SN-m/rnic",), {"dev:SN-m/rnic"}),
        (("dev:SN-m/bmc", "dev:SN-h/e0"), set()),
        (("dev:SN-w/e0",), {"dev:SN-w/e0"}),
        (("dev:SN-w/bmc",), set()),
    ],
)
def test_the_way_to_bmcs_meets_what_plans_name_of_lent_devices(named: tuple[str, ...], nodes: set[str]) -> None:
    """What tenants run on the board of a BMC: no BMC itself, and no hypervisor."""
    assert met("A24", lent(bmc="bmc"), marked(*named)) == {(node, WAY, ()) for node in nodes}


def test_the_way_to_bmcs_meets_servers_on_whole_hosts() -> None:
    given = facts((Relation.METAL, "dev:acme:s", "w"), (Relation.METAL, "dev:acme:t", "gone"))
    assert met("A24", lent(), given) == {("dev:acme:s", WAY, ())}


def test_firmware_of_a_former_holder() -> None:
    of_host, of_machine = (ids.former_holder("acme", name) for name in (HELD_W, HELD_MACHINE))
    shared = facts((Relation.SETTLED, of_host, "dev:SN-w/e0"), (Relation.SETTLED, of_machine, "dev:SN-m/rnic"))
    assert met("A23", site(), shared) == {("dev:SN-w/e0", of_host, ())}
    assert [is_of_host(node) for node in (of_host, of_machine, A100, HELD_W)] == [True, False, False, False]


@pytest.mark.parametrize(("value", "kept"), [(True, True), (None, False), (False, False)])
def test_an_assumption_keeps_its_pairs_apart(value: bool | None, kept: bool) -> None:
    known = assumptions()
    (name,) = next(item.guards for item in known if item.id == "A16")
    on = small(switch("a"), assumptions=assumptions(**{name: value}))
    (item,) = (item for item in OPERATED if item.assumption == "A16")
    (edge,) = item.edges(Union(SiteFacts(on), [facts((Relation.CAPABILITY, "cap:acme"))]))
    place = (f"assumptions.A16.{name}",)
    assert tuple(map(str, edge.guards)) == place
    assert tuple(map(str, edge.held)) == (place if kept else ())
    assert tuple(map(str, edge.broken)) == (place if value is False else ())
    assert tuple(map(str, edge.missing)) == (place if value is None else ())


# A22: devices that switches listen to.


def listened(at: str) -> str:
    return ids.operated(f"SN-{at}", "vlan-protocols")


def heard(found: Joined) -> Joined:
    """What sends frames of its own making, and nothing of what the switch then joins."""
    return {item for item in found if not item[0].startswith("L:")}


def joined_by(found: Joined) -> Joined:
    return {item for item in found if item[0].startswith("L:")}


def lent(*more: str, **fields: object) -> Site:
    """Machine m at a, hypervisor h at a, whole host w at b; a device at c, which nobody lends."""
    whole = host("w", provisioning="bare-metal", **fields)
    links = ("m:rnic", "a:1"), ("h:e0", "a:2"), ("w:e0", "b:1"), ("w:bmc", "b:2"), ("box:eth0", "c:1")
    machine = Machine(name="m", serial="SN-m", logical_rack="r", position=1)
    ports = tuple(access(number, 100) for number in (1, 2, 3))
    switches = (switch(name, *ports) for name in "abc")
    cables = (*links, *((plug, "b:3") for plug in more))
    return small(*switches, hosts=(host(), whole), machines=(machine,), cables=tuple(cable(a, b) for a, b in cables))


USED = marked(A100, B200, vlan("c", 100))


def test_a_switch_hears_what_is_lent_out() -> None:
    found = met("A22", lent(), USED)
    assert heard(found) == {("port:SN-a/1", listened("a"), ()), ("port:SN-b/1", listened("b"), ())}
    # Then it is on each VLAN of that switch that somebody names; no lent device is at the third.
    assert joined_by(found) == {(A100, listened("a"), ()), (B200, listened("b"), ())}


def test_vlans_that_nobody_names_count_while_nobody_states_it() -> None:
    on = lent()
    open_ = tuple(item for item in on.assumptions if item.id != "A22")
    fields = {name: getattr(on, name) for name in Site.model_fields} | {"assumptions": open_}
    found = met("A22", Site.model_validate(fields), USED)
    assert joined_by(found) == {(vlan(name, number), listened(name), ()) for name in "ab" for number in (100, 200)}


def test_a_plug_that_may_be_the_bmcs_or_anybodys() -> None:
    found = met("A22", lent("w:spare", bmc=None), USED)
    doubt = ("hosts.w.bmc",)
    assert {("port:SN-b/3", listened("b"), doubt), ("port:SN-b/2", listened("b"), doubt)} <= found
    # Another device there is heard for certain.
    assert (B200, listened("b"), ()) in found
    unknown = met("A22", lent("m:odd"), USED)
    assert ("port:SN-b/3", listened("b"), ("which plug of m `odd` is",)) in unknown


def test_a_switch_that_may_hear_somebody() -> None:
    on = small(
        switch("b", access(1, 100), access(2, 100)), hosts=(host("w", provisioning="bare-metal", bmc=None),),
        links=(("w:x", "b:1"), ("w:y", "b:2")),
    )  # fmt: skip
    assert joined_by(met("A22", on, USED)) == {(B200, listened("b"), ("hosts.w.bmc",))}


def test_a_plug_of_a_hypervisor_is_the_operators() -> None:
    on = small(switch("a", access(1, 100)), hosts=(host(bmc=None),), links=(("h:spare", "a:1"),))
    assert met("A22", on, USED) == set()


def test_guests_that_a_switch_hears() -> None:
    free = facts(
        (Relation.EVERY_VLAN, "port:acme:vf", "SN-h/e0"), (Relation.EVERY_VLAN, "port:acme:far", "SN-h/e1"),
        (Relation.METAL, "dev:acme:metal", "w"), (Relation.METAL, "dev:acme:lost", "gone"),
        (Relation.METAL, "dev:acme:on-h", "h"),
    )  # fmt: skip
    found = {item for item in heard(met("A22", lent(), USED, free)) if not item[0].startswith("port:SN")}
    assert found == {
        ("port:acme:vf", listened("a"), ()), ("dev:acme:metal", listened("b"), ()),
        ("dev:acme:on-h", listened("a"), ()),
    }  # fmt: skip


@pytest.mark.parametrize(("devices", "doubt"), [("network", ()), (None, ("flavors.gpu.devices",)), ("other", None)])
def test_a_guest_with_a_function_of_its_host(devices: str | None, doubt: tuple[str, ...] | None) -> None:
    spec = {"name": "gpu", "role": "poplar", "vcpus": 1, "ram_gib": 1, "disk_gib": 1, "devices": devices}
    on = small(
        switch("a", access(2, 100)), hosts=(host(),), links=(("h:e0", "a:2"),),
        flavors=(FlavorSpec.model_validate(spec),),
    )  # fmt: skip
    given = facts(
        (Relation.PASSTHROUGH, "dev:acme:s", "h", "site:Flavor/gpu"),
        (Relation.PASSTHROUGH, "dev:acme:t", "h", "site:Flavor/none"),
        (Relation.PASSTHROUGH, "dev:acme:u", "gone", "site:Flavor/gpu"),
    )
    found = met("A22", on, given, marked(A100))
    expected = set() if doubt is None else {("dev:acme:s", listened("a"), doubt), (A100, listened("a"), doubt)}
    assert found == expected


def test_which_of_it_is_the_operators() -> None:
    """Services are; switches have labels of their own, and what former holders left is theirs."""
    former = ids.former_holder("acme", HELD_W)
    shares: Sequence[GraphFragment] = [
        facts(
            (Relation.CAPABILITY, "cap:acme"), (Relation.SETTLED, former, "dev:SN-w/e0"),
            (Relation.GATEWAY, "R:acme:r", "site:Network/external", "filtered", "acme"),
        ),
        USED,
    ]  # fmt: skip
    found = set(operated_nodes(Union(SiteFacts(lent()), shares)))
    # The host that was cleaned has a BMC.
    assert found == {cloud("load-balancers"), cloud("behind-external"), cloud("bmc-access")}


def test_vlans_that_devices_ask_for() -> None:
    assert is_asked_by_devices(listened("a"))
    assert not is_asked_by_devices(cloud("load-balancers"))
    assert not is_asked_by_devices(A100)
