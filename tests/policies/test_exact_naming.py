"""Nodes, steps and translated VLANs in words, on a small site: what a witness is made of."""

from __future__ import annotations

from functools import cache

import networkx as nx
import pytest

from interlock.model.site.inventory import Site
from interlock.model.site.networks import InfinibandSubnet
from interlock.model.site.physical import Vrf
from policies.about import SiteFact
from policies.edges.shape import GraphFragment, Union
from policies.facts import identities as ids
from policies.facts.plan import plan_facts
from policies.facts.site import SiteFacts
from policies.graph.model import Model
from policies.graph.naming import Names, missing_on
from policies.graph.search import EdgeFacts
from policies.graph.translations import translation
from tests.builders.pod64 import machines
from tests.policies.joining import access, host, port, small, switch, tagged
from tests.policies.test_exact_plan_facts import planned


@cache
def site() -> Site:
    """Two switches with a cable between them, a host with a leg at each, a machine, a camera."""
    one = switch("a", tagged(1, 100), access(2, 100), tagged(3, 100), vrfs=(Vrf(name="red", vlans=(100,)),))
    links = (("a:1", "b:1"), ("cam:eth0", "a:2"), ("h:e0", "a:3"), ("h:bmc", "b:4"), ("ipum-01:rnic", "b:5"))
    return small(
        one, switch("b", tagged(1, 100)), links=links, hosts=(host(),), machines=machines()[:1],
        infiniband=(InfinibandSubnet(name="ib", prefix="fe80::"),),
    )  # fmt: skip


@cache
def model() -> Model:
    """Of acme, which owns nothing but VLAN 100 of switch a and a router; globex is in VLAN 100 of b, too."""
    acme, both = frozenset({"acme"}), frozenset({"acme", "globex"})
    labels = {"L:SN-a:100": acme, "L:SN-b:100": both, "R:acme:r": acme}
    return Model(SiteFacts(site()), plan_facts(planned()), GraphFragment("acme", (), labels, ()))


def names() -> Names:
    """Its words, none of them kept from another test."""
    return Names(model())


@pytest.mark.parametrize(
    ("node", "words"),
    [
        ("foreign:sandbox", "a project that no file describes"), ("cloud:sandbox", "the cloud"),
        ("shares:sandbox", "the storage appliance"), ("X:external", "external network external"),
        ("X:other", "external network other"),
        ("X:external@R:acme:r", "external network external as that router meets it"),
        ("dev:SN-ipum-01/rnic", "RNIC of ipum-01"), ("dev:SN-ipum-01/gw", "gateway of ipum-01"),
        ("dev:SN-ipum-01/bmc", "BMC of ipum-01"),
        ("dev:SN-h", "hypervisor h"), ("cpu:SN-h", "processors of h"), ("dev:SN-h/e0", "h e0"),
        ("dev:SN-h/bmc", "h bmc"),
        # What no cable leads to has its serial alone.
        ("dev:SN-h/e1", "SN-h/e1"), ("dev:cam/eth0", "cam eth0"), ("dev:cam", "cam"),
        ("R:SN-a", "a as a router"), ("R:SN-a/red", "a VRF red"), ("fabric:SN-a", "a across its VLANs"),
        ("fabric:fe80%3A%3A", "ib across its P_Keys"),
        ("port:SN-a/2", "a port 2"), ("port:SN-a/1", "a port 1"), ("port:SN-b/5", "b port 5"),
        ("port:SN-a/9", "switch port SN-a/9"),
        ("L:SN-a:100", "a VLAN 100"), ("L:SN-a:0", "a untagged frames"),
        ("L:SN-a~port-2:100", "a VLAN 100 as port 2 meets it"),
        ("L:SN-a~group-a-b:7", "a VLAN 7 as group a-b meets it"),
        ("L:SN-h/e1:100", "h e1 VLAN 100"), ("L:SN-h/e0:0", "h e0 untagged frames"), ("L:SN-x:7", "SN-x VLAN 7"),
        ("V:sandbox:vxlan:5", "VXLAN 5"), ("V:sandbox:geneve:5", "Geneve 5"), ("V:other:vxlan:5", "VXLAN 5 on other"),
        ("dev:cam@100", "cam as VLAN 100 meets it"), ("dev:cam/eth0@100", "cam eth0 as VLAN 100 meets it"),
        ("R:SN-a/red@100", "a VRF red as VLAN 100 meets it"),
        ("former:globex:machine%3ASN-ipum-01", "what globex may have left on ipum-01"),
        ("former:globex:host%3ASN-h", "what globex may have left on h"),
        ("former:globex:machine%3AGONE", "what globex may have left on GONE"),
        ("cap:globex", "what globex may plug in by itself"),
        ("ops:sandbox:load-balancers", "load balancers of sandbox"),
        ("ops:sandbox:bmc-access", "bmc access of sandbox"),
        (ids.unresolved("site:Network/n"), "site:Network/n, which no file of this site describes"),
        ("R:acme:r", "router r"), ("vol:acme:v", "volume v"), ("I:acme:i", "V-IPU allocation i"),
        ("K:fe80%3A%3A:0x0005", "P_Key 0x0005"), ("guid:00aa", "InfiniBand port 00aa"), ("N:d:1", "NVLink partition 1"),
        ("gpu:d/1", "GPU d/1"), ("vip:sandbox:10.0.0.5", "storage address 10.0.0.5"),
        ("mac:aa%3Abb", "MAC address aa:bb"), ("dev:acme:srv", "srv"), ("machine:SN-ipum-01", "SN-ipum-01"),
    ],
)  # fmt: skip
def test_a_node_in_words(node: str, words: str) -> None:
    assert names().of(node) == words


def test_a_port_that_follows_its_device() -> None:
    told = names().of
    assert [told("port:acme:p", before) for before in (None, "L:SN-a:100", "dev:acme:srv", "dev:SN-h")] == [
        "port p", "port p", "its port p", "its port p",
    ]  # fmt: skip


MISSING, BROKEN = (SiteFact("b.x"), SiteFact("a.x")), (SiteFact("c.x"), SiteFact("d.x"))


@cache
def walked() -> nx.Graph[str]:
    """A path whose second edge rests on facts that are not stated, and its third on guards that do not hold."""
    found: nx.Graph[str] = nx.Graph()
    found.add_edge("R:acme:r", "L:SN-a:100", **EdgeFacts(rule="E8", missing=(), broken=()))
    found.add_edge("L:SN-a:100", "L:SN-a:0", **EdgeFacts(rule="E9", missing=MISSING, broken=()))
    found.add_edge("L:SN-a:0", "L:SN-b:100", **EdgeFacts(rule="E1", missing=(), broken=BROKEN))
    found.add_edge("L:SN-b:100", "R:acme:r", **EdgeFacts(rule="E1", missing=MISSING[:1], broken=()))
    return found


PATH = ("R:acme:r", "L:SN-a:100", "L:SN-a:0", "L:SN-b:100")


@pytest.mark.parametrize(
    ("path", "marked", "words"),
    [
        # Owners stand at the ends, and between them where they are others.
        (PATH[:3], True, ("router r [acme]", "a VLAN 100", "? a untagged frames")),
        (PATH[:3], False, ("router r [acme]", "a VLAN 100", "a untagged frames")),
        (PATH[:2], True, ("router r [acme]", "a VLAN 100 [acme]")),
        (
            PATH, True,
            ("router r [acme]", "a VLAN 100", "? a untagged frames", "b VLAN 100 [acme, globex] (not held: c.x, d.x)"),
        ),
        (("R:acme:r", "L:SN-b:100", "L:SN-a:0"), False,
         ("router r [acme]", "b VLAN 100 [acme, globex]", "a untagged frames (not held: c.x, d.x)")),
        (("L:SN-b:100",), True, ("b VLAN 100 [acme, globex]",)),
        ((), True, ()),
    ],
)  # fmt: skip
def test_a_path_in_words(path: tuple[str, ...], marked: bool, words: tuple[str, ...]) -> None:
    assert names().path(walked(), path, marked=marked) == words


def test_what_a_path_rests_on() -> None:
    """Each fact once, in the order of their texts."""
    told = [missing_on(walked(), path) for path in (PATH[:2], PATH, (*PATH, PATH[0]), PATH[:1])]
    assert [[str(fact) for fact in facts] for facts in told] == [[], ["a.x", "b.x"], ["a.x", "b.x"], []]


# Translations.


def union(*, reverse: bool = False) -> Union:
    """Ports 1 of a and b have another id on the wire; so have 2 of a, with a camera, and 3, with a host."""
    one = switch(
        "a",
        tagged(1, 100, 101, translations=((200, 100), (201, 101))), tagged(2, 100, translations=((7, 100), (6, 100))),
        tagged(3, 100, translations=((300, 100),)), tagged(4, 100),
    )  # fmt: skip
    other = switch("b", tagged(1, 200, 50, translations=((201, 50),)), tagged(4, 100), port(5, untagged=100))
    cable = ("b:1", "a:1") if reverse else ("a:1", "b:1")
    return Union(
        SiteFacts(
            small(one, other, links=(cable, ("cam:eth0", "a:2"), ("h:e0", "a:3"), ("x:y", "b:5")), hosts=(host(),))
        ),
        (),
    )


A1, A2, B1 = "a port 1 translates", "a port 2 translates", "b port 1 translates"


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(
    ("before", "node", "words"),
    [
        ("L:SN-a:100", "L:SN-b:200", f" ({A1} 200 on the wire to VLAN 100)"),
        ("L:SN-b:200", "L:SN-a:100", f" ({A1} 200 on the wire to VLAN 100)"),
        ("L:SN-a:101", "L:SN-b:50", f" ({A1} 201 on the wire to VLAN 101; {B1} 201 on the wire to VLAN 50)"),
        ("L:SN-b:50", "L:SN-a:101", f" ({B1} 201 on the wire to VLAN 50; {A1} 201 on the wire to VLAN 101)"),
        # Native VLANs of two numbers, and what no port translates.
        ("L:SN-a:100", "L:SN-b:50", ""), ("L:SN-a:7", "L:SN-b:7", ""), ("L:SN-a:100", "L:SN-a:101", ""),
        # A device that reaches a VLAN by another id, or by several.
        ("port:SN-a/2", "L:SN-a:100", f" ({A2} 6 on the wire to VLAN 100; {A2} 7 on the wire to VLAN 100)"),
        ("L:SN-a:100", "port:SN-a/2", f" ({A2} 6 on the wire to VLAN 100; {A2} 7 on the wire to VLAN 100)"),
        ("port:SN-a/2", "L:SN-a:101", ""), ("port:SN-a/4", "L:SN-a:100", ""), ("port:SN-a/2", "L:SN-b:100", ""),
        ("port:SN-b/2", "L:SN-a:100", ""),
        ("port:SN-b/5", "L:SN-b:100", ""), ("port:SN-x/2", "L:SN-x:100", ""),
        # A host has its VLANs as they are on the wire.
        ("L:SN-h/e0:300", "L:SN-a:100", " (a port 3 translates 300 on the wire to VLAN 100)"),
        ("L:SN-a:100", "L:SN-h/e0:300", " (a port 3 translates 300 on the wire to VLAN 100)"),
        ("L:SN-h/e0:100", "L:SN-a:100", ""), ("L:SN-h/e0:300", "L:SN-b:100", ""), ("L:SN-h/e1:300", "L:SN-a:100", ""),
        ("L:SN-h/e0:300", "L:SN-h/e1:300", ""),
        ("dev:cam", "L:SN-a:100", ""), ("R:SN-a", "L:SN-a:100", ""), ("port:SN-a/2", "port:SN-a/3", ""),
    ],
)  # fmt: skip
def test_where_a_vlan_goes_by_another_id(before: str, node: str, words: str, reverse: bool) -> None:
    assert translation(union(reverse=reverse), before, node) == words


def test_several_cables_with_one_translation_each_are_all_told() -> None:
    one = switch("a", *(tagged(number, 100, translations=((200 + number, 100),)) for number in (1, 2)))
    other = switch("b", *(tagged(number, 201, 202) for number in (1, 2)))
    both = Union(SiteFacts(small(one, other, links=(("a:1", "b:1"), ("b:2", "a:2")))), ())
    assert translation(both, "L:SN-a:100", "L:SN-b:201") == " (a port 1 translates 201 on the wire to VLAN 100)"
    assert translation(both, "L:SN-a:100", "L:SN-b:202") == " (a port 2 translates 202 on the wire to VLAN 100)"


def test_a_step_says_what_is_translated() -> None:
    whole = Model(SiteFacts(site()), plan_facts(planned()), GraphFragment("acme", (), {}, ()))
    whole.union = union()
    found: nx.Graph[str] = nx.Graph()
    found.add_edge("L:SN-a:100", "L:SN-b:200", **EdgeFacts(rule="E1", missing=MISSING, broken=BROKEN[:1]))
    words = "? b VLAN 200 (a port 1 translates 200 on the wire to VLAN 100) (not held: c.x)"
    assert Names(whole).path(found, ("L:SN-a:100", "L:SN-b:200")) == ("a VLAN 100", words)
