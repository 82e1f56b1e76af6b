"""Unmanaged resources at one stack as planned resources of the same kinds, named `found-…`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from interlock.planning import Plan
from interlock.provider.actuators.routing import as_rule
from interlock.provider.audit.listing import RBAC_KINDS, Listed, Raw
from interlock.provider.audit.standing import Standing
from interlock.resources import (
    FlavorAccess,
    FloatingIp,
    Port,
    RbacPolicy,
    Resource,
    RoleAssignment,
    Router,
    RouterInterface,
    SecurityGroup,
    Trunk,
    TrunkSubPort,
)
from interlock.vocabulary import CloudId, Reference
from interlock.vocabulary.pair_ids import FlavorAccessId, RoleAssignmentId


class NotExpressible(LookupError):
    """No plan can hold it."""


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
            return Reference.site(item.kind, item.name)
        # Of another tenant a plan can name the project; that is who somebody is.
        return Reference.cloud("Project", plan.tenant) if item.kind == "Project" else None

    def of(self, kind: str, ident: str) -> str:
        """Raises `NotExpressible` for what this plan cannot refer to."""
        if not self.has(kind, ident):
            raise NotExpressible(f"{kind} {ident}")
        return self._references[kind, ident]

    def has(self, kind: str, ident: str) -> bool:
        """True for what this plan can refer to."""
        return (kind, ident) in self._references

    def all(self, kind: str) -> dict[str, str]:
        """Id -> reference."""
        return {ident: reference for (of, ident), reference in self._references.items() if of == kind}

    def project(self, ident: str) -> str:
        """A project that nobody knows is a stranger's."""
        return self._references.get(("Project", ident), Reference.cloud("Project", ident))

    def user(self, ident: str) -> str:
        """Whom the plan gives a role. Raises `NotExpressible` for everybody else: in a plan a user is a member."""
        if ident not in self._members:
            raise NotExpressible(f"user {ident}")
        return self._members[ident]

    @cached_property
    def _members(self) -> Mapping[str, str]:
        """Id -> reference: by the id in what is there, for names are shared by people of other domains."""
        assigned = ((self.plan.by_name[item.name].resource, item.ids) for item in self.standings[self.plan.stack])
        return {
            RoleAssignmentId.parse(ids[0]).user: spec.user
            for spec, ids in assigned
            if isinstance(spec, RoleAssignment) and len(ids) == 1
        }

    def role(self, ident: str) -> str:
        """One of ours, or one that the cloud brings."""
        name = self.found.of("Role").get(ident, {}).get("name", ident)
        return self._references.get(("Role", ident), Reference.cloud("Role", name))


def named(value: Any, found: Mapping[str, str]) -> Any:
    """Ids of unmanaged resources, by their names in the observed plan."""
    if isinstance(value, list):
        return [named(one, found) for one in value]
    if isinstance(value, dict):
        return {name: named(one, found) for name, one in value.items()}
    if CloudId.named(value) is None:
        return value
    if value not in found:
        raise NotExpressible(value)
    return found[value]


def name_of(ident: str) -> str:
    """Its plan name."""
    return f"found-{ident.replace('/', '-')}"


#: One object -> plan names, and the resource under each.
Expressing = Callable[[Words, str, str], Iterator[tuple[str, Resource]]]


def _port(words: Words, ident: str, name: str) -> Iterator[tuple[str, Resource]]:
    item = words.found.of("Port")[ident]
    if "router" in item["device_owner"]:
        yield from _interface(words, item, name)
        return
    if len(item["fixed_ips"]) != 1:
        raise NotExpressible(f"{ident}: a port of a plan has one address")
    strange = [group for group in item["security_groups"] if not words.has("SecurityGroup", group)]
    for group in strange:
        yield from _group(words, group, name_of(group))
    address = item["fixed_ips"][0]
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
            "security_groups": [
                name_of(one) if one in strange else words.of("SecurityGroup", one) for one in item["security_groups"]
            ],
            "allowed_address_pairs": [pair["ip_address"] for pair in item["allowed_address_pairs"]],
        }),
    )  # fmt: skip


def _group(words: Words, ident: str, name: str) -> Iterator[tuple[str, Resource]]:
    """One of others, such as the default group that Neutron gives every port."""
    item = words.found.of("SecurityGroup")[ident]
    names = {ident: name} | words.all("SecurityGroup")
    rules = named([as_rule(dict(rule), names) for rule in item["security_group_rules"]], {})
    said = {"name": item["name"], "project": words.project(item["project_id"]), "rules": rules}
    yield name, SecurityGroup.model_validate(said)


def _interface(words: Words, port: Raw, name: str) -> Iterator[tuple[str, Resource]]:
    """An interface, and the router that has it where no plan does."""
    router, project = str(port["device_id"]), words.project(port["project_id"])
    try:
        has_it = words.of("Router", router)
    except NotExpressible:
        has_it = name_of(router)
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


def _trunk(words: Words, ident: str, name: str) -> Iterator[tuple[str, Resource]]:
    """With those of its ports that no plan holds, where they lie on networks that this plan can name."""
    item = words.found.of("Trunk")[ident]
    inside = {sub["port_id"]: sub["segmentation_id"] for sub in item["sub_ports"]}
    strange = [port for port in (item["port_id"], *inside) if not words.has("Port", port)]
    for port in strange:
        yield from _port(words, port, name_of(port))
    called = {port: name_of(port) if port in strange else words.of("Port", port) for port in (item["port_id"], *inside)}
    yield (
        name,
        Trunk(
            name=item["name"] or name,
            project=words.project(item["project_id"]),
            port=called[item["port_id"]],
            sub_ports=tuple(TrunkSubPort(port=called[port], vlan=vlan) for port, vlan in inside.items()),
        ),
    )


def _role(words: Words, ident: str, name: str) -> Iterator[tuple[str, Resource]]:
    given = RoleAssignmentId.parse(ident)
    project, user, role = words.of("Project", given.project), words.user(given.user), words.role(given.role)
    yield name, RoleAssignment(project=project, user=user, role=role)


def _flavor_access(words: Words, ident: str, name: str) -> Iterator[tuple[str, Resource]]:
    pair = FlavorAccessId.parse(ident)
    yield name, FlavorAccess(project=words.project(pair.project), flavor=words.of("Flavor", pair.flavor))


#: Kinds that others can have at a stack and that a plan can say.
RESOURCES_OF: Mapping[str, Expressing] = {
    "Port": _port, "Router": _router, "RbacPolicy": _right, "FloatingIp": _floating_ip, "RoleAssignment": _role,
    "FlavorAccess": _flavor_access, "SecurityGroup": _group, "Trunk": _trunk,
}  # fmt: skip
