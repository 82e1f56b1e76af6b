"""Edges to what no record tells of where its table is not declared complete (E20), and what flavours hand out."""

from __future__ import annotations

import re
from collections import defaultdict

from . import names, references
from .ground import Ground
from .inventory import Inventory
from .ports import End

_ROW = "E20"
#: How a declaration names the networks that are no VLAN.
_OVERLAYS = "vxlan"
#: Devices that have one attachment by what they are.
_ONE_ATTACHMENT = ("pdu", "switch-management")
#: By these extra specifications a flavour hands out a device.
_DEVICE = re.compile(r"accel:device_profile|pci_passthrough:alias|resources\w*:(VGPU|PGPU|FPGA|PCI_DEVICE|CUSTOM_\w+)")


class Unlisted:
    """What may be there besides. `named`: the nodes that plans name."""

    def __init__(self, inventory: Inventory, ground: Ground, named: set[str]) -> None:
        self.inventory = inventory
        self.ground = ground
        self.named = named

    def derive(self, groups: dict[tuple[str, int], list[tuple[str, int]]]) -> None:
        """All of it; `groups` are those of private VLANs by switch and VLAN."""
        inventory = self.inventory
        for name in inventory.switches:
            self._switch(name, groups)
        self._hosts()
        self._attachments()
        self._in_cloud()
        for end in {*inventory.behind.values()}.union(*inventory.links):
            self._on_trunk(end, groups)
        for server, host, flavor in self.ground.premises.guests:
            self._handed_out(server, host, flavor)

    def _strange(self, *nodes: str) -> None:
        for node in nodes:
            self.ground.join(_ROW, node, [self.inventory.strangers])

    def _switch(self, name: str, groups: dict[tuple[str, int], list[tuple[str, int]]]) -> None:
        """Cables, instances and ways outside that are not listed, and ports in use that have no cable."""
        inventory, spare = self.inventory, self._spare(name)
        may_lack = inventory.is_open("cables", name) or inventory.is_open("routing", name)
        for vlan in inventory.vlans:
            for group in ("", *(found for found, _ in groups.get((name, vlan), ()))):
                segment = names.vlan_of_switch(inventory.serial[name], vlan, group)
                if may_lack or vlan in spare:
                    self._strange(segment)
                if inventory.is_open("external_attachments", name):
                    self.ground.join(_ROW, segment, [inventory.hub])

    def _spare(self, name: str) -> set[int]:
        """The VLANs of enabled ports without a cable, which nobody saw to be empty."""
        inventory, found = self.inventory, set[int]()
        count = sum(number for _, number in inventory.switches[name]["port_groups"])
        for end in ((name, port) for port in range(1, count + 1)):
            record = inventory.ports.records.get(end)
            if (name, str(end[1])) not in inventory.cabled and not (record is not None and record["empty"]):
                found |= {*(inventory.carried(end) if inventory.ports.port(end).known else inventory.vlans)}
        return found

    def _hosts(self) -> None:
        """On a hypervisor its guests' VLANs may leave by an interface that nobody listed."""
        inventory, vlans = self.inventory, defaultdict[str, list[str]](list)
        for node in self.named:
            if names.vlan_number(node) is not None:
                vlans[names.vlan_bridge(node)].append(node)
        for host in inventory.hosts:
            if inventory.is_open("attachments", host):
                if inventory.is_whole(host):
                    self._strange(*inventory.interfaces(host), inventory.bmc(host))
                else:
                    bridges = (names.vlan_bridge(inventory.at_host(item, 0)) for item in inventory.bridges_of(host))
                    self._strange(*(node for bridge in bridges for node in vlans[bridge]))
        for server, host in self.ground.premises.whole:
            self._strange(*([server] if inventory.is_open("attachments", host) else []))

    def _attachments(self) -> None:
        """Machines, and devices that are not declared."""
        inventory, bridged = self.inventory, {*self.inventory.uplinks.values()}
        for name in inventory.machines:
            if inventory.is_open("attachments", name):
                self._strange(*(names.part(inventory.serial[name], part) for part in ("rnic", "gw", "bmc")))
        role_of = {item["name"]: item["role"] for item in inventory.site["devices"]}
        for plug, end in inventory.behind.items():
            is_ordinary = end not in bridged and not inventory.shared_at(plug)
            if is_ordinary and role_of.get(plug[0], _ONE_ATTACHMENT[0]) not in _ONE_ATTACHMENT:
                self._strange(*(inventory.parts(*plug) if inventory.is_open("attachments", plug[0]) else []))

    def _handed_out(self, server: str, host: str, reference: str) -> None:
        """A network function that a flavour hands out sees every VLAN of its port; which one it is, nobody states."""
        if not hands_out_devices(self.inventory, reference):
            return
        for _, end in self.inventory.ends_of.get(host, ()):
            self._strange(*([server] if self._is_unknown(end) else []))
            known = self.inventory.ports.port(end).known
            vlans = self.inventory.carried(end) if known else self.inventory.vlans
            self.ground.join("E5", server, [self.inventory.met_by(end, vlan) for vlan in vlans])
        self._strange(*([server] if self.inventory.is_open("attachments", host) else []))

    def _is_unknown(self, end: End) -> bool:
        """True of a trunk onto which a driver may have put the VLAN of a network that nobody tells of."""
        filled, reaching = self.inventory.ports.port(end).filled, self.inventory.site["physical_networks"]
        names_of = [item["name"] for item in reaching if filled & {*item["switches"]}]
        return any(self.inventory.is_open("networks", name) for name in names_of)

    def _on_trunk(self, end: End, groups: dict[tuple[str, int], list[tuple[str, int]]]) -> None:
        """Then strangers may be in every VLAN there, and in what the other end of the cable carries."""
        inventory = self.inventory
        hosts = {plug for plug, found in inventory.uplinks.items() if found == end}
        beyond = [b if a == end else a for a, b in inventory.links if end in (a, b)]
        for claim, vlan in self.ground.premises.lost if inventory.ports.port(end).filled else ():
            # A released VLAN that may lie on any switch may be on any such trunk.
            self.ground.join("E13", claim, [inventory.at_host(plug, vlan) for plug in hosts])
            met = [inventory.met_by(far, inner) for far in beyond for inner in inventory.ports.port(far).inside(vlan)]
            self.ground.join("E13", claim, met)
        if not self._is_unknown(end):
            return
        self._strange(names.switch_port(inventory.serial[end[0]], end[1]))
        for vlan in inventory.vlans:
            for group in ("", *(found for found, _ in groups.get((end[0], vlan), ()))):
                self._strange(names.vlan_of_switch(inventory.serial[end[0]], vlan, group))
        for far in beyond:
            self._strange(*(inventory.met_by(far, vlan) for vlan in inventory.carried(far)))
        bridges = {names.vlan_bridge(inventory.at_host(plug, 0)) for plug in hosts}
        vlans = (node for node in self.named if names.vlan_number(node) is not None)
        self._strange(*(node for node in vlans if names.vlan_bridge(node) in bridges))
        self._strange(*(port for port, found in self.ground.premises.open_ports.items() if found & hosts))

    def _in_cloud(self) -> None:
        """Rights, members and networks in the pools of which no plan tells."""
        inventory, cloud = self.inventory, self.inventory.site
        is_open_right = inventory.is_open("rights", "Network")
        for segment in self.ground.premises.claims | self.ground.premises.let_go:
            networks = [_OVERLAYS] if names.underlay_of(segment) is not None else inventory.networks_at(segment)
            if is_open_right or any(inventory.is_open("networks", name) for name in networks):
                self._strange(segment)
        if inventory.is_open("members", cloud["domain"]):
            self._strange(*self.ground.premises.capabilities)


def hands_out_devices(inventory: Inventory, reference: str) -> bool:
    """True if a server of this flavour may have a network function of its host."""
    flavor = inventory.flavors.get(references.sites_flavor(reference) or "")
    if flavor is None or flavor["devices"] == "other":
        return False
    return flavor["whole_node"] is not None or any(map(_DEVICE.fullmatch, flavor["extra_specs"]))
