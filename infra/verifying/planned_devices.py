"""A plan's devices: servers and whole hosts, volumes, machines, switch ports, appliance addresses, keys, GPUs."""

from __future__ import annotations

import base64
import hashlib
import re

from . import names
from .authorities import trusted_authorities
from .ground import STRANGERS, Ground, Json
from .plans import PlanOfStack

_CONTROLLERS, _APPLIANCE = "vipu-controller", "storage-appliance"
#: A public ssh key, wherever it stands in a text.
_KEY = re.compile(r"((?:ssh|rsa|ecdsa|sk)-[a-z0-9@.-]{1,60})[ \t\r\n]+([A-Za-z0-9+/]{20,}={0,2})")
#: Types whose body is numbers, which may be written longer than they are.
_OF_NUMBERS = ("ssh-rsa", "ssh-dss")
#: Names of signatures that a line may give as the type of a key.
_RSA_SIGNATURE = re.compile(r"rsa-sha2-.*")
#: In a certificate the key stands somewhere within: not taken out here.
_NOT_READ = re.compile(r".*-cert-v01@openssh\.com")
#: Bytes of the length in front of each part of a key's body.
_LENGTH = 4


def devices(plan: PlanOfStack, ground: Ground) -> None:
    """All of it; the plan is the one that the ground says is being read."""
    for name, server in plan.servers.items():
        _server(plan, ground, name, server)
    _trunks(plan, ground)
    _volumes(plan, ground)
    _switch_ports(plan, ground)
    _allocations(plan, ground)
    for item in plan.all("ShareAccess").values():
        _address(plan, ground, item)
    for item in plan.all("PartitionKey").values():
        _partition_key(plan, ground, item)
    for item in plan.all("NvlinkPartition").values():
        _nvlink(plan, ground, item)
    for item in plan.all("Keypair").values():
        _login_keys(plan, ground, item["public_key"])
    for server in plan.servers.values():
        # Who is let in to a server of the operator's alone is none of the tenant's people.
        if plan.owner in plan.controllers_of(server):
            _login_keys(plan, ground, trusted_authorities(server["user_data"]))


def _server(plan: PlanOfStack, ground: Ground, name: str, server: Json) -> None:
    node, inventory, host = plan.node("dev", name), plan.inventory, server["host"]
    for label in plan.controllers_of(server):
        ground.label(node, label)
    for port in plan.ports_of(server):
        if plan.is_terminal(name):
            ground.premises.copies.add((node, plan.node("port", port), _CONTROLLERS, plan.owner))
        else:
            ground.join("E9", node, [plan.port(port)])
    serial = inventory.serial[host] if host in inventory.hosts else str(host)
    if name in plan.all("Server"):
        ground.premises.guests.add((node, host, server["flavor"]))
        ground.join_unless(ground.assumed("A5"), "E18", node, [names.named("dev", serial)])
        ground.join_unless(ground.assumed("A5 between owners"), "E18", node, [names.named("cpu", serial)])
        if inventory.is_lent(host) and not inventory.is_whole(host):
            _passed_on(plan, ground, node, server)
        return
    ground.premises.whole.add((node, host))
    ground.join("E5", node, inventory.interfaces(host))
    for interface in inventory.interfaces(host):
        for label in plan.controllers_of(server):
            ground.label(interface, label)
    if host not in inventory.hosts:
        ground.join("E5", node, [names.named("ref", host)])
        return
    ground.hold(names.identity("host", serial), plan.owner)
    if not inventory.is_whole(host):
        ground.join("E5", node, [names.named("dev", serial)])
        ground.premises.open_ports[node] |= {*inventory.bridges_of(host)}


def _passed_on(plan: PlanOfStack, ground: Ground, node: str, server: Json) -> None:
    """The one server on a GPU node has the node, and what of it is passed on."""
    inventory, host = plan.inventory, server["host"]
    ground.join("E5", node, inventory.lent(host))
    ground.hold(names.identity("host", inventory.serial[host]), plan.owner)
    for part in inventory.lent(host):
        for label in plan.controllers_of(server):
            ground.label(part, label)


def _trunks(plan: PlanOfStack, ground: Ground) -> None:
    """Whoever has the parent port has its sub-ports; a controller's are split like its other ports."""
    split = plan.split
    for parent, sub_ports in plan.sub_ports.items():
        if parent not in split:
            ground.join("E8", plan.port(parent), [plan.port(port) for port in sub_ports])
        for name in sub_ports:
            port = plan.all("Port").get(name)
            network = plan.all("Network").get(port["network"]) if port is not None else None
            # The switch takes the tags of a whole host's trunk, and no switch port resource says so.
            if port is not None and network is not None and port["vnic_type"] == "baremetal":
                ground.join("E8", plan.node("port", name), plan.wires(network))


def _volumes(plan: PlanOfStack, ground: Ground) -> None:
    for name, volume in plan.all("Volume").items():
        ground.label(plan.node("vol", name), plan.owner_of(volume["project"]))
    for item in plan.all("VolumeAttachment").values():
        server, attached = plan.servers.get(item["server"]), plan.all("Volume").get(item["volume"])
        held = plan.node("vol", item["volume"]) if attached is not None else names.named("ref", item["volume"])
        holder = plan.node("dev", item["server"]) if server is not None else names.named("ref", item["server"])
        ground.join("E9", holder, [held])
        if attached is not None:
            owner = plan.owner_of(attached["project"])
            labels = plan.controllers_of(server) if server is not None else {STRANGERS}
            for label in {owner} if owner in labels else {owner, *labels}:
                ground.hold(held, label)


def _switch_ports(plan: PlanOfStack, ground: Ground) -> None:
    inventory = plan.inventory
    for item in plan.all("SwitchPort").values():
        device, interface = item["device"], item["interface"]
        if item["switch"] in inventory.switches:
            serial = inventory.serial[item["switch"]]
            ground.hold(names.identity("switch-port", serial, str(item["port"])), plan.owner)
            ground.named[plan.owner] |= {
                names.switch_port(serial, item["port"]), inventory.segment(item["switch"], item["vlan"])
            }  # fmt: skip
        if device in inventory.machines:
            _machine(plan, ground, device)
            if interface == "rnic":
                ground.label(plan.rnic(device), plan.owner)
        elif inventory.is_whole(device):
            ground.hold(names.identity("host", inventory.serial[device]), plan.owner)
            node = names.part(inventory.serial[device], interface)
            if node in inventory.lendable:
                ground.label(node, plan.owner)


def _machine(plan: PlanOfStack, ground: Ground, name: str) -> None:
    """A machine goes with the address that its RNIC sends from."""
    machine = plan.inventory.machines[name]
    ground.hold(names.identity("machine", machine["serial"]), plan.owner)
    if (address := machine["macs"].get("rnic")) is not None:
        ground.hold(names.mac(address), plan.owner)


def _allocations(plan: PlanOfStack, ground: Ground) -> None:
    for name, item in plan.all("VipuAllocation").items():
        node = plan.node("I", name)
        ground.label(node, plan.owner)
        for machine in item["machines"]:
            ground.label(plan.rnic(machine), plan.owner)
            ground.join("E16", plan.rnic(machine), [node])
            if machine in plan.inventory.machines:
                _machine(plan, ground, machine)
    for item in plan.all("VipuAgent").values():
        ground.label(plan.rnic(item["machine"]), plan.owner)
        if item["machine"] in plan.inventory.machines:
            _machine(plan, ground, item["machine"])


def _address(plan: PlanOfStack, ground: Ground, access: Json) -> None:
    """The appliance has an address on the network of each grant, split off from it while it is declared."""
    cloud, network = plan.inventory.site["cloud"], plan.all("Network").get(access["network"])
    address = names.named("vip", cloud, access["vip"])
    wires = plan.wires(network) if network is not None else [names.named("ref", access["network"])]
    ground.named[plan.owner].add(address)
    ground.join("E7", address, wires)
    ground.premises.copies.add((names.named("shares", cloud), address, _APPLIANCE, plan.owner))
    ground.hold(address, plan.owner)


def _partition_key(plan: PlanOfStack, ground: Ground, item: Json) -> None:
    prefixes = {subnet["name"]: subnet["prefix"] for subnet in plan.inventory.site["infiniband"]}
    prefix = str(prefixes.get(item["infiniband"], item["infiniband"]))
    node, shared = names.partition_key(prefix, item["key"]), {name.lower() for name in plan.inventory.shared}
    is_claim = any(member["membership"] == "full" for member in item["members"])
    # Limited members have no part in the choice of a key that several stacks fill.
    is_theirs = item["shared"] or item["key"] & names.DEFAULT_KEY == names.DEFAULT_KEY
    if is_claim or not is_theirs:
        ground.label(node, plan.owner)
        ground.hold(node, plan.owner)
    ground.named[plan.owner].add(node)
    for member in item["members"]:
        port = names.guid(member["guid"])
        ground.premises.keys.add((node, port, member["membership"], names.named("fabric", prefix)))
        ground.named[plan.owner].add(port)
        if plan.is_tenant and member["guid"].lower() not in shared:
            ground.label(port, plan.owner)
            ground.hold(port, plan.owner)


def _nvlink(plan: PlanOfStack, ground: Ground, item: Json) -> None:
    node = names.named("N", item["domain"], str(item["partition"]))
    gpus = [names.gpu(item["domain"], name) for name in item["gpus"]]
    inventory, domain = plan.inventory, item["domain"]
    inside = inventory.lent(domain) if domain in inventory.gpu_nodes else []
    ground.join("E17", node, [*gpus, *inside])
    ground.premises.partitions.add((node, names.named("fabric", item["domain"])))
    for thing in (node, *gpus):
        ground.label(thing, plan.owner)
        ground.hold(thing, plan.owner)


def _login_keys(plan: PlanOfStack, ground: Ground, text: str) -> None:
    """A login key is what it is: the digest of the key itself, not its name."""
    for kind, word in _KEY.findall(text):
        body = None if _NOT_READ.fullmatch(kind) else _body(_RSA_SIGNATURE.sub("ssh-rsa", kind), word)
        if body is None:
            ground.unread[f"a login key of type {kind} that cannot be read"] += 1
            continue
        said = base64.b64encode(hashlib.sha256(body).digest()).decode().rstrip("=")
        ground.hold(names.identity("ssh-key", names.identity("SHA256", said)), plan.owner)


def _body(kind: str, word: str) -> bytes | None:
    """What a key consists of, each of its numbers as short as it can be; None if the base64 is no key of this type."""
    try:
        body = base64.b64decode(word, validate=True)
    except ValueError:
        return None
    parts, at = list[bytes](), 0
    while at < len(body):
        end = at + _LENGTH + int.from_bytes(body[at : at + _LENGTH], "big")
        parts.append(body[at + _LENGTH : end])
        at = end
    if parts[:1] != [kind.encode()] or len(parts) == 1:
        return None
    if kind not in _OF_NUMBERS or at != len(body):
        return body
    numbers = (int.from_bytes(part, "big") for part in parts[1:])
    # One bit more than a number has, since the first of them is its sign; none at all for zero.
    plain = (number.to_bytes(number.bit_length() // 8 + 1 if number else 0, "big") for number in numbers)
    return b"".join(len(part).to_bytes(_LENGTH, "big") + part for part in (kind.encode(), *plain))
