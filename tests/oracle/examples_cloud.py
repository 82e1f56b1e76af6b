"""Worked examples about the cloud: rights, routers, gateways, controllers, images, data. Letters are variants."""

from __future__ import annotations

from interlock.resources import (
    AddressScope,
    RbacPolicy,
    SubnetPool,
)

from .drafting import CONTROLLERS, EXTERNAL, Draft, without_scope
from .sayings import A, Example, G, both, control, controller, leaf, management, second_server, tenant, vpods
from .world import OP


def _right(thing: str, action: str, target: str, owner: str = A) -> Draft:
    draft = both()
    project = None if owner == OP else draft.project(owner)
    fields = {"project": project or CONTROLLERS, "object": thing, "action": action, "target": target}
    draft.add(owner, f"{owner}-right", RbacPolicy.model_validate(fields))
    return draft


def right_for_another() -> Draft:
    """globex may plug into acme's network and has not yet."""
    return _right("acme-a-ipu-data-1001", "access_as_shared", "cloud:Project/globex")


def right_for_all() -> Draft:
    """Everybody may."""
    return _right("acme-a-ipu-data-1001", "access_as_shared", "*")


def outside_for_all() -> Draft:
    """Everybody may have a gateway on the external network."""
    return _right(EXTERNAL, "access_as_external", "*", OP)


def router_on_anothers_subnet() -> Draft:
    """acme's router has an interface on a subnet of a project that is not acme's."""
    draft = both()
    network = draft.vxlan(A, "acme-a-theirs", 5900, project="cloud:Project/somebody")
    subnet = draft.subnet(A, network, "10.9.0.0/24", project="cloud:Project/somebody")
    draft.router(A, "acme-router", (subnet,), external=None)
    control(draft, G, 5002)
    return draft


def two_gateways() -> Draft:
    """Both with a control network behind a router with a gateway."""
    draft = both()
    for number, name in enumerate((A, G)):
        control(draft, name, 5001 + number)
    return draft


def gateways_without_scope() -> Draft:
    """Two routers with SNAT on one external network that is in no scope."""
    draft = two_gateways()
    without_scope(draft)
    return draft


def scope_facts_missing() -> Draft:
    """Nobody says whether the L3 agent enforces scopes."""
    draft = two_gateways()
    draft.sharing["external"]["l3_agent_enforces_scopes"] = None
    return draft


def outside_in_a_scope() -> Draft:
    """The external network in scope `pub`, which no tenant may use."""
    return two_gateways()


def insides_in_the_scope() -> Draft:
    """`pub` is shared with tenants, and their subnets are in it."""
    draft = both()
    draft.add(OP, "pub", AddressScope(name="pub", shared=True))
    draft.add(OP, "pool", SubnetPool(name="pool", address_scope="pub", prefixes=("10.0.0.0/8",), shared=True))
    for number, name in enumerate((A, G)):
        network = draft.vxlan(name, f"{name}-a-control", 5001 + number)
        subnet = draft.subnet(name, network, f"10.30.{number}.0/24", subnet_pool="site:SubnetPool/external-pool")
        draft.router(name, f"{name}-router", (subnet,))
    return draft


def controller_of_the_tenants() -> Draft:
    """acme's members can rescue it."""
    draft = both()
    controller(draft, A, 111, 5001)
    items = draft.resources[A]
    for number, item in enumerate(items):
        if item.name == "acme-a-controller":
            resource = item.resource.model_copy(update={"project": draft.project(A)})
            items[number] = item.model_copy(update={"resource": resource})
    return draft


def controller_of_the_operators() -> Draft:
    """Declared, with all that it rests on."""
    draft = both()
    controller(draft, A, 111, 5001)
    return draft


def forwarding_not_stated() -> Draft:
    """Nobody says whether it forwards IPv6."""
    draft = controller_of_the_operators()
    draft.sharing["vipu-controller"]["ipv6_forwarding_off"] = None
    return draft


def one_management_network() -> Draft:
    """Both tenants' controllers on one VLAN of the operator's."""
    draft = both()
    for number, name in enumerate((A, G)):
        controller(draft, name, 111, 5001 + number)
    return draft


def server_on_management() -> Draft:
    """A Poplar server with a port where BMCs and gateways are."""
    draft = both()
    management(draft)
    draft.hypervisor("hv-2", "mgmt-1", "mgmt", ((110, 199),))
    network = draft.vlan(A, "acme-a-management", "mgmt", 111, project=CONTROLLERS)
    draft.server(A, "acme-a-nosy", "hv-2", (draft.plug(A, "acme-a-nosy-port", network),))
    return draft


def monitoring_server() -> Draft:
    """The operator's, on acme's control network, not declared."""
    draft = both()
    network = control(draft, A, 5001)
    port = draft.plug(A, "acme-a-monitor-port", network, project=CONTROLLERS, vnic_type="normal")
    draft.server(A, "acme-a-monitor", "hv-1", (port,), project=CONTROLLERS)
    return draft


def _monitor(declared: bool | None) -> Draft:
    """A box of the operator's on the VLANs of both, declared with its guards held or not stated, or not at all."""
    draft = both()
    draft.appliance("watch", "leaf-1", mode="trunk", tagged=((1001, 1002),))
    draft.declare("watch", "monitoring", A, G, no_proxying=declared)
    return draft


def monitoring_that_is_declared() -> Draft:
    """A plan's server cannot be declared, a device with a cable can."""
    return _monitor(True)


def monitoring_that_may_proxy() -> Draft:
    """Nobody says whether it proxies."""
    return _monitor(None)


def monitoring_that_proxies() -> Draft:
    """It does."""
    return _monitor(False)


def vpods_on_their_own() -> Draft:
    """acme has two vPODs, each on a data segment of its own."""
    draft = leaf()
    draft.tenant(A)
    draft.tenant(G)
    vpods(draft, A, 1001, 1003)
    vpods(draft, G, 1002)
    return draft


def server_in_two_vpods() -> Draft:
    """A server of acme with functions on the data segments of both."""
    draft = vpods_on_their_own()
    second_server(draft, A, "acme-a", ("acme-a-ipu-data", "acme-b-ipu-data"))
    return draft


def vpods_that_may_meet() -> Draft:
    """The same, and the request has `separate: no`: tenants are the only owners."""
    draft = server_in_two_vpods()
    draft.one_owner.add(A)
    return draft


def network_of_a_stranger() -> Draft:
    """VLAN 1200 lies in our pool and belongs to a project that no file describes; acme's port is on it."""
    draft = leaf()
    draft.change_port("leaf-1", 1, tagged=((1000, 1299),))
    tenant(draft, A, 1001)
    tenant(draft, G, 1002)
    network = draft.vlan(A, "acme-a-theirs", "data-1", 1200, project="cloud:Project/stranger")
    draft.server(A, "acme-a-guest", "hv-1", (draft.plug(A, "acme-a-guest-port", network),))
    return draft


def cloud_of_our_own() -> Draft:
    """No stranger is described, and the pools are delegated to us alone (A10)."""
    return both()


EXAMPLES = (
    Example("11a", "V", right_for_another),
    Example("11b", "V", right_for_all),
    Example("12", "P", outside_for_all),
    Example("13", "V", router_on_anothers_subnet),
    Example("14a", "V", gateways_without_scope),
    Example("14b", "N", scope_facts_missing),
    Example("15a", "P", outside_in_a_scope),
    Example("15b", "V", insides_in_the_scope),
    Example("17", "V", controller_of_the_tenants),
    Example("18a", "P", controller_of_the_operators),
    Example("18b", "N", forwarding_not_stated),
    Example("19", "P", one_management_network, rules=("ISO-02", "TOP-06")),
    Example("22a", "V", server_on_management),
    Example("38a", "V", monitoring_server),
    Example("38b", "P", monitoring_that_is_declared),
    Example("38c", "N", monitoring_that_may_proxy),
    Example("38d", "V", monitoring_that_proxies),
    Example("40a", "P", vpods_that_may_meet, rules=("ISO-01", "ISO-02", "ISO-03")),
    Example("40b", "V", server_in_two_vpods, rules=("ISO-03",)),
    Example("40c", "P", vpods_on_their_own, rules=("ISO-02", "ISO-03")),
    Example("44a", "V", network_of_a_stranger),
    Example("44b", "P", cloud_of_our_own),
)
