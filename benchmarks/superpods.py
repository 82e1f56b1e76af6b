"""SuperPODs of 1 to 32 scalable units and 1 to 64 tenants, made from `stacks/superpod`, each in a folder of its own.

Each unit has an in-band and a management switch; all in-band switches are at one core, management switches in a row.
Tenants have one cluster each, all of the same size, and together as many nodes as that leaves.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import yaml

from tests.builders.superpod import PLACES, SITE, STACKS, inventory, request

#: In-band VLANs that the links between switches carry: of clusters, and of Ironic, one for each node.
CLUSTERS, DEPLOYING = "1000-1099", "2100-3399"
#: Wide enough for a cluster of all 1 023 nodes, and for a subnet for each of them.
CLUSTER_SUBNETS, DEPLOYING_SUBNETS = {"prefix": "10.0.0.0/12", "each": 20}, {"prefix": "10.96.0.0/12", "each": 26}


def nodes_of(units: int) -> int:
    """UFM has the last place."""
    return PLACES * units - 1


def write_superpod(stacks: Path, units: int, tenants: int) -> None:
    """Write a folder of stacks with the site; without locks."""
    folder = stacks / SITE
    (folder / "tenants").mkdir(parents=True)
    shutil.copy(STACKS / SITE / "fleet.yaml", folder)
    shutil.copytree(STACKS / SITE / "images", folder / "images")
    shipped = yaml.safe_load((STACKS / SITE / "site.yaml").read_text(encoding="utf-8"))
    text = yaml.dump(superpod(shipped, units), Dumper=yaml.CSafeDumper, sort_keys=False)
    (folder / "site.yaml").write_text(text, encoding="utf-8")
    (folder / "nodes.csv").write_text(inventory(units), encoding="utf-8")
    for number in range(1, tenants + 1):
        name = f"t{number:02}"
        wanted = {"train": (nodes_of(units) // tenants, "slurm")}
        (folder / "tenants" / f"{name}.yaml").write_text(request(name, wanted), encoding="utf-8")


def superpod(shipped: dict[str, Any], units: int) -> dict[str, Any]:
    """The site: the shipped one with so many units."""
    numbers = range(1, units + 1)
    places = [f"1-{PLACES - (number == units)}" for number in numbers]
    hall = shipped["halls"]["pod"] | {"units": units, "power": f"{330 * units}kW"}
    hall["in_band"] = {
        "physical_network": "inband",
        "ports": {"in-band1": [f"in-band-{number}:{range_}" for number, range_ in zip(numbers, places, strict=True)]},
    }
    hall["out_of_band"] = {"ports": [f"mgmt-{number}:{range_}" for number, range_ in zip(numbers, places, strict=True)]}
    switches = _switches(shipped["switches"], places)
    return shipped | {
        "halls": {"pod": hall},
        "rooms": {"hall-1": {"power": f"{350 * units}kW"}},
        "switches": switches,
        "cables": _cables(units),
        "complete": _complete(shipped["complete"], list(switches), units),
        "physical_networks": {
            "inband": [name for name in switches if not name.startswith("mgmt-")],
            "mgmt1g": [name for name in switches if name.startswith("mgmt-")],
            "external": [],
        },
        "pools": shipped["pools"]
        | {"cluster": {"physical_network": "inband", "vlans": CLUSTERS, "subnets": CLUSTER_SUBNETS}},
        "ironic": shipped["ironic"]
        | {"networks": [{"physical_network": "inband", "vlans": DEPLOYING, "subnets": DEPLOYING_SUBNETS}]},
    }


def _switches(shipped: dict[str, Any], places: list[str]) -> dict[str, Any]:
    trunk = f"trunk {CLUSTERS},{DEPLOYING}"
    found: dict[str, Any] = {}
    for number, range_ in enumerate(places, 1):
        found[f"in-band-{number}"] = shipped["in-band-1"] | {
            "serial": f"PLACEHOLDER-INBAND-{number}", "ports": {range_: "access", "64": trunk},
        }  # fmt: skip
        links = {"49": "trunk 20"} | ({"50": "trunk 20"} if number < len(places) else {})
        found[f"mgmt-{number}"] = shipped["mgmt-2"] | {
            "serial": f"PLACEHOLDER-7010T-{number}", "ports": {range_: "access 20", **links},
        }  # fmt: skip
    found["mgmt-1"]["ports"]["49"] = "trunk 110-199"
    return found | {"core-1": shipped["core-1"] | {"ports": {f"1-{len(places)}": trunk}}}


def _cables(units: int) -> list[dict[str, Any]]:
    up = [(f"core-1:{number}", f"in-band-{number}:64") for number in range(1, units + 1)]
    row = [(f"mgmt-{number}:50", f"mgmt-{number + 1}:49") for number in range(1, units)]
    return [{"ends": list(ends)} for ends in (*up, *row, ("mgmt-1:49", "infra-1:ens1f0"))]


def _complete(shipped: dict[str, Any], switches: list[str], units: int) -> dict[str, Any]:
    nodes = [f"pod-su{unit:02}-n[01-{PLACES - (unit == units):02}]" for unit in range(1, units + 1)]
    of_switches = shipped["switch_ports"] | {"of": switches}
    tables = ("switch_ports", "cables", "routing", "external_attachments")
    return (
        shipped
        | dict.fromkeys(tables, of_switches)
        | {"attachments": shipped["attachments"] | {"of": [*nodes, "infra-1"]}}
    )
