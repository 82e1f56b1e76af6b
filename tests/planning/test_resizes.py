"""What is said of a resize: by the lock, by a plan against the one before, and by the provider to Pulumi.

All sizes in both directions, where the machines are and elsewhere, with and without partitions, on a mesh and a torus.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, NamedTuple

import pytest

from interlock.model.lock.record import Lock
from interlock.model.tenant.partitions import Partition
from interlock.model.tenant.request import Pins, Tenant
from interlock.planning import Plan, plan_tenant
from interlock.planning.blocks import SIZES
from interlock.planning.differences import changes_between
from interlock.planning.resizes import Resize, resizes_between, resizes_of
from interlock.provider.codec import UNKNOWN
from interlock.provider.diffing import compare
from interlock.resources import ID_OF, Change, Effect, Resource, SwitchPort, VipuAllocation
from interlock.resources.base import forbidden
from interlock.vocabulary import Reference
from tests.builders.pod64 import locked, pinned, site_locked, tenant, vpod
from tests.planning.halls import block, halls
from tests.support.sampling import Sampling

SITE = halls([["r1", "r2"], ["r3"]], torus=["r2"])
OPERATOR = site_locked(SITE)
#: Four IPUs, which one machine has.
ONE = (Partition(name="a", ipus=4, replaceable=True),)


class Case(NamedTuple):
    """From so many machines of `rack` to so many."""

    rack: str
    before: int
    after: int
    moved: bool
    partitions: tuple[Partition, ...]
    #: Those that are asked for afterwards; None: the same.
    others: tuple[Partition, ...] | None = None


CASES = [
    *(Case(*item) for item in product(("r1", "r2"), SIZES, SIZES, (False, True), ((), ONE))),
    *(Case("r1", 2, after, moved, ONE, ()) for after, moved in product((1, 4), (False, True))),
    *(Case("r1", 2, after, moved, (), ONE) for after, moved in product((1, 4), (False, True))),
]


def request(machines: int, partitions: tuple[Partition, ...], pins: Mapping[str, Pins] | None = None) -> Tenant:
    pod = vpod(machines=machines).model_copy(update={"partitions": partitions})
    return tenant("acme", vpods=(pod,), pins=pins or {})


def sides(case: Case) -> tuple[Lock, Lock, Tenant, Plan, Plan]:
    """Lock and plan of before and after. What is moved is moved by a neighbour, or by pins where it need not."""
    pins = pinned(machines=block(case.rack, 1, case.before))
    old = locked(SITE, request(case.before, case.partitions, pins))
    before = plan_tenant(SITE, OPERATOR, request(case.before, case.partitions), old)
    elsewhere = pinned(machines=block("r3", 1, case.after)) if case.moved else {}
    wanted = request(case.after, case.partitions if case.others is None else case.others, elsewhere)
    new = locked(SITE, wanted, previous=old)
    return old, new, wanted, before, plan_tenant(SITE, OPERATOR, wanted, new)


def told_to_pulumi(before: Plan, after: Plan) -> Iterator[tuple[str, str]]:
    """(kind, name) of all that the provider has replaced, asked in the engine's order.

    The engine hands over an unknown id of what it replaces or makes.
    """
    olds = {(item.resource.KIND, item.name): item.resource for item in before.resources}
    known = {item.name for item in before.resources}
    for item in after.resources:
        old = olds.get((item.resource.KIND, item.name))
        if old is None:
            known.discard(item.name)
        elif item.resource.is_declared:
            news = item.resource.canonical() | {"owner": after.owner} | _ids(item.resource, known)
            was = old.canonical() | {"owner": after.owner} | _ids(old, {one.name for one in before.resources})
            if compare(item.resource.KIND, item.name, was, news).replaces:
                known.discard(item.name)
                yield item.resource.KIND, item.name


def _ids(resource: Resource, known: set[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for field, refers in resource.reference_fields().items():
        value = refers.named(getattr(resource, field))
        if isinstance(value, tuple):
            found[ID_OF + field] = [_id(name, known) for name in value if Reference.scheme_of(name) is None]
        elif value is not None and Reference.scheme_of(value) is None:
            found[ID_OF + field] = _id(value, known)
    return found


def _id(name: str, known: set[str]) -> Any:
    return f"id-of-{name}" if name in known else UNKNOWN


def agree(case: Case) -> Resize | None:
    """What all three say of a case; None: that nothing is touched. Fails where they differ."""
    old, new, wanted, before, after = sides(case)
    by_lock = resizes_of(SITE, OPERATOR, wanted, old, after, new.allocation)
    by_plan = resizes_between(before.canonical(), after)
    assert by_lock == by_plan, case
    made = {item.name for item in after.resources if item.resource.is_declared}
    changes = changes_between(before.canonical(), after)
    said = {(item.kind, item.name) for item in changes if item.action == "replace" and item.name in made}
    assert said == {*told_to_pulumi(before, after)}, case
    own = {(item.kind, item.name) for found in by_plan for item in found.replaced if item.name in made}
    assert own == said, case
    refused = {(item.kind, item.name) for found in by_plan for item in found.refused}
    assert refused == {(item.kind, item.name) for item in changes if item.action == "forbidden"}, case
    return by_plan[0] if by_plan else None


def test_lock_plan_and_provider_agree_on_every_resize(sampling: Sampling) -> None:
    for case in sampling.some("resizes", CASES, 24):
        found = agree(case)
        assert (found is None) == (case.before == case.after and not case.moved), case
        if found is not None:
            assert set(found.before) == set(block(case.rack, 1, case.before)), case
            assert len(found.after) == case.after, case


def test_a_partition_that_is_asked_for_together_with_other_machines_is_new() -> None:
    """It is neither recreated nor refused, since nothing can run on it yet; one that is taken out is deleted."""
    new = (Partition(name="new", ipus=16),)
    grown = agree(Case("r1", 2, 4, moved=False, partitions=(), others=new))
    assert grown is not None
    assert (grown.way, grown.refused) == ("grows in place", ())
    assert {item.name for _, item in grown.lost} == {"acme-train-allocation"}
    shrunk = agree(Case("r1", 4, 2, moved=False, partitions=new, others=()))
    assert shrunk is not None
    assert "lost: what runs on it: acme-train-partition-new" in list(shrunk.lines())


@pytest.mark.parametrize("replaceable", [True, False])
def test_a_lock_that_notes_no_partitions_hides_none(replaceable: bool) -> None:
    """One that an earlier version wrote, also where leave to recreate them comes with the machines."""
    then = (Partition(name="a", ipus=4, replaceable=replaceable),)

    def told(had: tuple[Partition, ...]) -> tuple[Resize, ...]:
        old, wanted = locked(SITE, request(2, had)), request(4, ONE)
        new = locked(SITE, wanted, previous=old)
        older = old.model_copy(update={"partitions": {}})
        return resizes_of(SITE, OPERATOR, wanted, older, plan_tenant(SITE, OPERATOR, wanted, new), new.allocation)

    lost = "lost: what runs on it: acme-train-partition-a"
    assert [lost in list(found.lines()) for found in told(then)] == [True]
    # The same lock of a request without any: it is asked for only now.
    assert [lost in list(found.lines()) for found in told(())] == [False]


def test_what_is_said_follows_the_effects_of_the_types(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another effect of a field, and lock, plan and provider say another thing. No word stands beside the table."""

    def other(_: type[Resource], field: str, before: Any, after: Any) -> Change:
        return Change(Effect.REPLACE) if field == "machines" else Change(Effect.IN_PLACE)

    case = Case("r1", 2, 4, moved=False, partitions=ONE)
    monkeypatch.setattr(VipuAllocation, "change_of", classmethod(other))
    found = agree(case)
    assert found is not None
    assert (found.way, found.given, found.released) == ("grows in place", block("r1", 3, 4), ())
    assert {item.name for item in found.replaced} >= {"acme-train-allocation", "acme-train-partition-a"}
    assert "lost: what runs on it: acme-train-partition-a" in list(found.lines())
    users = "lost: partitions that users made in it, where `pulumi up` is not refused for them: acme-train-allocation"
    assert users in list(found.lines())
    monkeypatch.setattr(VipuAllocation, "change_of", classmethod(lambda *_: forbidden("it is in use")))
    refused = agree(case)
    assert refused is not None
    assert "refused: VipuAllocation acme-train-allocation: it is in use" in list(refused.lines())


def test_the_provider_asks_for_the_effect_of_this_very_change(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a plan does: of a field whose effect depends on the direction, the effect of the field alone is not it."""
    port = next(item for item in sides(CASES[0])[3].resources if isinstance(item.resource, SwitchPort))
    olds = port.resource.canonical() | {"owner": "o"}
    news = olds | {"addresses": ["10.0.0.77"]}
    assert compare("SwitchPort", port.name, olds, news).replaces == []
    monkeypatch.setattr(SwitchPort, "change_of", classmethod(lambda *_: Change(Effect.REPLACE)))
    assert compare("SwitchPort", port.name, olds, news).replaces == ["addresses"]


def test_who_loses_a_server_is_told_before() -> None:
    """Another leaf group: other VLANs, and servers on other hosts; volumes stay, so they are not among what goes."""
    _, _, _, before, after = sides(Case("r1", 2, 2, moved=True, partitions=()))
    (found,) = resizes_between(before.canonical(), after)
    lines = list(found.lines())
    servers = "acme-train-poplar-0, acme-train-poplar-1, acme-train-controller"
    assert f"lost: what it holds in memory and on its root disk: {servers}" in lines
    assert "Volume" not in {item.kind for item in (*found.replaced, *found.deleted, *found.refused)}
