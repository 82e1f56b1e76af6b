"""Limits of a project at Nova, Neutron and Cinder.

A plan's limit may be below what is in use: Pulumi deletes after it has updated, so it is so whenever a tenant shrinks.
Nova and Neutron refuse it unless they are told that it is meant. Cinder always does: there the limit is what is in use
until the next `up`, which the state records, so that it goes on by itself; whoever runs `up` is told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from interlock.provider.clouds import Cloud
from interlock.resources import Quota, Resource

from .base import Actuator, Observed, Target

#: Field of `Quota` -> (service, the service's name of it).
QUOTAS: Mapping[str, tuple[str, str]] = {
    "instances": ("compute", "instances"),
    "cores": ("compute", "cores"),
    "ram_mib": ("compute", "ram"),
    "networks": ("network", "network"),
    "subnets": ("network", "subnet"),
    "ports": ("network", "port"),
    "routers": ("network", "router"),
    "security_groups": ("network", "security_group"),
    "security_group_rules": ("network", "security_group_rule"),
    "floating_ips": ("network", "floatingip"),
    "volumes": ("block-storage", "volumes"),
    "volume_gib": ("block-storage", "gigabytes"),
}

#: Service -> (path, key of the body).
QUOTA_PATHS: Mapping[str, tuple[str, str]] = {
    "compute": ("/os-quota-sets", "quota_set"),
    "network": ("/quotas", "quota"),
    "block-storage": ("/os-quota-sets", "quota_set"),
}

#: The service that takes no limit below what is in use, whatever it is told.
_FLOORED = "block-storage"
#: Where Neutron has this extension (since 2025.1) it compares a limit with what is in use; before, it knew no `force`.
_COMPARES = "/extensions/quota-check-limit-default"


class QuotaActuator(Actuator[Quota]):
    """Limits of a project. They always exist, so a quota is always adopted; deleting it restores the defaults."""

    KIND: ClassVar[type[Resource]] = Quota
    SERVICE: ClassVar[str] = "identity"
    VANISHES: ClassVar[bool] = False

    def find(self, cloud: Cloud, target: Target[Quota]) -> Sequence[str]:
        return [target.one("project")]

    def create(self, cloud: Cloud, target: Target[Quota]) -> str:
        return target.one("project")

    def read(self, cloud: Cloud, ident: str, target: Target[Quota] | None = None) -> Observed | None:
        if cloud.api("identity").find(f"/projects/{ident}") is None:
            return None
        answers = {
            service: cloud.api(service).get(f"{path}/{ident}")[key] for service, (path, key) in QUOTA_PATHS.items()
        }
        fields = {name: answers[service][theirs] for name, (service, theirs) in QUOTAS.items()}
        pending = {} if target is None else _pending(cloud, ident, fields, target.spec)
        return Observed(ident, "", fields, {"project": ident}, pending=pending)

    def update(self, cloud: Cloud, target: Target[Quota], seen: Observed, changed: frozenset[str]) -> None:
        wanted = target.spec.canonical()
        lowered = any(wanted[name] > -1 for name in _floored(changed))
        wanted |= _no_less(wanted, _in_use(cloud, seen.id)) if lowered else {}
        for service, (path, key) in QUOTA_PATHS.items():
            body = {
                theirs: wanted[name] for name, (where, theirs) in QUOTAS.items() if where == service and name in changed
            }
            if body:
                cloud.api(service).put(f"{path}/{seen.id}", {key: body | _meant(cloud, service)})

    def still_pending(self, name: str, spec: Quota, values: Mapping[str, Any]) -> str:
        above = [
            f"{field} is limited to the {values[field]} that are in use, not to {getattr(spec, field)}"
            for field in _floored(frozenset(QUOTAS))
            if -1 < getattr(spec, field) < values[field]
        ]
        if not above:
            return ""
        project = (values.get("resolved") or {}).get("project", "")
        return (
            f"{spec.KIND} {name}: Cinder takes no limit below what is in use in project {spec.project} ({project}): "
            f"{'; '.join(above)}: once less is in use, run `pulumi up` again, which sets the rest"
        )

    def delete(self, cloud: Cloud, ident: str, target: Target[Quota]) -> None:
        for service, (path, _) in QUOTA_PATHS.items():
            cloud.api(service).delete(f"{path}/{ident}")


def _meant(cloud: Cloud, service: str) -> dict[str, bool]:
    """What makes a service take a limit below what is in use."""
    asks = service == "compute" or (service == "network" and cloud.api(service).find(_COMPARES) is not None)
    return {"force": True} if asks else {}


def _floored(names: frozenset[str]) -> list[str]:
    return [name for name in sorted(names) if QUOTAS.get(name, ("",))[0] == _FLOORED]


def _in_use(cloud: Cloud, project: str) -> dict[str, int]:
    """Field -> what Cinder counts against it, reserved included."""
    path, key = QUOTA_PATHS[_FLOORED]
    answer = cloud.api(_FLOORED).get(f"{path}/{project}", usage="True")[key]
    counted = {name: answer[QUOTAS[name][1]] for name in _floored(frozenset(QUOTAS))}
    return {name: each["in_use"] + each["reserved"] for name, each in counted.items()}


def _no_less(wanted: Mapping[str, Any], used: Mapping[str, int]) -> dict[str, int]:
    """The limits that Cinder takes; -1 is unlimited."""
    return {name: max(wanted[name], count) for name, count in used.items() if wanted[name] != -1}


def _pending(cloud: Cloud, project: str, fields: Mapping[str, int], spec: Quota) -> dict[str, int]:
    """Limits that are as low as Cinder takes them, and not yet as low as planned."""
    above = [name for name in _floored(frozenset(fields)) if -1 < getattr(spec, name) < fields[name]]
    used = _in_use(cloud, project) if above else {}
    return {name: fields[name] for name in above if fields[name] == used[name]}
