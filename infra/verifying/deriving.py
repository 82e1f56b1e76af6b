"""Everything that follows from a site in full form and all its plans, in the order in which one needs the other.

The tables are written from docs/design/semantics.md. Of an unstated fact the edge that it may add is derived as any
other, so what is derived is G_may; and what guards keep away, as long as they are all stated to hold.
"""

from __future__ import annotations

from typing import Any

from . import names
from .ground import OPERATOR, Ground
from .inventory import Inventory
from .planned import networks
from .planned_devices import devices
from .plans import PlanOfStack
from .ports import Ports, asked_of
from .terminals import Terminals
from .unlisted import Unlisted
from .wires import Wires


def ground_of(site: dict[str, Any], plans: dict[str, Any]) -> Ground:
    """Edges, labels and exclusive identities; `plans` by stack."""
    inventory, ground = Inventory(site, Ports(site, asked_of(plans.values()))), Ground()
    inventory.state_guards(ground)
    for plan in plans.values():
        stack = PlanOfStack(inventory, plan)
        ground.reading = stack.owner
        networks(stack, ground)
        devices(stack, ground)
    ground.reading = ""
    named = ground.nodes()
    inventory.number_vlans(ground)
    _between_owners(inventory, ground, named)
    Wires(inventory, ground).derive()
    terminals = Terminals(inventory, ground)
    terminals.derive()
    Unlisted(inventory, ground, named).derive(terminals.groups)
    for node in ground.lent:
        if not ground.labels.get(node):
            ground.labels[node].add(OPERATOR)
    for node in [node for pair in ground.joined for node in pair if names.is_reference(node)]:
        ground.labels[node].add("foreign")
    terminals.outsiders()
    return ground


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
