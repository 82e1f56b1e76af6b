"""Rules about addresses, filters and names: L3-03, L3-07, L3-10, L3-11, L3-12 and L3-15."""

from __future__ import annotations

from functools import cache
from ipaddress import IPv4Network

import pytest

from interlock.model.site.inventory import SwitchPortConfig
from interlock.planning.plan import Plan
from interlock.resources import FloatingIp, Port, RbacPolicy, SecurityGroup, SecurityGroupRule, Subnet, VipuPartition
from policies import Severity, Verdict
from tests.builders.pod64 import management_switch, tor
from tests.policies.test_authority import declared
from tests.policies.test_data_rules import both as storing
from tests.policies.test_data_rules import site_of
from tests.policies.workspace import (
    NA,
    Made,
    N,
    P,
    V,
    added,
    assumptions,
    edited,
    first,
    full_site,
    judged,
    pair,
    text,
    verdicts,
)

SITE = full_site()
PORT = "acme-train-poplar-0-control"
GROUP = "acme-train-poplar-ssh"


@cache
def clean() -> tuple[Made, Made]:
    return pair(SITE)


def changed_by(name: str, **changes: object) -> Plan:
    return edited(clean()[0].plan, name, **changes)


def test_as_planned() -> None:
    acme, globex = clean()
    found = verdicts(judged(SITE, acme.plan, globex))
    assert [found[f"L3-{number}"] for number in ("03", "07", "10", "11", "12", "15")] == [P, P, NA, P, P, P]


# L3-03.


@pytest.mark.parametrize(("value", "verdict"), [(False, V), (None, N)])
def test_policies_of_neutron_that_are_not_the_default(value: bool | None, verdict: str) -> None:
    site = full_site(assumptions=assumptions(default_policies=value))
    acme, globex = clean()
    found = first(judged(site, acme.plan, globex))
    assert (found.rule, found.verdict) == ("L3-03", verdict)
    assert found.missing == (() if value is False else ("assumptions.A2.default_policies",))


# L3-07.


def address(name: str) -> str:
    resource = clean()[0].plan.by_name[name].resource
    assert isinstance(resource, Port)
    return resource.address


@pytest.mark.parametrize(
    ("end", "words"), [(".1", "is the gateway"), (".0", "no host's address"), (".255", "no host's address")]
)
def test_an_address_that_is_reserved(end: str, words: str) -> None:
    judgement = judged(SITE, changed_by(PORT, address=address(PORT).rpartition(".")[0] + end), clean()[1])
    found = first(judgement)
    assert (found.rule, found.severity, words in found.message) == ("L3-07", Severity.WARN, True)
    assert judgement.exit_code == 0


def test_an_address_that_neutron_may_give_to_another() -> None:
    subnet = clean()[0].plan.by_name["acme-train-control-subnet"].resource
    assert isinstance(subnet, Subnet)
    judgement = judged(SITE, changed_by(PORT, address=subnet.pools[0][0]), clean()[1])
    assert "which Neutron gives out" in first(judgement).message


@pytest.mark.parametrize("cidr", ["169.254.0.0/16", "::ffff:169.254.0.0/112", "fe80::/64"])
def test_a_subnet_over_the_metadata_service(cidr: str) -> None:
    judgement = judged(SITE, changed_by("acme-train-storage-subnet", cidr=cidr), clean()[1])
    assert "the metadata service's" in next(item for item in judgement.findings if item.rule == "L3-07").message


# L3-10, example 30.


@pytest.mark.parametrize(
    "pairs", [("0.0.0.0/0",), ("::/0",), ("0.0.0.0/1", "128.0.0.0/1"), ("::/1", "8000::/1"), ("::ffff:0:0/96",)]
)
def test_example_30_any_address_on_a_wire_of_its_own(pairs: tuple[str, ...]) -> None:
    judgement = judged(SITE, changed_by(PORT, allowed_address_pairs=pairs), clean()[1])
    found = first(judgement)
    assert (found.rule, found.verdict, found.severity) == ("L3-10", V, Severity.WARN)
    assert verdicts(judgement)["ISO-02"] == P
    assert judgement.exit_code == 0


def test_another_address_of_its_own_subnet() -> None:
    prefix = address(PORT).rpartition(".")[0]
    judgement = judged(SITE, changed_by(PORT, allowed_address_pairs=(f"{prefix}.99/32",)), clean()[1])
    assert verdicts(judgement)["L3-10"] == P


@pytest.mark.parametrize("pair_", ["0.0.0.0/0", "10.99.0.0/24"])
def test_example_30_where_a_grant_goes_by_address(pair_: str) -> None:
    acme, globex = storing()
    plan = edited(acme.plan, "acme-train-poplar-0-storage", allowed_address_pairs=(pair_,))
    judgement = judged(site_of(), plan, globex)
    found = first(judgement)
    assert (found.rule, found.verdict, found.severity) == ("L3-10", V, Severity.BLOCK)
    assert "acme-models-access-train lets clients in by their address" in text(found)
    assert judgement.exit_code == 1


def test_an_address_of_anothers_grant() -> None:
    """On a wire where no grant goes by address it is a warning, and says whose address it is."""
    acme, globex = storing()
    theirs = IPv4Network(getattr(globex.plan.by_name["globex-models-access-train"].resource, "prefix", ""))
    mapped = f"::ffff:{theirs.network_address}/{96 + theirs.prefixlen}"
    for pair_ in (str(theirs), mapped):
        judgement = judged(site_of(), edited(acme.plan, PORT, allowed_address_pairs=(pair_,)), globex)
        found = next(item for item in judgement.findings if item.rule == "L3-10")
        assert (found.severity, "globex-models-access-train" in found.message) == (Severity.WARN, True)


@pytest.mark.parametrize("tagged", [False, True])
def test_example_30_on_a_private_vlan(tagged: bool) -> None:
    """Also where only a trunk has a role in it, as the uplink of a hypervisor has."""
    vlan = getattr(clean()[0].plan.by_name["acme-train-storage"].resource, "segmentation_id", 0)
    trunk = SwitchPortConfig(port=31, mode="trunk", tagged=((vlan, vlan),), private_vlan="isolated")
    access = SwitchPortConfig(port=31, mode="access", untagged=vlan, private_vlan="isolated")
    port = trunk if tagged else access
    switch = tor().model_copy(update={"ports": (*tor().ports, port)})
    site = full_site(switches=(switch, management_switch()))
    plan = changed_by("acme-train-poplar-0-storage", allowed_address_pairs=("0.0.0.0/0",))
    judgement = judged(site, plan, clean()[1])
    found = next(item for item in judgement.findings if item.rule == "L3-10")
    assert (found.verdict, found.severity) == (V, Severity.BLOCK)


# L3-11, L3-12.


def filtered(*rules: SecurityGroupRule) -> Plan:
    group = clean()[0].plan.by_name[GROUP].resource
    assert isinstance(group, SecurityGroup)
    return changed_by(GROUP, rules=(*group.rules, *rules))


def ingress(**fields: object) -> SecurityGroupRule:
    return SecurityGroupRule.model_validate({"direction": "ingress", "remote_prefix": "203.0.113.0/24"} | fields)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (ingress(port_min=22, port_max=22), "every protocol has no ports"),
        (ingress(protocol="icmp", port_min=1, port_max=2), "icmp has no ports"),
        (ingress(protocol="tcp", port_min=22), "one end of the range"),
        (ingress(protocol="tcp", port_min=23, port_max=22), "no range of ports"),
        (ingress(protocol="tcp", port_min=0, port_max=70000), "no range of ports"),
        (ingress(ethertype="IPv6"), "no IPv6 prefix"),
        (ingress(remote_prefix=None), "the whole world"),
        (ingress(remote_prefix="0.0.0.0/0", protocol="tcp", port_min=22, port_max=22), "the whole world"),
        (ingress(remote_prefix="::/0", ethertype="IPv6", protocol="tcp", port_min=443, port_max=443), "whole world"),
    ],
)
def test_a_filter_that_is_none(rule: SecurityGroupRule, words: str) -> None:
    found = first(judged(SITE, filtered(rule), clean()[1]))
    assert (found.rule, found.verdict, words in found.message) == ("L3-11", V, True)


LOW, HIGH = "0.0.0.0/1", "128.0.0.0/1"


def ssh_from(prefix: str, **fields: object) -> SecurityGroupRule:
    return ingress(**{"remote_prefix": prefix, "protocol": "tcp", "port_min": 22, "port_max": 22} | fields)


@pytest.mark.parametrize(
    ("rules", "verdict"),
    [
        ((ssh_from(LOW), ssh_from(HIGH)), V),
        ((ssh_from(LOW, port_min=1), ssh_from(HIGH, port_max=99)), V),
        ((ssh_from(LOW, protocol=None, port_min=None, port_max=None), ssh_from(HIGH)), V),
        ((ssh_from(LOW), ssh_from("128.0.0.0/2"), ssh_from("192.0.0.0/2")), V),
        ((ssh_from("::/1", ethertype="IPv6"), ssh_from("8000::/1", ethertype="IPv6")), V),
        ((ssh_from(LOW), ssh_from("128.0.0.0/2")), P),
        ((ssh_from(LOW), ssh_from(HIGH, port_min=23, port_max=23)), P),
        ((ssh_from(LOW), ssh_from(HIGH, protocol="udp")), P),
        ((ssh_from(LOW), ssh_from(HIGH, direction="egress")), P),
    ],
    ids=["halves", "ranges that meet", "every protocol", "three", "IPv6", "three quarters", "ports", "udp", "egress"],
)
def test_prefixes_that_together_are_the_world(rules: tuple[SecurityGroupRule, ...], verdict: Verdict) -> None:
    judgement = judged(SITE, filtered(*rules), clean()[1])
    assert verdicts(judgement)["L3-11"] == verdict
    if verdict is V:
        found = first(judgement)
        assert "lets the whole world in by" in found.message
        assert len(found.witness) == len(rules) + 1


@pytest.mark.parametrize(
    ("prefixes", "verdict"),
    [
        ((LOW, "128.0.0.0/2", "192.0.0.0/3"), V),
        (tuple(f"{first}.0.0.0/8" for first in range(1, 224) if first not in (10, 127)), V),
        ((LOW, *map(str, IPv4Network(HIGH).address_exclude(IPv4Network("192.0.2.7/32")))), V),
        (("2000::/3",), V),
        (("2000::/4", "3000::/4"), V),
        (("2000::/4",), P),
        (("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"), P),
    ],
    ids=["no multicast", "nothing private", "but one", "all of IPv6", "in two", "half of IPv6", "private"],
)
def test_whoever_could_be_there_is_the_world(prefixes: tuple[str, ...], verdict: Verdict) -> None:
    rules = (ssh_from(prefix, ethertype="IPv6" if ":" in prefix else "IPv4") for prefix in prefixes)
    judgement = judged(SITE, filtered(*rules), clean()[1])
    assert verdicts(judgement)["L3-11"] == verdict
    assert verdict is P or "lets the whole world in" in first(judgement).message


@pytest.mark.parametrize("prefix", ["::ffff:0.0.0.0/96", "::ffff:10.0.0.0/104"])
def test_an_ipv4_prefix_in_the_words_of_ipv6_is_no_ipv6_filter(prefix: str) -> None:
    judgement = judged(SITE, filtered(ssh_from(prefix, ethertype="IPv6")), clean()[1])
    assert verdicts(judgement)["L3-11"] == V
    assert "is no IPv6 prefix" in next(item for item in judgement.findings if item.rule == "L3-11").message


def test_the_groups_of_one_port_are_taken_together() -> None:
    """Each is half the world; a port lets in what any of its groups does."""
    plan = filtered(ssh_from(LOW))
    more = SecurityGroup(name="acme-more", project="acme-project", rules=(ssh_from(HIGH),))
    plan = added(plan, "acme-more", "acme", more)
    assert verdicts(judged(SITE, plan, clean()[1]))["L3-11"] == P
    plan = edited(plan, PORT, security_groups=(GROUP, "acme-more"))
    assert verdicts(judged(SITE, plan, clean()[1]))["L3-11"] == V


def test_halves_at_the_web_port_of_a_public_server() -> None:
    web = [ssh_from(prefix, port_min=443, port_max=443) for prefix in (LOW, HIGH)]
    wider = [rule.model_copy(update={"port_max": 444}) for rule in web]
    address_ = FloatingIp(
        project="acme-project", external_network="site:Network/external", address="192.0.2.77", port=PORT
    )
    for rules, verdict in ((web, P), (wider, V)):
        group = SecurityGroup(name="acme-web", project="acme-project", rules=tuple(rules))
        plan = added(added(clean()[0].plan, "acme-web", "acme", group), "acme-public", "acme", address_)
        plan = declared(edited(plan, PORT, security_groups=("acme-web",)), "acme-public")
        assert verdicts(judged(SITE, plan, clean()[1]))["L3-11"] == verdict


def test_the_web_port_of_a_public_server() -> None:
    rule = ingress(remote_prefix=None, protocol="tcp", port_min=443, port_max=443)
    address_ = FloatingIp(
        project="acme-project", external_network="site:Network/external", address="192.0.2.77", port=PORT
    )
    group = SecurityGroup(name="acme-web", project="acme-project", rules=(rule,))
    plan = added(added(clean()[0].plan, "acme-web", "acme", group), "acme-public", "acme", address_)
    plan = edited(plan, PORT, security_groups=("acme-web",))
    assert verdicts(judged(SITE, declared(plan, "acme-public"), clean()[1]))["L3-11"] == P
    assert verdicts(judged(SITE, plan, clean()[1]))["L3-11"] == V


def by_group(group: str) -> SecurityGroupRule:
    return ingress(remote_prefix=None, remote_group=group, protocol="tcp", port_min=9000, port_max=9009)


def with_friends(project: str, member: Port | None = None) -> Plan:
    """A group of some project, let in by the servers' own; perhaps with a port in it."""
    plan = added(filtered(by_group("friends")), "friends", "acme", SecurityGroup(name="f", project=project, rules=()))
    return plan if member is None else added(plan, "friend", "acme", member)


def a_port(**fields: object) -> Port:
    port = clean()[0].plan.by_name[PORT].resource
    assert isinstance(port, Port)
    return port.model_copy(update={"name": "friend", "security_groups": ("friends",)} | fields)


def test_members_of_ones_own_group() -> None:
    assert verdicts(judged(SITE, filtered(by_group(GROUP)), clean()[1]))["L3-11"] == P
    own = a_port(address=address(PORT).rpartition(".")[0] + ".99")
    assert verdicts(judged(SITE, with_friends("acme-project", own), clean()[1]))["L3-11"] == P


@pytest.mark.parametrize("group", ["cloud:SecurityGroup/4711", "globex-train-poplar-ssh"])
def test_a_group_that_is_anothers(group: str) -> None:
    found = first(judged(SITE, filtered(by_group(group)), clean()[1]))
    assert (found.rule, found.verdict) == ("L3-11", V)
    assert f"lets foreign in by group: tcp 9000-9009 from group {group}" in found.message


def test_a_group_in_anothers_project() -> None:
    found = first(judged(SITE, with_friends("cloud:Project/globex"), clean()[1]))
    assert (found.rule, found.verdict, "the group is foreign's" in text(found)) == ("L3-11", V, True)


def test_a_group_with_a_member_on_anothers_network() -> None:
    elsewhere = a_port(network="globex-train-control", subnet="globex-train-control-subnet")
    found = first(judged(SITE, with_friends("acme-project", elsewhere), clean()[1]))
    assert (found.rule, found.verdict) == ("L3-11", V)
    assert "port friend in it is on globex-train-control, a network of foreign" in text(found)


def test_a_group_that_another_may_use() -> None:
    right = RbacPolicy(
        project="acme-project", object="friends", action="access_as_shared", target="cloud:Project/globex"
    )
    plan = added(with_friends("acme-project"), "acme-right", "acme", right)
    assert verdicts(judged(SITE, plan, clean()[1]))["L3-11"] == V


def test_a_group_of_which_nobody_states_the_members() -> None:
    judgement = judged(SITE, filtered(by_group("site:SecurityGroup/bastions")), clean()[1])
    found = first(judgement)
    assert (found.rule, found.verdict, judgement.exit_code) == ("L3-11", N, 3)
    assert found.missing == ("members of site:SecurityGroup/bastions",)


def test_what_is_sent_to_a_group_lets_nobody_in() -> None:
    rule = by_group("cloud:SecurityGroup/4711").model_copy(update={"direction": "egress"})
    assert verdicts(judged(SITE, filtered(rule), clean()[1]))["L3-11"] == P


def test_a_group_restricts_one_ethertype() -> None:
    """A group is no open door, so the other ethertype's open rule stands out."""
    wide = SecurityGroupRule(direction="egress", ethertype="IPv6", protocol="udp")
    narrow = SecurityGroupRule(direction="egress", protocol="udp", remote_group=GROUP)
    assert first(judged(SITE, filtered(wide, narrow), clean()[1])).rule == "L3-12"


def test_a_filter_for_one_ethertype() -> None:
    wide = SecurityGroupRule(direction="egress", ethertype="IPv6", protocol="udp")
    narrow = SecurityGroupRule(direction="egress", protocol="udp", remote_prefix="192.0.2.0/24")
    judgement = judged(SITE, filtered(wide, narrow), clean()[1])
    found = first(judgement)
    assert (found.rule, found.severity) == ("L3-12", Severity.WARN)
    assert verdicts(judged(SITE, filtered(narrow), clean()[1]))["L3-12"] == P


# L3-15.


@pytest.mark.parametrize("name", ["acme-$(reboot)", "../acme", "-rf", "acme train", "a" * 64])
def test_a_name_that_a_shell_reads(name: str) -> None:
    partition = VipuPartition(name=name, controller="acme-train-controller", allocation="acme-train-allocation", ipus=4)
    found = first(judged(SITE, added(clean()[0].plan, name, "acme-train", partition), clean()[1]))
    assert (found.rule, found.verdict) == ("L3-15", V)
    assert repr(name) in found.message
