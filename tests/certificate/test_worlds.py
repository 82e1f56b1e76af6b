"""Certificates of random small worlds: the checker is content where the rules are, and sees for itself where not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from infra.checker import complaints
from policies import RULES
from policies.certificate import certificate
from policies.footprints.neighbours import Neighbours
from policies.judging import judge, seen_by
from tests.oracle.comparing import RULES_OF_MEETING, lock_of
from tests.oracle.examples_wire import address_declared_for_another
from tests.oracle.generator import told
from tests.oracle.world import World
from tests.support.sampling import Sampling, at_least


def certificates(world: World) -> list[tuple[set[str], dict[str, Any]]]:
    """For every tenant's plan the rules that find something, and its certificate."""
    locks = [lock_of(world, tenant) for tenant in world.plans]
    found = []
    for plan in world.plans.values():
        judgement = judge(world.site, plan, locks, RULES_OF_MEETING)
        made = certificate(seen_by(world.site, plan, locks), judgement)
        found.append(({item.rule for item in judgement.findings}, json.loads(made.model_dump_json())))
    return found


def packets(found: dict[str, Any]) -> list[str]:
    """What the checker sees for itself of packets and identities: without the answers of rules, and without calls."""
    said = found["statement"]
    said["grants"], said["owners"] = [], {}
    found["holds"] = [f"write prin:{said['owner']}"]
    found["judgement"]["results"] = []
    aside = ("digest", "the facts are not those", "not asked")
    return [text for text in complaints(found) if not any(words in text for words in aside)]


def test_the_checker_agrees_with_the_rules_on_packets_and_identities(sampling: Sampling) -> None:
    sound = unsound = 0
    seeds = sampling.cases("certificates of worlds")
    for seed in seeds:
        for rules, found in certificates(told(seed)[1]):
            wrong = packets(found)
            assert rules or not wrong, (seed, wrong[:3])
            assert wrong or "ISO-02" not in rules, seed
            sound, unsound = sound + (not rules), unsound + bool(wrong)
    assert min(sound, unsound) > at_least(0.1, len(seeds))


@pytest.mark.parametrize(("others", "is_sound"), [(("acme",), True), ((), True), (("initech",), False)])
def test_of_a_device_that_is_declared_twice_both_audiences_are_welcome(others: tuple[str, ...], is_sound: bool) -> None:
    """A routing instance in acme's VLAN that one declaration has for globex; an empty audience is everybody."""
    draft = address_declared_for_another()
    draft.declare("leaf-1/acme", "name-and-time", *others)
    for rules, found in certificates(draft.made()):
        assert bool(rules) is bool(packets(found))
        is_met = found["statement"]["owner"] == "acme"
        assert (not rules) is (is_sound or not is_met), found["statement"]["owner"]


#: Worlds where what was loaded of others once showed: a way to the operator itself, images for everybody.
ONCE_DIFFERENT = (500_460, 32, 51, 78)


def test_a_judgement_is_the_same_beside_neighbours_and_beside_all(sampling: Sampling) -> None:
    """Statement, results and versions do not depend on what of unrelated others was loaded."""
    rules = tuple(rule for rule in RULES if rule.id == "AUTH-01") + RULES_OF_MEETING
    for seed in (*ONCE_DIFFERENT, *sampling.cases("judgements beside neighbours")):
        _, world = told(seed)
        locks = [lock_of(world, tenant) for tenant in world.plans]
        near = Neighbours.of(world.site, locks)
        for tenant, plan in world.plans.items():
            assert judge(world.site, plan, near, rules) == judge(world.site, plan, locks, rules), (seed, tenant)
