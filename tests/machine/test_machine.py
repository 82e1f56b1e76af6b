"""Tenants that come, grow, change their names and places, drift, crash and go, in any order, against the real services.

A step is one operation of Pulumi's engine, a deed of somebody past us, or a kill in the middle of an operation; after
each one the whole cloud is looked at (`ground.look`).
"""

from __future__ import annotations

import functools
import json
import secrets
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from interlock.provider.clouds import Cloud
from interlock.resources import SwitchPort
from tests.conftest import Sandbox
from tests.machine import drifting
from tests.machine.dying import AFTER, BEFORE, Death
from tests.machine.ground import Ground, Tenant
from tests.machine.wishes import DATA, MOVED, PARTS, RENAMED, RESIZED, Wish, chosen
from tests.sandbox.cloud import until
from tests.support.reports import REPORTS
from tests.support.sampling import Sampling

#: Rules that are followed with the same tenants, in the usual run and in a long one.
RULES, MANY = 20, 60

#: What was done in the last run, how often, and in how many seconds.
REPORT = REPORTS / "machine.json"

whom = st.integers(0, 2)
parts = st.sets(st.sampled_from(sorted(PARTS)), min_size=1, max_size=4).map(frozenset)
erased = st.sets(st.sampled_from(DATA)).map(frozenset)
#: In which operation of a run, at which of its requests, and whether that request still arrives.
kills = st.tuples(st.integers(0, 2), st.integers(1, 8), st.sampled_from((BEFORE, AFTER)))
perhaps = st.none() | kills
Kill = tuple[int, int, str]


class Broken(BaseException):
    """Something did not hold. Hypothesis lets it through: what happened on real services cannot be played again."""


class Enough(BaseException):
    """As many steps were made as the test asks for, and the last tenants are gone."""


def told(deed: Callable[..., None]) -> Callable[..., None]:
    """A rule that stands in the diary; what does not hold ends the test with the diary."""

    @functools.wraps(deed)
    def done(self: Tenants, **drawn: Any) -> None:
        self.ground.diary.append(f"{deed.__name__} {drawn or ''}")
        try:
            deed(self, **drawn)
        except Exception as error:
            diary = "\n".join(self.ground.diary)
            raise Broken(f"{error}\n\n{diary}") from error

    return done


class Tenants(RuleBasedStateMachine):
    """One to three tenants at once."""

    #: Set by the test: Hypothesis makes the machines itself.
    ground: ClassVar[Ground]
    steps: ClassVar[int]

    @initialize(wishes=st.lists(st.tuples(parts, erased), min_size=1, max_size=3))
    @told
    def join(self, wishes: list[tuple[frozenset[str], frozenset[str]]]) -> None:
        for place, (wanted, free) in enumerate(wishes):
            self.ground.number += 1
            # There is a machine each time, on whatever the others ask for.
            machine = {"rnic"} if place == 0 else set()
            self.applied(self.ground.join(chosen(self.ground.number, wanted | machine, free)))

    def tenant(self, number: int) -> Tenant:
        return self.ground.tenants[number % len(self.ground.tenants)]

    @rule(who=whom)
    @told
    def up(self, who: int) -> None:
        self.applied(self.tenant(who))

    @rule(who=whom, kill=kills)
    @told
    def up_that_is_killed(self, who: int, kill: Kill) -> None:
        self.applied(self.tenant(who), kill)

    @rule(who=whom)
    @told
    def refresh(self, who: int) -> None:
        """Where nothing is in doubt there is nothing to learn, and each object would cost its requests."""
        if self.tenant(who).unsure:
            assert self.ground.whole(self.tenant(who), "refresh")

    @rule(who=whom, kill=perhaps)
    @told
    def destroy(self, who: int, kill: Kill | None) -> None:
        tenant = self.tenant(who)
        if self.ground.whole(tenant, "destroy", _death(kill)):
            assert tenant.stack.state == {}

    @precondition(lambda self: len(self.ground.tenants) > 1)
    @rule(who=whom, order=st.lists(st.booleans(), min_size=30, max_size=30))
    @told
    def two_at_once(self, who: int, order: list[bool]) -> None:
        """Two engines, whose operations come in any order."""
        runs = [self.ground.begin(self.tenant(who + number), "up") for number in range(2)]
        for first in order:
            run = runs[0 if first else 1]
            if run is not None and run.pending is not None and not self.ground.step(run):
                run.pending = None
        for run in runs:
            while run is not None and run.pending is not None and self.ground.step(run):
                pass

    @rule(who=whom, part=st.sampled_from(RESIZED), kill=perhaps)
    @told
    def resize(self, who: int, part: str, kill: Kill | None) -> None:
        self.changed(self.tenant(who), "resized", part, kill)

    @rule(who=whom, part=st.sampled_from(RENAMED), kill=perhaps)
    @told
    def rename(self, who: int, part: str, kill: Kill | None) -> None:
        self.changed(self.tenant(who), "renamed", part, kill)

    @rule(who=whom, part=st.sampled_from(MOVED), kill=perhaps)
    @told
    def move(self, who: int, part: str, kill: Kill | None) -> None:
        self.changed(self.tenant(who), "moved", part, kill)

    @rule(who=whom, part=st.sampled_from(sorted(PARTS)), kill=perhaps)
    @told
    def ask_for_more(self, who: int, part: str, kill: Kill | None) -> None:
        tenant = self.tenant(who)
        tenant.want(tenant.wish.with_part(part))
        self.applied(tenant, kill)

    @rule(who=whom, part=st.sampled_from(sorted(PARTS)), kill=perhaps)
    @told
    def ask_for_less(self, who: int, part: str, kill: Kill | None) -> None:
        """Not of what a crash may have left: only an `up` that wants it finds it."""
        tenant = self.tenant(who)
        if not tenant.maybe:
            tenant.want(tenant.wish.without(part))
            self.applied(tenant, kill)

    @rule(who=whom, pick=st.integers(0, 20), gone=st.booleans())
    @told
    def somebody_drifts(self, who: int, pick: int, gone: bool) -> None:
        tenant = self.tenant(who)
        names = [name for name in tenant.stack.held() if name not in tenant.unsure and not name.endswith("-operator")]
        if not names:
            return
        name = names[pick % len(names)]
        if not gone and tenant.stack.ever[name].KIND == SwitchPort.KIND:
            self.somebody_sets_the_switch(tenant, name, pick)
            return
        deed = drifting.delete if gone else drifting.change
        if deed(self.ground.cloud, tenant.stack, name):
            tenant.unsure |= {name, *tenant.along(name)}
            tenant.precious.pop(tenant.stack.state[name].id, None) if gone else None
            self.ground.look("gone by hand" if gone else "changed by hand")

    @rule(who=whom, pick=st.integers(0, 2), gone=st.booleans())
    @told
    def a_switch_port_drifts(self, who: int, pick: int, gone: bool) -> None:
        """Of many objects few are switch ports: they have a rule of their own."""
        tenant = self.tenant(who)
        name = f"{tenant.wish.tenant}-rnic"
        if name not in tenant.stack.state or name in tenant.unsure:
            return
        if not gone:
            self.somebody_sets_the_switch(tenant, name, pick)
        elif drifting.delete(self.ground.cloud, tenant.stack, name):
            tenant.unsure.add(name)
            self.ground.look("switch port gone by hand")

    def somebody_sets_the_switch(self, tenant: Tenant, name: str, pick: int) -> None:
        self.ground.set_by_hand[name] = drifting.change_on_the_switch(self.ground.sandbox, tenant.stack, name, pick)
        tenant.unsure.add(name)
        self.ground.look("changed at the switch")

    @rule(who=whom)
    @told
    def somebody_has_the_same_name_in_the_project(self, who: int) -> None:
        tenant = self.tenant(who)
        project = tenant.stack.state.get(f"{tenant.wish.tenant}-project")
        if project is not None and not tenant.guests:
            body = {"name": f"{tenant.wish.tenant}-router", "project_id": project.id}
            tenant.guests.append(self.ground.strange(("network", "routers"), body))
            self.ground.look("a guest")

    def changed(self, tenant: Tenant, how: str, part: str, kill: Kill | None) -> None:
        """Edited, then applied. What may have been made by a crash as it was wanted then is not moved meanwhile."""
        if part in tenant.wish.parts and not (how == "moved" and tenant.maybe):
            tenant.want(tenant.wish.once_more(how, part))
            self.applied(tenant, kill)

    def applied(self, tenant: Tenant, kill: Kill | None = None) -> None:
        """An `up` that comes to its end leaves nothing to do, and nothing that the state does not hold."""
        if self.ground.whole(tenant, "up", _death(kill)):
            assert tenant.engine.differences() == {}
            assert tenant.maybe == set()
            assert set(tenant.stack.state) == set(tenant.stack.resources)
            until(lambda: self.ground.functions_lost() == 0)

    @told
    def teardown(self) -> None:
        """Every tenant is mended, its data given up, and it goes; nothing of it is left."""
        if not self.ground.sound:
            return
        for tenant in self.ground.tenants:
            self.mended(tenant)
            self.gone(tenant)
        for place in list(self.ground.strangers):
            self.ground.estrange(place)
        self.ground.tenants.clear()
        self.ground.diary.clear()
        if self.ground.steps.total() >= self.steps:
            raise Enough

    def mended(self, tenant: Tenant) -> None:
        """Whatever happened: after a refresh one `up` makes everything as it should be."""
        for part in tenant.parts():
            tenant.want(tenant.wish.with_part(part))
        tenant.want(chosen_again(tenant))
        assert self.ground.whole(tenant, "refresh")
        assert tenant.unsure == set()
        tenant.engine.changes = 0
        assert self.ground.whole(tenant, "up")
        self.applied(tenant)
        assert tenant.maybe == set()

    def gone(self, tenant: Tenant) -> None:
        project = tenant.stack.state[f"{tenant.wish.tenant}-project"].id
        for place in [place for place in self.ground.strangers if place[2] in tenant.guests]:
            self.ground.estrange(place)
        tenant.guests.clear()
        assert self.ground.whole(tenant, "destroy")
        assert tenant.stack.state == {}
        assert self.ground.left(tenant, project) == []


def chosen_again(tenant: Tenant) -> Wish:
    """The same wish, with all data to be erased."""
    return replace(tenant.wish, erased=frozenset(DATA))


def _death(kill: Kill | None) -> tuple[int, Death] | None:
    return kill and (kill[0], Death(kill[1], kill[2]))


@pytest.fixture
def ground(sandbox: Sandbox, tmp_path: Any) -> Iterator[Ground]:
    """What the operator has already, and takes away again."""
    cloud, name = Cloud(sandbox.cloud), f"machine-{secrets.token_hex(3)}"
    types = cloud.api("block-storage").items("/types", "volume_types")
    flavor = {"name": name, "vcpus": 1, "ram": 1024, "disk": 1, "os-flavor-access:is_public": True}
    image = {"name": name, "disk_format": "raw", "container_format": "bare", "visibility": "public"}
    existing = {
        "VolumeType/fake": next(str(item["id"]) for item in types if item["name"] == "fake"),
        "Flavor/small": str(cloud.api("compute").post("/flavors", {"flavor": flavor})["flavor"]["id"]),
        "Image/raw": str(cloud.api("image").post("/images", image)["id"]),
    }
    # The card is at one NUMA cell, and servers are not to be bound to that one.
    numa = {"hw:pci_numa_affinity_policy": "preferred"}
    specs = {"extra_specs": {"hw:cpu_policy": "dedicated", "hw:mem_page_size": "1GB", **numa}}
    cloud.api("compute").post(f"/flavors/{existing['Flavor/small']}/os-extra_specs", specs)
    headers = {"Content-Type": "application/octet-stream"}
    path = f"/images/{existing['Image/raw']}/file"
    cloud.api("image").request("PUT", path, data=b"no operating system", headers=headers)
    # Numbers that no tenant of an earlier run on the same cloud had.
    first = secrets.randbelow(700) * 100
    found = Ground(cloud, sandbox.dir, tmp_path, existing, number=first)
    found.lost_before = found.functions_lost()
    yield found
    cloud.api("image").delete(f"/images/{existing['Image/raw']}")
    cloud.api("compute").delete(f"/flavors/{existing['Flavor/small']}")


@pytest.mark.timeout(48 * 3600)
def test_whatever_happens_nothing_is_lost_or_left(ground: Ground, sampling: Sampling) -> None:
    """Until enough steps were made, each followed by a look at everything."""
    Tenants.ground, Tenants.steps = ground, sampling.count("steps of the state machine")
    # Not made smaller when something is found: every example costs minutes on real services.
    how = settings(
        max_examples=100_000, stateful_step_count=MANY if sampling.long else RULES, phases=(Phase.generate,),
        deadline=None, database=None, suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    start = time.monotonic()
    try:
        with pytest.raises(Enough):
            run_state_machine_as_test(Tenants, settings=how)
    except Broken as broken:
        raise AssertionError(str(broken)) from broken.__cause__
    finally:
        REPORT.parent.mkdir(parents=True, exist_ok=True)
        REPORT.write_text(json.dumps({"seconds": time.monotonic() - start, "steps": dict(ground.steps.most_common())}))
    assert ground.steps.total() >= Tenants.steps
