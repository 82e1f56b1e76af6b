"""What locks say is released and not seen to be let go, or was cleaned: it is its former holder's as well."""

from __future__ import annotations

from collections.abc import Iterator

from . import names, references
from .ground import OPERATOR, Ground, Json
from .inventory import Inventory

_VLANS, _OVERLAY = references.VLAN_CLAIMS, "control_vni"
#: The operator's, although a tenant's machines were on it.
_OPERATORS = "management_vlan"


class Residue:
    """One lock, as JSON: `id` is its tenant's."""

    def __init__(self, inventory: Inventory, lock: Json) -> None:
        self.inventory = inventory
        self.lock = lock
        self.owner: str = lock["id"]

    def derive(self, ground: Ground) -> None:
        """All of it; the plans are read already, and the lock's owner is the one being read."""
        for entry in self.lock.get("released", ()):
            owner = OPERATOR if entry["claim"] == _OPERATORS else self.owner
            for node, identities in self._held(entry):
                ground.label(node, owner)
                for thing in identities:
                    ground.hold(thing, owner if names.is_claim(thing) else self.owner)
                if names.is_wire(node):
                    ground.premises.let_go.add(node)
                    ground.join_unless(ground.assumed("A10"), "A10", node, [self.inventory.strangers])
            self._lost(ground, entry, owner)
        for entry in self.lock.get("former_keys", ()):
            # No plan names it any more: servers that were made with it have it all the same.
            ground.hold(names.identity("ssh-key", entry["fingerprint"]), self.owner)
        for entry in self.lock.get("settled", ()):
            former = names.named("former", self.owner, entry["identity"])
            # No wipe of disks reaches the firmware of a whole host.
            kind, serial = references.device_of(entry["identity"])
            rows = ("A9", "A23") if kind == "host" else ("A9",)
            for device in self._devices(entry["identity"]):
                ground.cleaned.add((device, self.owner, former, serial, rows))
                for row in rows:
                    self._left(ground, row, device, former)

    def _left(self, ground: Ground, row: str, device: str, former: str) -> None:
        if ground.holds(row):
            ground.may_state(row, device, former, ground.assumed(row))
            return
        ground.label(former, self.owner)
        ground.join(row, device, [former])
        # Nobody knows whether it is the operator's by now.
        ground.doubtful.add(device)

    def _held(self, entry: Json) -> Iterator[tuple[str, list[str]]]:
        """(node, exclusive identities) of a released claim."""
        inventory, claim, value = self.inventory, entry["claim"], entry["value"]
        if entry.get("serial"):
            yield from self._by_serial(claim, entry["serial"])
        elif claim == "machines" and value in inventory.machines:
            machine = inventory.machines[value]
            mac = machine["macs"].get("rnic")
            held = [names.identity("machine", machine["serial"]), *([names.mac(mac)] if mac is not None else [])]
            yield names.part(machine["serial"], "rnic"), held
        elif claim == "hosts" and inventory.is_lent(value):
            for node in inventory.lent(value):
                yield node, [names.identity("host", inventory.serial[value])]
        elif claim == "storage_vip":
            address = names.named("vip", inventory.site["cloud"], value)
            yield address, [address]
        elif claim == "partition_keys":
            for node in self._keys(*references.key_of_claim(value)):
                yield node, [node]
        else:
            for node in self._segments(claim, value):
                yield node, [names.identity("segment", node)]

    def _segments(self, claim: str, value: str) -> list[str]:
        if claim == _OVERLAY:
            return [names.overlay(self.inventory.site["cloud"], "vxlan", int(value))]
        return [*self.inventory.segments(*references.vlan_of_claim(value))] if claim in _VLANS else []

    def _keys(self, subnet: str, number: int) -> list[str]:
        """One of a subnet that is listed no more may be on any that is."""
        prefixes = {item["name"]: item["prefix"] for item in self.inventory.site["infiniband"]}
        found = [prefixes[subnet]] if subnet in prefixes else [*prefixes.values()]
        return [names.partition_key(prefix, number) for prefix in found]

    def _by_serial(self, claim: str, serial: str) -> Iterator[tuple[str, list[str]]]:
        """A device that had another name, or stands nowhere on the site by now."""
        inventory = self.inventory
        if claim == "machines":
            macs = [item["macs"].get("rnic") for item in inventory.machines.values() if item["serial"] == serial]
            held = [names.identity("machine", serial), *(names.mac(mac) for mac in macs if mac is not None)]
            yield names.part(serial, "rnic"), held
            return
        whole = [node for name in inventory.hosts if inventory.serial[name] == serial for node in inventory.lent(name)]
        is_listed = any(inventory.serial[name] == serial and inventory.is_lent(name) for name in inventory.hosts)
        for node in whole if is_listed else [names.named("dev", serial)]:
            yield node, [names.identity("host", serial)]

    def _lost(self, ground: Ground, entry: Json, owner: str) -> None:
        """A VLAN of which nobody recorded a known physical network may lie on any switch."""
        network, number = references.vlan_of_claim(entry["value"]) if entry["claim"] in _VLANS else ("", 0)
        if number and not self.inventory.is_network(network):
            words = f"{entry['vpod']} {entry['claim']} {entry['value']}"
            node = names.named("lost", self.owner, words)
            ground.label(node, owner)
            ground.premises.lost.add((node, number))

    def _devices(self, identity: str) -> list[str]:
        """The nodes of a device that was cleaned. A host may be a hypervisor by now."""
        inventory, (kind, serial) = self.inventory, references.device_of(identity)
        if kind == "machine":
            return [names.part(serial, "rnic")]
        if kind == "host":
            hosts = [name for name in inventory.hosts if inventory.serial[name] == serial]
            whole = [node for name in hosts for node in inventory.lent(name)]
            return whole + [names.named("dev", serial) for name in hosts if not inventory.is_whole(name)]
        return [identity] if kind == "gpu" else []


def perhaps_operators(ground: Ground) -> None:
    """After everything else: whose a device is that was cleaned, that nobody has, and of which nobody knows.

    Its former holder's or the operator's, never of both: the operator's where what that holder has comes to it.
    """
    open_ones = [
        item
        for item in ground.cleaned
        if any(map(ground.is_open, item[-1])) and all(ground.is_open(row) or ground.holds(row) for row in item[-1])
        if item[0] in ground.lent and not ground.labels.get(item[0])
    ]
    class_of = ground.classes() if open_ones else {}
    for device, owner, _, serial, rows in sorted(open_ones):
        alike = {former for _, _, former, _, others in ground.cleaned if others == rows}
        theirs = (node for node, owners in ground.labels.items() if owner in owners and node not in alike)
        if any(class_of.get(node) == class_of[device] for node in theirs):
            keeper = names.named("ops", serial, "keeper")
            ground.join("A9", device, [keeper])
            ground.labels[keeper].add(OPERATOR)
