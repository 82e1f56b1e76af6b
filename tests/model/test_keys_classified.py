"""Every key of site and request is classified (docs/design/semantics.md §8): what forgetting it means.

`fact`      what is so; unknown where it is left out. `table`: records, complete only where that is declared.
`intent`    what somebody wants, and names things by. `policy`: what somebody allows.
`figure`    sizes, weights, prices: they keep no tenants apart.
"""

from __future__ import annotations

from typing import Literal

from interlock.model.site.file import SiteFile
from interlock.model.tenant.file import TenantFile
from tests.docs.file_keys import keys

Class = Literal["fact", "table", "intent", "policy", "figure"]

_SWITCH = "ip_routing mode tag_native translations private_vlan empty filled_by vlan vni underlay encapsulation"
#: (section, class) -> the last parts of its keys; the section itself is its own last part.
SITE: dict[tuple[str, Class], str] = {
    ("name", "intent"): "name", ("cloud", "intent"): "cloud", ("region", "intent"): "region",
    ("claims", "intent"): "claims", ("domain", "intent"): "domain",
    ("racks", "table"): "racks machines poplar tor management gw_switches serials names ports vrfs vteps pdus "
    "routed_vlans interfaces tor_interfaces management_interfaces port_map",
    ("racks", "fact"): f"{_SWITCH} port_names name serial design topology gw address_plan number macs bmc rnic "
    "sync_cables rnic_cables power pdu_serials bare_metal",
    ("racks", "policy"): "wired_by quarantine_vlan states state reason",
    ("racks", "figure"): "nameplate weight height dedicated_cpus huge_pages virtual_functions rack first_unit units "
    "room max_weight cooling cooling_limit feeds derate",
    ("halls", "table"): "halls nodes switches ports guids",
    ("halls", "fact"): "design node_type compute storage roce in_band out_of_band physical_network interface name "
    "serial macs inventory guid provisioning",
    ("halls", "policy"): "state reason",
    ("halls", "figure"): "power racks room units max_weight cooling cooling_limit feeds capacity derate rack unit "
    "dedicated_cpus huge_pages",
    ("rooms", "figure"): "rooms power floor_kg_m2",
    ("physical_racks", "figure"): "physical_racks room units max_weight cooling cooling_limit feeds "
    "capacity derate pdus",
    ("logical_racks", "fact"): "logical_racks number design topology address_plan rack",
    ("machines", "table"): "machines", ("machines", "fact"): "serial logical_rack position generation macs bmc gw rnic",
    # What is given out to somebody new: no isolation rests on it, so that silence is `ok`, and not unknown.
    ("machines", "policy"): "state reason", ("hosts", "policy"): "state reason",
    ("hosts", "table"): "hosts interfaces", ("hosts", "fact"): "serial role logical_rack model provisioning bmc macs",
    ("hosts", "figure"): "dedicated_cpus huge_pages virtual_functions shared_cpus ram",
    # A subnet manager knows ports by GUID: a port without one is in no partition.
    ("gpu_nodes", "table"): "gpu_nodes ports",
    ("gpu_nodes", "fact"): "node_type hall unit use infiniband rail guid",
    ("fabric_switches", "table"): "fabric_switches",
    ("fabric_switches", "fact"): "infiniband tier ports unit rail guid serial",
    ("switches", "table"): "switches ports routed_vlans vrfs vteps",
    ("switches", "fact"): f"{_SWITCH} serial model role port_groups mac port_names",
    ("switches", "policy"): "wired_by quarantine_vlan",
    ("devices", "table"): "devices", ("devices", "fact"): "role serial model",
    ("placements", "figure"): "placements rack unit height nameplate weight",
    ("cables", "table"): "cables ends kind",
    ("lags", "table"): "lags name device interfaces mode",
    ("complete", "policy"): "max_age",
    ("complete", "fact"): "complete switch_ports cables routing external_attachments attachments rights members logins "
    "scopes networks of seen by",
    ("physical_networks", "fact"): "physical_networks switches mtu profile",
    ("fabric_profiles", "figure"): "fabric_profiles pfc_priority dscp cnp_dscp ecn mtu",
    ("underlays", "fact"): "underlays neutron", ("underlays", "figure"): "mtu",
    ("infiniband", "fact"): "infiniband prefix storage access appliance key",
    ("pools", "policy"): "pools ipu_data storage management control bare_metal_control cluster roce reserved_vlans "
    "reserved_vnis storage_vips partition_keys physical_network physical_networks vlans vnis subnets prefix each keys "
    "reserved between_leaf_groups",
    ("external", "fact"): "external name physical_network network_type vlan cidr gateway pool address_scope",
    ("bastion", "policy"): "bastion host user prefixes",
    ("segment_ranges", "policy"): "segment_ranges physical_network vlans vnis",
    ("ironic", "intent"): "ironic conductor_group driver resource_classes poplar machine networks physical_network "
    "vlans subnets prefix each",
    ("flavors", "intent"): "flavors role extra_specs public whole_node type aliases",
    ("flavors", "fact"): "devices one_time_use",
    ("flavors", "figure"): "vcpus ram disk",
    ("images", "intent"): "images file sha512 disk_format",
    # What is stated is compared; what is not is unknown beside what is.
    ("images", "fact"): "properties os kernel driver sdk generations vipu disk boot software open_kernel_module "
    "persistenced cuda nccl ofed ofed_kernels peermem dma_buf sharp sharp_firmware pfc_priority ecn secure_boot "
    "signed_modules mig mitigations lustre sysctls container_host",
    ("lustre_server", "fact"): "lustre_server",
    ("volume_types", "intent"): "volume_types",
    ("volume_encryption", "intent"): "volume_encryption provider cipher key_size control_location",
    ("share_types", "intent"): "share_types storage_class extra_specs mount_options",
    ("s3_role", "intent"): "s3_role",
    ("channel", "intent"): "channel",
    # What a tenant may ask of buckets is held against it; no isolation rests on it.
    ("object_storage", "intent"): "object_storage kind endpoint keys",
    ("tenant_defaults", "intent"): "tenant_defaults flavor image volume_type share_type",
    ("controller", "intent"): "controller flavor image user_api_port managed_by",
    ("controller", "policy"): "readings max_age backup",
    ("limits", "policy"): "limits controller_instances controller_cores controller_ram machines_per_tenant "
    "remote_poplar_oversubscription",
    ("prices", "figure"): "prices",
    ("sharing", "policy"): "sharing kind node audience", ("sharing", "fact"): "guards",
    ("assumptions", "fact"): "assumptions",
    ("evidence", "policy"): "evidence max_age signers acceptance busbw message link symbol_errors link_downed hcas "
    "nvswitches firmware hca gpu nvswitch",
    ("existing", "intent"): "existing",
    ("waivers", "policy"): "waivers owner reason expires",
}  # fmt: skip
#: Sections of a request in which everything is intent; the others are policy, or a figure.
INTENT = {
    "name",
    "state",
    "on_delete",
    "encrypted",
    "access",
    "vpods",
    "clusters",
    "volumes",
    "shares",
    "buckets",
    "pins",
}
POLICY, FIGURE = {"separate", "waivers"}, {"budget"}


def test_every_key_of_a_site_is_classified_once() -> None:
    listed = [(section, leaf) for (section, _), leaves in SITE.items() for leaf in leaves.split()]
    there = {(key.top, key.path.split(".")[-1].removesuffix("[]")) for key in keys(SiteFile)}
    assert sorted(there - set(listed)) == [], "say what each new key is: fact, table, intent, policy or figure"
    assert sorted(set(listed) - there) == []
    assert len({item for item in listed if listed.count(item) > 1}) == 0


def test_every_key_of_a_request_is_intent_policy_or_a_figure() -> None:
    sections = {key.top for key in keys(TenantFile)}
    assert sections == INTENT | POLICY | FIGURE
    assert len(INTENT) + len(POLICY) + len(FIGURE) == len(sections)
