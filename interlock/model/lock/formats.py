"""Locks of earlier formats, made into the present one without a change of any claim.

Format 1 came from sites with one physical network for each pool, so it did not name it. Its hash covered the
whole site; the hashes that it recorded are kept here, and are recreated where the lock is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from interlock.hardware import MACHINE_PLUGS
from interlock.model.site.inventory import Site
from interlock.model.site.networks import VlanPool
from interlock.model.text.errors import InputErrors
from interlock.model.text.source import Source
from interlock.resources import digest_of
from interlock.vocabulary import CLAIMS_OF, NetworkRole, Vlan
from interlock.vocabulary.digits import is_number

from .files import edited, load_lock, lock_value, require_name
from .record import FORMAT, Lock, SiteLock

L = TypeVar("L", Lock, SiteLock)

#: Role of a network -> the part of a machine whose cable leads to it.
_PARTS = {NetworkRole.IPU_DATA: "rnic", NetworkRole.STORAGE: "rnic", NetworkRole.MANAGEMENT: "bmc"}


def load_any_lock(file: Path, name: str, kind: type[L], site: Site) -> tuple[L, bool]:
    """The lock in `file`, and whether it was of an earlier format. Raises InputErrors as `load_lock` does.

    One that was converted is sealed again, with the next serial.
    """
    source = Source.read(file, name)
    value = lock_value(source)
    if value.get("format") != 1:
        return load_lock(file, name, kind), False
    if value.get("hash") != hash_of_format_1(value):
        message = "edited by hand: its hash does not fit what it says"
        raise InputErrors([edited(source, ("hash",), message)])
    require_name(source, str(value["id"]))
    return kind.model_validate(from_format_1(value, site)).sealed(), True


def hash_of_format_1(value: Mapping[str, Any]) -> str:
    """The hash that a lock of format 1 must carry: over everything else in it."""
    return digest_of({key: item for key, item in value.items() if key != "hash"})


def from_format_1(value: Mapping[str, Any], site: Site) -> dict[str, Any]:
    """A whole lock of format 1, of a tenant or of the site -> the same in the present format, not sealed."""
    new = dict(value) | {"format": FORMAT, "serial": value["serial"] + 1, "hash": ""}
    if "allocation" not in value:
        return new
    vpods = value["allocation"]["vpods"]
    known = {name: vpod | networks_of(site, vpod["machines"]) for name, vpod in vpods.items()}
    new["allocation"] = {"vpods": known}
    new["released"] = [_released(entry, known, site) for entry in value["released"]]
    return new


def networks_of(site: Site, machines: list[str]) -> dict[str, str]:
    """For each kind of VLAN the physical network of its pool that the cables of these machines lead to."""
    pools = site.pools.vlans_of
    return {CLAIMS_OF[role].network: _network(site, pools[role], machines, part) for role, part in _PARTS.items()}


def _network(site: Site, pool: VlanPool, machines: list[str], part: str) -> str:
    plugs = {name: MACHINE_PLUGS[site.machine[name].generation] for name in machines if name in site.machine}
    switches = {
        far.device
        for cable in site.cables
        for near, far in ((cable.a, cable.b), (cable.b, cable.a))
        if part in plugs.get(near.device, {}).get(near.interface, ())
    }
    known = (site.physical_network.get(name) for name in pool.physical_networks)
    reached = (item.name for item in known if item is not None and switches & set(item.switches))
    return next(reached, pool.physical_networks[0])


def _released(entry: Mapping[str, str], vpods: Mapping[str, Any], site: Site) -> dict[str, str]:
    """A released VLAN says on which network it was; a vPOD that is gone was on the first, the only one then."""
    fields = {CLAIMS_OF[role].vlan: CLAIMS_OF[role].network for role in _PARTS}
    number = str(entry["value"])
    if entry["claim"] not in fields or not is_number(number):
        return dict(entry)
    networks = vpods.get(entry["vpod"]) or networks_of(site, [])
    return {**entry, "value": str(Vlan(networks[fields[entry["claim"]]], int(number)))}
