"""Labels that come from the site and not from a plan: `op`, `world`, `foreign`."""

from __future__ import annotations

from collections.abc import Iterator

from interlock.model.site.inventory import Endpoint
from policies.facts import identities as ids
from policies.facts.guards import welcome

from .cleaned import doubted
from .guarded import declarations
from .operated import operated_nodes
from .shape import Relation, Union
from .terminals import addresses, copies


def site_labels(union: Union) -> dict[str, frozenset[str]]:
    """Labels that no plan puts: the operator's devices, the world behind the external network, strangers."""
    operator = frozenset({ids.OPERATOR})
    site = union.site.site
    found = {
        device: operator
        for end, _ in union.site.device_ends
        if not _is_doubtful(union, end)
        for device in union.site.devices_behind(end)
    }
    for machine in site.machines:
        found |= {ids.part(machine.serial, name): operator for name in ("rnic", "gw", "bmc")}
    for host in site.hosts:
        found[ids.hypervisor(host.serial)] = operator
        found[union.site.bmc(host.name)] = operator
        found |= dict.fromkeys(union.site.infiniband_ports(host.name), operator)
        if not union.site.is_bare_metal(host.name):
            found |= dict.fromkeys(union.site.lent_parts(host.name), operator)
    for switch in site.switches:
        found[ids.default_vrf(switch.serial)] = operator
        found |= {ids.vrf(switch.serial, item.name): operator for item in switch.vrfs}
        found |= {address.node: operator for address in addresses(union, switch)}
    found |= {copy.hub: operator for copy in copies(union)}
    found |= dict.fromkeys(_infiniband_ports(union), operator)
    found[ids.capability(ids.OPERATOR)] = operator
    found[ids.cloud_api(site.cloud)] = operator
    found[ids.share_service(site.cloud)] = operator
    found |= dict.fromkeys(operated_nodes(union), operator)
    found |= {device.keeper: operator for device in doubted(union)}
    found[ids.foreigners(site.cloud)] = frozenset({ids.FOREIGN})
    found[ids.external_hub(site.external.name)] = frozenset({ids.WORLD})
    return found | dict(_unwelcome(union))


def _is_doubtful(union: Union, end: Endpoint) -> bool:
    """True for a plug of a whole host that may be its BMC's or its borrower's: neither label is known."""
    return union.site.is_bare_metal(end.device) and end.interface in union.site.doubtful_plugs(end.device)


def _infiniband_ports(union: Union) -> Iterator[str]:
    """Those of declared terminals, and whatever in a P_Key no tenant calls its own."""
    yield from union.site.shared_ports
    lent = {node for share in union.shares for node in share.labels}
    yield from (port for _, port, _, _ in union.facts(Relation.KEY) if port not in lent)


def _unwelcome(union: Union) -> Iterator[tuple[str, frozenset[str]]]:
    """Copies of a terminal that a tenant outside its audience meets count as the operator's."""
    for _, attachment, kind, tenant in union.facts(Relation.COPY):
        if not _welcome(union, kind, tenant):
            yield attachment, frozenset({ids.OPERATOR})
    for router, _, _, tenant in union.facts(Relation.GATEWAY):
        if not _welcome(union, "external-network", tenant):
            yield ids.external_copy(union.site.site.external.name, router), frozenset({ids.WORLD})


def _welcome(union: Union, kind: str, tenant: str) -> bool:
    """True for the audience of one controller of several; of appliances nobody can tell which has the address."""
    declared = declarations(union, kind)
    if kind == "storage-appliance":
        return all(welcome([item], tenant) for item in declared)
    return not declared or welcome(declared, tenant)
