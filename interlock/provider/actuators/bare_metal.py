"""Whole hosts that Ironic deploys. The object is an allocation: Ironic's claim of one node, made in one request.

The operator owns nodes and allocations; a tenant's project is the node's lessee for as long as it has the host. The
marker is in the allocation's `extra`, which a lessee cannot write. Undoing the deployment ends the allocation, but the
host is gone only when Ironic has cleaned the node: until then `read` goes on to find it by the node.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from interlock.provider.clouds import Cloud
from interlock.provider.errors import refused
from interlock.resources import BareMetalLeg, BareMetalServer, Resource
from interlock.switches.errors import SwitchUnread

from .bare_metal_legs import not_at_rest, unconfirmed_leg
from .bare_metal_node import (
    ACTIVE,
    AVAILABLE,
    DEPLOYED_WITH,
    FAILED,
    RETURNING,
    UNDONE_FROM,
    Interface,
    Node,
    at_leg,
    config_drive,
    deployment,
    in_words,
    interfaces_of,
    lending,
    node_named,
    provision,
    taking_back,
)
from .bare_metal_return import NODE_UUID, is_ours, last_node, legs_of, not_back
from .base import Actuator, Ids, Observed, Phase, Target
from .compute import KEY
from .switch_port import unread_port

#: Seconds in which the switches behind a host that runs have to answer: nobody waits for them as long as for disks.
_SWITCHES_ANSWER = 90.0

#: In place of the VLAN of a leg that is not as planned.
_NO_VLAN = 0

#: Seconds: a server of this size takes minutes to boot, several times, and its disks are erased before it is free.
_PATIENCE = 2 * 3600.0


class BareMetalServerActuator(Actuator[BareMetalServer]):
    """Allocations, and with each the deployment of its node."""

    KIND: ClassVar[type[Resource]] = BareMetalServer
    SERVICE: ClassVar[str] = "baremetal"
    PATIENCE: ClassVar[float] = _PATIENCE
    #: A deployment that goes on can be undone only at its next stop.
    ASKS_AGAIN: ClassVar[bool] = True
    OUTPUTS: ClassVar[Mapping[str, str]] = {
        "state": "Ironic's state of the node",
        NODE_UUID: "the node's uuid in Ironic",
    }

    def project(self, cloud: Cloud, target: Target[BareMetalServer]) -> str:
        """The operator's: it owns the allocation, whoever the host is lent to."""
        return cloud.login.project

    def search(self, cloud: Cloud, mark: str, project: str) -> Sequence[str]:
        found = cloud.api("baremetal").items("/allocations", "allocations", owner=project)
        return [
            str(item["uuid"]) for item in found if item["owner"] == project and (item["extra"] or {}).get(KEY) == mark
        ]

    def create(self, cloud: Cloud, target: Target[BareMetalServer]) -> str:
        spec = target.spec
        body = {
            "resource_class": spec.resource_class,
            "candidate_nodes": [spec.node],
            "owner": self.project(cloud, target),
            "extra": {KEY: target.marker, "project": target.one("project")},
        }
        return str(cloud.api("baremetal").post("/allocations", body)["uuid"])

    def read(self, cloud: Cloud, ident: str, target: Target[BareMetalServer] | None = None) -> Observed | None:
        raw = cloud.api("baremetal").find(f"/allocations/{ident}")
        if raw is None:
            return None if target is None else _returning(cloud, ident, target)
        node = node_named(cloud, raw["node_uuid"]) if raw["node_uuid"] else None
        extra = raw["extra"] or {}
        mark, references = extra.get(KEY, ""), dict[str, Ids]()
        if "project" in extra:
            references["project"] = str(extra["project"])
        fields: dict[str, Any] = {"resource_class": raw["resource_class"]}
        if node is None:
            phase = Phase.BROKEN if raw["state"] == "error" else Phase.PENDING
            why = f"Ironic says: {raw['last_error']}" if raw["last_error"] else f"its allocation is {raw['state']}"
            return Observed(ident, mark, fields, references, {"state": ""}, phase, why)
        fields["node"] = node["name"]
        if node["provision_state"] == AVAILABLE:
            # Nothing runs there yet: `update` deploys it.
            fields["name"] = ""
            phase, why = Phase.READY, "nothing is deployed on it"
        else:
            _add_deployment(node, fields, references)
            phase, why = _phase(node)
        patience, unmade = None, node["provision_state"] == AVAILABLE
        if phase is Phase.READY and node["provision_state"] == ACTIVE:
            phase, why = _add_attached(cloud, node, target, fields, references)
            patience = _SWITCHES_ANSWER
        elif phase is Phase.BROKEN and target is not None:
            # Where a deployment stopped, nobody but the switches says what is set by then.
            why = "; ".join((why, *not_at_rest(cloud, legs_of(target))))
        return Observed(ident, mark, fields, references, _outputs(node), phase, why, patience, unmade)

    def update(self, cloud: Cloud, target: Target[BareMetalServer], seen: Observed, changed: frozenset[str]) -> None:
        api = cloud.api("baremetal")
        allocation = api.get(f"/allocations/{seen.id}")
        if "marker" in changed:
            operation = {"op": "add", "path": f"/extra/{KEY}", "value": target.marker}
            api.patch(f"/allocations/{seen.id}", [operation])
        node = api.get(f"/nodes/{allocation['node_uuid']}")
        deployed = node["provision_state"] == ACTIVE
        if changes := lending(node, target.one("project"), _said(target, deployed=deployed)):
            api.patch(f"/nodes/{node['uuid']}", changes)
        interfaces = interfaces_of(cloud, node)
        # On a host that runs, what its switch does not confirm is attached once more.
        kept = _confirmed(target, seen) if deployed else _at_their_legs(target, interfaces)
        _attach(cloud, target, node, interfaces, frozenset(kept))
        if not deployed:
            provision(cloud, node, ACTIVE, configdrive=config_drive(cloud, target))

    def delete(self, cloud: Cloud, ident: str, target: Target[BareMetalServer]) -> None:
        api = cloud.api("baremetal")
        allocation = api.find(f"/allocations/{ident}")
        node = _node_of(cloud, allocation, target)
        if node is None:
            api.delete(f"/allocations/{ident}")
            return
        state = node["provision_state"]
        if state in UNDONE_FROM or state == AVAILABLE:
            # Where undoing fails halfway, Ironic forgets what was attached, and the switch keeps it.
            for interface in interfaces_of(cloud, node):
                if interface.vif:
                    api.delete(f"/nodes/{node['uuid']}/vifs/{interface.vif}")
        if state in UNDONE_FROM:
            provision(cloud, node, "deleted")
        elif state == AVAILABLE:
            api.delete(f"/allocations/{ident}")

    def still_held(self, cloud: Cloud, target: Target[BareMetalServer]) -> str:
        """After its allocation ended: the lessee is taken off last, so a node that has ours is not back."""
        node = last_node(cloud, target)
        if wrong := not_back(cloud, target, node):
            return wrong
        if node is None or not (node["lessee"] and is_ours(node, target)):
            return ""
        return f"node {node['name']} is still lent to project {node['lessee']}"

    def left_behind(self, cloud: Cloud, target: Target[BareMetalServer]) -> str:
        """A node that is not cleaned, or a switch port that is not at rest, is nothing to lend to anybody else."""
        node = last_node(cloud, target)
        if wrong := not_back(cloud, target, node, mends=True):
            return wrong
        if node is not None and is_ours(node, target) and (changes := taking_back(node)):
            cloud.api("baremetal").patch(f"/nodes/{node['uuid']}", changes)
        return ""


def _node_of(cloud: Cloud, allocation: Mapping[str, Any] | None, target: Target[BareMetalServer]) -> Node | None:
    """The node of an allocation; after that ended the one that it had. None if there is none, or it is another's."""
    if allocation is not None:
        return node_named(cloud, allocation["node_uuid"]) if allocation["node_uuid"] else None
    node = last_node(cloud, target)
    return node if node is not None and is_ours(node, target) else None


def _returning(cloud: Cloud, ident: str, target: Target[BareMetalServer]) -> Observed | None:
    """The host after its allocation ended, until its node is back; None if it is back, or is not cleaned."""
    node = _node_of(cloud, None, target)
    if node is None or node["provision_state"] not in RETURNING | FAILED:
        return None
    phase, why = _phase(node)
    return Observed(ident, target.marker, outputs=_outputs(node), phase=phase, reason=why)


def _outputs(node: Node) -> dict[str, Any]:
    return {"state": node["provision_state"], NODE_UUID: node["uuid"]}


def _add_deployment(node: Node, fields: dict[str, Any], references: dict[str, Ids]) -> None:
    """What is deployed, as far as the node says it."""
    info: Mapping[str, Any] = node["instance_info"]
    fields["name"] = info.get("display_name", "")
    if "image_source" in info:
        references["image"] = info["image_source"]
    if DEPLOYED_WITH in info:
        fields["user_data"] = info[DEPLOYED_WITH]["user_data"]
        # Hosts that were deployed before they were told of any say nothing of it.
        fields["shares"] = info[DEPLOYED_WITH].get("shares", [])
        references["keypair"] = info[DEPLOYED_WITH]["keypair"]


def _phase(node: Node) -> tuple[Phase, str]:
    state = node["provision_state"]
    said = f": {node['last_error']}" if node["last_error"] else ""
    if state in FAILED:
        return Phase.BROKEN, f"node {node['name']} is in state {state}{said}"
    why = f"node {node['name']} is {state}"
    if node["maintenance"] and state != ACTIVE:
        why += f", in maintenance{said}"
    return Phase.READY if state == ACTIVE else Phase.PENDING, why


def _said(target: Target[BareMetalServer], *, deployed: bool) -> dict[str, Any]:
    """What is to be written of the deployment: of one that runs only its name can change."""
    return {"display_name": target.spec.name} if deployed else deployment(target)


def _at_their_legs(target: Target[BareMetalServer], interfaces: list[Interface]) -> tuple[str, ...]:
    """Ids of the Neutron ports that are attached where they should be."""
    wanted = {vif: at_leg(interfaces, leg) for vif, leg in legs_of(target).items()}
    return tuple(item.vif for item in interfaces if item.vif and wanted.get(item.vif) == item)


def _add_attached(
    cloud: Cloud,
    node: Node,
    target: Target[BareMetalServer] | None,
    fields: dict[str, Any],
    references: dict[str, Ids],
) -> tuple[Phase, str]:
    """Ports and legs of a host that runs; returns (phase, why).

    A leg that is attached elsewhere, or that its switch does not have in the VLAN, is shown in none: `update` attaches
    its port once more. Ports and legs stay in pairs, so that a state which a refresh wrote knows what is behind each.
    """
    interfaces = interfaces_of(cloud, node)
    attached = tuple(item.vif for item in interfaces if item.vif)
    if target is None:
        references["ports"] = attached
        return Phase.READY, ""
    legs, right, why = legs_of(target), _at_their_legs(target, interfaces), list[str]()
    shown = list[dict[str, Any]]()
    for vif, leg in legs.items():
        try:
            wrong, known = _wrong(cloud, vif, leg, right)
        except SwitchUnread as unread:
            return Phase.PENDING, unread_port(leg, unread)
        if not known:
            return Phase.PENDING, wrong
        why += [wrong] if wrong else []
        shown.append(leg.model_dump(mode="json") | ({"vlan": _NO_VLAN} if wrong else {}))
    # Another's or an earlier one is told as it is, so that it is taken off.
    references["ports"] = (*legs, *(vif for vif in attached if vif not in legs))
    fields["legs"] = shown
    return Phase.READY, "; ".join(why)


def _wrong(cloud: Cloud, vif: str, leg: BareMetalLeg, right: tuple[str, ...]) -> tuple[str, bool]:
    """(what is wrong with a leg or empty, False if its switch says too little). Raises `SwitchUnread`."""
    if vif not in right:
        return f"port {vif} is not attached at {in_words(leg)}", True
    wrong, known = unconfirmed_leg(cloud, leg)
    return wrong, known or not wrong


def _confirmed(target: Target[BareMetalServer], seen: Observed) -> tuple[str, ...]:
    """Ids of the ports whose legs were seen as planned."""
    shown = seen.fields.get("legs", ())
    return tuple(vif for vif, leg in legs_of(target).items() if leg.model_dump(mode="json") in shown)


def _attach(
    cloud: Cloud, target: Target[BareMetalServer], node: Node, interfaces: list[Interface], kept: frozenset[str]
) -> None:
    """Detaches what is not kept, then attaches what is missing, each at the interface of its leg."""
    api, legs = cloud.api("baremetal"), legs_of(target)
    places = {vif: at_leg(interfaces, leg) for vif, leg in legs.items()}
    for vif, place in places.items():
        if place is None:
            raise refused(
                f"node {node['name']} has no port at {in_words(legs[vif])}",
                "enroll its ports as `interlock nodes` lists them, or correct the site's cables",
            )
    for interface in interfaces:
        if interface.vif and (interface.vif not in kept or interface.vif not in legs):
            api.delete(f"/nodes/{node['uuid']}/vifs/{interface.vif}")
    for vif, place in places.items():
        if place is not None and vif not in kept:
            api.post(f"/nodes/{node['uuid']}/vifs", {"id": vif, "port_uuid": place.id})
