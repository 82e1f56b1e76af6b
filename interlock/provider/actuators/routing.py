"""Neutron: what joins segments, and what filters: routers, their interfaces, security groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from interlock.provider.clouds import Cloud
from interlock.provider.errors import Failure, Trouble
from interlock.provider.markers import owner_of
from interlock.resources import Resource, Router, RouterInterface, SecurityGroup, SecurityGroupRule
from interlock.vocabulary import CloudId

from .base import Actuator, Ids, Observed, Target
from .neutron import NeutronActuator

#: Owners of a router's ports on its internal subnets, by kind of router.
INTERFACES = (
    "network:router_interface",
    "network:router_interface_distributed",
    "network:ha_router_replicated_interface",
)


class RouterActuator(NeutronActuator[Router]):
    """Routers with at most one gateway."""

    KIND: ClassVar[type[Resource]] = Router
    PATH: ClassVar[str] = "routers"
    ONE: ClassVar[str] = "router"
    MUTABLE: ClassVar[tuple[str, ...]] = ("name", "external_gateway_info")
    OUTPUTS: ClassVar[Mapping[str, str]] = {"external_addresses": "addresses of the gateway, which SNAT uses"}

    def body(self, cloud: Cloud, target: Target[Router]) -> dict[str, Any]:
        gateway: dict[str, Any] = {}
        if target.refs.get("external_network"):
            gateway = {"network_id": target.one("external_network"), "enable_snat": target.spec.snat}
        return {"name": target.spec.name, "external_gateway_info": gateway}

    def observe(self, cloud: Cloud, raw: dict[str, Any]) -> Observed:
        gateway = raw["external_gateway_info"]
        fields: dict[str, Any] = {"name": raw["name"]}
        if gateway:
            fields["snat"] = gateway["enable_snat"]
        references: dict[str, Ids] = {
            "project": raw["project_id"],
            "external_network": gateway["network_id"] if gateway else None,
        }
        addresses = [item["ip_address"] for item in gateway["external_fixed_ips"]] if gateway else []
        return Observed(raw["id"], raw["description"], fields, references, {"external_addresses": addresses})

    def release(self, cloud: Cloud, ident: str, target: Target[Router]) -> None:
        """Takes the router off this stack's own subnets: a kill may have left an interface that no state holds, and
        so nobody deletes first. It is recreated like the router; others' interfaces stay, and stop the deletion."""
        api = cloud.api("network")
        for port in list(api.items("/ports", "ports", device_id=ident)):
            subnets = [item["subnet_id"] for item in port["fixed_ips"]] if port["device_owner"] in INTERFACES else []
            found = [api.find(f"/subnets/{subnet}") for subnet in subnets]
            if any(answer and owner_of(answer["subnet"]["description"]) == target.owner for answer in found):
                _detach(cloud, ident, str(port["id"]))


class RouterInterfaceActuator(Actuator[RouterInterface]):
    """A subnet on a router. The id is that of the router's port."""

    KIND: ClassVar[type[Resource]] = RouterInterface
    SERVICE: ClassVar[str] = "network"
    OUTPUTS: ClassVar[Mapping[str, str]] = {"address": "address of the router on the subnet"}

    def find(self, cloud: Cloud, target: Target[RouterInterface]) -> Sequence[str]:
        router, subnet = target.one("router"), target.one("subnet")
        ports = cloud.api("network").items("/ports", "ports", device_id=router)
        return [
            str(port["id"])
            for port in ports
            if port["device_owner"] in INTERFACES and any(item["subnet_id"] == subnet for item in port["fixed_ips"])
        ]

    def create(self, cloud: Cloud, target: Target[RouterInterface]) -> str:
        path = f"/routers/{target.one('router')}/add_router_interface"
        # Not idempotent although a PUT: the second one finds the address taken by the first.
        answer = cloud.api("network").put(path, {"subnet_id": target.one("subnet")}, idempotent=False)
        return str(answer["port_id"])

    def read(self, cloud: Cloud, ident: str, target: Target[RouterInterface] | None = None) -> Observed | None:
        found = cloud.api("network").find(f"/ports/{ident}")
        if found is None or found["port"]["device_owner"] not in INTERFACES:
            return None
        raw = found["port"]
        address = raw["fixed_ips"][0] if raw["fixed_ips"] else {"subnet_id": None, "ip_address": ""}
        references: dict[str, Ids] = {"router": raw["device_id"], "subnet": address["subnet_id"]}
        return Observed(ident, "", {}, references, {"address": address["ip_address"]})

    def delete(self, cloud: Cloud, ident: str, target: Target[RouterInterface]) -> None:
        _detach(cloud, target.one("router"), ident)


def _detach(cloud: Cloud, router: str, port: str) -> None:
    """What is not there counts as detached."""
    try:
        cloud.api("network").put(f"/routers/{router}/remove_router_interface", {"port_id": port})
    except Failure as failure:
        if failure.trouble is not Trouble.NOT_FOUND:
            raise


class SecurityGroupActuator(NeutronActuator[SecurityGroup]):
    """A group as a whole: rules that the plan does not list are removed, Neutron's default egress ones too."""

    KIND: ClassVar[type[Resource]] = SecurityGroup
    PATH: ClassVar[str] = "security-groups"
    ONE: ClassVar[str] = "security_group"
    MUTABLE: ClassVar[tuple[str, ...]] = ("name",)

    def body(self, cloud: Cloud, target: Target[SecurityGroup]) -> dict[str, Any]:
        return {"name": target.spec.name}

    def observe(self, cloud: Cloud, raw: dict[str, Any]) -> Observed:
        return Observed(raw["id"], raw["description"], {"name": raw["name"]}, {"project": raw["project_id"]})

    def read(self, cloud: Cloud, ident: str, target: Target[SecurityGroup] | None = None) -> Observed | None:
        """Rules are shown by the plan's names of their remote groups, which only a target has."""
        found = cloud.api("network").find(f"/{self.PATH}/{ident}")
        if found is None:
            return None
        raw = found[self.ONE]
        seen, names = self.observe(cloud, raw), _group_names(target, ident)
        rules = [as_rule(item, names) for item in raw["security_group_rules"]]
        return replace(seen, fields={**seen.fields, "rules": rules})

    def update(self, cloud: Cloud, target: Target[SecurityGroup], seen: Observed, changed: frozenset[str]) -> None:
        if changed - {"rules"}:
            super().update(cloud, target, seen, changed)
        if "rules" in changed:
            self._rules(cloud, target, seen)

    def release(self, cloud: Cloud, ident: str, target: Target[SecurityGroup]) -> None:
        """Takes the group from this stack's ports: until they take up the new one, nothing passes that it let pass."""
        api = cloud.api("network")
        ports = list(api.items("/ports", "ports", security_groups=ident))
        others = [port["id"] for port in ports if owner_of(port["description"]) != target.owner]
        if others:
            what = f"security group {target.name} ({ident}) is used by ports that this stack did not create"
            raise Failure(Trouble.IN_USE, f"{what}: {', '.join(others)}")
        for port in ports:
            kept = [group for group in port["security_groups"] if group != ident]
            api.put(f"/ports/{port['id']}", {"port": {"security_groups": kept}})

    def _rules(self, cloud: Cloud, target: Target[SecurityGroup], seen: Observed) -> None:
        """Removes what is too much, then adds all that is missing in one request, which Neutron does whole or not."""
        api, names, have = cloud.api("network"), _group_names(target, seen.id), seen.fields["rules"]
        ids = {name: ident for ident, name in names.items()}
        wanted = {rule: rule.model_dump(mode="json") for rule in target.spec.rules}
        if any(rule not in wanted.values() for rule in have):
            for item in api.get(f"/security-groups/{seen.id}")["security_group"]["security_group_rules"]:
                if as_rule(item, names) not in wanted.values():
                    api.delete(f"/security-group-rules/{item['id']}")
        whose = {"security_group_id": seen.id, "project_id": target.one("project")}
        missing = [_attributes(rule, ids) | whose for rule, known in wanted.items() if known not in have]
        if missing:
            api.post("/security-group-rules", {"security_group_rules": missing})


def _group_names(target: Target[SecurityGroup] | None, own: str) -> dict[str, str]:
    """Id -> how the plan calls it, of each remote group. A rule may let in the members of its own group."""
    if target is None:
        return {}
    others = (reference for field, reference in target.spec.references() if field == "rules")
    # In the order of the rules, as the ids are; the group itself has none among them.
    named = zip(target.many("rules"), (name for name in others if name != target.name), strict=False)
    return dict(named) | {own: target.name}


def as_rule(raw: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """A rule of Neutron's in our form; a remote group that the plan does not name shows by its id."""
    group = raw.get("remote_group_id")
    return {
        "direction": raw["direction"],
        "ethertype": raw["ethertype"],
        "protocol": raw["protocol"],
        "port_min": raw["port_range_min"],
        "port_max": raw["port_range_max"],
        "remote_prefix": raw["remote_ip_prefix"],
        "remote_group": names.get(group, str(CloudId(group))) if group else None,
    }


def _attributes(rule: SecurityGroupRule, ids: Mapping[str, str]) -> dict[str, Any]:
    return {
        "direction": rule.direction,
        "ethertype": rule.ethertype,
        "protocol": rule.protocol,
        "port_range_min": rule.port_min,
        "port_range_max": rule.port_max,
        "remote_ip_prefix": rule.remote_prefix,
        "remote_group_id": ids[rule.remote_group] if rule.remote_group is not None else None,
    }
