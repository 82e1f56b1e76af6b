"""Worked examples about virtual servers that have a GPU node whole. Letters are variants."""

from __future__ import annotations

from .drafting import Draft
from .passed_on import fabric, gpus, key, passed_on_node, server
from .sayings import A, Example, G, leaf

#: Compute ports of acme's node, of globex's, and of one that nobody has; a storage port of acme's node.
ACMES, GLOBEXS, IDLE, STORED = (f"{number:016x}" for number in (0xA1, 0xB1, 0xC1, 0xD1))
VLAN = {A: 1001, G: 1002}


def _hall() -> Draft:
    """A node for each of two tenants on one leaf, and nothing on it."""
    draft = leaf()
    fabric(draft)
    for tenant, vlan in VLAN.items():
        draft.tenant(tenant)
        draft.vlan(tenant, f"{tenant}-data", "data-1", vlan)
    passed_on_node(draft, "node-acme", "leaf-1", "data-1", ACMES, STORED)
    passed_on_node(draft, "node-globex", "leaf-1", "data-1", GLOBEXS)
    return draft


def _on(draft: Draft, owner: str, host: str, flavor: str = "gpu") -> Draft:
    server(draft, owner, host, f"{owner}-data", flavor)
    return draft


def a_virtual_node_each() -> Draft:
    """With P_Keys of their own."""
    draft = _on(_on(_hall(), A, "node-acme"), G, "node-globex")
    key(draft, A, 0x10, ACMES)
    key(draft, G, 0x11, GLOBEXS)
    return draft


def two_tenants_on_one_node() -> Draft:
    """Each by a server of its own, whatever Nova thinks of it."""
    return _on(_on(_hall(), A, "node-acme"), G, "node-acme")


def small_server_on_anothers_node() -> Draft:
    """A head of globex's: its flavour hands out nothing, and the node is acme's all the same."""
    return _on(_on(_hall(), A, "node-acme"), G, "node-acme", "poplar")


def port_of_anothers_virtual_node() -> Draft:
    """In acme's P_Key, and in none of globex's."""
    draft = _on(_on(_hall(), A, "node-acme"), G, "node-globex")
    key(draft, A, 0x10, ACMES, GLOBEXS)
    return draft


def port_of_an_idle_virtual_node() -> Draft:
    """Nobody has the node, so it is the operator's."""
    draft = _on(_hall(), A, "node-acme")
    passed_on_node(draft, "node-idle", "leaf-1", "data-1", IDLE)
    key(draft, A, 0x10, ACMES, IDLE)
    return draft


def gpus_of_anothers_virtual_node() -> Draft:
    """A fabric manager was told that they are globex's."""
    draft = _on(_hall(), A, "node-acme")
    gpus(draft, G, "node-acme")
    return draft


def gpus_of_ones_own_virtual_node() -> Draft:
    """That they are acme's."""
    draft = _on(_hall(), A, "node-acme")
    gpus(draft, A, "node-acme")
    return draft


def virtual_node_that_was_given_up() -> Draft:
    """acme had it, and nobody saw it clean."""
    draft = _on(_hall(), G, "node-acme")
    draft.give_up(A, "hosts", "node-acme")
    return draft


def cleaned_virtual_node(**guards: bool | None) -> Draft:
    """acme had it, it was settled, globex has it."""
    draft = _on(_hall(), G, "node-acme")
    draft.clean(A, "node-acme")
    draft.assumptions["A23"] |= guards
    return draft


def cleaned_virtual_node_with_firmware_of_whoever() -> Draft:
    """Nobody says that firmware is set back."""
    return cleaned_virtual_node(firmware_restored=None)


_MEET = ("ISO-02", "TOP-06")
EXAMPLES = (
    Example("66m", "P", a_virtual_node_each, rules=(*_MEET, "ISO-20")),
    Example("66n", "V", two_tenants_on_one_node, rules=_MEET),
    Example("66o", "V", small_server_on_anothers_node, rules=_MEET),
    Example("66p", "V", port_of_anothers_virtual_node, rules=_MEET),
    Example("66q", "V", port_of_an_idle_virtual_node, rules=_MEET),
    Example("66r", "V", gpus_of_anothers_virtual_node, rules=_MEET),
    Example("66s", "P", gpus_of_ones_own_virtual_node, rules=_MEET),
    Example("66t", "V", virtual_node_that_was_given_up, rules=_MEET),
    Example("66u", "P", cleaned_virtual_node, rules=_MEET),
    Example("66v", "N", cleaned_virtual_node_with_firmware_of_whoever, rules=_MEET),
)
