"""Objects as JSON, as `--showjson` prints them.

Seen in public code: `spec.ipu_link_domains[].ipus` of a cluster, and `partition.id`, `partition.spec.ipus`, `num_gcds`
and `num_replicas`. All other keys are assumed. Keys and digests of users are never shown.
"""

from __future__ import annotations

from typing import Any

from .forms import encoded
from .objects import IPUS_OF_A_MACHINE, Agent, Allocation, Cluster, ControllerState, VipuPartition, VipuUser
from .racks import IpuMachine, Racks


def agent_form(agent: Agent) -> dict[str, Any]:
    """An agent."""
    return {
        "id": agent.id,
        "spec": {"host": agent.host, "port": agent.port, "maintenance": agent.maintenance},
        "status": {"state": agent.state, "serial": agent.serial, "version": agent.version},
    }


def cluster_form(cluster: Cluster) -> dict[str, Any]:
    """A cluster."""
    length = len(cluster.agents) // cluster.domains
    runs = [cluster.agents[number * length : (number + 1) * length] for number in range(cluster.domains)]
    return {
        "id": cluster.id,
        "spec": {
            "agents": list(cluster.agents),
            "topology": cluster.topology,
            "cluster_topology": cluster.cluster_topology,
            "ipu_link_domains": [
                {"ipus": [{"agent": agent, "ipu": ipu} for agent in run for ipu in range(IPUS_OF_A_MACHINE)]}
                for run in runs
            ],
        },
        "status": {"state": cluster.state},
    }


def allocation_form(allocation: Allocation) -> dict[str, Any]:
    """An allocation."""
    return {"id": allocation.id, "spec": {"agents": list(allocation.agents), "cluster": allocation.cluster}}


def user_form(user: VipuUser) -> dict[str, Any]:
    """A user."""
    allocations = None if user.allocations is None else list(user.allocations)
    return {"id": user.id, "spec": {"admin": user.admin, "allocations": allocations}}


def partition_form(partition: VipuPartition) -> dict[str, Any]:
    """A partition, whose state has the name that clients know."""
    spec = ("cluster", "allocation", "ipus", "num_gcds", "num_replicas", "routing", "gateway_routing", "sync_type")
    more = ("reconfigurable", "index", "domains")
    whole = encoded(partition)
    return {
        "partition": {
            "id": partition.id,
            "spec": {name: whole[name] for name in (*spec, *more)},
            "status": {
                "state": f"PS_{partition.state}",
                "owner": partition.owner,
                "reason": partition.reason,
                "occupied_gcds": list(partition.occupied),
            },
        }
    }


def attributes_of(agent: Agent, machine: IpuMachine | None, ipu: int) -> dict[str, str]:
    """Attributes of one IPU, as the user guide lists them."""
    if machine is None or agent.state == "OFFLINE":
        return {}
    major, minor, patch = (*machine.firmware.split("."), "0", "0")[:3]
    return {
        "board ipu index": str(ipu),
        "board serial number": machine.serial,
        "board type": machine.board_type,
        "clock": "1850MHz" if machine.board_type.startswith("Bow") else "1330MHz",
        "firmware major version": major,
        "firmware minor version": minor,
        "firmware patch version": patch,
        "firmware version": machine.firmware,
    }


def ipuof_config(state: ControllerState, racks: Racks, partition: VipuPartition, gcd: int) -> dict[str, Any]:
    """What the IPUoF client reads of one GCD. The form is assumed; names of target options are those seen.

    Devices of a machine are in reverse order of its IPUs, as operators see them.
    """
    length = len(partition.ipus) // partition.num_gcds
    places = partition.ipus[gcd * length : (gcd + 1) * length]
    agents = list(dict.fromkeys(place.agent for place in places))
    devices = []
    for name in agents:
        agent = state.agents[name]
        machine = racks.at(agent.host, agent.port)
        devices += [
            {"ip": machine.ipuof_host if machine else agent.host, "port": 50052, "ipu": place.ipu}
            for place in reversed([place for place in places if place.agent == name])
        ]
    cluster = state.clusters[partition.cluster]
    return {
        "partition": partition.id,
        "gcd": gcd,
        "attributes": {
            "ipuLinkDomainSize": str(len(cluster.agents) // cluster.domains * IPUS_OF_A_MACHINE),
            "ipuLinkTopology": cluster.topology,
            "instanceSize": str(length),
        },
        "devices": devices,
    }
