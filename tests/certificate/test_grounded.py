"""Which edges the checker derives from which facts, and what has to be stated to keep each of them away."""

from __future__ import annotations

from typing import Any

import pytest

from infra.checker import GROUND, Malformed, edges, grounded, guarded, told, wired
from interlock.model.site.guards import ASSUMPTION_GUARDS, SHARING_GUARDS
from interlock.vocabulary.ground_rows import TABLES, WIRED, table_and_row
from tests.certificate.test_answers import forged

Found = dict[str, Any]
_MITIGATIONS = "assumptions.A5.mitigations"
#: (table, row, edges, guards): a declaration stands in the row where one decides.
CASES: tuple[tuple[str, list[str], list[tuple[str, str, str]], tuple[str, ...]], ...] = (
    ("machines", ["M"], [("E15", "dev:M/gw", "dev:M/rnic"), ("E15", "dev:M/gw", "dev:M/bmc")], ("A3",)),
    ("links", ["M", "N"], [("E16", "dev:M/rnic", "dev:N/rnic")], ("A4",)),
    ("in_band", ["dev:a:s", "H/idrac"], [("E14", "dev:a:s", "dev:H/idrac")], ("A13",)),
    ("vlans", ["L:S:7"], [("A1", "L:S:7", "fabric:S")], ("A1",)),
    ("groups", ["L:S~port-3:7"], [("E1", "L:S~port-3:7", "L:S:7")], ("A1", "A7")),
    ("groups", ["L:S~port-3:7", "mine"], [("E1", "L:S~port-3:7", "L:S:7")], ("A1", "A7", "mine")),
    ("terminals", ["dev:T/e0@7", "dev:T", "mine"], [("E9", "dev:T/e0@7", "dev:T")], ("mine",)),
    ("gateways", ["X:net@R:a:r", "out"], [("E11", "X:net@R:a:r", "X:net")], ("out",)),
    ("members", ["guid:1", "p:0x0005", "mine"], [("E19", "guid:1", "K:p:0x0005")], ("mine",)),
    ("keys", ["guid:1", "p"], [("E19", "guid:1", "fabric:p")], ("A6",)),
    ("partitions", ["N:d:1", "d"], [("E17", "N:d:1", "fabric:d")], ("A8",)),
    ("projects", ["cap:a", "c"], [("A2", "cap:a", "cloud:c")], ("A2",)),
    ("claims", ["L:S:7", "c"], [("A10", "L:S:7", "foreign:c")], ("A10",)),
    ("cleaned", ["dev:M/rnic", "a:machine%3AM"], [("A9", "dev:M/rnic", "former:a:machine%3AM")], ("A9",)),
    ("firmware", ["dev:H/e0", "a:host%3AH"], [("A23", "dev:H/e0", "former:a:host%3AH")], ("A23",)),
    ("balanced", ["cap:a", "c"], [("A16", "cap:a", "ops:c:load-balancers")], ("A16",)),
    ("encapsulated", ["V:c:vxlan:7", "c"], [("A17", "V:c:vxlan:7", "ops:c:underlay")], ("A17",)),
    ("served", ["L:S:7", "c"], [("A18", "L:S:7", "ops:c:network-nodes")], ("A18",)),
    ("migrating", ["dev:a:s", "c"], [("A19", "dev:a:s", "ops:c:migration-and-consoles")], ("A19",)),
    ("backed", ["dev:a:s", "c"], [("A20", "dev:a:s", "ops:c:back-end-storage")], ("A20",)),
    ("routed_out", ["R:a:r", "c"], [("A21", "R:a:r", "ops:c:behind-external")], ("A21",)),
    ("managed", ["dev:M/rnic", "c"], [("A24", "dev:M/rnic", "ops:c:bmc-access")], ("A24",)),
    ("talking", ["port:S/3", "S"], [("A22", "port:S/3", "ops:S:vlan-protocols")], ("A22",)),
)


def stating(table: str, row: list[str]) -> Found:
    """A statement of this fact alone, on a site where every guard holds."""
    declared = {"mine": "monitoring", "out": "external-network"}
    guards = {f"assumptions.{name}.{guard}": True for name, known in ASSUMPTION_GUARDS.items() for guard in known}
    for name, kind in declared.items():
        guards |= {f"sharing.{name}.guards.{guard}": True for guard in SHARING_GUARDS[kind]}
    return {
        "facts": {}, "ground": {**{name: [] for name in GROUND}, table: [row]},
        "guards": guards | {"external.address_scope": True},
        "terminals": [{"name": name, "kind": kind} for name, kind in declared.items()],
    }  # fmt: skip


def asked(who: tuple[str, ...]) -> set[str]:
    """The guards of these assumptions and declarations, from the tables of the model."""
    found = {f"assumptions.{name}.{guard}" for name in who for guard in ASSUMPTION_GUARDS.get(name, ())}
    found |= {f"sharing.mine.guards.{guard}" for guard in SHARING_GUARDS["monitoring"]} if "mine" in who else set()
    outside = {f"sharing.out.guards.{guard}" for guard in SHARING_GUARDS["external-network"]}
    return found | (outside | {"external.address_scope"} if "out" in who else set())


def test_each_table_has_a_case_and_the_proof_writes_what_the_checker_reads() -> None:
    assert {table for table, *_ in CASES} | {"guests", *WIRED} == {*GROUND} == {*TABLES}
    for table, row, follow, _ in CASES:
        names = {"mine", "out"} & {*row}
        assert {table_and_row(*edge) for edge in follow} == {(table, tuple(item for item in row if item not in names))}


@pytest.mark.parametrize(("table", "row", "follow", "who"), CASES)
def test_an_edge_is_away_while_every_guard_is_known_to_hold(
    table: str, row: list[str], follow: list[tuple[str, str, str]], who: tuple[str, ...]
) -> None:
    said = stating(table, row)
    assert [edge[:3] for edge in grounded(said)] == follow
    assert edges(said) == set()
    assert {guard for edge in guarded(said) for part in edge[4] for guard in part} == asked(who)
    there = {ends for _, a, b in follow for ends in ((a, b), (b, a))}
    for guard in said["guards"]:
        for value in (False, None):
            doubtful = {**said, "guards": said["guards"] | {guard: value}}
            assert edges(doubtful) == (there if guard in asked(who) else set()), guard
        fewer = {name: value for name, value in said["guards"].items() if name != guard}
        assert edges({**said, "guards": fewer}) == (there if guard in asked(who) else set()), guard


def test_mitigations_decide_between_guests_and_nothing_else() -> None:
    said = stating("guests", ["dev:a:s", "H"])
    assert [edge[:3] for edge in grounded(said)] == [("E18", "dev:a:s", "dev:H"), ("E18", "dev:a:s", "cpu:H")]
    assert edges(said) == set()
    for guard in asked(("A5",)):
        end = "cpu:H" if guard == _MITIGATIONS else "dev:H"
        doubtful = {**said, "guards": said["guards"] | {guard: None}}
        assert edges(doubtful) == {("dev:a:s", end), (end, "dev:a:s")}


@pytest.mark.parametrize("guard", ["assumptions.A3.another", "sharing.mine.guards.another"])
def test_a_guard_that_no_table_has_counts_where_it_is_stated(guard: str) -> None:
    for table, row, follow, who in CASES:
        said = stating(table, row)
        said["guards"][guard] = False
        is_asked = ("A3" if "A3" in guard else "mine") in who
        assert len(edges(said)) == (2 * len(follow) if is_asked else 0), table


@pytest.mark.parametrize("name", ["a", "a b", "a.guards", "a.guards.b"])
def test_all_that_is_stated_of_a_declaration_counts_and_nothing_else(name: str) -> None:
    """Names may be alike: what begins with one and a dot is its own, what begins as it does is another's."""
    said = stating("terminals", ["dev:T@7", "dev:T", name])
    said["terminals"] = [{"name": name, "kind": "monitoring"}]
    said["guards"] = {f"sharing.{name}.guards.{guard}": True for guard in SHARING_GUARDS["monitoring"]}
    for other in (f"{name}-2", f"{name}0", f"{name}/x", name[:-1], "assumptions.A5"):
        said["guards"] |= {f"sharing.{other}.guards.another": False, f"{other}.guards.another": False}
    said["guards"] |= {f"sharing.{name}.guards": False, f"sharing.{name}.guards/x": False}
    assert edges(said) == set()
    for guard in ("another", "a", "~", ""):
        doubtful = {**said, "guards": {**said["guards"], f"sharing.{name}.guards.{guard}": False}}
        assert len(edges(doubtful)) == 2, guard


#: Of each table whose rows may name a declaration, a row that names none.
_UNDECLARED = (("terminals", ["dev:T@7", "dev:T"]), ("gateways", ["X:n@R:a:r"]), ("members", ["g", "p:1"]))


@pytest.mark.parametrize(("table", "row"), _UNDECLARED)
def test_nothing_keeps_away_what_is_not_declared(table: str, row: list[str]) -> None:
    """Whatever else is said to hold: no guard is called so that it stands for none."""
    said = stating(table, row)
    said["guards"] |= {"no guard can remove it": True, "sharing..guards.a kind that is known": True}
    assert len(edges(said)) == 2


@pytest.mark.parametrize(("table", "row"), [*_UNDECLARED, ("groups", ["L:S~port-3:7"])])
@pytest.mark.parametrize("guard", ["a kind that is known", "operator_project", "no_forwarding"])
def test_a_declaration_that_is_none_is_refused(table: str, row: list[str], guard: str) -> None:
    """Also where somebody says that what would keep its terminal apart holds."""
    said = stating(table, [*row, "mine", "ghost"])
    said["guards"][f"sharing.ghost.guards.{guard}"] = True
    for ask in (edges, lambda found: list(guarded(found))):
        with pytest.raises(Malformed, match=r"^statement\.ground: ghost is no declaration$"):
            ask(said)


@pytest.mark.parametrize("kind", ["something new", "A3", "A5 between owners", ""])
def test_a_kind_of_sharing_that_is_none_is_refused(kind: str) -> None:
    """Not even one that is called as an assumption is, whose guards may be fewer."""
    terminal = {"name": "mine", "kind": kind, "node": "T", "audience": ["*"], "rule": "SEC-02"}
    with pytest.raises(Malformed, match=r"^it\.statement\.terminals\.0\.kind: not of its form$"):
        forged(lambda found: found["statement"].update(terminals=[terminal]))


#: What two ports and a third carry: (port, tag, VLAN as the port meets it).
_CARRIED = [
    ["port:S/1", "7", "L:S:7"], ["port:S/1", "8", "L:S:8"], ["port:S/1", "0", "L:S:9"], ["port:S/2", "7", "L:S:7"],
    ["port:T/1", "7", "L:T:17"], ["port:T/1", "7", "L:T:7"], ["port:T/1", "0", "L:T:10"], ["port:T/2", "8", "L:T:8"],
]  # fmt: skip


def along(**tables: list[list[str]]) -> set[tuple[str, str, str]]:
    """What follows from these tables, whichever end of a cable stands first."""
    said = stating("carried", [])
    said["ground"] |= {"carried": _CARRIED, **tables}
    found = {*wired(said)}
    assert {(a, b) for _, a, b in found} | {(b, a) for _, a, b in found} == edges(said)
    return found


def test_what_two_ends_of_a_cable_carry_by_one_tag_is_joined() -> None:
    assert along() == set()
    tagged = {("E1", "L:S:7", "L:T:7"), ("E1", "L:S:7", "L:T:17")}
    assert along(cables=[["port:S/1", "port:T/1"]]) == tagged | {("E2", "L:S:9", "L:T:10")}
    assert along(cables=[["port:S/2", "port:T/1"]]) == tagged
    assert along(cables=[["port:S/1", "port:T/2"]]) == {("E1", "L:S:8", "L:T:8")}
    assert along(cables=[["port:S/2", "port:T/2"], ["port:S/3", "port:T/1"], ["port:S/1", "port:S/4"]]) == set()


def test_what_a_host_sends_with_a_tag_or_without_one_is_where_its_port_has_it() -> None:
    hosts = [["port:T/1", "L:H/pf0:7"], ["port:T/1", "L:H/pf0:0"], ["port:T/1", "dev:H/pf0"], ["port:T/2", "L:H/pf1:7"]]
    assert along(uplinks=hosts) == {
        ("E4", "L:H/pf0:7", "L:T:7"), ("E4", "L:H/pf0:7", "L:T:17"), ("E4", "L:H/pf0:0", "L:T:10"),
        ("E4", "dev:H/pf0", "L:T:10"),
    }  # fmt: skip


@pytest.mark.parametrize("hosts", [False, True])
def test_many_more_edges_than_facts_are_refused(hosts: bool) -> None:
    """A short file would take all the memory there is."""
    many = [[f"port:S/{end}", "7", f"L:S{end}:{number}"] for end in (1, 2) for number in range(400)]
    assert len(along(carried=many[:200] + many[-200:], cables=[["port:S/1", "port:S/2"]])) == 200 * 200
    tables = {"uplinks": [["port:S/1", f"L:H{number}/p:7"] for number in range(400)]} if hosts else {}
    with pytest.raises(Malformed, match="carried: too many VLANs by one tag"):
        along(carried=many, **(tables or {"cables": [["port:S/1", "port:S/2"]]}))


def test_edges_that_are_stated_are_there_whatever_holds() -> None:
    said = stating("machines", ["M"])
    said["facts"] = {"E6": [["a", "b"]], "E7": []}
    assert edges(said) == {("a", "b"), ("b", "a")}
    assert told(said) == "edges derived from facts: E15; stated as edges: E6"


@pytest.mark.parametrize(("audience", "complains"), [(["*"], False), (["acme", "globex"], False), (["globex"], True)])
def test_who_meets_a_copy_is_in_the_audience(audience: list[str], complains: bool) -> None:
    def limit(found: Found) -> None:
        for item in found["statement"]["terminals"]:
            item["audience"] = audience

    said = forged(limit)
    assert any("acme meets vipu-controller, and is not in its audience" in text for text in said) is complains
    assert not said or complains
