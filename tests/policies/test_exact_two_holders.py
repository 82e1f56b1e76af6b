"""Excl: with whom a plan holds something, where several hold one thing."""

from __future__ import annotations

from functools import cache

from interlock.planning import plan_site
from interlock.vocabulary.nodes import HeldLoginKey, HeldMachine, parse
from policies.graph.model import Model
from policies.judging import model_of
from policies.rules.holders import Together, held_together, looked_at
from tests.builders.pod64 import site_locked, ssh_key, tenant
from tests.policies.workspace import Made, edited, full_site, made, pair, with_footprint

SITE = full_site()


@cache
def three() -> tuple[Made, Made, Made]:
    """acme, globex and carol with one ssh key."""
    acme, globex = pair(SITE)
    carol = made(SITE, tenant("carol", machines=1, servers=1), [acme.lock, globex.lock])
    plans = [edited(item.plan, f"{item.lock.id}-key", public_key=ssh_key("one")) for item in (acme, globex, carol)]
    first, second, third = (
        with_footprint(SITE, plan, item.lock) for plan, item in zip(plans, (acme, globex, carol), strict=True)
    )
    return first, second, third


def keys(model: Model) -> frozenset[str]:
    return looked_at(model, lambda node: isinstance(node, HeldLoginKey))


def pairs(model: Model) -> list[tuple[str, str]]:
    found: list[Together] = list(held_together(model, keys(model)))
    assert all(item.identities == keys(model) for item in found)
    return [(item.holder, item.other) for item in found]


def test_a_tenant_is_told_of_what_is_its_own_alone() -> None:
    """What two others hold together is theirs, also where it is the tenant's as well."""
    made_of = three()
    for place, item in enumerate(made_of):
        others = [other for number, other in enumerate(made_of) if number != place]
        model = model_of(SITE, item.plan, [other.lock for other in others])
        assert pairs(model) == sorted((item.lock.id, other.lock.id) for other in others)


def test_the_operator_is_told_of_all() -> None:
    model = model_of(SITE, plan_site(SITE, site_locked(SITE)), [item.lock for item in three()])
    assert pairs(model) == [("acme", "carol"), ("acme", "globex"), ("carol", "globex")]


def test_what_is_looked_at_is_ones_own() -> None:
    """Of one kind alone; the operator's plan answers for what tenants hold."""
    acme, *others = three()
    locks = [item.lock for item in others]
    for model, count in (
        (model_of(SITE, acme.plan, locks), 4),
        (model_of(SITE, plan_site(SITE, site_locked(SITE)), [acme.lock, *locks]), 4 + 8 + 1),
    ):
        found = looked_at(model, lambda node: isinstance(node, HeldMachine))
        assert len(found) == count
        assert all(isinstance(parse(item), HeldMachine) for item in found)


def test_of_what_is_not_asked_nothing_is_told() -> None:
    acme, *others = three()
    assert list(held_together(model_of(SITE, acme.plan, [item.lock for item in others]), frozenset())) == []
