"""Every worked example that a world can say: the oracle and the prover give the page's verdict."""

from __future__ import annotations

import pytest

from policies import RULES, judge
from policies.facts.identities import switch_bridge, vlan_segment
from policies.footprints.versions import boundary_versions
from policies.judging import model_of

from .comparing import EXCLUDED, MEETING, compared, exactly, judgements, lock_of
from .completing import decided
from .examples import EXAMPLES, UNSAID, VERSIONS
from .examples_versions import CAROL, Wire, carol_changed, globex_came_near, shared_wires, when_proved
from .found import FOUND
from .oracle import leaks
from .sayings import A, Example, G
from .world import World

NUMBERS = range(1, 68)


def prover(example: Example) -> str:
    """The worst verdict of the prover over all stacks."""
    wanted = example.rules or MEETING
    rules = [rule for rule in RULES if rule.id in wanted]
    assert {rule.id for rule in rules} == set(wanted)
    world = example.world()
    assert world.site_plan is not None
    locks = [lock_of(world, tenant) for tenant in world.plans]
    codes = {judge(world.site, plan, locks, rules=rules).exit_code for plan in (world.site_plan, *world.plans.values())}
    return "V" if 1 in codes else "N" if 3 in codes else "P"


def test_every_example_is_said_or_listed() -> None:
    letters = "abcdefghijklmno"
    numbers = (*(item.number for item in EXAMPLES), *UNSAID, VERSIONS)
    assert {int(number.rstrip(letters)) for number in numbers} == set(NUMBERS)
    assert not {item.number for item in EXAMPLES} & UNSAID.keys()


@pytest.mark.parametrize("example", [*EXAMPLES, *FOUND], ids=lambda item: item.name)
def test_oracle(example: Example) -> None:
    found = leaks(example.world(), example.without)
    assert found.verdict == example.expected, found.traces


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda item: item.name)
def test_prover(example: Example) -> None:
    assert prover(example) == example.expected


@pytest.mark.parametrize("example", FOUND, ids=lambda item: item.name)
def test_prover_on_what_was_found(example: Example) -> None:
    """Also the operator's own judgement, which knows a tenant by its footprint alone."""
    world, seen = example.world(), leaks(example.world())
    decision = decided(world)
    assert decision is not None
    for stack, judgement in judgements(world, ["site", *world.plans]).items():
        assert compared(seen, stack, judgement) == "", stack
        assert exactly(seen, decision, stack, judgement) in ("", EXCLUDED), stack


def versions(world: World) -> dict[str, str]:
    """What acme's proof notes of each boundary node that it meets."""
    others = [lock_of(world, tenant) for tenant in world.plans if tenant != A]
    return boundary_versions(model_of(world.site, world.plans[A], others), others)


def digest(world: World) -> str:
    """What is compared before the first call."""
    return judge(world.site, world.plans[A], [lock_of(world, tenant) for tenant in world.plans]).boundary


def nodes(wires: set[Wire]) -> set[str]:
    """As the prover calls them."""
    return {vlan_segment(switch_bridge(serial), vlan) for serial, vlan in wires}


def test_example_45_somebody_came_near() -> None:
    """globex met L(leaf-1, 1001) after acme's proof: its version is another, and so is what apply compares."""
    then, now = when_proved(), globex_came_near()
    assert shared_wires(then, A, G) == set()
    assert shared_wires(now, A, G) == {("SN-leaf-1", 1001)}
    before, after = versions(then), versions(now)
    on_switches = {node for node in before if node.startswith("L:") and "/" not in node}
    assert {node for node in on_switches if before[node] != after[node]} == nodes(shared_wires(now, A, G))
    assert digest(then) != digest(now)


def test_example_45_somebody_elsewhere() -> None:
    """carol changed, and meets none of the nodes of acme's proof: nothing to prove again."""
    then, now = when_proved(), carol_changed()
    assert then.plans[CAROL] != now.plans[CAROL]
    assert shared_wires(now, A, CAROL) == set()
    assert versions(then) == versions(now)
    assert digest(then) == digest(now)
