"""Random worlds: what `verify --site` derives is what certificates state, and whatever a forger takes out is told."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from infra.checker import complaints, edges, grounded
from infra.verifying.comparing import Comparing
from interlock.model.lock.record import Lock
from interlock.vocabulary.ground_rows import WIRED
from interlock.vocabulary.nodes import VlanNode, parse
from policies.certificate import certificate
from policies.judging import judge, seen_by
from tests.certificate.test_forgeries import FORGERIES, grown
from tests.oracle.comparing import RULES_OF_MEETING, lock_of
from tests.oracle.examples_wire import second_tag_behind_a_native_vlan
from tests.oracle.found import address_of_a_terminal_beside_roles
from tests.oracle.generator import PLOTS, told
from tests.oracle.world import World
from tests.support.sampling import Sampling

Found = dict[str, Any]
#: How many worlds are looked through for some in which a thing happens.
SEEDS = 2_000
#: Rows of the table of edges that follow from cables and from what their ends carry.
ALONG_CABLES = ("E1", "E2", "E4")
#: What joins no two owners by itself: an entry from outside is a matter of Expo.
HARMLESS = ("entries",)
#: Rules that a statement answers by itself.
ANSWERED = {"ISO-02", "TOP-06", "ISO-11", "SEC-05", "AUTH-01"}


def derived(world: World) -> tuple[list[Lock], Comparing]:
    """The locks of a world, and what is derived of it."""
    locks = [lock_of(world, tenant) for tenant in world.plans]
    plans = {item.stack: json.loads(json.dumps(item.canonical())) for item in world.plans.values()}
    documents = [json.loads(lock.model_dump_json()) for lock in locks]
    return locks, Comparing(json.loads(world.site.model_dump_json()), plans, documents)


def certified(world: World, locks: list[Lock], tenant: str) -> tuple[set[str], Found]:
    """The rules that find something in a tenant's plan, and its certificate."""
    plan = world.plans[tenant]
    judgement = judge(world.site, plan, locks, RULES_OF_MEETING)
    found = certificate(seen_by(world.site, plan, locks), judgement)
    return {item.rule for item in judgement.findings}, json.loads(found.model_dump_json())


def test_what_is_derived_is_what_the_proof_states(sampling: Sampling) -> None:
    """Two programs, one page: the second derives nothing that certificates of the first lack, and nothing less.

    Along cables a certificate states facts, and edges only where nobody knows how a port is set. An E1 inside one
    switch is no cable: something hears all groups of a private VLAN.
    """
    for seed in sampling.cases("derivations of worlds"):
        _, world = told(seed)
        locks, comparing = derived(world)
        for tenant in world.plans:
            _, found = certified(world, locks, tenant)
            compared = comparing.compare(found, tenant)
            assert compared.complaints == (), seed
            numbers = [re.findall(r"\d+", words) for words in compared.tied]
            assert all(known == count for known, count in numbers), (seed, compared.tied)
            said = found["statement"]
            rows = [(row, *ends) for row in ALONG_CABLES for ends in said["facts"].get(row, ())]
            stated = {" ".join(row) for row in rows if not _is_inside(*row[1:])}
            assert stated <= {words for added in said["unknown"].values() for words in added}, seed


def _is_inside(a: str, b: str) -> bool:
    """Whether both are VLANs of one switch."""
    here, there = parse(a), parse(b)
    return isinstance(here, VlanNode) and isinstance(there, VlanNode) and here.bridge == there.bridge


def _ground(said: Found) -> list[tuple[str, ...]]:
    return [(table, *row) for table, rows in said["ground"].items() for row in rows]


def _with(said: Found, table: str, *row: str) -> Found:
    """The statement with one fact alone in its tables."""
    return {**said, "ground": {other: [list(row)] if other == table else [] for other in said["ground"]}}


def _statements(found: Found, comparing: Comparing, tenant: str) -> list[tuple[str, str, list[str]]]:
    """(part, key, row) of all that a certificate must have: others' own nodes may be left out."""
    said = found["statement"]
    stated = [("facts", row, edge) for row, rows in said["facts"].items() for edge in rows]
    follow = {row: [edge[1:3] for edge in grounded(_with(said, *row))] for row in _ground(said)}
    # Of two cables between the same ends one may be left out.
    ways = Counter(frozenset(edge) for _, _, edge in stated)
    ways.update(frozenset(edge) for ends in follow.values() for edge in ends)
    stated = [item for item in stated if item[1] != "footprint" and ways[frozenset(item[2])] == 1]
    needed = comparing.needed(tenant)
    stated = [item for item in stated if frozenset(item[2]) in needed]
    for (table, *row), ends in follow.items():
        if any(ways[frozenset(edge)] == 1 and frozenset(edge) in needed for edge in ends):
            stated.append(("ground", table, row))
    stated += [("ground", table, row) for table, row in _along_cables(said, needed)]
    grants = [("grants", "", row) for row in said["grants"]]
    labels = [("labels", node, list[str]()) for node in said["labels"].keys() & comparing.ground.named[tenant]]
    return [*stated, *grants, *labels, *((part, key, []) for part in ("exclusive", "owners") for key in said[part])]


def _along_cables(said: Found, needed: set[frozenset[str]]) -> Iterator[tuple[str, list[str]]]:
    """(table, row) of each fact without which an edge along a cable is missing."""
    known = edges(said)
    for table in WIRED:
        for row in said["ground"][table]:
            fewer = [other for other in said["ground"][table] if other != row]
            lost = known - edges({**said, "ground": {**said["ground"], table: fewer}})
            if any(frozenset(pair) in needed for pair in lost):
                yield table, row


def test_every_statement_that_is_left_out_is_told(sampling: Sampling) -> None:
    """An edge, also one that an unstated fact adds, a label, an identity, a grant, an owner."""
    chance = sampling.random("statements left out")
    left_out: set[str] = set()
    for seed in sampling.cases("derivations of worlds"):
        _, world = told(seed)
        locks, comparing = derived(world)
        for tenant in world.plans:
            _, known = certified(world, locks, tenant)
            every = sorted(_statements(known, comparing, tenant))
            for part, key, row in chance.sample(every, min(12, len(every))):
                found: Found = json.loads(json.dumps(known))
                said = found["statement"][part]
                if row:
                    (said[key] if key else said).remove(row)
                else:
                    del said[key]
                assert comparing.compare(found, tenant).complaints, (seed, tenant, part, key, row)
                left_out.add(key if part in ("facts", "ground") else part)
    assert {"E9", "machines", "labels", "exclusive", "owners", "carried", "uplinks"} <= left_out


def leaking(plot: str, count: int) -> list[World]:
    """The first worlds in which this happens and a rule that a statement answers finds something in acme's plan."""
    found: list[World] = []
    for seed in range(SEEDS):
        plots, world = told(seed)
        if len(found) == count:
            break
        if plot in plots and "acme" in world.plans:
            locks = [lock_of(world, tenant) for tenant in world.plans]
            if ANSWERED & certified(world, locks, "acme")[0]:
                found.append(world)
    return found


@pytest.mark.parametrize("plot", sorted({plot.__name__ for plot in PLOTS}))
def test_no_forgery_of_a_leaking_world_passes(plot: str, sampling: Sampling) -> None:
    """Whatever the leak goes by: whole hosts, InfiniBand, NVLink, rights, private VLANs, unlisted records, calls."""
    worlds = leaking(plot, 5 if sampling.long else 1)
    assert worlds or plot in HARMLESS
    for world in worlds:
        locks, comparing = derived(world)
        _, known = certified(world, locks, "acme")
        for forge in FORGERIES:
            found: Found = json.loads(json.dumps(known))
            forge(found)
            found = grown(found)
            seen = [text for text in complaints(found) if not text.startswith("not asked")]
            assert seen or comparing.compare(found, "acme").complaints, forge.__name__


def test_a_second_tag_that_is_left_out_is_told() -> None:
    """What makes it is no single record: an untagged VLAN, a tagged one, and somebody in the first."""
    world = second_tag_behind_a_native_vlan().made()
    locks, comparing = derived(world)
    _, found = certified(world, locks, "acme")
    assert comparing.compare(found, "acme").complaints == ()
    del found["statement"]["facts"]["E21"]
    assert "E21 L:SN-leaf-1:1001 - L:SN-spine-1:1002 is missing" in comparing.compare(found, "acme").complaints


def test_a_declared_switch_keeps_roles_apart_in_both_derivations() -> None:
    """Wherever it may have an address: nobody states in which VLANs."""
    world = address_of_a_terminal_beside_roles().made()
    locks, comparing = derived(world)
    for tenant in world.plans:
        rules, found = certified(world, locks, tenant)
        assert rules == set()
        assert comparing.compare(found, tenant).complaints == ()
