"""Checks that names which must be unique on the cloud are not in use by others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from interlock.provider.clouds import Cloud
from interlock.provider.markers import marker
from interlock.provider.registers import REGISTERS, Register, marker_of
from interlock.resources import Admission

from .faults import Fault, everything

#: Kinds whose names a service keeps unique. Others may share names: their ids tell them apart.
UNIQUE = ("Project", "Role", "ServiceUser", "Flavor", "Aggregate", "VolumeType", "ShareType")


def free_names(cloud: Cloud, admission: Admission) -> Iterator[Fault]:
    """Names of planned objects that objects with another marker, or none, have on the cloud."""
    for register in REGISTERS:
        kind = register.kind
        if kind not in UNIQUE:
            continue
        wanted = {
            resource.canonical()["name"]: marker(admission.owner, name)
            for name, resource in everything(admission)
            if kind == resource.KIND
        }
        if wanted:
            listed = cloud.api(register.service).items(register.path, register.key, **register.query)
            yield from _taken(kind, wanted, listed, register)


def _taken(kind: str, wanted: dict[str, str], listed: Iterator[dict[str, Any]], register: Register) -> Iterator[Fault]:
    for item in listed:
        carried = marker_of(item, register)
        if item["name"] in wanted and carried != wanted[item["name"]]:
            yield Fault(
                "name",
                f"{kind} {item['name']} is on the cloud already ({item['id']}) and "
                + (f"belongs to another stack ({carried})" if carried else "no stack of ours made it"),
                "rename or remove one of the two; an object of the operator's own can be listed under `existing:`",
            )
