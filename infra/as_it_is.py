"""A plan with what is really there: the same kinds and words, so the same rules can be asked about it.

What differs of a planned object stands in its fields; what others made beside it is added under a name of its own,
`found-…`. What no plan has a word for is named, and then a proof of the rest is none of the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pydantic import ValidationError

from interlock.planning import Plan
from interlock.planning.plan import Planned
from interlock.provider.actuators import FOREIGN
from interlock.provider.audit.listing import RBAC_KINDS, Listed, Raw
from interlock.provider.audit.standing import Standing
from interlock.provider.audit.strays import Stray
from interlock.resources import (
    FlavorAccess,
    FloatingIp,
    Port,
    RbacPolicy,
    Resource,
    RoleAssignment,
    Router,
    RouterInterface,
)


class Unsaid(LookupError):
    """A plan has no word for it."""


@dataclass(frozen=True)
class AsItIs:
    """One stack."""

    plan: Plan
    #: What is there and stands in no plan's words.
    unsaid: tuple[str, ...] = ()


@dataclass(frozen=True)
class Words:
    """What ids mean in the plan of one stack. `standings`: of every stack of the site."""

    plan: Plan
    plans: Mapping[str, Plan]
    standings: Mapping[str, Iterable[Standing]]
    found: Listed

    @cached_property
    def _references(self) -> Mapping[tuple[str, str], str]:
        """(kind, id) -> reference, of everything that is there once."""
        return {
            (item.kind, item.ids[0]): reference
            for stack, items in self.standings.items()
            for item in items
            if len(item.ids) == 1 and (reference := self._reference(self.plans[stack], item)) is not None
        }

    def _reference(self, plan: Plan, item: Standing) -> str | None:
        if plan.stack == self.plan.stack:
            return item.name
        if plan.tenant is None:
            return f"site:{item.kind}/{item.name}"
        # Of another tenant a plan can name the project; that is who somebody is.
        return f"cloud:Project/{plan.tenant}" if item.kind == "Project" else None

    def of(self, kind: str, ident: str) -> str:
        """Raises `Unsaid` for what this plan cannot refer to."""
        if (kind, ident) not in self._references:
            raise Unsaid(f"{kind} {ident}")
        return self._references[kind, ident]

    def project(self, ident: str) -> str:
        """A project that nobody knows is a stranger's."""
        return self._references.get(("Project", ident), f"cloud:Project/{ident}")

    def user(self, ident: str) -> str:
        """Whom the request names. Raises `Unsaid` for everybody else: a plan's word for a user means a member."""
        known = self.found.of("ServiceUser").get(ident, {})
        reference = self._references.get(("ServiceUser", ident)) or f"cloud:User/{known.get('name')}"
        if reference not in self._members:
            raise Unsaid(f"user {ident}")
        return reference

    @cached_property
    def _members(self) -> frozenset[str]:
        assigned = (item.resource for item in self.plan.resources if isinstance(item.resource, RoleAssignment))
        return frozenset(one.user for one in assigned)

    def role(self, ident: str) -> str:
        """One of ours, or one that the cloud brings."""
        named = self.found.of("Role").get(ident, {}).get("name", ident)
        return self._references.get(("Role", ident), f"cloud:Role/{named}")


def as_it_is(words: Words, strays: Iterable[Stray] = ()) -> AsItIs | None:
    """What is really there of one stack; None where a planned object is as no plan can say it."""
    said = _Said(words)
    for stray in strays:
        said.add(stray)
    drifted = {item.name: item for item in words.standings[words.plan.stack] if item.has_drifted}
    kept = _planned(words.plan, drifted, said.names)
    if kept is None:
        return None
    return AsItIs(words.plan.model_copy(update={"resources": (*kept, *said.resources.values())}), tuple(said.unsaid))


def _planned(plan: Plan, drifted: Mapping[str, Standing], found: Mapping[str, str]) -> list[Planned] | None:
    """The planned objects that are there, without those that rest on one that is not."""
    kept: dict[str, Planned] = {}
    for item in plan.resources:
        own = (reference for _, reference in item.resource.references() if reference in plan.by_name)
        if all(name in kept or name == item.name for name in own):
            real = _real(item, drifted.get(item.name), found)
            if real is None:
                return None
            kept.update((one.name, one) for one in real)
    return list(kept.values())


def _real(item: Planned, standing: Standing | None, found: Mapping[str, str]) -> list[Planned] | None:
    """What is there of one planned object: it, or nothing; None if no plan can say it."""
    if standing is None:
        return [item]
    if len(standing.ids) > 1:
        return None
    if not standing.ids or standing.reason:
        return []
    try:
        seen = {name: _named(values[1], found) for name, values in standing.differs.items()}
        resource = type(item.resource).model_validate(item.resource.canonical() | seen)
    except (Unsaid, ValidationError):
        return None
    return [item.model_copy(update={"resource": resource})]


def _named(value: Any, found: Mapping[str, str]) -> Any:
    """Ids of what others made, by the names that it has here."""
    if isinstance(value, list):
        return [_named(one, found) for one in value]
    if isinstance(value, dict):
        return {name: _named(one, found) for name, one in value.items()}
    if not isinstance(value, str) or not value.startswith(FOREIGN):
        return value
    if value not in found:
        raise Unsaid(value)
    return found[value]


@dataclass
class _Said:
    """What others made at one stack, as resources of its plan."""

    words: Words
    resources: dict[str, Planned] = field(default_factory=dict)
    unsaid: list[str] = field(default_factory=list)
    #: An id as a field of a planned object has it -> name.
    names: dict[str, str] = field(default_factory=dict)

    def add(self, stray: Stray) -> None:
        """Say it, or name it as what cannot be said."""
        try:
            said = list(_SAID[stray.kind](self.words, stray.id, f"found-{stray.id.replace('/', '-')}"))
        except (LookupError, ValidationError):
            self.unsaid.append(str(stray))
            return
        component = self.words.plan.components[0].name
        for name, one in said:
            # A router with several interfaces is said by each of them.
            self.resources.setdefault(name, Planned(name=name, component=component, resource=one))
            if stray.kind == one.KIND:
                self.names[f"{FOREIGN}{stray.id}"] = name


#: Says one object: plan names, and what is said under each.
Saying = Callable[[Words, str, str], Iterator[tuple[str, Resource]]]


def _port(words: Words, ident: str, name: str) -> Iterator[tuple[str, Resource]]:
    item = words.found.of("Port")[ident]
    if "router" in item["device_owner"]:
        yield from _interface(words, item, name)
        return
    if not item["fixed_ips"]:
        raise Unsaid(f"{ident} has no address")
    address = item["fixed_ips"][0]
    groups = [words.of("SecurityGroup", one) for one in item["security_groups"]]
    pairs = [pair["ip_address"] for pair in item["allowed_address_pairs"]]
    yield (
        name,
        Port.model_validate({
            "name": item["name"] or name,
            "project": words.project(item["project_id"]),
            "network": words.of("Network", item["network_id"]),
            "subnet": words.of("Subnet", address["subnet_id"]),
            "address": address["ip_address"],
            "vnic_type": item["binding:vnic_type"],
            "port_security": item["port_security_enabled"],
            "security_groups": groups,
            "allowed_address_pairs": pairs,
        }),
    )  # fmt: skip


def _interface(words: Words, port: Raw, name: str) -> Iterator[tuple[str, Resource]]:
    """An interface, and the router that has it where no plan does."""
    router, project = str(port["device_id"]), words.project(port["project_id"])
    try:
        has_it = words.of("Router", router)
    except Unsaid:
        has_it = f"found-{router}"
        yield from _router(words, router, has_it)
    for number, address in enumerate(port["fixed_ips"]):
        subnet = words.of("Subnet", address["subnet_id"])
        yield f"{name}-{number}", RouterInterface(project=project, router=has_it, subnet=subnet)


def _router(words: Words, ident: str, name: str) -> Iterator[tuple[str, Resource]]:
    item = words.found.of("Router")[ident]
    gateway = item.get("external_gateway_info") or {}
    external = words.of("Network", gateway["network_id"]) if gateway else None
    project, snat = words.project(item["project_id"]), gateway.get("enable_snat", True)
    yield name, Router(name=item["name"] or name, project=project, external_network=external, snat=snat)


def _right(words: Words, ident: str, name: str) -> Iterator[tuple[str, Resource]]:
    item = words.found.of("RbacPolicy")[ident]
    kind, to = RBAC_KINDS[item["object_type"]], item["target_tenant"]
    yield (
        name,
        RbacPolicy.model_validate({
            "project": words.project(item["project_id"]),
            "object": words.of(kind, item["object_id"]),
            "action": item["action"],
            "target": to if to == "*" else words.project(to),
        }),
    )  # fmt: skip


def _floating_ip(words: Words, ident: str, name: str) -> Iterator[tuple[str, Resource]]:
    item = words.found.of("FloatingIp")[ident]
    yield (
        name,
        FloatingIp(
            project=words.project(item["project_id"]),
            external_network=words.of("Network", item["floating_network_id"]),
            address=item["floating_ip_address"],
            port=words.of("Port", item["port_id"]),
        ),
    )


def _role(words: Words, ident: str, name: str) -> Iterator[tuple[str, Resource]]:
    project, user, role = ident.split("/")
    yield (
        name,
        RoleAssignment(project=words.of("Project", project), user=words.user(user), role=words.role(role)),
    )


def _flavor_access(words: Words, ident: str, name: str) -> Iterator[tuple[str, Resource]]:
    flavor, project = ident.split("/")
    yield name, FlavorAccess(project=words.project(project), flavor=words.of("Flavor", flavor))


#: Kinds that others can have at a stack and that a plan can say.
_SAID: Mapping[str, Saying] = {
    "Port": _port, "Router": _router, "RbacPolicy": _right, "FloatingIp": _floating_ip, "RoleAssignment": _role,
    "FlavorAccess": _flavor_access,
}  # fmt: skip
