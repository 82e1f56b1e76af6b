"""Are the nodes of whole hosts as the site states them, the operator's, free or ours, and cabled as planned?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from interlock.provider.actuators.bare_metal_node import AVAILABLE, Node, at_leg, in_words, interfaces_of
from interlock.provider.actuators.compute import KEY
from interlock.provider.actuators.switch_port import ONE_WRITER, binds, bound_by, bound_ports
from interlock.provider.clouds import Cloud
from interlock.provider.errors import Failure
from interlock.provider.markers import marker, owner_of, split
from interlock.provider.references import site_object
from interlock.provider.switch_settings import taken_from
from interlock.resources import Admission, BareMetalServer
from interlock.switches.errors import SwitchUnread

from .faults import Fault, NotLookedAt, of_failure, planned

#: Network interface of nodes by which Ironic binds ports through Neutron.
NETWORK_INTERFACE = "neutron"

#: Members of a node's `driver_info` that name the network on which a host is cleaned, and deployed.
SERVICE_NETWORKS = ("cleaning_network", "provisioning_network")

_ENROLL = "enroll it as `interlock nodes` prints it"
_SET, _UNSET = "`openstack baremetal node set", "`openstack baremetal node unset"


def whole_hosts(cloud: Cloud, admission: Admission) -> Iterator[Fault]:
    """What stands in the way of deploying, or of cleaning later, for each whole host of the plan."""
    wanted = list(planned(admission, BareMetalServer))
    if not wanted:
        return
    if "baremetal" not in cloud.login.catalogue.regions:
        names = ", ".join(name for name, _ in wanted)
        yield Fault(
            "bare metal",
            f"the cloud has no Ironic (no service `baremetal` in its catalogue), which would deploy {names}",
            "add Ironic to the cloud, or ask for virtual servers",
        )
        return
    # One list: what other nodes say of their networks is asked for, too.
    nodes = {node["name"]: node for node in cloud.api("baremetal").items("/nodes/detail", "nodes")}
    for name, spec in wanted:
        node = nodes.get(spec.node)
        if node is None:
            # Ironic hides nodes of other owners.
            what = f"{name}: Ironic has no node {spec.node} that project {cloud.login.project} owns"
            yield Fault("bare metal", what, _ENROLL)
        else:
            yield from _NodeLook(cloud, admission, name, spec, node, nodes).faults()


@dataclass(frozen=True)
class _NodeLook:
    """One node."""

    cloud: Cloud
    admission: Admission
    name: str
    spec: BareMetalServer
    node: Node
    nodes: Mapping[str, Node]

    def faults(self) -> Iterator[Fault]:
        yield from self._enrolled()
        yield from self._networks()
        if not self._is_ours:
            yield from self._free()
        yield from self._lent()
        yield from self._cabled()
        if not self._is_ours and self.node["provision_state"] == AVAILABLE:
            yield from self._at_rest()

    def _fault(self, what: str, hint: str) -> Fault:
        return Fault("bare metal", f"{self.name}: node {self.spec.node} {what}", hint)

    @cached_property
    def _is_ours(self) -> bool:
        """True if the node is allocated to this very host."""
        ident = self.node["allocation_uuid"]
        found = self.cloud.api("baremetal").find(f"/allocations/{ident}") if ident else None
        carried = (found["extra"] or {}).get(KEY) if found else None
        return carried == marker(self.admission.owner, self.name)

    @cached_property
    def _lessee_is_ours(self) -> bool:
        """True if the node is lent to a project of this stack."""
        lessee = self.node["lessee"]
        found = self.cloud.api("identity").find(f"/projects/{lessee}") if lessee else None
        if found is None:
            return False
        return owner_of(split(found["project"].get("description"))[1]) == self.admission.owner

    def _is_our_own(self, raw: Mapping[str, Any]) -> bool:
        """True for a port of this stack that undoing a deployment left bound at this very node."""
        ours = owner_of(split(raw["description"])[1]) == self.admission.owner
        return ours and self._lessee_is_ours and raw["binding:host_id"] == self.node["uuid"]

    def _enrolled(self) -> Iterator[Fault]:
        """What an operator states of a node once."""
        node, operator = self.node, self.cloud.login.project
        stated = {
            "owner": (node["owner"], operator, "--owner"),
            "resource class": (node["resource_class"], self.spec.resource_class, "--resource-class"),
            "network interface": (node["network_interface"], NETWORK_INTERFACE, "--network-interface"),
        }
        if self.admission.conductor_group:
            stated["conductor group"] = (node["conductor_group"], self.admission.conductor_group, "--conductor-group")
        for what, (have, want, option) in stated.items():
            if have != want:
                text = f"has the {what} {have or '(none)'}, not {want}"
                yield self._fault(text, f"{_SET} {option} {want} {self.spec.node}`, or correct the site file")
        if node["automated_clean"] is False:
            yield self._fault(
                "is not cleaned between two tenants (`automated_clean` is off), so the next one would find what this "
                "one leaves",
                f"{_SET} --automated-clean {self.spec.node}`",
            )

    def _networks(self) -> Iterator[Fault]:
        """Each node has a network of its own for deploying and cleaning: of two ex-tenants none meets the other."""
        planned_name = self.admission.service_networks.get(self.spec.node)
        try:
            wanted = (planned_name, self._site_network(planned_name)) if planned_name else ()
        except Failure as failure:
            yield of_failure("bare metal", failure)
            return
        for member in SERVICE_NETWORKS:
            named = self.node["driver_info"].get(member)
            if not named:
                yield self._fault(f"names no {member} in its driver_info", _ENROLL)
            elif wanted and named not in wanted:
                text = f"names {named} as its {member}, not the site's network {planned_name}"
                yield self._fault(text, _ENROLL)
            elif others := self._others_on(named):
                text = f"shares its {member} {named} with {', '.join(others)}: two ex-tenants would meet there"
                yield self._fault(text, "give each node a network of its own, as `interlock nodes` prints them")

    def _site_network(self, name: str) -> str:
        return site_object(self.cloud, self.admission, "Network", name)

    def _others_on(self, network: str) -> list[str]:
        return sorted(
            name
            for name, node in self.nodes.items()
            if name != self.spec.node and network in (node["driver_info"].get(member) for member in SERVICE_NETWORKS)
        )

    def _free(self) -> Iterator[Fault]:
        """A node that is not this host's yet."""
        node, name = self.node, self.spec.node
        if node["maintenance"]:
            why = f": {node['maintenance_reason']}" if node["maintenance_reason"] else ""
            yield self._fault(f"is in maintenance{why}", f"`openstack baremetal node maintenance unset {name}`")
        if node["retired"]:
            yield self._fault("is retired", f"{_UNSET} --retired {name}`")
        if node["protected"]:
            yield self._fault("is protected, so nothing could undo its deployment", f"{_UNSET} --protected {name}`")
        if node["instance_uuid"]:
            text = f"is taken by instance {node['instance_uuid']}, which is not of this stack"
            yield self._fault(text, "see who has it (`openstack baremetal allocation list`), or lock another host")
        elif node["provision_state"] != AVAILABLE:
            said = f": {node['last_error']}" if node["last_error"] else ""
            hint = "wait until it is available, or see why it is not (`openstack baremetal node show`), then go on"
            yield self._fault(f"is {node['provision_state']}, not {AVAILABLE}{said}", hint)

    def _lent(self) -> Iterator[Fault]:
        if self.node["lessee"] and not self._lessee_is_ours:
            text = f"is lent to project {self.node['lessee']}, which is not of this stack"
            yield self._fault(text, f"{_UNSET} --lessee {self.spec.node}` once nobody uses it")

    def _cabled(self) -> Iterator[Fault]:
        interfaces = interfaces_of(self.cloud, self.node)
        for leg in self.spec.legs:
            place = at_leg(interfaces, leg)
            if leg.port_name is None:
                text = f"has an interface at {in_words(leg)}, and nobody states what the switch calls it"
                yield self._fault(text, "state `port_names` of that switch in the site file")
            elif place is None:
                yield self._fault(f"has no port at {in_words(leg)}", f"{_ENROLL}, or correct the site's cables")
            elif place.group:
                text = (
                    f"has its port at {in_words(leg)} in a port group (a bond, LACP): both ports of a bond are on one "
                    "network, and a whole host has a network for each interface"
                )
                yield self._fault(text, "take the port out of the group, and the bond off the switch")
            elif place.vif and not self._is_ours:
                text = f"still has port {place.vif} attached at {in_words(leg)}, which a deployment would bring up"
                hint = f"`openstack baremetal node vif detach {self.spec.node} {place.vif}`"
                yield self._fault(text, hint)

    def _at_rest(self) -> Iterator[Fault]:
        """Nobody uses the switch ports behind a node that is available."""
        for raw in bound_ports(self.cloud):
            for leg in self.spec.legs:
                if binds(raw, leg) and not self._is_our_own(raw):
                    yield Fault("bare metal", f"{self.name}: {bound_by(leg, raw)}", ONE_WRITER)
        for leg in self.spec.legs:
            if self.cloud.switches is None:
                return
            try:
                taken = taken_from(leg, self.cloud.switches.now(leg.switch, leg.switch_mac))
            except SwitchUnread as unread:
                yield NotLookedAt("bare metal", f"{self.name}: switch {leg.switch}: {unread.what}", unread.hint)
                continue
            if taken:
                yield Fault("bare metal", f"{self.name}: {taken}: it is neither at rest nor as planned", _REST)


_REST = "see who uses it (`interlock switches`), set it to rest, then go on"
