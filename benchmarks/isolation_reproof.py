"""One tenant's re-proof in a site of so many tenants: the seconds of loading the index, and of each judgement.

Run as a process of its own: `isolation_reproof.py TENANTS`. The site grows with its tenants: every eight have a rack
of 16 machines with switches of its own, a copy of the first; the VNIs of all are different.
"""

from __future__ import annotations

import gc
import json
import re
import sys
import time
from collections.abc import Iterator
from typing import TypeVar

from interlock.model.lock.record import Lock
from interlock.model.site.inventory import PhysicalNetwork, Site
from interlock.resources import Frozen
from policies import judge
from policies.footprints.neighbours import Neighbours
from tests.builders.pod64 import tenant
from tests.policies.workspace import Made, changed, full_site, made

ROUNDS, IN_A_RACK = 41, 8
#: Names and serials that begin so are a rack's own.
_OWN = re.compile(r"(?<![a-z])(?=(?:ipum|poplar|tor|mgmt|infra|lrack)-\d)|(?<=SN-)(?=[a-z])")
#: Whoever has a tenant's key is that tenant, so each copy gets one of its own.
_KEY = re.compile(r'(ssh-key:SHA256:)[^"\\]+')
_VNI = re.compile(r"(?<=vxlan:)\d+")

T = TypeVar("T", bound=Frozen)


def first_rack(site: Site) -> list[Made]:
    """Eight tenants with a machine and a server each, and members of their own."""
    found: list[Made] = []
    for number in range(IN_A_RACK):
        wish = tenant(f"x{number}", machines=1, servers=1)
        found.append(made(site, wish, [item.lock for item in found]))
    return found


def copied(item: T, rack: int) -> T:
    """The same of another rack."""
    text = item.model_dump_json()
    return type(item).model_validate_json(_OWN.sub(f"k{rack}", text) if rack else text)


def enlarged(site: Site, racks: int) -> Site:
    """The site with so many racks, each with its own switches and physical networks."""
    kinds = {name: getattr(site, name) for name in ("machines", "hosts", "switches", "cables")}
    grown = {
        name: tuple(copied(item, rack) for rack in range(racks) for item in items) for name, items in kinds.items()
    }
    networks = [
        PhysicalNetwork(name=f"k{rack}{name}", switches=(f"k{rack}{switch}",))
        for rack in range(1, racks)
        for name, switch in (("fabric100g", "tor-1"), ("mgmt1g", "mgmt-1"))
    ]
    return changed(site, **grown, physical_networks=(*site.physical_networks, *networks))


def everyone(rack: list[Made], tenants: int) -> Iterator[Lock]:
    """The locks of all tenants."""
    for number in range(tenants):
        lock = rack[number % IN_A_RACK].lock
        if number < IN_A_RACK:
            yield lock
            continue
        other = _KEY.sub(rf"\1t{number}", copied(lock, number // IN_A_RACK).model_dump_json())
        other = re.sub(rf"\b{lock.id}\b", f"t{number}", _VNI.sub(str(100_000 + number), other))
        yield Lock.model_validate_json(other).sealed()


def main(tenants: int) -> None:
    """Load, then judge again and again."""
    small = full_site()
    rack = first_rack(small)
    locks = list(everyone(rack, tenants))
    site = enlarged(small, -(-tenants // IN_A_RACK))
    begun, spent = time.perf_counter(), time.process_time()
    near = Neighbours.of(site, locks)
    judge(site, rack[0].plan, near)  # what is looked up in the site file once is part of loading
    loading = {"seconds": time.perf_counter() - begun, "cpu_seconds": time.process_time() - spent}
    gc.freeze()  # as whoever keeps an index in memory should: a collection would walk through all of it
    judgements = []
    for _ in range(ROUNDS):
        begun, spent = time.perf_counter(), time.process_time()
        judgement = judge(site, rack[0].plan, near)
        judgements.append({"seconds": time.perf_counter() - begun, "cpu_seconds": time.process_time() - spent})
        if judgement.exit_code:
            raise SystemExit(f"not proved: {judgement.findings[0].message}")
    print(json.dumps({"machines": len(site.machines), "loading": loading, "judgements": judgements}))


if __name__ == "__main__":
    main(int(sys.argv[1]))
