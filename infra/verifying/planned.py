"""A plan's part: what each planned resource attaches to what, whose it is, and what its owner has alone."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from typing import Any

from infra.checker import GUARDS

from .ground import Ground, assumed, escaped, identity
from .inventory import Inventory, Json, asked_of
from .services import join_services, join_talking

PLANNED = "planned "
OPERATOR, STRANGERS = "op", "foreign"
_CONTROLLERS, _EXTERNAL = "vipu-controller", "external-network"
#: How plans refer to the site's external network, and to its projects.
_OUTSIDE, _PROJECTS = "site:Network/external", "site:Project/"
#: Kinds of resources that are read here; of `Project` who owns what is in it.
READ = (
    "Keypair", "Network", "Port", "Project", "Router", "RouterInterface", "Server", "Subnet", "SwitchPort",
    "VipuAllocation", "Volume", "VolumeAttachment",
)  # fmt: skip
#: VLAN ids that a virtual function with no VLAN of its own has.
_EVERY = (0, 4095)


class PlanOfStack:
    """One plan, as JSON, on a site."""

    def __init__(self, inventory: Inventory, plan: Json) -> None:
        self.inventory = inventory
        self.owner: str = plan["tenant"] or OPERATOR
        self.of_kind: dict[str, dict[str, Json]] = {}
        for item in plan["resources"]:
            self.of_kind.setdefault(item["kind"], {})[item["name"]] = item["spec"]
        self._component = {item["name"]: item["component"] for item in plan["resources"]}
        self._type = {item["name"]: item["type"] for item in plan["components"]}
        self.host_of = {port: spec["host"] for spec in self.all("Server").values() for port in spec["ports"]}

    def all(self, kind: str) -> dict[str, Json]:
        """Name -> fields of every resource of a kind."""
        return self.of_kind.get(kind, {})

    def node(self, kind: str, name: str) -> str:
        """An object of this plan's own."""
        return identity(kind, escaped(self.owner), escaped(name))

    def owner_of(self, project: str | None) -> str:
        """By the project that it lies in."""
        if project is None or project.startswith(_PROJECTS):
            return OPERATOR
        return self.owner if project in self.all("Project") else STRANGERS

    def wires(self, network: Json) -> list[str]:
        """What a network claims: its VLAN on every switch of its physical network, or its overlay."""
        if network["external"] or network["segmentation_id"] is None:
            return []
        if network["network_type"] == "vxlan":
            return [self.inventory.overlay(network["segmentation_id"])]
        is_vlan = network["network_type"] == "vlan"
        return self.inventory.segments(network["physical_network"], network["segmentation_id"]) if is_vlan else []

    def is_controller(self, name: str, server: Json) -> bool:
        """A controller that the operator runs, which a declared sharing may split."""
        kind = self._type.get(self._component[name])
        return kind == "VipuController" and self.owner_of(server["project"]) == OPERATOR

    def derive(self, ground: Ground) -> None:
        """All of it, into a ground that has the guards already."""
        ground.reading = self.owner
        self._networks(ground)
        self._ports(ground)
        self._servers(ground)
        self._volumes(ground)
        self._routers(ground)
        self._machines(ground)
        self._keys(ground)
        self._services(ground)
        for kind, items in self.of_kind.items():
            if kind not in READ:
                ground.unread[f"{PLANNED}{kind}"] += len(items)

    def _label(self, ground: Ground, node: str, owner: str) -> None:
        ground.labels[node].add(owner)
        ground.named[self.owner].add(node)

    def _hold(self, ground: Ground, thing: str, owner: str) -> None:
        ground.exclusive[thing].add(owner)
        ground.held[self.owner].add(thing)

    def _networks(self, ground: Ground) -> None:
        capability = identity("cap", escaped(self.owner))
        cloud = escaped(self.inventory.site["cloud"])
        if self.owner != OPERATOR:
            self._label(ground, capability, self.owner)
            ground.join_unless(assumed("A2"), "A2", capability, [identity("cloud", cloud)])
        for network in self.all("Network").values():
            owner = self.owner_of(network["project"])
            for wire in self.wires(network):
                self._label(ground, wire, owner)
                self._hold(ground, identity("segment", wire), owner)
                ground.join_unless(assumed("A10"), "A10", wire, [identity("foreign", cloud)])
                if wire.startswith("L:"):
                    ground.join_unless(assumed("A1"), "A1", wire, [identity("fabric", wire.split(":")[1])])
            if owner == self.owner != OPERATOR:
                ground.join("E13", capability, self.wires(network))
            if network["external"] or network["shared"]:
                ground.unread["a network that is shared or external"] += 1

    def _services(self, ground: Ground) -> None:
        """What is in no plan, and everybody is on."""
        networks, routers = self.all("Network").values(), self.all("Router").items()
        join_services(
            ground, self.inventory.site["cloud"], claims=[wire for item in networks for wire in self.wires(item)],
            capability=[] if self.owner == OPERATOR else [identity("cap", escaped(self.owner))],
            guests=[self.node("dev", name) for name in self.all("Server")],
            gateways=[self.node("R", name) for name, item in routers if item["external_network"] == _OUTSIDE],
            overlays=[wire for item in networks if item["network_type"] == "vxlan" for wire in self.wires(item)],
        )  # fmt: skip
        for name in sorted(self.inventory.talking):
            on_switch = (wire for item in networks for wire in self.wires(item) if item["network_type"] == "vlan")
            here = {self.inventory.segment(name, item["segmentation_id"] or 0) for item in networks}
            join_talking(ground, self.inventory.serial[name], here.intersection(on_switch))

    def _keys(self, ground: Ground) -> None:
        """A login key is what it is: the digest of the key itself, not its name. RSA numbers may be written longer."""
        for item in self.all("Keypair").values():
            words = item["public_key"].split()
            if len(words) > 1 and words[0] == "ssh-ed25519":
                digest = hashlib.sha256(base64.b64decode(words[1])).digest()
                said = base64.b64encode(digest).decode().rstrip("=")
                self._hold(ground, identity("ssh-key", identity("SHA256", said)), self.owner)
            else:
                ground.unread["a login key of another kind"] += 1

    def _ports(self, ground: Ground) -> None:
        split = {
            port
            for name, item in self.all("Server").items()
            if self.is_controller(name, item)
            for port in item["ports"]
        }
        hub = identity("X", escaped(self.inventory.site["external"]["name"]))
        for name, port in self.all("Port").items():
            node, network = self.node("port", name), self.all("Network").get(port["network"])
            ground.named[self.owner].add(node)
            if name not in split:
                self._label(ground, node, self.owner_of(port["project"]))
            if port["network"] == _OUTSIDE:
                ground.join("E12", node, [hub])
            elif network is None or network["external"] or port["vnic_type"] == "baremetal":
                ground.unread["a port of a whole host, or on a network that its plan does not hold"] += 1
            elif self.host_of.get(name) is None:
                ground.unread["a port without a server"] += 1
            else:
                row = "E7" if port["vnic_type"] == "normal" else "E6"
                ground.join(row, node, self._met_by(port, network, self.host_of[name]))

    def _met_by(self, port: Json, network: Json, host: str) -> Iterator[str]:
        """The segments of a port on its host; of a virtual function that nothing holds to one VLAN, all of them."""
        kind, vlan = network["network_type"], network["segmentation_id"] or 0
        if kind == "vxlan":
            yield from self.wires(network)
            return
        checked = port["port_security"] and network["port_security"]
        is_open = port["vnic_type"] == "direct" and (not checked or kind == "flat" or vlan in _EVERY)
        vlans = [0, *sorted(self.inventory.vlans)] if is_open else [0 if kind == "flat" else vlan]
        for bridge in self.inventory.bridges(host, network["physical_network"]):
            yield from (self.inventory.at_host(bridge, vlan) for vlan in vlans)

    def _servers(self, ground: Ground) -> None:
        own = self.all("Port")
        declared = [item["name"] for item in self.inventory.site["sharing"] if item["kind"] == _CONTROLLERS]
        guards = frozenset(f"sharing.{name}.guards.{guard}" for name in declared for guard in GUARDS[_CONTROLLERS])
        for name, server in self.all("Server").items():
            node = self.node("dev", name)
            self._label(ground, node, self.owner_of(server["project"]))
            ports = [self.node("port", port) for port in server["ports"] if port in own]
            if self.is_controller(name, server):
                ground.join_unless(guards, "E9", node, ports)
            else:
                ground.join("E9", node, ports)
            serial = self.inventory.serial.get(server["host"], str(server["host"]))
            ground.join_unless(assumed("A5"), "E18", node, [identity("dev", escaped(serial))])
            ground.join_unless(assumed("A5 between owners"), "E18", node, [identity("cpu", escaped(serial))])

    def _volumes(self, ground: Ground) -> None:
        for name, volume in self.all("Volume").items():
            self._label(ground, self.node("vol", name), self.owner_of(volume["project"]))
        for item in self.all("VolumeAttachment").values():
            if item["server"] in self.all("Server") and item["volume"] in self.all("Volume"):
                node = self.node("vol", item["volume"])
                ground.join("E9", self.node("dev", item["server"]), [node])
                self._hold(ground, node, self.owner_of(self.all("Volume")[item["volume"]]["project"]))

    def _routers(self, ground: Ground) -> None:
        external = escaped(self.inventory.site["external"]["name"])
        declared = [item["name"] for item in self.inventory.site["sharing"] if item["kind"] == _EXTERNAL]
        filtered = {f"sharing.{name}.guards.{guard}" for name in declared for guard in GUARDS[_EXTERNAL]}
        for name, router in self.all("Router").items():
            node, in_scope = self.node("R", name), False
            self._label(ground, node, self.owner_of(router["project"]))
            for item in self.all("RouterInterface").values():
                subnet = self.all("Subnet").get(item["subnet"]) if item["router"] == name else None
                network = self.all("Network").get(subnet["network"]) if subnet else None
                in_scope |= bool(subnet and subnet["subnet_pool"] is not None)
                ground.join("E10", node, self.wires(network) if network else [])
            if router["external_network"] == _OUTSIDE:
                copy = f"{identity('X', external)}@{node}"
                ground.join("E11", node, [copy])
                guards = {*filtered, "external.address_scope"} if filtered and not in_scope else set[str]()
                ground.join_unless(frozenset(guards), "E11", copy, [identity("X", external)])

    def _machines(self, ground: Ground) -> None:
        serial = self.inventory.serial
        for item in self.all("SwitchPort").values():
            if item["switch"] in self.inventory.switches:
                port = identity("switch-port", escaped(serial[item["switch"]]), str(item["port"]))
                self._hold(ground, port, self.owner)
            if item["device"] in self.inventory.machines:
                self._hold(ground, identity("machine", escaped(serial[item["device"]])), self.owner)
                if item["interface"] == "rnic":
                    self._label(ground, identity("dev", f"{escaped(serial[item['device']])}/rnic"), self.owner)
        for name, item in self.all("VipuAllocation").items():
            node = self.node("I", name)
            self._label(ground, node, self.owner)
            for machine in item["machines"]:
                if machine in self.inventory.machines:
                    rnic = identity("dev", f"{escaped(serial[machine])}/rnic")
                    self._label(ground, rnic, self.owner)
                    self._hold(ground, identity("machine", escaped(serial[machine])), self.owner)
                    ground.join("E16", rnic, [node])


def ground_of(site: Json, plans: dict[str, Any]) -> Ground:
    """Everything that follows from a site in full form and all its plans, by stack."""
    networks = [item["spec"] for plan in plans.values() for item in plan["resources"] if item["kind"] == "Network"]
    used = [(item["network_type"], item["segmentation_id"]) for item in networks if item["segmentation_id"] is not None]
    vlans, overlays = ({number for kind, number in used if kind == wanted} for wanted in ("vlan", "vxlan"))
    inventory, ground = Inventory(site, asked_of(plans), vlans, overlays), Ground()
    inventory.state_guards(ground)
    for plan in plans.values():
        PlanOfStack(inventory, plan).derive(ground)
    ground.reading = ""
    inventory.derive(ground)
    for node in ground.lent:
        if not ground.labels.get(node):
            ground.labels[node].add(OPERATOR)
    return ground
