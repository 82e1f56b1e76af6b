"""Everything that follows from a site in full form and all its plans, in the order in which one needs the other.

The tables are written from docs/design/semantics.md. Of an unstated fact the edge that it may add is derived as any
other, so what is derived is G_may; and what guards keep away, as long as they are all stated to hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import product

from . import names
from .answers import found_in
from .authority import DerivedAuthority
from .calls import calls_of
from .ground import OPERATOR, STRANGERS, Ground, Json
from .inventory import Inventory
from .planned import networks
from .planned_devices import devices
from .plans import PlanOfStack
from .ports import Ports, asked_of, claimed_of
from .residue import Residue, perhaps_operators
from .second_tags import SecondTags
from .services import Services
from .terminals import Terminals
from .unlisted import Unlisted
from .wires import Wires

#: Kinds of planned resources that are read here.
_READ = frozenset({
    "AddressScope", "BareMetalServer", "Bucket", "BucketPolicy", "FloatingIp", "Image", "Keypair", "Network",
    "NvlinkPartition", "PartitionKey", "Port", "Project", "RbacPolicy", "RoleAssignment", "Router", "RouterInterface",
    "S3Credential", "Server", "ServiceUser", "Share", "ShareAccess", "StoredCredential", "Subnet", "SubnetPool",
    "SwitchPort", "Trunk", "VipuAgent", "VipuAllocation", "VipuUser", "Volume", "VolumeAttachment",
})  # fmt: skip
#: Those that join nothing, label nothing and give nothing: names, limits, filters, parts of what is read already.
_JOIN_NOTHING = frozenset({
    "Aggregate", "Claims", "Flavor", "FlavorAccess", "Quota", "Role", "SecurityGroup", "SegmentRange",
    "ShareQuota", "ShareType", "VipuCluster", "VipuPartition", "VolumeType",
})  # fmt: skip


def derived_from(
    site: Json,
    plans: Json,
    locks: Sequence[Json] = (),
    *,
    seen: Mapping[str, bool | None] | None = None,
    controllers: Mapping[str, Json] | None = None,
    moment: datetime | None = None,
) -> tuple[Ground, DerivedAuthority]:
    """What is derived of packets and of calls; `plans` by stack, of `locks` what is released or was cleaned.

    `seen`: what guards are that rest on evidence, as long as it is young enough. `controllers`: files of what was read,
    looked at by `moment`, or now.
    """
    ports = Ports(site, asked_of(plans.values()), claimed_of(plans.values(), locks))
    inventory, ground = Inventory(site, ports), Ground()
    inventory.state_guards(ground, seen or {})
    inventory.controllers, inventory.moment = controllers or {}, moment or inventory.moment
    stacks = [PlanOfStack(inventory, plan) for plan in plans.values()]
    for stack, lock in product(stacks, locks):
        # What the lock notes and the plan leaves out is a device in use all the same.
        stack.untested += lock.get("replaced", ()) if lock["id"] == stack.owner else ()
    for stack in stacks:
        ground.reading = stack.owner
        networks(stack, ground)
        devices(stack, ground)
        ground.answers[stack.owner] = found_in(stack)
        for kind in stack.of_kind.keys() - _READ - _JOIN_NOTHING:
            ground.unread[f"planned resources of kind {kind}"] += len(stack.of_kind[kind])
    for lock in locks:
        residue = Residue(inventory, lock)
        ground.reading = residue.owner
        residue.derive(ground)
    ground.reading = ""
    named = ground.nodes()
    for claim, vlan in ground.premises.lost:
        ground.join("E13", claim, [inventory.segment(name, vlan) for name in inventory.switches])
    inventory.number_vlans(ground)
    _between_owners(inventory, ground, named)
    Services(inventory, ground, named).derive()
    Wires(inventory, ground).derive()
    terminals = Terminals(inventory, ground)
    terminals.derive()
    Unlisted(inventory, ground, named).derive(terminals.groups)
    for node in ground.lent - ground.doubtful:
        if not ground.labels.get(node):
            ground.labels[node].add(OPERATOR)
    for node in [node for pair in ground.joined for node in pair if names.is_reference(node)]:
        ground.labels[node].add(STRANGERS)
    SecondTags(inventory, ground).derive()
    terminals.outsiders()
    perhaps_operators(ground)
    owners = {stack.owner for stack in stacks} | {lock["id"] for lock in locks}
    return ground, DerivedAuthority(ground, calls_of(stacks), owners)


def _between_owners(inventory: Inventory, ground: Ground, named: set[str]) -> None:
    """Rights; what is shared with everybody; what a domain, a switch or a subnet joins unless a guard holds."""
    premises = ground.premises
    known = premises.capabilities | {names.named("cap", OPERATOR)}
    for node, holder in premises.rights:
        ground.join("E13", holder if holder in known else inventory.strangers, [node])
    for node in premises.offered:
        ground.join("E13", node, [*premises.capabilities, inventory.strangers])
    for partition, domain in premises.partitions:
        ground.join_unless(ground.assumed("A8"), "E17", partition, [domain])
    bridges = {names.vlan_bridge(inventory.segment(name, 0)): name for name in inventory.switches}
    for node in named:
        name = bridges.get(names.vlan_bridge(node)) if names.vlan_number(node) is not None else None
        if name is not None:
            fabric = names.named("fabric", inventory.serial[name])
            ground.join_unless(ground.assumed("A1"), "A1", node, [fabric])
    for name in inventory.switches if not ground.holds("A1") else ():
        ground.join("A1", names.named("fabric", inventory.serial[name]), inventory.everywhere(name))
