"""A site for the rack `passing`: the hall of the demo, with two nodes below hypervisors in place of its own ones.

acme asks for a virtual server that has a node whole, globex for two: it gets them once acme's node was settled.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import yaml

from sandbox.rack.reading import named
from tests.builders.accepted import VERSIONS
from tests.builders.pod64 import ssh_key

HALL = Path(__file__).parents[2] / "stacks" / "hall"
SITE, NODES = "passing", ("dgx-1", "dgx-2")
#: Tenant -> how many nodes it asks for.
TENANTS = {"acme": 1, "globex": 2}
FLAVOR = {
    "role": "gpu", "vcpus": 208, "ram": "1900GiB", "disk": "100GiB", "public": False, "devices": "other",
    "whole_node": {
        "type": "dgx-h100", "one_time_use": True, "aliases": {"gpu": "h100", "nvswitch": "nvswitch", "hca": "hca"},
    },
}  # fmt: skip
#: Of the hall, and of nothing here: nodes given out as bare metal, RoCE, an appliance, a hypervisor for heads.
_WITHOUT = ("gpu_nodes", "devices", "share_types", "tenant_defaults", "ironic", "fabric_profiles")
_CONFIG = "config:\n  clusters:site: {site}\n{tenant}"
_REQUEST = """\
name: {name}
on_delete: erase
access: {{members: [alice], ssh_public_key: {key}}}
clusters:
  train: {{nodes: {nodes}, type: dgx-h100, kind: vm, image: gpu-node}}
"""


def write_passing(stacks: Path) -> None:
    """A folder of stacks with this site alone, without locks."""
    folder = stacks / SITE
    (folder / "tenants").mkdir(parents=True)
    shutil.copytree(HALL / "images", folder / "images")
    (folder / "site.yaml").write_text(yaml.safe_dump(site_document(), sort_keys=False))
    (stacks / "fleet.yaml").write_text(f"name: passing\nsites: {{{SITE}: {{default: true}}}}\n")
    for tenant in (None, *TENANTS):
        of_tenant = f"  clusters:tenant: {tenant}\n" if tenant else ""
        (stacks / f"Pulumi.{SITE}-{tenant or 'site'}.yaml").write_text(_CONFIG.format(site=SITE, tenant=of_tenant))
    for tenant, nodes in TENANTS.items():
        text = _REQUEST.format(name=tenant.title(), key=ssh_key(tenant), nodes=nodes)
        (folder / "tenants" / f"{tenant}.yaml").write_text(text)


def site_document() -> dict[str, Any]:
    """The site file: what is not about nodes is the demo's."""
    site: dict[str, Any] = yaml.safe_load((HALL / "site.yaml").read_text())
    site = {name: part for name, part in site.items() if name not in _WITHOUT}
    site["name"] = SITE
    site["halls"]["hall-1"] |= {
        "in_band": {"physical_network": "inband", "ports": {"in-band1": ["inband-1:1-2"]}},
        "out_of_band": {"ports": ["mgmt-1:1-2"]},
        "nodes": {f"su01-n{number:02}": _node(number, name) for number, name in enumerate(NODES, 1)},
    }
    del site["halls"]["hall-1"]["inventory"]
    site["hosts"] = {"infra-1": site["hosts"]["infra-1"]}
    switches = {switch.name: switch for switch in named(SITE).switches}
    for part in ("switches", "physical_networks", "pools"):
        site[part] = {name: stated for name, stated in site[part].items() if not name.startswith("roce")}
    for part in ("switch_ports", "networks"):
        listed = site["complete"][part]
        listed["of"] = [name for name in listed["of"] if not name.startswith("roce")]
    for name, switch in site["switches"].items():
        switch |= {"serial": switches[name].serial, "mac": switches[name].mac}
    site["switches"]["inband-1"]["ports"] = {"1-2": "trunk 1000-1099"}
    site["switches"]["mgmt-1"]["ports"] = {"1-2": "access 20", 49: "trunk 110-199"}
    site["cables"] = [{"ends": ["mgmt-1:49", "infra-1:ens1f0"]}]
    site["complete"]["attachments"]["of"] = [*NODES, "infra-1"]
    site["flavors"] = {"gpu.h100": FLAVOR}
    site["images"]["gpu-next"] = site["images"]["gpu-node"]
    del site["images"]["gpu-head"], site["pools"]["storage_vips"], site["sharing"]["filer"]
    firmware = {kind: list(versions) for kind, versions in VERSIONS.items()}
    site["evidence"] = {"max_age": "30d", "acceptance": {"dgx-h100": {"firmware": firmware}}}
    return site


def _node(number: int, name: str) -> dict[str, Any]:
    return {
        "name": name, "serial": f"PLACEHOLDER-DGX-H100-2{number}", "provisioning": "hypervisor",
        "dedicated_cpus": 208, "huge_pages": "1900GiB",
        "guids": {f"compute{rail}": guid(number, rail) for rail in range(1, 9)},
    }  # fmt: skip


def guid(number: int, rail: int) -> str:
    """Of the compute port of node `number`, as the rack has it."""
    return f"0002c903000b{number:02x}{rail:02x}"
