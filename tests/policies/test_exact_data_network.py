"""ISO-03: who is a stranger on a data segment, and which members are missing there; edges are put in by hand.

acme's vPOD `train` has ipum-01 … ipum-04 and two servers on VLAN 1000 of tor-1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import pytest

from interlock.model.lock.record import Premise
from interlock.model.site.inventory import Site
from interlock.planning.plan import Plan
from policies import Verdict
from policies.about import SaidFact
from policies.edges.plan_fragment import plan_fragment
from policies.edges.shape import Edge, GraphFragment, Relation, premise
from policies.facts.kinds import VPodFact
from policies.facts.plan import plan_facts
from policies.facts.site import SiteFacts
from policies.proof import RuleResult
from policies.rules.data_network import ISO_03
from tests.builders.pod64 import bare_metal_pod64, bare_metal_vpod, tenant, vpod
from tests.policies.one_rule import Said, answer, by_hand, findings, said
from tests.policies.test_data_network import clean
from tests.policies.test_rules_sec import CONTROLLER
from tests.policies.workspace import N, P, V, assumptions, edited, full_site, made, sharing

SITE = full_site()
FACTS = SiteFacts(SITE)
TRAIN, VLAN = "acme-train", "VLAN 1000 on fabric100g"
SEGMENT = "L:SN-tor-1:1000"
THEIRS, NOBODYS, NOBODYS_TOO = "dev:globex:s", "dev:SN-y/eth0", "dev:SN-z/eth0"
OURS = "dev:acme:old"
RNIC = "dev:SN-ipum-01/rnic"
FOREIGN = "foreign:sandbox"
ALSO = f"the ipu-data segment of vPOD {TRAIN} also carries"
TO_SEGMENT = ("RNIC of ipum-01 [acme]", "tor-1 port 1", "tor-1 VLAN 1000")


def plan() -> Plan:
    return clean()[0].plan


@cache
def two_vpods() -> Plan:
    """ipum-01 and ipum-02 in `a`, ipum-03 and ipum-04 in `b`, a server in each."""
    return made(SITE, tenant("acme", vpods=(vpod("a", 2, 1), vpod("b", 2, 1)))).plan


def asked(
    *pairs: tuple[str, str],
    labels: Mapping[str, str] | None = None,
    unknown: tuple[str, str] | None = None,
    former: frozenset[str] = frozenset(),
    claims: tuple[Premise, ...] = (),
    of: Plan | None = None,
    **changes: object,
) -> RuleResult:
    """With these edges besides what the plan brings; `changes` of its facts, `former`: what it is about to give up."""
    facts = plan_facts(of or plan())
    own = replace(plan_fragment(FACTS, facts), former=former)
    edges = tuple(Edge(a, b, "E5", (SaidFact("a cable"),) if (a, b) == unknown else ()) for a, b in pairs)
    marks = {node: frozenset(text.split()) for node, text in (labels or {}).items()}
    facts = replace(facts, **changes)  # type: ignore[arg-type]
    return by_hand(ISO_03, SITE, facts, own, [GraphFragment("op", edges, marks, claims)])


def claim(owner: str) -> tuple[Premise, ...]:
    return (premise(Relation.CLAIM, SEGMENT, owner, "theirs", VLAN, "held"),)


# Strangers.


@pytest.mark.parametrize(
    ("strangers", "labels", "told"),
    [
        ((), {}, []),
        ((THEIRS,), {THEIRS: "globex"}, ["s [globex]"]),
        ((OURS,), {OURS: "acme"}, ["old [acme]"]),
        # What is nobody's is told by itself, each; where an owner is on the wire too, that says more.
        ((NOBODYS,), {}, ["SN-y/eth0"]),
        ((NOBODYS, NOBODYS_TOO), {}, ["SN-y/eth0", "SN-z/eth0"]),
        ((NOBODYS, THEIRS), {THEIRS: "globex"}, ["s [globex]"]),
        # What the tenant itself may plug in is its own.
        (("cap:acme",), {}, []),
    ],
)
def test_strangers_on_a_segment(strangers: tuple[str, ...], labels: dict[str, str], told: list[str]) -> None:
    found = asked(*((SEGMENT, node) for node in strangers), labels=labels)
    words = [f"{ALSO} {item.partition(' ')[0]}" for item in told]
    assert said(found) == [
        Said(V, message, (*TO_SEGMENT, end), (), 75) for message, end in zip(words, told, strict=True)
    ]
    assert found.count == 1


@pytest.mark.parametrize(("labels", "verdict"), [("acme", P), ("acme globex", V), ("globex", V)])
def test_what_a_tenant_is_about_to_give_up(labels: str, verdict: Verdict) -> None:
    """A vPOD that shrinks is still the one vPOD; what somebody else has by now is a stranger."""
    assert asked((SEGMENT, OURS), labels={OURS: labels}, former=frozenset({OURS})).verdict is verdict


@pytest.mark.parametrize(("owner", "order"), [("globex", 40), ("op", 75), ("initech", 75), ("acme", 75)])
def test_a_claim_of_the_strangers_owner_explains_it_better(owner: str, order: int) -> None:
    (found,) = said(asked((SEGMENT, THEIRS), labels={THEIRS: "globex"}, claims=claim(owner)))
    assert found.order == order


def test_a_claim_of_the_tenants_own_explains_no_stranger_of_both() -> None:
    (found,) = said(asked((SEGMENT, THEIRS), labels={THEIRS: "acme globex"}, claims=claim("acme")))
    assert found.order == 75


def test_a_stranger_where_the_vpod_itself_has_nothing() -> None:
    """The way is shown from the segment."""
    bare = replace(plan_facts(plan()), vpods=(VPodFact(TRAIN, ()),), servers=(), switch_ports=())
    own = GraphFragment("acme", (), {SEGMENT: frozenset({"acme"})}, ())
    others = GraphFragment("globex", (Edge(SEGMENT, THEIRS, "E5"),), {THEIRS: frozenset({"globex"})}, ())
    (found, *_) = said(by_hand(ISO_03, SITE, bare, own, [others]))
    assert found == Said(V, f"{ALSO} s", ("tor-1 VLAN 1000 [acme]", "s [globex]"), (), 75)


def test_what_the_tenant_has_besides_belongs_elsewhere() -> None:
    """Its own servers by their storage ports, and its controller."""
    storage = edited(plan(), "acme-train-storage", segmentation_id=1000)
    ports = [f"acme-train-poplar-{number}-storage" for number in (0, 1)]
    assert [item.message for item in findings(ISO_03, SITE, storage)] == [f"{ALSO} port {name}" for name in ports]
    controller = edited(plan(), f"{CONTROLLER}-control", network="acme-train-ipu-data")
    assert [item.message for item in findings(ISO_03, SITE, controller)] == [f"{ALSO} port {CONTROLLER}-control"]


@cache
def whole_hosts() -> tuple[Site, Plan]:
    """A vPOD `a` on poplar-1 and a vPOD `b` on poplar-2, each host whole."""
    site = bare_metal_pod64(sharing=sharing(), assumptions=assumptions())
    wish = tenant("acme", vpods=(bare_metal_vpod("a", 2, 1), bare_metal_vpod("b", 2, 1)))
    return site, made(site, wish).plan


@pytest.mark.parametrize(("vlan", "verdict"), [(1001, P), (1000, V)])
def test_a_whole_host_of_another_vpod_is_a_stranger(vlan: int, verdict: Verdict) -> None:
    """One of its own is none by any of its interfaces."""
    site, of = whole_hosts()
    found = answer(ISO_03, site, edited(of, "acme-b-poplar-0-ipu-data-switch", vlan=vlan))
    assert found.verdict is verdict
    strangers = [item.message for item in found.findings if "also carries" in item.message]
    assert [item for item in strangers if "acme-a also carries poplar-1" in item] == []
    assert any("vPOD acme-a also carries" in item for item in strangers) is (verdict is V)


# Members.

ONE = "RNIC of ipum-01"
ELSEWHERE = {"vlan": 1500}


def moved() -> Plan:
    return edited(plan(), "acme-train-rnic-ipum-01", **ELSEWHERE)


def lost(segment: str, names: str) -> str:
    return f"the ipu-data segment of vPOD {TRAIN} ({segment}) does not carry {names}"


@pytest.mark.parametrize(
    ("pairs", "unknown", "expected"),
    [
        ((), None, Said(V, lost(VLAN, ONE), (f"{ONE} – tor-1 VLAN 1500",), (), 75)),
        # Of several segments the first is named.
        (((RNIC, "L:SN-tor-1:1400"),), None, Said(V, lost(VLAN, ONE), (f"{ONE} – tor-1 VLAN 1400",), (), 75)),
        # It may be there.
        (
            ((RNIC, SEGMENT),),
            (RNIC, SEGMENT),
            Said(N, lost(VLAN, ONE), (f"{ONE} – tor-1 VLAN 1000",), ("a cable",), 75),
        ),
        # A right of the tenant's is no way for packets.
        (
            (("port:SN-tor-1/1", SEGMENT), (RNIC, "cap:acme"), ("cap:acme", SEGMENT)),
            ("port:SN-tor-1/1", SEGMENT),
            Said(N, lost(VLAN, ONE), (f"{ONE} – tor-1 VLAN 1000",), ("a cable",), 75),
        ),
        # Whether it has a cable that nobody listed is unknown, or it is known to have one that leads elsewhere.
        (
            ((RNIC, FOREIGN),),
            (RNIC, FOREIGN),
            Said(N, lost(VLAN, ONE), (f"{ONE} – tor-1 VLAN 1500",), (), 75),
        ),
        (((RNIC, FOREIGN),), None, Said(V, lost(VLAN, ONE), (f"{ONE} – tor-1 VLAN 1500",), (), 75)),
    ],
)
def test_a_member_that_is_elsewhere(
    pairs: tuple[tuple[str, str], ...], unknown: tuple[str, str] | None, expected: Said
) -> None:
    told = [item for item in said(asked(*pairs, unknown=unknown, of=moved())) if "does not carry" in item.message]
    assert told == [expected]


def test_members_on_no_segment() -> None:
    more = (VPodFact(TRAIN, ("ipum-01", "ipum-02", "ipum-03", "ipum-04", "ipum-09")),)
    expected = Said(V, lost(VLAN, "RNIC of ipum-09"), ("RNIC of ipum-09 – on no segment",), (), 75)
    assert said(asked(vpods=more)) == [expected]


@pytest.mark.parametrize(
    ("machines", "names"), [((), "anything"), (("ipum-01", "ipum-02"), "RNIC of ipum-01, RNIC of ipum-02")]
)
def test_a_vpod_without_a_data_network(machines: tuple[str, ...], names: str) -> None:
    found = [
        item
        for item in said(asked(vpods=(VPodFact(TRAIN, machines),), networks=()))
        if "does not carry" in item.message
    ]
    witness = tuple(f"RNIC of {name} – tor-1 VLAN 1000" for name in machines)
    assert found == [Said(V, lost("none planned", names), witness, (), 75)]


def without_role(of: Plan, name: str) -> Plan:
    """The network states no role."""
    fields = {field: getattr(of, field) for field in Plan.model_fields}
    item = of.by_name[name]
    rest = tuple(item.model_copy(update={"role": None}) if old is item else old for old in of.resources)
    return Plan(**fields | {"resources": rest})


def test_a_network_that_may_be_the_data_network() -> None:
    """Nobody can say of `a` what it lacks; of `b` everybody can."""
    of = edited(two_vpods(), "acme-b-rnic-ipum-03", **ELSEWHERE)
    told = findings(ISO_03, SITE, without_role(of, "acme-a-ipu-data"))
    assert [(item.verdict, item.missing) for item in told] == [(V, ()), (N, ("role of network acme-a-ipu-data",))]
    assert told[0].message.startswith("the ipu-data segment of vPOD acme-b (VLAN 1001 on fabric100g) does not carry")
    assert "whether it is the ipu-data network of a vPOD" in told[1].message


def test_a_network_without_a_role_beside_the_data_network() -> None:
    told = findings(ISO_03, SITE, without_role(moved(), "acme-train-control"))
    assert [(item.verdict, item.witness) for item in told] == [
        (V, (f"{ONE} – tor-1 VLAN 1500",)),
        (N, ("network acme-train-control of acme-train", "VXLAN 5000")),
    ]


# Two vPODs of one tenant.

JOINED = "the vPODs acme-a and acme-b are joined on data or storage media"


@pytest.mark.parametrize(
    ("name", "change", "witness"),
    [
        (
            "acme-b-storage",
            {"segmentation_id": 2000},
            ("port acme-a-poplar-0-storage [acme]", "poplar-1 ens161f0 VLAN 2000", "tor-1 VLAN 2000 [acme]"),
        ),
        (
            "acme-b-rnic-ipum-03",
            {"vlan": 1000},
            ("tor-1 VLAN 1000 [acme]", "tor-1 port 3", "RNIC of ipum-03 [acme]"),
        ),
        ("acme-b-control", {"segmentation_id": 5000}, None),
    ],
)
def test_vpods_on_one_medium(name: str, change: dict[str, object], witness: tuple[str, ...] | None) -> None:
    told = [item for item in findings(ISO_03, SITE, edited(two_vpods(), name, **change)) if item.message == JOINED]
    assert told == ([Said(V, JOINED, witness, (), 74)] if witness else [])


@pytest.mark.parametrize(("value", "verdict"), [(True, P), (None, N), (False, V)])
def test_vpods_that_a_switch_asked_by_devices_would_join(value: bool | None, verdict: Verdict) -> None:
    """RNICs are lent: while their switch listens to them, each may ask for the VLAN of the other vPOD."""
    found = answer(ISO_03, full_site(assumptions=assumptions(vlan_protocols_off=value)), two_vpods())
    assert (found.verdict, found.count) == (verdict, 2)
    told = [item for item in said(found) if item.message == JOINED]
    missing = ("assumptions.A22.vlan_protocols_off",) if value is None else ()
    assert [(item.verdict, item.missing, item.order) for item in told] == ([] if value else [(verdict, missing, 74)])


def test_a_switch_that_listens_joins_vpods_by_none_of_their_own_ports() -> None:
    """Another lent machine there is enough; these vPODs have virtual servers alone."""
    fields = {name: getattr(two_vpods(), name) for name in Plan.model_fields}
    rest = tuple(item for item in two_vpods().resources if "-rnic-" not in item.name)
    site = full_site(assumptions=assumptions(vlan_protocols_off=False))
    told = [item for item in findings(ISO_03, site, Plan(**fields | {"resources": rest})) if item.message == JOINED]
    assert [item.verdict for item in told] == [V]
