"""Ironic's nodes as whole hosts use them: states, interfaces, and what a host is deployed with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from interlock.provider.calls import Answer
from interlock.provider.clouds import Cloud
from interlock.provider.errors import Failure
from interlock.provider.switch_settings import names_port
from interlock.resources import BareMetalLeg, BareMetalServer

from .base import Target
from .told_shares import metadata_of_shares

Node = Mapping[str, Any]

#: Cleaned, and lent to whoever has an allocation of it; nothing is deployed.
AVAILABLE = "available"

#: Deployed and running.
ACTIVE = "active"

#: States in which a deployment did not succeed, or undoing it did not. `error`: the latter.
FAILED = frozenset({"deploy failed", "error"})

#: States out of which Ironic undoes a deployment when it is told to: its state machine, verb `delete`.
UNDONE_FROM = FAILED | {
    ACTIVE, "wait call-back", "rescue", "rescue failed", "rescue wait", "unrescue failed", "service failed",
    "service wait",
}  # fmt: skip

#: States on the way from a deployment back to `available`.
RETURNING = frozenset({"deleting", "deleted", "cleaning", "clean wait", "clean hold"})

#: Member of a node's `instance_info` in which is said what Ironic itself does not show of a deployment.
DEPLOYED_WITH = "interlock"


@dataclass(frozen=True)
class Interface:
    """A port of a node (Ironic's, not Neutron's): the switch port that it is cabled to, and what is attached."""

    id: str
    link: Mapping[str, Any]
    #: Id of the Neutron port of a tenant that is attached; empty: none.
    vif: str
    #: Id of the port group (a bond) that it is in; empty: none.
    group: str


def node_named(cloud: Cloud, name: str) -> Answer | None:
    """A node by its name or uuid; None if Ironic has none."""
    return cloud.api("baremetal").find(f"/nodes/{name}")


def interfaces_of(cloud: Cloud, node: Node) -> list[Interface]:
    """All ports of a node."""
    found = cloud.api("baremetal").items("/ports/detail", "ports", node=node["uuid"])
    return [
        Interface(
            str(raw["uuid"]),
            raw["local_link_connection"] or {},
            str(raw["internal_info"].get("tenant_vif_port_id") or ""),
            str(raw["portgroup_uuid"] or ""),
        )
        for raw in found
        if raw["node_uuid"] == node["uuid"]
    ]


def at_leg(interfaces: list[Interface], leg: BareMetalLeg) -> Interface | None:
    """The interface that is cabled to a leg's switch port, as the node's own port states it; None if none is."""
    return next((item for item in interfaces if leg.port_name and names_port(item.link, leg)), None)


def in_words(leg: BareMetalLeg) -> str:
    """Switch and port."""
    return f"{leg.switch} {leg.port_name or f'port {leg.port}'}"


def deployment(target: Target[BareMetalServer]) -> dict[str, Any]:
    """Members of `instance_info` that a host is deployed by. Of an image in Glance Ironic takes the hash from there."""
    spec = target.spec
    return {
        "image_source": target.one("image"),
        "display_name": spec.name,
        DEPLOYED_WITH: {
            "keypair": target.refs.get("keypair"),
            "user_data": spec.user_data,
            "shares": list(spec.shares),
        },
    }


def config_drive(cloud: Cloud, target: Target[BareMetalServer]) -> dict[str, Any]:
    """What cloud-init finds on the host, in the form from which Ironic builds the drive."""
    name = target.spec.name
    metadata: dict[str, Any] = {"name": name, "hostname": name}
    if target.refs.get("keypair"):
        pair = target.one("keypair")
        found = cloud.api("compute").get(f"/os-keypairs/{pair}")["keypair"]
        metadata["public_keys"] = {pair: found["public_key"]}
    if target.spec.shares:
        metadata["meta"] = metadata_of_shares(cloud, target)
    drive: dict[str, Any] = {"meta_data": metadata}
    return drive | {"user_data": target.spec.user_data} if target.spec.user_data else drive


def lending(node: Node, project: str, wanted: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Operations of a JSON patch after which the node is lent to a project and says what it is deployed by."""
    info: Mapping[str, Any] = node["instance_info"]
    changes = {f"/instance_info/{key}": value for key, value in wanted.items() if info.get(key) != value}
    if node["lessee"] != project:
        changes["/lessee"] = project
    return [{"op": "add", "path": path, "value": value} for path, value in sorted(changes.items())]


def taking_back(node: Node) -> list[dict[str, Any]]:
    """Operations of a JSON patch after which the node is nobody's and says nothing of who had it."""
    return list(_taking_back(node))


def _taking_back(node: Node) -> Iterator[dict[str, Any]]:
    if node["instance_info"]:
        yield {"op": "add", "path": "/instance_info", "value": {}}
    if node["lessee"]:
        yield {"op": "remove", "path": "/lessee"}


def provision(cloud: Cloud, node: Node, target_state: str, **more: Any) -> None:
    """Asks Ironic to bring a node into another state. Raises `Failure` if it has not begun to.

    The answer of a request that was carried out may be lost, and Ironic refuses a second one.
    """
    api, path = cloud.api("baremetal"), f"/nodes/{node['uuid']}"
    try:
        api.put(f"{path}/states/provision", {"target": target_state, **more}, idempotent=False)
    except Failure:
        if api.get(path)["provision_state"] == node["provision_state"]:
            raise


def not_available(node: Node) -> str:
    """Why nobody can be given a node that comes back from a tenant; empty if it is cleaned and available."""
    state, said = node["provision_state"], node["last_error"] or node["maintenance_reason"]
    why = f": {said}" if said else ""
    if node["maintenance"]:
        return f"node {node['name']} is in maintenance ({state}){why}"
    return "" if state == AVAILABLE else f"node {node['name']} is {state}{why}"
