"""Halls of many racks with many small tenants, made from `stacks/lyon`: every rack is a leaf group of its own.

              ┌── tor-001: physical network fabric-001, VLANs 1000-2999 of its own
 rack r001 ───┤
              └── mgmt-001: physical network mgmt-001 ── 49: infra-001, where the rack's V-IPU controllers run

VLAN ids are local to a physical network, so each rack has all of them; VNIs and subnets are the site's.
"""

from __future__ import annotations

import copy
import math
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from benchmarks.measure import Measured, measure
from benchmarks.shipped import lyon as shipped_lyon
from tests.builders.pod64 import ssh_key
from tests.e2e.project import ROOT

#: The site's name and folder.
SITE = "halls"

TENANT = """\
name: Tenant {number}
access: {{members: [alice], ssh_public_key: {key}}}
vpods:
  train: {{machines: {machines}, poplar: {{servers: 1, volume: 10GiB}}}}
buckets:
  data: {{versioning: true}}
"""

#: Every so many tenants one has so many machines; the largest that divides the tenant's number counts.
SIZES = {200: 4, 20: 2, 1: 1}
#: Tenants that a rack of 16 machines takes, with the sizes above and some room to spare.
PER_RACK = 14.3

#: Wide enough for 16 000 vPODs, a /24 each (a /26 for management).
PREFIXES = {
    "ipu_data": "10.0.0.0/10",
    "storage": "10.64.0.0/10",
    "control": "10.128.0.0/10",
    "management": "10.192.0.0/10",
}


def racks_for(tenants: int) -> int:
    """How many racks so many tenants need."""
    return math.ceil(tenants / PER_RACK)


def tenant_name(number: int) -> str:
    """Tenant 7 is `t00007`."""
    return f"t{number:05}"


@contextmanager
def halls_of(tenants: int, keep: Path | None) -> Iterator[Path]:
    """A folder of stacks with the site, under `keep` as it was left there, or a new one that goes afterwards."""
    with tempfile.TemporaryDirectory(prefix="interlock-benchmark-") as folder:
        stacks = (keep or Path(folder)) / str(tenants) / "stacks"
        if not stacks.exists():
            write_halls(stacks, tenants)
        yield stacks


def measured(stacks: Path, module: str, *words: str) -> Measured:
    """One module as a process of its own, on that folder of stacks."""
    environment = os.environ | {"INTERLOCK_STACKS": str(stacks), "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}
    return measure([sys.executable, "-P", "-m", module, *words], ROOT, environment)


def write_halls(stacks: Path, tenants: int) -> None:
    """Write a folder of stacks with the site `halls` and so many tenants; without locks."""
    shipped = ROOT / "stacks"
    folder = stacks / SITE
    (folder / "tenants").mkdir(parents=True)
    shutil.copy(shipped / "fleet.yaml", stacks)
    shutil.copytree(shipped / "lyon" / "images", folder / "images")
    site = halls(shipped_lyon(), racks_for(tenants))
    (folder / "site.yaml").write_text(yaml.dump(site, Dumper=yaml.CSafeDumper, sort_keys=False))
    for number in range(1, tenants + 1):
        machines = next(size for every, size in SIZES.items() if number % every == 0)
        text = TENANT.format(number=number, machines=machines, key=ssh_key(tenant_name(number)))
        (folder / "tenants" / f"{tenant_name(number)}.yaml").write_text(text)


def halls(lyon: dict[str, Any], racks: int) -> dict[str, Any]:
    """The site: `lyon` with so many racks in place of its one."""
    numbers = [f"{number:03}" for number in range(1, racks + 1)]
    first = lyon["racks"][0]
    every = f"[001-{racks:03}]"
    return lyon | {
        "name": SITE,
        "racks": [_rack(first, number) for number in numbers],
        "rooms": {"hall-1": {"power": f"{50 * racks}kW"}},
        "hosts": {f"infra-{number}": _infra(lyon, number) for number in numbers},
        "cables": [{"ends": [f"mgmt-{number}:49", f"infra-{number}:ens1f0"]} for number in numbers],
        "complete": lyon["complete"] | _complete(every),
        "physical_networks": _physical_networks(numbers),
        "pools": _pools(lyon["pools"], every),
        "segment_ranges": [{"vnis": "300000-399999"}],
        "limits": {"controller_instances": 16000, "controller_cores": 64000, "controller_ram": "128TiB"},
    }


def _complete(every: str) -> dict[str, Any]:
    """Nothing is there that is not listed."""
    seen = {"seen": "2026-11-20", "by": "the benchmark"}
    switches = {"of": [f"tor-{every}", f"mgmt-{every}"], **seen}
    devices = [f"infra-{every}"]
    numbers = [f"{number:03}" for number in range(1, int(every[5:-1]) + 1)]
    for number in numbers:
        devices += [f"r{number}-ipum-[01-16]", f"r{number}-poplar-[1-4]"]
    tables = ("switch_ports", "cables", "routing", "external_attachments")
    networks = [*(f"{label}-{number}" for label in ("fabric", "mgmt") for number in numbers), "vxlan"]
    return dict.fromkeys(tables, switches) | {
        "attachments": {"of": devices, **seen}, "networks": {"of": networks, **seen}
    }  # fmt: skip


def _rack(first: dict[str, Any], number: str) -> dict[str, Any]:
    rack = copy.deepcopy(first)
    rack["name"] = f"r{number}"
    rack["machines"] |= {"names": f"r{number}-ipum-[01-16]", "serials": f"MACHINE-{number}-[01-16]"}
    rack["poplar"] |= {"names": f"r{number}-poplar-[1-4]", "serials": f"POPLAR-{number}-[1-4]"}
    # Addresses are of single devices, and no benchmark is about them.
    for part in ("machines", "tor", "management"):
        del rack[part]["macs"]
    rack["poplar"]["interfaces"] = {f"fabric-{number}": ["ens161f0", "ens161f1"]}
    rack["tor"] |= {"name": f"tor-{number}", "serial": f"TOR-{number}"}
    rack["management"] |= {"name": f"mgmt-{number}", "serial": f"MANAGEMENT-{number}"}
    rack["management"]["ports"].pop("49-50")
    rack["management"]["ports"]["49"] = "trunk 110-199"
    rack["pdus"] = f"r{number}-pdu-[1-2]"
    rack["rack"] |= {"name": f"cabinet-{number}"}
    del rack["number"]  # without a pod's address plan none is needed, and it has only 254
    return rack


def _infra(lyon: dict[str, Any], number: str) -> dict[str, Any]:
    host = dict(lyon["hosts"]["infra-1"])
    return host | {"serial": f"INFRA-{number}", "interfaces": {f"mgmt-{number}": ["ens1f0"]}}


def _physical_networks(numbers: list[str]) -> dict[str, Any]:
    fabric = {f"fabric-{number}": [f"tor-{number}"] for number in numbers}
    management = {f"mgmt-{number}": [f"mgmt-{number}"] for number in numbers}
    return fabric | management | {"external": []}


def _pools(pools: dict[str, Any], every: str) -> dict[str, Any]:
    found = {name: dict(pools[name]) for name in PREFIXES}
    for name, prefix in PREFIXES.items():
        found[name]["subnets"] = {"prefix": prefix, "each": 26 if name == "management" else 24}
    for name, label in (("ipu_data", "fabric"), ("storage", "fabric"), ("management", "mgmt")):
        kept = {key: found[name][key] for key in ("vlans", "subnets")}
        found[name] = {"physical_networks": [f"{label}-{every}"], **kept}
    found["control"]["vnis"] = "10000-59999"
    return found | {"reserved_vlans": pools["reserved_vlans"]}
