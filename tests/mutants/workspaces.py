"""A workspace: a site with everybody's plans and locks, and ways to change one thing of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from ipaddress import ip_network
from typing import Any, TypeVar

from interlock.model.lock.record import FormerKey, Lock, Released, Settled, SiteLock, VPodAllocation
from interlock.model.site.inventory import Cable, Host, Site, Switch, SwitchPortConfig
from interlock.planning import plan_site
from interlock.planning.plan import Plan
from interlock.resources import Resource
from policies import RULES, Judgement, Rule
from policies.certificate import certificate
from policies.facts.site import SiteFacts
from policies.footprints.boundary import footprint_of
from policies.judging import Read, Seen, judged, read, seen_by
from tests.builders.pod64 import site_locked
from tests.policies.workspace import Made, added, changed, edited

R = TypeVar("R", bound=Resource)

#: Whose plan is asked about where it is the operator's own.
OPERATOR = "op"


@dataclass(frozen=True)
class VPodOf:
    """A vPOD of a workspace: `prefix` begins the names of its resources."""

    tenant: str
    name: str
    claims: VPodAllocation

    @property
    def prefix(self) -> str:
        """`<tenant>-<vPOD>`."""
        return f"{self.tenant}-{self.name}"


@dataclass(frozen=True)
class Workspace:
    """A site, everybody's plan and lock in the order of their making, and whose judgement is asked for."""

    site: Site
    made: tuple[Made, ...]
    asked: str
    #: The plan of the operator's own stack.
    of_site: Plan
    #: Classes of boundary nodes that a tenant's footprint has besides those of its plan.
    bridged: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    #: Never copied: it is of this site and these plans.
    _locks: dict[str, Lock] = field(default_factory=dict, init=False, repr=False, compare=False)
    _reads: dict[str, Read] = field(default_factory=dict, init=False, repr=False, compare=False)

    @cached_property
    def facts(self) -> SiteFacts:
        """The site as the proof reads it: once for all plans."""
        return SiteFacts(self.site)

    @cached_property
    def by_tenant(self) -> dict[str, Made]:
        """Plans and locks by tenant."""
        return {item.lock.id: item for item in self.made}

    @property
    def tenants(self) -> tuple[str, ...]:
        """Every tenant."""
        return tuple(self.by_tenant)

    @cached_property
    def vpods(self) -> tuple[VPodOf, ...]:
        """Every vPOD, in the order of the locks."""
        return tuple(
            VPodOf(item.lock.id, name, claims)
            for item in self.made
            for name, claims in item.lock.allocation.vpods.items()
        )

    def plan(self, tenant: str) -> Plan:
        """A tenant's plan, or the operator's."""
        return self.of_site if tenant == OPERATOR else self.by_tenant[tenant].plan

    def get(self, tenant: str, name: str, kind: type[R]) -> R:
        """A resource of a plan, of this kind."""
        found = self.plan(tenant).by_name[name].resource
        if not isinstance(found, kind):
            raise TypeError(f"{name} is a {found.KIND}")
        return found

    def named(self, tenant: str, kind: type[R], has: str = "") -> tuple[str, ...]:
        """The names of a plan's resources of a kind that have a text in them."""
        items = self.plan(tenant).resources
        return tuple(item.name for item in items if isinstance(item.resource, kind) and has in item.name)

    def judged(self, rules: Sequence[Rule] = RULES, asked: str | None = None, seen: Seen | None = None) -> Judgement:
        """What the rules say of the plan that is asked about, or of another; `seen`: its model, where it is there."""
        whose = asked or self.asked
        return judged(seen or self.seen(whose), self.plan(whose), rules)

    def seen(self, asked: str | None = None) -> Seen:
        """The model of one plan beside all others."""
        whose = asked or self.asked
        locks = [self.lock(item) for item in self.made if item.lock.id != whose]
        return seen_by(self.facts, self.plan(whose), locks, own=self._read(whose))

    def _read(self, whose: str) -> Read:
        """A plan as facts: once for its lock and its judgement."""
        if whose not in self._reads:
            self._reads[whose] = read(self.facts, self.plan(whose))
        return self._reads[whose]

    def certified(self, judgement: Judgement, seen: Seen | None = None) -> dict[str, Any]:
        """The certificate of a judgement, as a reader finds it."""
        made = certificate(seen or self.seen(), judgement)
        found: dict[str, Any] = json.loads(made.model_dump_json())
        return found

    def lock(self, item: Made) -> Lock:
        """A lock with the footprint that its plan has on this site; made when first asked for."""
        tenant = item.lock.id
        if tenant not in self._locks:
            mark = footprint_of(self.facts, self._read(tenant).share, item.lock.released, item.lock.former_keys)
            more = self.bridged.get(tenant, ())
            mark = mark.model_copy(update={"classes": (*mark.classes, *more)}) if more else mark
            self._locks[tenant] = item.lock.model_copy(update={"footprint": mark}).sealed()
        return self._locks[tenant]

    # One change each.

    def asking(self, tenant: str) -> Workspace:
        """The same, asked about another plan."""
        return replace(self, asked=tenant)

    def with_plan(self, tenant: str, plan: Plan) -> Workspace:
        """One plan replaced; its lock follows."""
        if tenant == OPERATOR:
            return replace(self, of_site=plan)
        made = (Made(plan, item.lock) if item.lock.id == tenant else item for item in self.made)
        return replace(self, made=tuple(made))

    def edit(self, tenant: str, name: str, /, **changes: object) -> Workspace:
        """Fields of one resource changed."""
        return self.with_plan(tenant, edited(self.plan(tenant), name, **changes))

    def add(self, tenant: str, name: str, resource: Resource) -> Workspace:
        """One more resource."""
        plan = self.plan(tenant)
        return self.with_plan(tenant, added(plan, name, plan.components[0].name, resource))

    def with_site(self, **fields: object) -> Workspace:
        """Fields of the site changed; everybody's lock follows."""
        return replace(self, site=changed(self.site, **fields))

    def with_released(self, tenant: str, claim: str, value: str) -> Workspace:
        """A claim that a tenant gave up and nobody saw let go."""
        gone = (Released(vpod="old", claim=claim, value=value),)
        made = (
            Made(item.plan, item.lock.model_copy(update={"released": gone})) if item.lock.id == tenant else item
            for item in self.made
        )
        return replace(self, made=tuple(made))

    def with_former_key(self, tenant: str, fingerprint: str) -> Workspace:
        """A login key that a tenant took out of its request, and that its servers may still have."""
        note = (FormerKey(fingerprint=fingerprint, since="2026-11-23T10:00:00Z"),)
        made = (
            Made(item.plan, item.lock.model_copy(update={"former_keys": note})) if item.lock.id == tenant else item
            for item in self.made
        )
        return replace(self, made=tuple(made))

    def with_settled(self, tenant: str, identity: str) -> Workspace:
        """A device that a tenant had, that was cleaned after it and given out again."""
        note = (Settled(identity=identity, at="2026-11-23T10:00:00Z", by="Anne"),)
        made = (
            Made(item.plan, item.lock.model_copy(update={"settled": note})) if item.lock.id == tenant else item
            for item in self.made
        )
        return replace(self, made=tuple(made))

    def with_switch(self, name: str, /, **fields: object) -> Workspace:
        """Fields of one switch changed."""
        switches = (item.model_copy(update=fields) if item.name == name else item for item in self.site.switches)
        return self.with_site(switches=tuple(_fresh(item) for item in switches))

    def with_port(self, switch: str, port: int, /, **settings: object) -> Workspace:
        """One switch port configured again."""
        kept = tuple(item for item in self.site.switch[switch].ports if item.port != port)
        new = SwitchPortConfig.model_validate({"port": port, "mode": "trunk"} | settings)
        return self.with_switch(switch, ports=(*kept, new))

    def with_cables(self, *cables: Cable) -> Workspace:
        """More cables."""
        return self.with_site(cables=(*self.site.cables, *cables))

    def with_hosts(self, *hosts: Host) -> Workspace:
        """Hosts of the same names replaced."""
        new = {item.name: item for item in hosts}
        return self.with_site(hosts=tuple(new.get(item.name, item) for item in self.site.hosts))

    def only(self, *tenants: str) -> Workspace:
        """The others are not there."""
        return replace(self, made=tuple(item for item in self.made if item.lock.id in tenants))


def _fresh(switch: Switch) -> Switch:
    """A copy would keep what the old one cached."""
    return Switch(**{name: getattr(switch, name) for name in Switch.model_fields})


def workspace(site: Site, made: Sequence[Made], own: SiteLock | None = None) -> Workspace:
    """Asked about the first tenant. `own`: the lock of the site, if there is one already."""
    return Workspace(site, tuple(made), made[0].lock.id, plan_site(site, own or site_locked(site)))


def at(prefix: str, number: int) -> str:
    """The address so far into a subnet, or before its end."""
    return str(ip_network(prefix)[number])
