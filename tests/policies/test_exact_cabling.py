"""TOP-08, TOP-09, TOP-15 and CAP-03: small halls with one wrong cable each, and all that is said of it.

Machines are called by their place: a1 … a4 in logical rack A, b1 … in B.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import pytest

from interlock.model.site.inventory import Cable, Endpoint, Machine, Site, Switch
from interlock.planning import plan_site
from interlock.planning.plan import Plan
from policies import Severity
from policies.about import SiteDevice
from policies.rules.cabling import CAP_03, TOP_08, TOP_09, TOP_15
from policies.rules.rule import Rule
from tests.builders.pod64 import cable, hosts, site_locked, tor
from tests.policies.joining import switch
from tests.policies.one_rule import Said, answer, said
from tests.policies.workspace import P, V, full_site

HINT = "correct the cable in the site file, or in the rack"


@cache
def plan() -> Plan:
    site = full_site()
    return plan_site(site, site_locked(site))


def hall(names: str, cables: Iterable[Cable], *switches: Switch, **fields: object) -> Site:
    """Machines of these names, such as `a1 a2 b1`, and these cables alone."""
    machines = tuple(
        Machine(name=name, serial=f"SN-{name}", logical_rack=name[0].upper(), position=int(name[1:]))
        for name in names.split()
    )
    known: dict[str, object] = {"machines": machines, "hosts": (), "switches": switches, "physical_networks": ()}
    return full_site(**(known | {"cables": tuple(cables)} | fields))


def links(kind: str, *ends: str) -> list[Cable]:
    """A cable for each `a1-a2`, `a1-a2*4` for four; each end is a plug of its own."""
    found = []
    for place, item in enumerate(ends):
        pair, _, count = item.partition("*")
        for number in range(int(count or 1)):
            a, b = (Endpoint(device=name, interface=f"{kind}-{place}-{number}") for name in pair.split("-"))
            found.append(Cable.model_validate({"a": a, "b": b, "kind": kind}))
    return found


def ipu(*ends: str) -> list[Cable]:
    return links("ipu-link", *ends)


def gw(*ends: str) -> list[Cable]:
    return links("gw-link", *ends)


def told(rule: Rule, site: Site) -> list[tuple[str, tuple[str, ...], list[str]]]:
    """(message, witness, devices) of each finding; each is certain, and has its place among others' and its hint."""
    found = answer(rule, site, plan())
    assert {(item.verdict, item.missing, item.order) for item in said(found)} <= {(V, (), 35)}
    assert {item.hint for item in found.findings} <= {HINT}
    named = [[item.name for item in one.subjects if isinstance(item, SiteDevice)] for one in found.findings]
    return [(one.message, one.witness, names) for one, names in zip(found.findings, named, strict=True)]


# TOP-08.


def bundle(a: str, b: str, number: int) -> tuple[str, tuple[str, ...], list[str]]:
    rack = a[0].upper()
    words = f"{a} and {b} of logical rack {rack} have {number} IPU-Link cables, not 4"
    return words, (f"{a} – {b}: {number} of 4",), [a, b]


@pytest.mark.parametrize(
    ("names", "cables", "expected"),
    [
        ("a1", [], []),
        ("a1 a2", ipu("a1-a2*4"), []),
        ("a1 a2 a3", ipu("a1-a2*4", "a2-a3*4"), []),
        # Closed to a ring: all cables of a neighbour, or none.
        ("a1 a2 a3", ipu("a1-a2*4", "a2-a3*4", "a3-a1*4"), []),
        ("a1 a2 a3", ipu("a1-a2*4", "a2-a3*4", "a3-a1*2"), [bundle("a3", "a1", 2)]),
        ("a1 a2 a3 a4", ipu("a1-a2*4", "a2-a3*4", "a3-a4*4", "a1-a4*5"), [bundle("a4", "a1", 5)]),
        # Of two machines the pair that closes a ring is the pair of neighbours.
        ("a1 a2", ipu("a1-a2*3"), [bundle("a1", "a2", 3)]),
        ("a1 a2", [], [bundle("a1", "a2", 0)]),
        # A place that is empty: its neighbours are none of each other.
        ("a1 a3", [], []),
        ("a1 a2 a4", ipu("a1-a2*4"), []),
        # The last of one rack and the first of the next are no neighbours.
        ("a1 a2 b3 b4", ipu("a1-a2*4", "b3-b4*4"), []),
    ],
)
def test_the_chain_of_a_rack(names: str, cables: list[Cable], expected: list[object]) -> None:
    assert told(TOP_08, hall(names, cables)) == expected


@pytest.mark.parametrize(
    ("names", "more", "words", "steps"),
    [
        ("a1 a2 b1", "a1-b1", "leaves its logical rack", ("a1 in A", "b1 in B")),
        ("a1 a2 a3 a4", "a1-a3", "joins no neighbours", ("a1 at 1", "a3 at 3")),
        ("a1 a2 a3 a4", "a4-a2", "joins no neighbours", ("a4 at 4", "a2 at 2")),
        # The ends of a rack are those of the rack: another one may be longer.
        ("a2 a3 a4 b1", "a2-a4*4", None, ()),
        ("a2 a3 a4 b9", "a2-a4*4", None, ()),
        # Either end may be no machine.
        ("a1 a2", "a1-x", "does not join two machines", None),
        ("a1 a2", "x-a1", "does not join two machines", None),
        ("a1 a2", "x-y", "does not join two machines", None),
    ],
)
def test_a_link_astray(names: str, more: str, words: str | None, steps: tuple[str, ...] | None) -> None:
    chain = [f"{a}-{b}*4" for a, b in zip(names.split(), names.split()[1:], strict=False) if a[0] == b[0]]
    (*_, last) = cables = ipu(*chain, more)
    where = f"{last.a} – {last.b}"
    found = told(TOP_08, hall(names, cables))
    astray = [item for item in found if item[0].startswith("the IPU-Link")]
    named = more.split("*")[0].split("-")
    assert astray == ([(f"the IPU-Link {where} {words}", (where,) if steps is None else steps, named)] if words else [])
    assert found == astray


def test_ports_with_two_cables() -> None:
    """In the order of their names."""
    one, two, three, four = ipu("a2-a1*4")
    cables = [one, two, three.model_copy(update={"b": one.b}), four.model_copy(update={"a": two.a, "b": one.b})]
    assert told(TOP_08, hall("a1 a2", cables)) == [
        (f"3 cables are in the IPU-Link port {one.b}", (str(one.b),), ["a1"]),
        (f"2 cables are in the IPU-Link port {two.a}", (str(two.a),), ["a2"]),
    ]


# TOP-09.

MIDDLE = switch("mid", role="gw-link")
PLAIN = switch("top")


@pytest.mark.parametrize(
    ("names", "ends", "expected"),
    [
        ("a1 b1", ("a1-b1",), []),
        ("a1 b2", ("a1-b2",), [("a1-b2", "joins positions 1 and 2")]),
        ("a1 a2", ("a1-a2",), [("a1-a2", "stays in logical rack A")]),
        # Over a switch for them, from either end.
        ("a1 b2", ("a1-mid", "mid-b2"), []),
        ("a1", ("a1-top",), [("a1-top", "ends neither at a machine nor at a GW-Link switch")]),
        ("a1", ("top-a1",), [("top-a1", "ends neither at a machine nor at a GW-Link switch")]),
        ("a1", ("a1-x",), [("a1-x", "ends neither at a machine nor at a GW-Link switch")]),
        ("a1", ("mid-top",), [("mid-top", "ends neither at a machine nor at a GW-Link switch")]),
        ("a1", ("mid-mid",), [("mid-mid", "ends neither at a machine nor at a GW-Link switch")]),
        ("a1", ("x-y",), [("x-y", "ends neither at a machine nor at a GW-Link switch")]),
    ],
)
def test_what_a_gateway_link_joins(names: str, ends: tuple[str, ...], expected: list[tuple[str, str]]) -> None:
    cables = gw(*ends)
    wheres = {pair: f"{item.a} – {item.b}" for pair, item in zip(ends, cables, strict=True)}
    assert told(TOP_09, hall(names, cables, MIDDLE, PLAIN)) == [
        (f"the GW-Link {wheres[pair]} {words}", (wheres[pair],), pair.split("-")) for pair, words in expected
    ]


def test_more_gateway_links_than_ports() -> None:
    """Two ports on each machine: those of all cables that end there are shown."""
    cables = gw("a1-b1", "c1-a1", "a1-b1", "b2-c2")
    wheres = tuple(f"{item.a} – {item.b}" for item in cables[:3])
    named = ["a1", "a1", "b1", "c1", "a1", "a1", "b1"]
    assert told(TOP_09, hall("a1 b1 c1 b2 c2", cables)) == [("a1 has 3 GW-Links on 2 ports", wheres, named)]


def test_a_rack_with_three_others() -> None:
    """Paths and rings of racks, and no stars."""
    star = gw("a1-b1", "a2-c2", "d3-a3")
    words = "logical rack A has GW-Links to 3 others: no path, no ring"
    names = "a1 a2 a3 b1 b4 c2 c4 d3"
    assert told(TOP_09, hall(names, star)) == [(words, ("B", "C", "D"), [])]
    # Links between others, inside the rack or to no machine make no star.
    (extra, *_) = told(TOP_09, hall(f"{names} a4 a5", [*star[:2], *gw("b4-c4", "a4-a5", "a4-mid", "mid-a5")], MIDDLE))
    assert "stays in logical rack A" in extra[0]
    ring = gw("a1-b1", "b4-c4", "c2-a2")
    assert told(TOP_09, hall(names, ring)) == []


def test_cables_of_other_kinds_are_not_asked_about() -> None:
    site = hall("a1 a2 b1", [*ipu("a1-a2*4"), *gw("a1-b1"), cable("a1:rnic", "top:1")], PLAIN)
    assert [(answer(rule, site, plan()).verdict, answer(rule, site, plan()).count) for rule in (TOP_08, TOP_09)] == [
        (P, 4),
        (P, 1),
    ]


# TOP-15.


@pytest.mark.parametrize(
    ("ends", "provisioning", "count", "expected"),
    [
        (("one", "one"), "hypervisor", 1, None),
        (("one", "two"), "hypervisor", 1, ("one and two", ("h:e0 – one:1", "h:e1 – two:2"))),
        (("two", "one"), "hypervisor", 1, ("one and two", ("h:e0 – two:1", "h:e1 – one:2"))),
        # A leg without a cable ends nowhere.
        (("one", ""), "hypervisor", 1, None),
        (("one", "two", ""), "hypervisor", 1, ("one and two", ("h:e0 – one:1", "h:e1 – two:2"))),
        (("one",), "hypervisor", 0, None),
        # A host that is given out whole has no virtual functions.
        (("one", "two"), "bare-metal", 0, None),
    ],
)
def test_legs_of_a_host(
    ends: tuple[str, ...], provisioning: str, count: int, expected: tuple[str, tuple[str, ...]] | None
) -> None:
    names = tuple(f"e{number}" for number in range(len(ends)))
    (template, *_) = hosts()
    host = template.model_copy(
        update={"name": "h", "serial": "SN-h", "interfaces": {"fabric": names}, "provisioning": provisioning}
    )
    cables = [cable(f"h:e{place}", f"{end}:{place + 1}") for place, end in enumerate(ends) if end]
    found = answer(TOP_15, hall("a1", cables, switch("one"), switch("two"), hosts=(host,)), plan())
    assert found.count == count
    if expected is None:
        assert said(found) == []
        return
    message = f"the legs of h on fabric end at {expected[0]}"
    assert said(found) == [Said(V, message, expected[1], (), 34)]
    assert found.findings[0].subjects == tuple(map(SiteDevice, ("h", "one", "two")))


# CAP-03.


@pytest.mark.parametrize(
    ("role", "groups", "plugs", "expected"),
    [
        ("tor", ((100, 4), (10, 2)), (1, 2, 3, 4), []),
        ("tor", ((100, 4), (10, 2)), (1, 6), []),
        ("tor", ((100, 4), (10, 2)), (7,), ["has no port 7: there are 6"]),
        ("tor", ((100, 4), (10, 2)), (9, 0, 7, 6), ["has no port 0, 7, 9: there are 6"]),
        # What is no number is a port of its own, such as that for management.
        ("tor", ((100, 4),), ("Management1", 1), []),
        ("management", ((1, 4), (10, 2)), (2, 3), []),
        ("management", ((1, 4), (10, 2)), (1, 2, 4), ["3 of 4 ports taken: 1 spare"]),
        ("management", ((1, 4), (10, 2)), (1, 2, 3, 4, 5), ["4 of 4 ports taken: 0 spare"]),
        # Ports of the second speed are no help to what takes the first.
        ("management", ((1, 4), (10, 2)), (5, 6, 1), []),
        ("management", ((1, 4), (10, 2)), (0, 2, 3), ["has no port 0: there are 6"]),
        ("management", (), (), ["0 of 0 ports taken: 0 spare"]),
    ],
)
def test_ports_of_a_switch(
    role: str, groups: tuple[tuple[int, int], ...], plugs: tuple[int | str, ...], expected: list[str]
) -> None:
    asked = switch("asked", role=role, port_groups=groups)
    found = answer(CAP_03, hall("a1", [cable(f"x:{plug}", f"asked:{plug}") for plug in plugs], asked, tor()), plan())
    witness = ("asked, arista-7060x",)
    assert said(found) == [Said(V, f"asked: {words}", witness, (), 30) for words in expected]
    weights = [Severity.ERROR if "has no port" in words else Severity.WARN for words in expected]
    assert [item.severity for item in found.findings] == weights
    assert [item.subjects for item in found.findings] == [(SiteDevice("asked"),)] * len(expected)
    assert found.count == 2
