"""Whoever joins two others is told: a plan answers for every class that it changes (semantics §9).

Random worlds, in each of which one tenant also puts switch ports of anybody into VLANs of anybody.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random

from policies.edges.plan_fragment import plan_fragment
from policies.edges.shape import Edge, GraphFragment, Union
from policies.edges.union import UNION_EDGES
from policies.facts.plan import plan_facts
from policies.facts.site import SiteFacts
from policies.graph import kernel
from policies.graph.model import Model
from tests.support.sampling import Sampling, at_least

from .comparing import ENTRIES, answers, compared
from .generator import MOST, PLOTS, endpoints
from .oracle import leaks
from .scene import Scene, scene
from .world import World


def meddled(seed: int) -> tuple[str, World]:
    """A tenant, and a world in which it sets switch ports of its own choice."""
    rng = Random(seed)
    while True:
        made = scene(rng)
        for plot in rng.sample(PLOTS, rng.choice((0, 0, 1, 2))):
            plot(made)
        if made.uplinks and rng.random() < 0.5:
            second_leg(made)
        if endpoints(made.draft) <= MOST:
            return _meddle(rng, made), made.draft.made()


def second_leg(made: Scene) -> None:
    """One more cable beside an uplink: the two are one link, and are not always set alike."""
    rng = made.rng
    (a, first), (b, second) = ends = rng.choice(made.uplinks)
    of_tenants = tuple((vlan, vlan) for vlan in rng.sample(list(made.vlan.values()), rng.choice((0, 1, 2))))
    here, there = ({"tagged": rng.choice(((), of_tenants, ((1000, 1099),)))} for _ in ends)
    more = made.draft.link(a, b, here, there)
    for (switch, _), port in zip(ends, more, strict=True):
        made.draft.change_port(switch, port, untagged=rng.choice((None, None, *made.vlan.values())), tag_native=False)
        made.draft.change_port(switch, port, mode=rng.choice(("trunk",) * 5 + ("disabled",)))
        if rng.random() < 0.1:
            made.draft.switches[switch].ports.pop(port, None)
    device, *legs = rng.choice([(a, first, more[0]), (b, second, more[1])])
    made.draft.bundle(str(device), *legs)
    made.uplinks.append(((a, more[0]), (b, more[1])))


def _meddle(rng: Random, made: Scene) -> str:
    tenant = rng.choice(made.tenants)
    ports = [(name, number) for name, switch in made.draft.switches.items() for number in switch.ports]
    ports += 3 * [end for pair in made.uplinks for end in pair] or list(made.port.values())
    vlans = [*made.vlan.values(), 1099]
    chosen = {(*rng.choice(ports), rng.choice(vlans)) for _ in range(rng.choice((1, 2, 3)))}
    known = {item.name for item in made.draft.resources[tenant]}
    for switch, port, vlan in sorted(chosen):
        if f"{tenant}-{switch}-{port}-{vlan}" not in known:
            made.draft.switch_port(tenant, switch, port, vlan)
    return tenant


def without(world: World, tenant: str) -> World:
    """The same world before this tenant came."""
    plans = {name: plan for name, plan in world.plans.items() if name != tenant}
    released = {name: entries for name, entries in world.released.items() if name != tenant}
    return replace(world, plans=plans, released=released)


def edges(site: SiteFacts, shares: list[GraphFragment]) -> set[Edge]:
    union = Union(site, shares)
    found = {edge for share in shares for edge in share.edges}
    return found | {edge for rule in UNION_EDGES for edge in rule.edges(union)}


def unasked(model: Model) -> Iterator[Edge]:
    """Edges that come or go with a plan, in a class in which nothing of it is asked about."""
    site, share, others = model.site, model.own, list(model.others)
    now, before = edges(site, [share, *others]), edges(site, others)
    numbers = kernel.Numbering()
    there = [edge for edge in now | before if not edge.held]
    left, right = numbers.all_of(edge.a for edge in there), numbers.all_of(edge.b for edge in there)
    own = set(numbers.all_of(model.mentioned))
    found = kernel.components(len(numbers), left, right)
    asked = {found[number] for number in own}
    named = Union(site, others).named_vlans
    for edge in (now ^ before) if named == Union(site, [share, *others]).named_vlans else ():
        if not edge.held and found[numbers.number[edge.a]] not in asked:
            yield edge


def test_every_class_that_a_plan_changes_is_asked_about(sampling: Sampling) -> None:
    changed = 0
    for seed in sampling.cases("worlds with meddling"):
        _, world = meddled(seed)
        site = SiteFacts(world.site)
        facts = {name: plan_facts(plan) for name, plan in world.plans.items()}
        shares = {name: plan_fragment(site, plan) for name, plan in facts.items()}
        for name, share in shares.items():
            others = [other for owner, other in shares.items() if owner != name]
            assert not list(unasked(Model(site, facts[name], share, others))), (seed, name)
            changed += 1
    assert changed


def test_what_meets_by_a_bundle_is_not_proved(sampling: Sampling) -> None:
    """Worlds with uplinks of two cables: the oracle knows by itself that they are one link."""
    met = 0
    seeds = sampling.cases("worlds with meddling")
    for seed in seeds:
        _, world = meddled(seed)
        if world.site.lags:
            seen = leaks(world)
            met += bool(seen.may)
            told = answers(world, list(world.plans)) if seen.may else {}
            missed = [tenant for tenant in told if compared(seen, tenant, told[tenant]) == "missed"]
            assert not missed, (seed, missed, seen.traces)
    assert met > at_least(0.1, len(seeds))


def test_whoever_joins_two_others_is_not_proved(sampling: Sampling) -> None:
    """The oracle sees two others meet who did not before a tenant's plan: the proof of that plan says so too."""
    joined = 0
    seeds = sampling.cases("worlds with meddling")
    for seed in seeds:
        tenant, world = meddled(seed)
        seen, before = leaks(world), leaks(without(world, tenant))
        fresh = [pair for pair in seen.may - before.may if tenant not in pair]
        if fresh:
            joined += 1
            answer = answers(world, [tenant])[tenant]
            assert answer.exit_code != 0, (seed, tenant, seen.traces[fresh[0]])
            if any(pair in seen.must - before.may for pair in fresh):
                assert answer.exit_code == 1, (seed, tenant)
    assert joined > at_least(0.02, len(seeds))


#: One tenant sets the port behind a machine's management plug alone: two owners, and no wire that both are on.
A_MACHINE_OF_TWO = 9437


def test_what_two_tenants_share_is_the_operators_to_know(sampling: Sampling) -> None:
    """The judgement of the operator's stack answers for all tenants, also for what only locks hold."""
    met = 0
    seeds = sampling.cases("worlds with meddling")
    for seed in (A_MACHINE_OF_TWO, *seeds):
        _, world = meddled(seed)
        seen = leaks(world, ENTRIES)
        met += bool(seen.may)
        if seen.may:
            assert compared(seen, "site", answers(world, ["site"])["site"]) != "missed", (seed, seen.traces)
    assert met > at_least(0.1, len(seeds))
