"""The same workspace told otherwise: other names, another order, a tenant more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from random import Random
from typing import Any, TypeVar

from interlock.model.lock.record import Lock
from interlock.model.site.inventory import Site
from interlock.planning.plan import Plan, Planned
from interlock.resources import KINDS
from tests.builders.pod64 import tenant, vpod
from tests.mutants.workspaces import OPERATOR, Workspace
from tests.policies.workspace import Made, made

T = TypeVar("T")


# Order.


def shuffled(space: Workspace, rng: Random) -> Workspace:
    """Lists of the site, resources of plans, and locks in another order: the order of none of them says anything."""
    lists = (
        "cables", "switches", "machines", "hosts", "sharing", "assumptions", "physical_networks", "devices",
        "underlays", "logical_racks", "segment_ranges", "flavors", "images",
    )  # fmt: skip
    fields: dict[str, object] = {name: _mixed(getattr(space.site, name), rng) for name in lists}
    fields["switches"] = tuple(
        type(item)(**(_fields(item) | {name: _mixed(getattr(item, name), rng) for name in ("ports", "vteps", "vrfs")}))
        for item in space.site.switches
    )
    site = Site.model_validate(_fields(space.site) | fields)
    told = tuple(Made(_reordered(item.plan, rng), item.lock) for item in space.made)
    return Workspace(site, _mixed(told, rng), space.asked, _reordered(space.of_site, rng), space.bridged)


def _mixed(items: tuple[T, ...], rng: Random) -> tuple[T, ...]:
    return tuple(rng.sample(items, len(items)))


def _reordered(plan: Plan, rng: Random) -> Plan:
    return Plan(**(_fields(plan) | {"resources": _mixed(plan.resources, rng)}))


def _fields(item: Any) -> dict[str, Any]:
    return {name: getattr(item, name) for name in type(item).model_fields}


# Names.


def renamed(space: Workspace, names: Mapping[str, str]) -> Workspace:
    """Every name that begins with one of these begins with another; serials and ids stay."""
    site = Site.model_validate(_told(space.site.model_dump(mode="json"), names))
    told = tuple(Made(_plan(item.plan, names), _lock(item.lock, names)) for item in space.made)
    asked = names.get(space.asked, space.asked)
    bridged = {_told(name, names): classes for name, classes in space.bridged.items()}
    return Workspace(site, told, asked, _plan(space.of_site, names), bridged)


def _told(value: Any, names: Mapping[str, str]) -> Any:
    """A JSON value with names replaced wherever they stand, in keys as well."""
    if isinstance(value, str):
        for old, new in names.items():
            value = value.replace(old, new)
        return value
    if isinstance(value, list):
        return [_told(item, names) for item in value]
    if isinstance(value, dict):
        return {_told(key, names): _told(item, names) for key, item in value.items()}
    return value


def _plan(plan: Plan, names: Mapping[str, str]) -> Plan:
    head = _told(plan.model_dump(mode="json", exclude={"resources"}), names)
    resources = tuple(
        Planned(
            name=_told(item.name, names),
            component=_told(item.component, names),
            after=tuple(_told(name, names) for name in item.after),
            vpod=_told(item.vpod, names),
            role=item.role,
            resource=KINDS[item.resource.KIND].model_validate(_told(item.resource.canonical(), names)),
        )
        for item in plan.resources
    )
    return Plan.model_validate(head | {"resources": resources})


def _lock(lock: Lock, names: Mapping[str, str]) -> Lock:
    return Lock.model_validate(_told(lock.model_dump(mode="json"), names)).sealed()


def device_names(space: Workspace) -> dict[str, str]:
    """Machines, hosts and switches of each rack get other names; none is part of another."""
    racks = sorted({item.name.partition("-")[0] for item in space.site.machines})
    names = {f"tor-{rack}": f"leaf-{rack}" for rack in racks} | {f"mgmt-{rack}": f"oob-{rack}" for rack in racks}
    return names | {f"{rack}-{kind}": f"{rack}z-{kind}" for rack in racks for kind in ("m", "p", "b")}


# One more.


def with_a_stranger(space: Workspace, *, machines: int) -> Workspace:
    """A further tenant, locked after all others. Raises PlanningError if there is no room for its machines."""
    locks = [item.lock for item in space.made]
    pods = (vpod(machines=machines, servers=1),) if machines else ()
    item = made(space.site, tenant("zebra", vpods=pods, buckets=()), locks)
    return replace(space, made=(*space.made, item))


def everybody(space: Workspace) -> tuple[str, ...]:
    """Whose plans there are to ask about."""
    return (*space.tenants, OPERATOR)
