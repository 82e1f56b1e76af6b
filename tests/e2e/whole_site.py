"""The demo's site with two of its hosts given out whole, and a tenant that asks for one, and for a sealed volume."""

from __future__ import annotations

import json
from typing import Any

import yaml

from tests.builders.pod64 import ssh_key
from tests.e2e.project import Project
from tests.support.cloud.nodes import GROUP

STACK, TENANT = "lyon-hooli", "hooli"
#: Hosts that are given out whole, and which ports of both switches are theirs.
WHOLE, FABRIC_PORTS, CONTROL_PORTS, OTHER_PORTS = ("poplar-3", "poplar-4"), "21-24", ("41", "43"), ("42", "44")
INTERFACES = ("ens161f0", "ens161f1", "eno1")
#: VLANs of control networks, and those on which hosts are deployed and cleaned.
CONTROL, SERVICE = "3000-3009", "3200-3203"

_CONFIG = f"config:\n  clusters:site: lyon\n  clusters:tenant: {TENANT}\n"
_REQUEST = """\
name: Hooli
on_delete: erase
access:
  members: [bob]
  ssh_public_key: {key}
vpods:
  lab:
    machines: 1
    poplar: {{servers: 1, kind: bare-metal}}
volumes:
  vault: {{size: 1GiB, encrypted: true}}
"""
#: What a proof about whole hosts rests on besides: Ironic's own settings, BMCs, adapters and firmware.
_ANSWERED_FOR = ("A6", "A13", "A14", "A23")


def with_whole_hosts(project: Project) -> Project:
    """Write the site file in full with whole hosts in it, and the tenant; both are locked."""
    stacks = project.folder / "stacks"
    shown = project.must(project.interlock("site", "--full", "--format", "json"))
    (stacks / "lyon" / "site.yaml").write_text(yaml.safe_dump(_changed(json.loads(shown.out)), sort_keys=False))
    (stacks / "lyon" / "tenants" / f"{TENANT}.yaml").write_text(_REQUEST.format(key=ssh_key(TENANT)))
    (stacks / f"Pulumi.{STACK}.yaml").write_text(_CONFIG)
    for tenant in ("acme", "globex"):
        for file in (f"{tenant}.yaml", f"{tenant}.lock.json"):
            (stacks / "lyon" / "tenants" / file).unlink()
        (stacks / f"Pulumi.lyon-{tenant}.yaml").unlink()
    project.must(project.interlock("lock"))
    project.must(project.interlock("lock", TENANT))
    return project


def _changed(site: dict[str, Any]) -> dict[str, Any]:
    for number, name in enumerate(WHOLE):
        host = site["hosts"][name]
        host["macs"] = {interface: f"02:00:00:00:0b:{number}{place}" for place, interface in enumerate(INTERFACES)}
        host["provisioning"] = "bare-metal"
        host["interfaces"]["mgmt1g"] = ["eno1"]
    site["switches"]["tor-1"]["ports"] |= {"17-20": "trunk 1000-2999", FABRIC_PORTS: "access"}
    del site["switches"]["tor-1"]["ports"]["17-24"]
    ports = site["switches"]["mgmt-1"]["ports"]
    del ports["33-47"]
    # The other 1G interface of a whole host would be on the operator's own VLAN.
    ports |= {"33-40": "access 20", "45-47": "access 20"} | dict.fromkeys(OTHER_PORTS, "disabled")
    ports |= dict.fromkeys(CONTROL_PORTS, "access") | {"49-50": f"trunk 110-199,{CONTROL}"}
    site["pools"]["bare_metal_control"] = {"physical_networks": ["mgmt1g"], "vlans": [CONTROL]}
    site["volume_encryption"] = {"fast": {}}
    site["ironic"] = {
        "conductor_group": GROUP,
        "networks": [
            {"physical_network": "mgmt1g", "vlans": SERVICE, "subnets": {"prefix": "10.90.0.0/24", "each": 26}}
        ],
    }
    for assumption in _ANSWERED_FOR:
        site["assumptions"][assumption] = dict.fromkeys(site["assumptions"][assumption], True)
    return site
