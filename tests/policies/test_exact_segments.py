"""ISO-08 to ISO-12: which functions, claims and ids each of them finds fault with, and in which words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from interlock.model.lock.record import Premise
from interlock.model.tenant.request import Pins
from interlock.vocabulary import CLAIMS_OF, NetworkRole
from policies import Verdict
from policies.about import PlanResource
from policies.edges.shape import Edge, Relation, premise
from policies.facts import identities as ids
from policies.facts.kinds import NetworkFact, PlanFacts, PortFact
from policies.facts.rights import TrunkFact
from policies.facts.site import SiteFacts
from policies.graph.model import Model
from policies.proof import RuleResult
from tests.builders.pod64 import pools
from tests.policies.exact_answers import answer, drawn, identified, messages, only, plan_of, share, switch_vlan
from tests.policies.workspace import NA, N, P, V, full_site

SITE = SiteFacts(full_site())
DATA = NetworkFact(
    "data", "acme", NetworkRole.IPU_DATA, "acme-train", "vlan", "fabric100g", 1000, False, False, True
)  # fmt: skip
FUNCTION = PortFact("leg", "acme", "data", "sub", "10.20.0.9", "direct", True, "poplar-0", "poplar-1")


def of(rule: str, plan: PlanFacts, site: SiteFacts = SITE) -> RuleResult:
    return answer(rule, drawn(site, plan, share(plan.owner)))


# ISO-08.

SPOOF = "its spoof check is off (port_security false)"


@pytest.mark.parametrize(
    ("port", "network", "on", "why", "about"),
    [
        (replace(FUNCTION, port_security=False), DATA, ", VLAN 1000 on fabric100g", SPOOF, ()),
        (FUNCTION, replace(DATA, port_security=False), ", VLAN 1000 on fabric100g", SPOOF, ()),
        (FUNCTION, replace(DATA, name="other"), "", "network data gives it no VLAN of its own", ("data",)),
        (
            replace(FUNCTION, server=None), replace(DATA, kind="vxlan", segment=5001), ", VXLAN 5001",
            "network data, VXLAN 5001 gives it no VLAN of its own", ("data",),
        ),
        (
            FUNCTION, replace(DATA, kind="flat", segment=None), ", untagged on fabric100g",
            "network data, untagged on fabric100g gives it no VLAN of its own", ("data",),
        ),
        # A port of any other kind is behind a switch that holds it to its VLAN.
        (replace(FUNCTION, vnic_type="normal", port_security=False), DATA, "", None, ()),
        (FUNCTION, DATA, "", None, ()),
    ],
)  # fmt: skip
def test_a_function_that_is_not_held_to_one_vlan(
    port: PortFact, network: NetworkFact, on: str, why: str | None, about: tuple[str, ...]
) -> None:
    result = of("ISO-08", plan_of(networks=(network,), ports=(port,)))
    if why is None:
        assert result.verdict is (P if port.vnic_type == "direct" else NA)
        return
    found = only(result)
    assert found.message == f"the virtual function of port leg is not held to one VLAN: {why}"
    server = port.server or "no server"
    assert found.witness == (f"port leg of {server}", f"network data{on}", "every VLAN of the switch port behind it")
    named = ("leg", *about, *((port.server,) if port.server else ()), "data")
    assert found.subjects == tuple(map(PlanResource, named))
    assert (found.verdict, found.specificity) == (V, 100)


def test_a_function_with_sub_ports() -> None:
    """Whatever else is wrong with it, the trunk is told."""
    trunk = TrunkFact("trunk", "acme", "leg", (("sub-port", 7),))
    for network in (DATA, replace(DATA, port_security=False)):
        found = only(of("ISO-08", plan_of(networks=(network,), ports=(FUNCTION,), trunks=(trunk,))))
        assert found.message.endswith(": it is the parent of trunk, whose sub-ports bring more")
        assert found.subjects == tuple(map(PlanResource, ("leg", "trunk", "poplar-0", "data")))


# ISO-09, ISO-10.


def test_each_soft_spot_of_a_function() -> None:
    port = replace(FUNCTION, server=None, port_security=False, allowed_address_pairs=("10.0.0.0/8", "::/0"))
    result = of("ISO-09", plan_of(networks=(DATA,), ports=(port, replace(port, name="p", vnic_type="normal"))))
    assert messages(result) == [
        "the virtual function of port leg has its spoof check off",
        "the virtual function of port leg may send from addresses that are not its own",
    ]
    assert [item.witness for item in result.findings] == [
        ("port leg of no server", "network data", "port_security false"),
        ("port leg of no server", "network data", "allowed_address_pairs 10.0.0.0/8, ::/0"),
    ]
    assert ({item.specificity for item in result.findings}, result.count) == ({99}, 1)
    assert {item.subjects for item in result.findings} == {(PlanResource("leg"), PlanResource("data"))}


@pytest.mark.parametrize(
    ("on_port", "on_network", "is_soft"),
    [(True, True, False), (False, True, True), (True, False, True), (True, None, False)],
)
def test_a_spoof_check_is_on_where_port_and_network_have_it(
    on_port: bool, on_network: bool | None, is_soft: bool
) -> None:
    """Of a network that no file of this tenant describes nothing is known here: ISO-08 has it."""
    networks = () if on_network is None else (replace(DATA, port_security=on_network),)
    result = of("ISO-09", plan_of(networks=networks, ports=(replace(FUNCTION, port_security=on_port),)))
    assert (len(result.findings), result.verdict) == ((1, V) if is_soft else (0, P))


@pytest.mark.parametrize(("kind", "told"), [("direct", 1), ("baremetal", 1), ("normal", 0)])
def test_security_groups_where_nothing_filters(kind: str, told: int) -> None:
    port = PortFact(
        "leg", "acme", "data", "sub", "10.20.0.9", kind, True, None, None, ("ssh", "web")  # type: ignore[arg-type]
    )  # fmt: skip
    result = of("ISO-10", plan_of(ports=(port, replace(port, name="bare", security_groups=()))))
    assert messages(result) == [f"security groups on the {kind} port leg filter nothing: ssh, web"] * told
    assert [item.witness for item in result.findings] == [("port leg of no server", "security groups ssh, web")] * told
    assert [item.specificity for item in result.findings] == [20] * told
    assert result.count == 2 * told
    assert [item.subjects for item in result.findings] == [tuple(map(PlanResource, ("leg", "ssh", "web")))] * told


# ISO-11.

A, B, C = (switch_vlan("tor-1", number) for number in (1000, 1001, 1002))
WORDS = "VLAN 1000 on fabric100g"


def claim(segment: str, owner: str, network: str, words: str = WORDS) -> Premise:
    return premise(Relation.CLAIM, segment, owner, network, words, "held")


def claimed(theirs: str, words: str = WORDS, touches: str = A) -> Model:
    """acme claims A, globex one of the VLANs that are joined with it."""
    server = ids.server("acme", "s")
    own = share("acme", [Edge(server, touches, "E7")], {server: "acme"}, [claim(A, "acme", "mine")])
    other = share("globex", [Edge(A, B, "E1"), Edge(B, C, "E2")], {}, [claim(theirs, "globex", "its", words)])
    return drawn(SITE, plan_of(), own, other)


@pytest.mark.parametrize(("words", "specificity"), [(WORDS, 55), ("VLAN 1002 on other", 65)])
def test_two_claims_on_one_wire(words: str, specificity: int) -> None:
    """Names that hide that it is one wire make this the best explanation; else ISO-01 is."""
    model = claimed(C, words)
    result = answer("ISO-11", model)
    found = only(result)
    assert found.message == f"{WORDS} of acme and {words} of globex are one wire"
    assert found.path == (A, B, C)
    assert found.witness == (
        f"acme's network mine claims {WORDS}", "tor-1 VLAN 1000", "tor-1 VLAN 1001", "tor-1 VLAN 1002",
        f"globex's network its claims {words}",
    )  # fmt: skip
    assert (found.specificity, found.verdict, result.count) == (specificity, V, 1)
    assert found.id == identified("ISO-11", model, frozenset({("acme", "mine"), ("globex", "its")}))


def test_a_network_of_the_operators_in_a_tenants_plan() -> None:
    """The plan claims both under one name, so ISO-01 says it worse."""
    premises = [claim(A, "acme", "mine"), claim(B, "acme", "management")]
    own = share("acme", [Edge(A, B, "E1")], {A: "acme", B: "op"}, premises)
    found = only(answer("ISO-11", drawn(SITE, plan_of(), own)))
    assert (found.message, found.specificity) == (f"{WORDS} of acme and {WORDS} of acme are one wire", 65)


@pytest.mark.parametrize(("touches", "told"), [(C, 1), (A, 0)])
def test_a_wire_that_the_plan_does_not_touch(touches: str, told: int) -> None:
    """Two others meet behind a router of its own: theirs to answer for."""
    server, router = ids.server("acme", "s"), ids.router("acme", "r")
    own = share("acme", [Edge(server, touches, "E7"), Edge(server, A, "E7")], {server: "acme"})
    way = [Edge(router, A, "E10"), Edge(router, C, "E10")]
    one, two = (share(owner, way, {}, [claim(C, owner, "its")]) for owner in ("globex", "initech"))
    result = answer("ISO-11", drawn(SITE, plan_of(), own, one, two))
    assert (len(result.findings), result.count) == (told, told)


# ISO-12.

STORAGE = replace(DATA, name="store", role=NetworkRole.STORAGE, segment=2000)
CONTROL = replace(DATA, name="ctl", role=NetworkRole.CONTROL, kind="vxlan", physical_network=None, segment=5000)
PIN = "pin an id from the pool of its kind in the site file and lock again: a lock keeps the ids that it has"


@pytest.mark.parametrize(
    ("network", "why"),
    [
        (DATA, None),
        (replace(DATA, segment=1999), None),
        (replace(DATA, segment=2000), "VLAN 2000 is not in the ipu-data pool 1000-1999"),
        (replace(DATA, segment=999), "VLAN 999 is not in the ipu-data pool 1000-1999"),
        (replace(DATA, segment=2), "VLAN 2 is not in the ipu-data pool 1000-1999"),
        (replace(DATA, segment=4094), "VLAN 4094 is not in the ipu-data pool 1000-1999"),
        (replace(DATA, segment=1), "VLAN 1 is not in 2-4094"),
        (replace(DATA, segment=4095), "VLAN 4095 is not in 2-4094"),
        (replace(DATA, segment=None), "it states no id, so the cloud would choose one"),
        (replace(DATA, kind="flat", segment=None), "a flat network has no id of its own"),
        (
            replace(DATA, physical_network="mgmt1g"),
            "ipu-data networks lie on fabric100g, not on mgmt1g",
        ),
        (replace(DATA, kind="vxlan", segment=5000), "a ipu-data network is a VLAN, and this is an overlay"),
        (CONTROL, None),
        (replace(CONTROL, segment=5999), None),
        (replace(CONTROL, segment=6000), "VNI 6000 is not in the control pool 5000-5999"),
        (replace(CONTROL, segment=4999), "VNI 4999 is not in the control pool 5000-5999"),
    ],
)
def test_the_id_of_a_network(network: NetworkFact, why: str | None) -> None:
    result = of("ISO-12", plan_of(networks=(network,)))
    assert result.count == 1
    if why is None:
        assert result.verdict is P
        return
    found = only(result)
    assert found.message == f"network {network.name} ({network.segment_name}): {why}"
    assert found.witness == (f"network {network.name} of acme", network.segment_name, why)
    assert (found.verdict, found.hint, found.specificity) == (V, PIN, 97)
    assert found.subjects == (PlanResource(network.name),)


@pytest.mark.parametrize("role", NetworkRole)
def test_an_id_that_no_request_pins(role: NetworkRole) -> None:
    """A vPOD gets another id by a pin; of a cluster only nodes and heads can be pinned."""
    hint = only(of("ISO-12", plan_of(networks=(replace(DATA, role=role, segment=1),)))).hint
    is_pinned = CLAIMS_OF[role].vlan in Pins.model_fields
    assert is_pinned == (role not in (NetworkRole.CLUSTER, NetworkRole.ROCE))
    other = "let the pool of its kind in the site file hold the id, or ask for another cluster in place of this one"
    assert hint == (PIN if is_pinned else f"{other}: a lock keeps the ids that it has")


@pytest.mark.parametrize(("vlan", "is_wrong"), [(1000, False), (1500, True), (1800, False), (1900, False)])
def test_a_pool_of_two_ranges(vlan: int, is_wrong: bool) -> None:
    split = {"physical_networks": ("fabric100g",), "vlans": ((1000, 1499), (1800, 1999))}
    site = SiteFacts(full_site(pools=pools(ipu_data=split, reserved_vlans=(1, 4095))))
    words = f"network data (VLAN {vlan} on fabric100g): VLAN {vlan} is not in the ipu-data pool 1000-1499, 1800-1999"
    found = messages(of("ISO-12", plan_of(networks=(replace(DATA, segment=vlan),)), site))
    assert found == ([words] if is_wrong else [])


@pytest.mark.parametrize(("vni", "verdict"), [(1, P), (2, P), (3, V), (5500, P)])
def test_a_pool_of_two_ranges_of_overlays(vni: int, verdict: Verdict) -> None:
    site = SiteFacts(full_site(pools=pools(control=((1, 2), (5000, 5999)))))
    assert of("ISO-12", plan_of(networks=(replace(CONTROL, segment=vni),)), site).verdict is verdict


def test_several_networks_for_one_role() -> None:
    """Each names the first of the others."""
    networks = tuple(replace(DATA, name=name, segment=1000 + place) for place, name in enumerate("abc"))
    result = of("ISO-12", plan_of(networks=networks))
    assert [item.message.rpartition(" ")[2] for item in result.findings] == ["b", "a", "a"]
    assert result.findings[1].message == (
        "network b (VLAN 1001 on fabric100g): it is said to be the ipu-data network of acme-train, and so is a"
    )
    assert result.findings[2].subjects == (PlanResource("c"), PlanResource("a"))


def test_networks_of_no_stated_vpod_are_nobodys_twins() -> None:
    """What is known of them is right; that they state no vPOD stands in the way of more."""
    pair = (replace(DATA, vpod=None), replace(DATA, name="more", vpod=None, segment=1001))
    result = of("ISO-12", plan_of(networks=pair))
    assert [(item.verdict, item.missing) for item in result.findings] == [
        (N, (f"vPOD of network {name}",)) for name in ("data", "more")
    ]
    assert result.findings[0].message == (
        "network data (VLAN 1000 on fabric100g) has no stated vPOD, so nobody can say from which pool its id has to be"
    )
    assert result.findings[0].witness == ("network data of no stated vPOD", "VLAN 1000 on fabric100g")
    assert {item.specificity for item in result.findings} == {97}
    assert result.findings[1].subjects == (PlanResource("more"),)


def test_a_network_without_a_role() -> None:
    """A wrong id is told alone; one that may be right is asked about."""
    bare = replace(DATA, role=None)
    found = only(of("ISO-12", plan_of(networks=(bare,))))
    assert (found.verdict, found.missing) == (N, ("role of network data",))
    assert found.witness == ("network data of acme-train", "VLAN 1000 on fabric100g")
    wrong = only(of("ISO-12", plan_of(networks=(replace(bare, segment=1),))))
    assert (wrong.verdict, wrong.message.partition(": ")[2]) == (V, "VLAN 1 is not in 2-4094")
    assert only(of("ISO-12", plan_of(networks=(replace(bare, physical_network="none"),)))).verdict is V
    assert only(of("ISO-12", plan_of(networks=(replace(CONTROL, role=None, segment=9),)))).verdict is N


OUTSIDE = NetworkFact("out", "op", None, None, "flat", "external", None, True, False, True)


@pytest.mark.parametrize(
    ("network", "count", "told"),
    [(OUTSIDE, 0, 0), (replace(OUTSIDE, external=False), 1, 1), (replace(OUTSIDE, kind="vlan", segment=300), 1, 0)],
)
def test_only_an_external_network_may_be_flat(network: NetworkFact, count: int, told: int) -> None:
    result = of("ISO-12", plan_of("op", networks=(network,)))
    assert (result.count, len(result.findings)) == (count, told)
    assert not told or result.findings[0].witness[0] == "network out of the operator"
