"""A site of several racks, made from `stacks/lyon`, with as many small tenants as wanted."""

from __future__ import annotations

import copy
import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml

from benchmarks.shipped import lyon
from tests.builders.pod64 import ssh_key
from tests.e2e.project import ROOT

#: 4 racks of 16 IPU-Machines, and on each of their 16 Poplar hosts room for 4 quarters: 64 tenants.
RACKS = 4
MOST = 64

TENANT = """\
name: Tenant {number}
on_delete: erase
access: {{members: [alice], ssh_public_key: {key}, ssh_from: [198.51.100.0/24]}}
vpods:
  train:
    machines: 1
    poplar: {{servers: 1, flavor: poplar.quarter, image: poplar, volume: 10GiB}}
buckets:
  data: {{versioning: true}}
"""


def write_stacks(stacks: Path, tenants: int) -> None:
    """Write a folder of stacks with the site `lyon` of four racks and tenants t01, t02 …; without locks."""
    shipped = ROOT / "stacks"
    folder = stacks / "lyon"
    (folder / "tenants").mkdir(parents=True)
    shutil.copy(shipped / "fleet.yaml", stacks)
    shutil.copytree(shipped / "lyon" / "images", folder / "images")
    (folder / "site.yaml").write_text(yaml.safe_dump(enlarged(lyon()), sort_keys=False))
    for number in range(1, tenants + 1):
        text = TENANT.format(number=number, key=ssh_key(f"t{number:02}"))
        (folder / "tenants" / f"t{number:02}.yaml").write_text(text)


def enlarged(site: dict[str, Any]) -> dict[str, Any]:
    """The site with `RACKS` racks like its one, their switches joined in two chains.

    tor-1 25 === 26 tor-2 25 === 26 tor-3 …      mgmt-1 51 === 52 mgmt-2 51 === 52 mgmt-3 …
    """
    first = site["racks"][0]
    numbers = range(1, RACKS + 1)
    site["racks"] = [_rack(first, number) for number in numbers]
    networks = site["physical_networks"]
    networks["fabric100g"] = [f"tor-{number}" for number in numbers]
    networks["mgmt1g"] = [f"mgmt-{number}" for number in numbers]
    for upper, lower in pairwise(numbers):
        site["cables"].append({"ends": [f"tor-{upper}:25", f"tor-{lower}:26"]})
        site["cables"].append({"ends": [f"mgmt-{upper}:51", f"mgmt-{lower}:52"]})
    seen = {"seen": "2026-11-20", "by": "the benchmark"}
    switches = {"of": [f"{kind}-[1-{RACKS}]" for kind in ("tor", "mgmt")], **seen}
    devices = [f"r{number}-{kind}" for number in numbers for kind in ("ipum-[01-16]", "poplar-[1-4]")]
    site["complete"] |= dict.fromkeys(("switch_ports", "cables", "routing", "external_attachments"), switches)
    site["complete"]["attachments"] = {"of": [*devices, *site["hosts"]], **seen}
    site["limits"] = {"controller_instances": MOST, "controller_cores": 4 * MOST, "controller_ram": "512GiB"}
    return site


def _link(mode: str, empty: bool) -> Any:
    return {"mode": mode, "empty": True} if empty else mode


def _rack(first: dict[str, Any], number: int) -> dict[str, Any]:
    rack = copy.deepcopy(first)
    rack["name"] = f"rack-{number}"
    rack["machines"] |= {"names": f"r{number}-ipum-[01-16]", "serials": f"MACHINE-{number}-[01-16]"}
    rack["poplar"] |= {"names": f"r{number}-poplar-[1-4]", "serials": f"POPLAR-{number}-[1-4]"}
    # Addresses are of single devices, and no benchmark is about them.
    for part in ("machines", "tor", "management"):
        del rack[part]["macs"]
    rack["tor"] |= {"name": f"tor-{number}", "serial": f"TOR-{number}"}
    rack["management"] |= {"name": f"mgmt-{number}", "serial": f"MANAGEMENT-{number}"}
    # The two ends of each chain have no cable.
    ends = (number == RACKS, number == 1)
    rack["tor"]["ports"] |= {str(25 + at): _link("trunk 1000-2999", end) for at, end in enumerate(ends)}
    rack["management"]["ports"] |= {str(51 + at): _link("trunk 110-199", end) for at, end in enumerate(ends)}
    rack["number"] = number
    if number > 1:
        del rack["management"]["ports"]["49-50"]  # the infra hosts hang on the first rack only
    rack["pdus"] = f"r{number}-pdu-[1-2]"
    if "rack" in rack:
        rack["rack"] |= {"name": f"cabinet-{number}"}
    return rack
