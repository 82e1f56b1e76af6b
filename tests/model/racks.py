"""Pods of every design, as short as a site file can state them."""

from __future__ import annotations

from typing import Any

import yaml

from interlock.model.rack.expansion import ExpandedRack, expand_rack
from interlock.model.rack.file import RackFile
from interlock.model.site.physical import Cable, CableKind

_POPLAR = """
dedicated_cpus: 224
huge_pages: 464GiB
virtual_functions: 16
tor_interfaces: [ens161f0, ens161f1]
management_interfaces: [eno1, eno2]
interfaces: {fabric: [ens161f0, ens161f1]}
"""

#: Design -> (machines, logical racks).
SIZES = {"ipu-pod64": (16, 1), "ipu-pod128": (32, 2), "bow-pod64": (16, 1), "bow-pod256": (64, 4)}


def written(design: str, **changes: Any) -> dict[str, Any]:
    """An entry of `racks:`. `changes` are its keys; a mapping is laid over the one that is there."""
    machines, logical = SIZES[design]
    entry: dict[str, Any] = {
        "name": "pod",
        "design": design,
        "machines": {"serials": f"M-[01-{machines}]", "sync_cables": 4},
        "poplar": {"serials": f"H-[01-{4 * logical:02d}]", **yaml.safe_load(_POPLAR)},
        "tor": {"serials": f"T-[1-{logical}]", "ports": {"machines": "access", "servers": "trunk 1000-2999"}},
        "management": {"serials": f"G-[1-{logical}]", "ports": {"machines": "access"}},
        "pdus": f"pdu-[1-{2 * logical}]",
    }
    if design == "bow-pod256":
        entry["gw_switches"] = {"serials": "W-[1-2]"}
    for key, value in changes.items():
        entry[key] = {**entry.get(key, {}), **value} if isinstance(value, dict) else value
    return entry


def expanded(design: str, **changes: Any) -> ExpandedRack:
    """The entry in full form."""
    return expand_rack(RackFile.model_validate(written(design, **changes)))


def of_kind(rack: ExpandedRack, kind: CableKind) -> list[Cable]:
    """The cables that carry this."""
    return [cable for cable in rack.cables if cable.kind == kind]
