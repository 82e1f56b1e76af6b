"""Worked examples about what is in no plan: services, talking switches, firmware (A16 to A24), and the cloud."""

from __future__ import annotations

from collections.abc import Callable

from interlock.model.site.guards import ASSUMPTION_GUARDS
from interlock.resources import Keypair
from tests.builders.pod64 import ssh_key

from .drafting import Draft
from .sayings import VLAN, A, Example, G, both, leaf, machine


def two_tenants() -> Draft:
    """Each with a server on one hypervisor, each on its own VLAN."""
    return both()


def nobody() -> Draft:
    """The operator alone, with a machine that nobody has."""
    draft = leaf()
    draft.machine("ipum-01")
    return draft


def with_an_overlay() -> Draft:
    """acme has a control network on Neutron's VXLAN."""
    draft = both()
    network = draft.vxlan(A, "acme-a-control", 5001)
    port = draft.plug(A, "acme-a-control-port", network, vnic_type="normal")
    draft.server(A, "acme-a-controlled", "hv-1", (port,))
    return draft


def without_servers() -> Draft:
    """acme has a network and a machine, and no server."""
    draft = leaf()
    draft.vlan(A, "acme-a-ipu-data", "data-1", 1001, project=draft.project(A))
    machine(draft, A, "ipum-01", 1001)
    return draft


def with_gateways() -> Draft:
    """A router each, with a filtered gateway on the external network."""
    draft = both()
    for tenant, cidr in ((A, "10.7.1.0/24"), (G, "10.7.2.0/24")):
        subnet = draft.subnet(tenant, f"{tenant}-a-ipu-data-{VLAN[tenant]}", cidr)
        draft.router(tenant, f"{tenant}-a-router", (subnet,))
    return draft


def machines_on_one_leaf() -> Draft:
    """A machine each, on access ports of one leaf."""
    draft = both()
    machine(draft, A, "ipum-01", 1001)
    machine(draft, G, "ipum-02", 1002)
    return draft


def host_handed_on() -> Draft:
    """acme gave a whole host up, it was seen unwired, power-cycled and wiped, and globex has it."""
    draft = both()
    port = draft.whole_host("bm-1", "leaf-1")
    draft.switch_port(G, "leaf-1", port, 1002)
    draft.clean(A, "bm-1")
    return draft


def machine_handed_on() -> Draft:
    """The same of a machine."""
    draft = both()
    machine(draft, G, "ipum-07", 1002)
    draft.clean(A, "ipum-07")
    return draft


def with_a_key() -> Draft:
    """acme has a key pair."""
    draft = both()
    draft.add(A, "acme-a-key", Keypair(name="key", public_key=ssh_key(A)))
    return draft


Made = Callable[[], Draft]


def _stated(made: Made, assumption: str, value: bool | None) -> Made:
    def draft() -> Draft:
        found = made()
        found.assumptions[assumption] = dict.fromkeys(ASSUMPTION_GUARDS[assumption], True)
        found.assumptions[assumption][ASSUMPTION_GUARDS[assumption][-1]] = value
        return found

    draft.__name__ = f"{made.__name__}_{assumption}_{value}"
    return draft


def _decided_by(number: int, assumption: str, made: Made, without: Made) -> tuple[Example, ...]:
    """Held, not stated and false where something rests on it; false where nothing does."""
    return (
        Example(f"{number}a", "P", _stated(made, assumption, value=True)),
        Example(f"{number}b", "N", _stated(made, assumption, value=None)),
        Example(f"{number}c", "V", _stated(made, assumption, value=False)),
        Example(f"{number}d", "P", _stated(without, assumption, value=False)),
    )


def _open(made: Made, table: str, subject: str) -> Made:
    def draft() -> Draft:
        found = made()
        found.open_tables.add((table, subject))
        return found

    draft.__name__ = f"{made.__name__}_without_{table}_{subject}"
    return draft


EXAMPLES = (
    *_decided_by(53, "A16", two_tenants, nobody),
    *_decided_by(54, "A17", with_an_overlay, two_tenants),
    *_decided_by(55, "A18", two_tenants, nobody),
    *_decided_by(56, "A19", two_tenants, without_servers),
    *_decided_by(57, "A20", two_tenants, without_servers),
    *_decided_by(58, "A21", with_gateways, two_tenants),
    *_decided_by(59, "A22", machines_on_one_leaf, two_tenants),
    *_decided_by(60, "A23", host_handed_on, machine_handed_on),
    Example("61a", "P", two_tenants),
    Example("61b", "N", _open(two_tenants, "rights", "Network")),
    Example("61c", "N", _open(two_tenants, "networks", "data-1")),
    Example("61d", "N", _open(two_tenants, "members", "default")),
    Example("62a", "P", with_gateways),
    Example("62b", "N", _open(with_gateways, "scopes", "external")),
    Example("62c", "N", _open(with_gateways, "rights", "AddressScope")),
    Example("62d", "N", _open(with_gateways, "rights", "SubnetPool")),
    Example("62e", "P", _open(two_tenants, "scopes", "external")),
    Example("63a", "P", with_a_key),
    Example("63b", "N", _open(with_a_key, "logins", "default")),
    Example("63c", "P", _open(two_tenants, "logins", "default")),
    *_decided_by(65, "A24", machines_on_one_leaf, two_tenants),
)
