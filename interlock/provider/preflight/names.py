"""Is a name that must be unique on the cloud somebody else's already?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from interlock.provider.clouds import Cloud
from interlock.provider.markers import marker, split
from interlock.resources import Admission

from .faults import Fault, everything


@dataclass(frozen=True)
class Register:
    """Where a service lists all objects of a kind whose names it keeps unique."""

    service: str
    path: str
    key: str
    #: Members of the listed object that lead to the text that carries the marker.
    carrier: tuple[str, ...] = ("description",)


#: Kind -> register. Other kinds may share names: their ids tell them apart.
REGISTERS = {
    "Project": Register("identity", "/projects", "projects"),
    "Role": Register("identity", "/roles", "roles"),
    "ServiceUser": Register("identity", "/users", "users"),
    "Flavor": Register("compute", "/flavors/detail", "flavors"),
    "Aggregate": Register("compute", "/os-aggregates", "aggregates", ("metadata", "interlock")),
    "VolumeType": Register("block-storage", "/types", "volume_types"),
}


def free_names(cloud: Cloud, admission: Admission) -> Iterator[Fault]:
    """Names of planned objects that objects with another marker, or none, have on the cloud."""
    for kind, register in REGISTERS.items():
        wanted = {
            resource.canonical()["name"]: marker(admission.owner, name)
            for name, resource in everything(admission)
            if kind == resource.KIND
        }
        if wanted:
            yield from _taken(kind, wanted, cloud.api(register.service).items(register.path, register.key), register)


def _taken(kind: str, wanted: dict[str, str], listed: Iterator[dict[str, Any]], register: Register) -> Iterator[Fault]:
    for item in listed:
        carried = _marker(item, register)
        if item["name"] in wanted and carried != wanted[item["name"]]:
            yield Fault(
                "name",
                f"{kind} {item['name']} is on the cloud already ({item['id']}) and "
                + (f"belongs to another stack ({carried})" if carried else "nothing of ours made it"),
                "rename or remove one of the two; an object of the operator's own can be listed under `existing:`",
            )


def _marker(item: dict[str, Any], register: Register) -> str:
    value: Any = item
    for step in register.carrier:
        value = (value or {}).get(step)
    return split(value)[1]
