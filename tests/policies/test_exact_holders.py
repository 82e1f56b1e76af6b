"""TOP-06, ISO-04, L3-14 and members of remote groups: what two have together, whose it is, and in which words."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import pytest

from interlock.model.site.inventory import Site
from interlock.resources import SecurityGroupRule
from interlock.vocabulary import NetworkRole
from policies.about import PlanComponent, PlanResource
from policies.edges.shape import GraphFragment, Relation, premise
from policies.facts import identities as ids
from policies.facts.data import CredentialFact, ShareAccessFact
from policies.facts.fabric import SwitchPortFact
from policies.facts.kinds import NetworkFact, PlanFacts, PortFact, SubnetFact, VPodFact
from policies.facts.rights import RightFact, SecurityGroupFact
from policies.facts.site import SiteFacts
from policies.proof import RuleResult
from policies.rules.remote_groups import strangers
from tests.policies.exact_answers import answer, drawn, messages, only, plan_of, share
from tests.policies.workspace import NA, N, P, V, assumptions, changed, full_site

MAC = "02:00:00:00:00:05"


@cache
def site() -> SiteFacts:
    """The small site, with the address of one RNIC."""
    base = full_site()
    machines = (
        item.model_copy(update={"macs": {"rnic": MAC}}) if item.name == "ipum-05" else item for item in base.machines
    )
    return SiteFacts(changed(base, machines=tuple(machines)))


# TOP-06.

FIVE, SEVEN = ids.machine_identity("SN-ipum-05"), ids.machine_identity("SN-ipum-07")
ADDRESS, HOST = ids.mac_identity(MAC), ids.host_identity("SN-poplar-1")


def port(number: int) -> str:
    return ids.port_identity("SN-tor-1", number)


def having(owner: str, *identities: str, released: Iterable[str] = ()) -> GraphFragment:
    gone = [premise(Relation.RESIDUE, item, owner, "old") for item in released]
    return share(owner, (), {}, gone, identities)


def together(*shares: GraphFragment, asked: str = "acme") -> RuleResult:
    own = next((item for item in shares if item.owner == asked), share(asked))
    others = (item for item in shares if item is not own)
    return answer("TOP-06", drawn(site(), plan_of(asked), own, *others))


@pytest.mark.parametrize(
    ("identities", "things"),
    [
        ((FIVE,), "ipum-05"),
        # A machine stands for its address and for the port behind it; a host is told as one.
        ((FIVE, ADDRESS, port(5)), "ipum-05"),
        ((ADDRESS,), f"MAC address {MAC}"),
        ((HOST, port(17)), "host poplar-1"),
        ((FIVE, SEVEN, HOST), "ipum-05, ipum-07, host poplar-1"),
        ((port(1), port(34)), "tor-1 port 1, tor-1 port 34"),
        ((ids.gpu("rack", "0"), port(2)), "GPU rack/0, tor-1 port 2"),
        # What the site does not list has no name to tell it by; ISO-02 has the nodes.
        ((ids.machine_identity("SN-gone"),), None),
        ((port(0), port(35)), None),
        # Segments and login keys are for other rules.
        ((ids.segment_identity(ids.vlan_segment(ids.switch_bridge("SN-tor-1"), 5)),), None),
        ((ids.login_key_identity("SHA256:abc"),), None),
    ],
)
def test_what_two_have(identities: tuple[str, ...], things: str | None) -> None:
    result = together(having("acme", *identities), having("globex", *identities))
    if things is None:
        assert result.verdict in (P, NA)
        return
    found = only(result)
    assert found.message == f"acme takes what globex holds: {things}"
    assert found.witness == tuple(f"{thing}: acme and globex" for thing in things.split(", "))
    assert (found.verdict, found.specificity, result.count) == (V, 92, len(identities))
    assert found.subjects[:2] == (PlanComponent("acme"), PlanComponent("globex"))


HOLDS = "acme takes what globex holds: ipum-05"
LEFT = "acme takes what globex has released but is not seen to have let go: ipum-05"
TAKEN = "globex takes what acme has released but is not seen to have let go: ipum-05"


@pytest.mark.parametrize(
    ("asked", "acme", "globex", "words"),
    [
        ("acme", (), (FIVE,), LEFT),
        # It released something else.
        ("acme", (), (SEVEN,), HOLDS),
        # Of its own plan each owner is told first, whatever it released.
        ("acme", (FIVE,), (), HOLDS),
        ("op", (), (), HOLDS),
        ("op", (FIVE,), (), TAKEN),
        ("op", (), (FIVE,), LEFT),
        ("op", (FIVE,), (FIVE,), LEFT),
    ],
)
def test_who_released_what_another_takes(
    asked: str, acme: tuple[str, ...], globex: tuple[str, ...], words: str
) -> None:
    shares = having("acme", FIVE, released=acme), having("globex", FIVE, released=globex)
    assert messages(together(*shares, asked=asked)) == [words]


def test_what_others_have_together_is_the_operators_to_tell() -> None:
    shares = having("globex", FIVE), having("initech", FIVE)
    assert together(*shares).verdict is NA
    assert messages(together(*shares, asked="op")) == ["globex takes what initech holds: ipum-05"]


def planned(name: str, number: int, device: str) -> SwitchPortFact:
    return SwitchPortFact(name, "tor-1", number, device, "rnic", 1000 + number, "acme-train")


@pytest.mark.parametrize(
    ("ports", "told"),
    [
        ((planned("a", 1, "ipum-01"), planned("b", 2, "ipum-02")), []),
        ((planned("a", 1, "ipum-01"), planned("b", 2, "ipum-01")), ["ipum-01 rnic is planned 2 times"]),
        ((planned("a", 1, "ipum-01"), planned("b", 1, "ipum-02")), ["tor-1 port 1 is planned 2 times"]),
        # The same two resources are told once.
        ((planned("a", 1, "ipum-01"), planned("b", 1, "ipum-01")), ["ipum-01 rnic is planned 2 times"]),
        (
            (planned("a", 1, "ipum-01"), planned("b", 2, "ipum-01"), planned("c", 7, "ipum-07"), planned("d", 7, "x")),
            ["ipum-01 rnic is planned 2 times", "tor-1 port 7 is planned 2 times"],
        ),
        ((planned("a", 1, "ipum-01"), planned("b", 2, "ipum-01"), planned("c", 3, "ipum-01")),
         ["ipum-01 rnic is planned 3 times"]),
    ],
)  # fmt: skip
def test_ports_of_one_plan(ports: tuple[SwitchPortFact, ...], told: list[str]) -> None:
    result = answer("TOP-06", drawn(site(), plan_of(switch_ports=ports), share("acme")))
    assert messages(result) == told
    if told:
        found = result.findings[0]
        assert found.witness[0] == "a: tor-1 port 1, VLAN 1001, vPOD acme-train"
        assert found.subjects[0] == PlanResource("a")
        assert found.specificity == 92


# ISO-04.


def store(vpod: str, vlan: int) -> NetworkFact:
    return NetworkFact(
        f"{vpod}-store", "acme", NetworkRole.STORAGE, vpod, "vlan", "fabric100g", vlan, False, False, True
    )  # fmt: skip


def subnet(vpod: str, cidr: str, network: str = "store") -> SubnetFact:
    return SubnetFact(f"{vpod}-{network}-sub", "acme", f"{vpod}-{network}", cidr, None, False, None)


def access(vpod: str, vip: str, network: str = "store") -> ShareAccessFact:
    fields = {"name": f"{vpod}-access", "owner": "acme", "share": "s", "network": f"{vpod}-{network}", "vip": vip}
    empty: dict[str, Any] = dict.fromkeys(ShareAccessFact.__dataclass_fields__, "")
    return ShareAccessFact(**(empty | fields))


OWN = (2000, 2001, 2002)
THREE = tuple(VPodFact(name, ()) for name in "abc")


def stored(*facts: SubnetFact | ShareAccessFact, vlans: tuple[int, int, int] = OWN) -> RuleResult:
    plan = plan_of(
        vpods=THREE,
        networks=tuple(store(name, vlan) for name, vlan in zip("abc", vlans, strict=True)),
        subnets=tuple(item for item in facts if isinstance(item, SubnetFact)),
        accesses=tuple(item for item in facts if isinstance(item, ShareAccessFact)),
    )
    return answer("ISO-04", drawn(site(), plan, share("acme")))


@pytest.mark.parametrize(
    ("vlans", "facts", "words", "about"),
    [
        ((2000, 2001, 2001), (), "b and c have one storage VLAN: VLAN 2001 on fabric100g", ()),
        (
            OWN, (subnet("a", "10.21.0.0/24"), subnet("c", "10.21.0.128/25")),
            "a and c have one storage subnet: a-store-sub 10.21.0.0/24 and c-store-sub 10.21.0.128/25",
            ("a-store-sub", "c-store-sub"),
        ),
        # Host bits that somebody wrote mean no other subnet.
        (
            OWN, (subnet("a", "10.21.0.7/24"), subnet("b", "10.21.0.9/24")),
            "a and b have one storage subnet: a-store-sub 10.21.0.7/24 and b-store-sub 10.21.0.9/24",
            ("a-store-sub", "b-store-sub"),
        ),
        (
            OWN, (access("a", "10.21.0.200"), access("b", "10.21.0.200"), access("c", "10.21.2.200")),
            "a and b have one address of the appliance: 10.21.0.200", (),
        ),
    ],
)  # fmt: skip
def test_what_two_vpods_have(
    vlans: tuple[int, int, int], facts: tuple[SubnetFact | ShareAccessFact, ...], words: str, about: tuple[str, ...]
) -> None:
    result = stored(*facts, vlans=vlans)
    found = only(result)
    assert (found.message, found.verdict, found.specificity, result.count) == (words, V, 86, 3)
    one, _, other = words.split(" have ")[0].partition(" and ")
    assert found.subjects == (*map(PlanResource, about), PlanComponent(one), PlanComponent(other))


def test_what_is_on_other_networks_is_not_for_storage() -> None:
    """Two control networks with one subnet or address are for other rules."""
    facts = (subnet("a", "10.30.0.0/24", "ctl"), subnet("b", "10.30.0.0/24", "ctl"))
    calls = (access("a", "10.30.0.9", "ctl"), access("b", "10.30.0.9", "ctl"))
    assert stored(*facts, *calls, subnet("a", "10.21.0.0/24"), subnet("b", "10.21.1.0/24")).verdict is P


# L3-14.


def key(name: str) -> CredentialFact:
    empty: dict[str, Any] = dict.fromkeys(CredentialFact.__dataclass_fields__, "")
    return CredentialFact(**(empty | {"name": name}))


@pytest.mark.parametrize(("value", "verdict", "words"), [(True, P, ""), (False, V, "false"), (None, N, "not known")])
def test_tokens_for_signatures(value: bool | None, verdict: str, words: str) -> None:
    keys = tuple(key(name) for name in ("first", "second"))
    whole: Site = full_site(assumptions=assumptions(token_endpoints_closed=value))
    result = answer("L3-14", drawn(SiteFacts(whole), plan_of(credentials=keys), share("acme")))
    assert (result.verdict, result.count) == (verdict, 2)
    if words:
        found = only(result)
        assert found.message == (
            f"whether ec2tokens and s3tokens of Keystone are closed to everybody but its services is {words}"
        )
        assert found.witness == ("whoever has a presigned URL", "ec2tokens, s3tokens", "S3 key first")
        assert found.specificity == 73
        assert found.missing == (("assumptions.A15.token_endpoints_closed",) if value is None else ())
        assert value is None or found.subjects == (PlanResource("first"),)


# Members of a remote group.


def in_group(owner: str, network: str = "net", group: str = "web") -> PortFact:
    return PortFact("p", owner, network, "sub", "10.0.0.9", "normal", True, None, None, (group,))


def group(owner: str) -> SecurityGroupFact:
    return SecurityGroupFact("web", owner, ())


def right(target: str, to: str = "web") -> RightFact:
    return RightFact("r", "acme", to, "SecurityGroup", "access_as_shared", target)


def network_of(owner: str) -> NetworkFact:
    return NetworkFact("net", owner, None, None, "vlan", "fabric100g", 1000, False, False, True)


def with_group(
    *ports: PortFact, whose: str = "acme", owner: str = "acme", rights: tuple[RightFact, ...] = ()
) -> PlanFacts:
    """A plan with the group `web` and a network; `whose` the one is, and `owner` of the other."""
    return plan_of(security_groups=(group(whose),), ports=ports, networks=(network_of(owner),), rights=rights)


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        (with_group(in_group("acme")), []),
        (with_group(in_group("op")), []),
        (with_group(in_group("globex", group="other")), []),
        (with_group(in_group("globex")), [("globex", "port p in it is globex's", ("p",))]),
        (
            with_group(in_group("acme"), owner="globex"),
            [("globex", "port p in it is on net, a network of globex", ("p", "net"))],
        ),
        (
            with_group(in_group("acme", "far")),
            [("foreign", "port p in it is on far, a network of foreign", ("p", "far"))],
        ),
        (with_group(in_group("acme", "site:Network/shared")), []),
        (with_group(whose="globex"), [("globex", "the group is globex's", ())]),
        (plan_of(), [("foreign", "web is no group of this plan, so others put their ports into it", ("web",))]),
        (with_group(rights=(right("globex"),)), [("globex", "r lets globex put ports into it", ("r",))]),
        (with_group(rights=(right("*"),)), [("foreign", "r lets foreign put ports into it", ("r",))]),
        (with_group(rights=(right("acme"),)), []),
        (with_group(rights=(right("globex", "db"),)), []),
    ],
)
def test_strangers_in_a_remote_group(plan: PlanFacts, expected: list[tuple[str, str, tuple[str, ...]]]) -> None:
    rule = SecurityGroupRule(direction="ingress", remote_group="web")
    mine = SecurityGroupFact("mine", "acme", (rule,))
    assert [(item.owner, item.why, item.named) for item in strangers(plan, mine, rule)] == expected
    for other in (SecurityGroupRule(direction="egress", remote_group="web"), SecurityGroupRule(direction="ingress")):
        assert list(strangers(plan, mine, other)) == []


def test_a_group_of_the_sites() -> None:
    rule = SecurityGroupRule(direction="ingress", remote_group="site:SecurityGroup/web")
    (found,) = strangers(plan_of(), SecurityGroupFact("mine", "acme", (rule,)), rule)
    assert (found.owner, found.why) == ("op", "nobody states who has a port in site:SecurityGroup/web")
    assert list(map(str, found.missing)) == ["members of site:SecurityGroup/web"]


def test_the_owner_of_the_group_that_lets_in_is_no_stranger() -> None:
    """A group of another's in this plan may let its own owner in."""
    rule = SecurityGroupRule(direction="ingress", remote_group="web")
    theirs = SecurityGroupFact("theirs", "globex", (rule,))
    assert list(strangers(with_group(in_group("globex")), theirs, rule)) == []
