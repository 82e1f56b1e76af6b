"""A fleet of tenants' networks, servers and ports with planted conflicts, of any size, for `benchmarks.isolation`.

A tenant is two networks on VLANs of their own, six servers, and a port of each server on each network: 20 resources.
Now and then one network takes the VLAN of the neighbour's (a join finds it), or a server that is nobody's has a port
on a network of each of two neighbours (only a search over components finds it).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

NETWORKS, SERVERS = 2, 6
PER_TENANT = NETWORKS + SERVERS + NETWORKS * SERVERS
#: Tenants on one physical network: each has two of its 4 092 VLANs.
PER_LEAF = 2000
#: Of so many tenants two share a VLAN, and two others a server.
EVERY = 50

Pair = tuple[str, str]


@dataclass
class Fleet:
    """What all tools are given, and the conflicts that they must find."""

    networks: list[dict[str, Any]] = field(default_factory=list)
    servers: list[dict[str, Any]] = field(default_factory=list)
    ports: list[dict[str, Any]] = field(default_factory=list)
    #: Tenants that share a VLAN, and tenants that share a server.
    on_one_vlan: set[Pair] = field(default_factory=set)
    by_one_server: set[Pair] = field(default_factory=set)

    @property
    def size(self) -> int:
        """The number of resources."""
        return len(self.networks) + len(self.servers) + len(self.ports)

    @property
    def tenants(self) -> set[str]:
        """The names of all tenants."""
        return {item["tenant"] for item in self.networks}

    @property
    def joined(self) -> set[Pair]:
        """All pairs of tenants with a connection."""
        return self.on_one_vlan | self.by_one_server

    def write(self, folder: Path) -> Path:
        """The fleet as JSON."""
        path = folder / "fleet.json"
        path.write_text(json.dumps({"networks": self.networks, "servers": self.servers, "ports": self.ports}))
        return path

    def write_plan(self, folder: Path) -> Path:
        """The same as a plan of Terraform in its JSON form."""
        resources = [
            *(_resource("openstack_networking_network_v2", item["id"], _network(item)) for item in self.networks),
            *(_resource("openstack_compute_instance_v2", item["id"], {"name": item["id"]}) for item in self.servers),
            *(_resource("openstack_networking_port_v2", item["id"], _port(item)) for item in self.ports),
        ]
        plan = {
            "format_version": "1.2",
            "terraform_version": "1.9.0",
            "planned_values": {"root_module": {"resources": resources}},
            "resource_changes": [_change(item) for item in resources],
            "configuration": {"root_module": {}},
        }
        path = folder / "tfplan.json"
        path.write_text(json.dumps(plan))
        return path


def fleet(resources: int) -> Fleet:
    """A fleet of about so many resources."""
    made = Fleet()
    for number in range(max(4, resources // PER_TENANT)):
        _add_tenant(made, number)
        place = number % EVERY
        if place == 1:
            made.networks[-1] |= {key: made.networks[-3][key] for key in ("physical_network", "vlan")}
            made.on_one_vlan.add((_tenant(number - 1), _tenant(number)))
        elif place == 3:
            _add_bridge(made, number)
    return made


def _tenant(number: int) -> str:
    return f"t{number:06}"


def _add_tenant(made: Fleet, number: int) -> None:
    tenant = _tenant(number)
    leaf, place = divmod(number, PER_LEAF)
    for n in range(NETWORKS):
        vlan = 2 + NETWORKS * place + n
        made.networks.append(
            {"id": f"{tenant}-net-{n}", "tenant": tenant, "physical_network": f"leaf-{leaf}", "vlan": vlan}
        )
    for n in range(SERVERS):
        server = f"{tenant}-server-{n}"
        made.servers.append({"id": server, "tenant": tenant})
        for network in range(NETWORKS):
            made.ports.append({"id": f"{server}-{network}", "server": server, "network": f"{tenant}-net-{network}"})


def _add_bridge(made: Fleet, number: int) -> None:
    pair = _tenant(number - 1), _tenant(number)
    server = f"bridge-{number}"
    made.servers.append({"id": server, "tenant": None})
    for tenant in pair:
        made.ports.append({"id": f"{server}-{tenant}", "server": server, "network": f"{tenant}-net-0"})
    made.by_one_server.add(pair)


def _resource(kind: str, name: str, values: dict[str, Any]) -> dict[str, Any]:
    return {"address": f"{kind}.{name}", "mode": "managed", "type": kind, "name": name, "values": values}


def _change(item: dict[str, Any]) -> dict[str, Any]:
    change = {"actions": ["create"], "before": None, "after": item["values"]}
    return {key: item[key] for key in ("address", "mode", "type", "name")} | {"change": change}


def _network(item: dict[str, Any]) -> dict[str, Any]:
    segment = {"physical_network": item["physical_network"], "segmentation_id": item["vlan"], "network_type": "vlan"}
    return {"name": item["id"], "tenant_id": item["tenant"], "segments": [segment]}


def _port(item: dict[str, Any]) -> dict[str, Any]:
    return {"name": item["id"], "network_id": item["network"], "device_id": item["server"]}
