"""What the bare script makes in Neutron: networks, routers, security groups, and ports of both kinds."""

from __future__ import annotations

from benchmarks.bare_operator import Ids, Operator, Spec


def network(operator: Operator, spec: Spec, ids: Ids) -> str:
    """A provider network."""
    optional = {
        "provider_physical_network": spec["physical_network"],
        "provider_segmentation_id": spec["segmentation_id"],
        "mtu": spec["mtu"],
    }
    made = operator.cloud.network.create_network(
        name=spec["name"],
        project_id=ids[spec["project"]],
        provider_network_type=spec["network_type"],
        is_port_security_enabled=spec["port_security"],
        **{key: value for key, value in optional.items() if value is not None},
    )
    return str(made.id)


def subnet(operator: Operator, spec: Spec, ids: Ids) -> str:
    """A subnet of IPv4."""
    made = operator.cloud.network.create_subnet(
        name=spec["name"],
        project_id=ids[spec["project"]],
        network_id=ids[spec["network"]],
        ip_version=4,
        cidr=spec["cidr"],
        gateway_ip=spec["gateway"],
        is_dhcp_enabled=spec["dhcp"],
        dns_nameservers=spec["dns"],
        allocation_pools=[{"start": first, "end": last} for first, last in spec["pools"]],
    )
    return str(made.id)


def router(operator: Operator, spec: Spec, ids: Ids) -> str:
    """A router with its gateway."""
    gateway = {"network_id": ids[spec["external_network"]], "enable_snat": spec["snat"]}
    where = {"project_id": ids[spec["project"]], "external_gateway_info": gateway}
    return str(operator.cloud.network.create_router(name=spec["name"], **where).id)


def router_interface(operator: Operator, spec: Spec, ids: Ids) -> str:
    """A subnet at a router."""
    router, subnet = ids[spec["router"]], ids[spec["subnet"]]
    operator.cloud.network.add_interface_to_router(router, subnet_id=subnet)
    return f"{router}/{subnet}"


def floating_ip(operator: Operator, spec: Spec, ids: Ids) -> str:
    """An address outside that leads to a port; Neutron chooses it."""
    where = {"floating_network_id": ids[spec["external_network"]], "port_id": ids[spec["port"]]}
    return str(operator.cloud.network.create_ip(project_id=ids[spec["project"]], **where).id)


#: Field of a rule in the file -> Neutron's name of it.
RULE = {
    "direction": "direction",
    "ethertype": "ethertype",
    "protocol": "protocol",
    "port_min": "port_range_min",
    "port_max": "port_range_max",
    "remote_prefix": "remote_ip_prefix",
}


def security_group(operator: Operator, spec: Spec, ids: Ids) -> str:
    """A group with its rules."""
    neutron, owner = operator.cloud.network, ids[spec["project"]]
    made = neutron.create_security_group(name=spec["name"], project_id=owner)
    wanted = [{theirs: rule[ours] for ours, theirs in RULE.items()} for rule in spec["rules"]]
    # Neutron gives every new group two rules that let everything out.
    for rule in made.security_group_rules:
        same = {theirs: rule[theirs] for theirs in RULE.values()}
        if same in wanted:
            wanted.remove(same)
        else:
            neutron.delete_security_group_rule(rule["id"])
    if wanted:
        whose = {"security_group_id": made.id, "project_id": owner}
        list(neutron.create_security_group_rules([rule | whose for rule in wanted]))
    return str(made.id)


def port(operator: Operator, spec: Spec, ids: Ids) -> str:
    """A port of a server."""
    groups = [ids[group] for group in spec["security_groups"]]
    more = {"name": spec["name"], "is_port_security_enabled": spec["port_security"], "security_group_ids": groups}
    return _on_network(operator, spec, ids, [spec["address"]], more | {"binding_vnic_type": spec["vnic_type"]})


def switch_port(operator: Operator, spec: Spec, ids: Ids) -> str:
    """A port of a machine: Neutron has the driver of its switch set it, and answers when that is done."""
    link = {"switch_info": spec["switch"], "switch_id": spec["switch_mac"], "port_id": spec["port_name"]}
    binding = {"binding_host_id": spec["device"], "binding_profile": {"local_link_information": [link]}}
    more = binding | {"name": spec["name"], "binding_vnic_type": "baremetal", "is_port_security_enabled": False}
    return _on_network(operator, spec, ids, spec["addresses"], more)


def _on_network(operator: Operator, spec: Spec, ids: Ids, addresses: list[str], more: Spec) -> str:
    fixed = [{"subnet_id": ids[spec["subnet"]], "ip_address": address} for address in addresses]
    where = {"project_id": ids[spec["project"]], "network_id": ids[spec["network"]], "fixed_ips": fixed}
    return str(operator.cloud.network.create_port(**where, **more).id)
