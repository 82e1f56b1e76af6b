"""Where each row, guard and kind is looked at, and why nothing is there where nothing is: data of `test_matrix`.

An example is one of docs/design/semantics.md or of those that a search found, by its name; a number is the seed of a
random world. A mutant is a mutation operator, by its id. Without the row or guard some verdict there is another.
"""

from __future__ import annotations

#: Row of the table of edges -> (an example or the seed of a world, a mutant) that it decides.
ROWS: dict[str, tuple[str | int | None, str | None]] = {
    "E5 a bare-metal server is on every interface of its host": (None, None),
    "E5 a server on a GPU node has the devices that are passed on to it": ("66n-two_tenants_on_one_node", None),
    "E5 a bare-metal port is on the switch ports behind its host's interfaces": (None, "leftover-tag"),
    "E6 a virtual function with a VLAN set by the host reaches that VLAN only": (
        "34-bridge_between_two",
        "vlan-not-released",
    ),
    "E7 an ordinary vNIC reaches its network's segment on its host": ("18b-forwarding_not_stated", "router-two"),
    "E7 a port without a server, on somebody else's network, is on every switch of it": ("c-spare_port", None),
    "E8 who has the parent port of a trunk has its sub-ports": (None, None),
    "E9 a server forwards between its ports, unless it is a declared terminal": ("43a-volume_on_two", "role-operator"),
    "E7 the storage appliance has an address on the network of each grant": (
        "31b-shares_by_address_alone",
        "share-address",
    ),
    "E9 a server reads and writes the volumes attached to it": ("43a-volume_on_two", "volume-of-another"),
    "E10 a router joins the segments of all its interfaces": ("13-router_on_anothers_subnet", "router-two"),
    "E12 a port on an external network reaches its hub": (65, "remote-group-members"),
    "E12 the wire of an external network of the plan's own": (None, None),
    "E13 a project may plug into its own networks": (362, "rbac-external"),
    "E16 a V-IPU allocation joins its machines": (None, "management-on-rnic"),
    "E17 an NVLink partition joins its GPUs": (None, None),
    "E17 an NVLink partition joins the GPU node that is its domain": ("66k-gpus_of_anothers_node", "nvlink-node"),
    "E1 cabled switches carry the same tagged VLAN": ("6-uplinks_without_lists", "native-tagged"),
    "E2 cabled switches join their native VLANs, also when the numbers differ": (
        "7-natives_that_differ",
        "natives-unequal",
    ),
    "E1 a group of a private VLAN is apart while roles are held and only terminals hear all": (12, "private-role-lost"),
    "E5 the operator's kernel hears what a switch port sends its host untagged": (
        "36c-another_host_without_a_record",
        None,
    ),
    "E3 a switch maps VLANs to overlays": ("9b-one_overlay", "vtep-shared"),
    "E3 Neutron's overlays share their ids with all that runs over one underlay": (
        "10a-neutron_and_evpn",
        "vtep-neutron",
    ),
    "E4 a host's interface carries the VLANs of its switch port": ("17-controller_of_the_tenants", "vlan-not-released"),
    "E5 a device that may tag reaches the native and every tagged VLAN of its switch port": (
        "2-machine_on_anothers_vlan",
        "rnic-idle",
    ),
    "E7 a port whose host has no interface on its network may be on any of its VLANs": ("t", None),
    "E5 a network function of a flavour reaches every VLAN of its host's ports": (48, "flavor-network"),
    "E9 what is cabled to a switch port is attached there": ("2-machine_on_anothers_vlan", "volume-of-another"),
    "E9 a host that is given out whole forwards between its interfaces": ("j-plug_that_may_be_the_bmcs", None),
    "E5 each VLAN that a declared device meets, meets a copy of it": ("38c-monitoring_that_may_proxy", "vrf-audience"),
    "E9 a declared device passes nothing on while its guards are held": (
        "39c-access_list_not_stated",
        "routed-back-end.default_deny=false",
    ),
    "E10 a routing instance of a switch joins the VLANs in which it has an address": ("37a-routing_leaf", "vrf-two"),
    "E10 a routing instance is at the other end of a routed port's cable": (None, None),
    "E12 the wire of the external network": ("64d-second_tag_at_a_hypervisor", None),
    "E20 where no table is complete, or a port has no cable, something may be there": (21, "unlisted-cables"),
    "E20 a host may have interfaces that nobody listed": (226, "unlisted-interfaces"),
    "E20 a machine or another device may be attached elsewhere, too": (148, "unlisted-plugs"),
    "A16 load balancers of the cloud: met unless A16 is held": (
        "53c-two_tenants_A16_False",
        "A16.load_balancers_apart=false",
    ),
    "A17 the wire under the overlays: met unless A17 is held": (
        "54c-with_an_overlay_A17_False",
        "A17.underlay_closed=false",
    ),
    "A18 network nodes of the cloud: met unless A18 is held": (
        "55c-two_tenants_A18_False",
        "A18.metadata_signed=false",
    ),
    "A19 migration and consoles of hypervisors: met unless A19 is held": (
        "56c-two_tenants_A19_False",
        "A19.consoles_closed=false",
    ),
    "A20 storage behind the hypervisors: met unless A20 is held": (
        "57c-two_tenants_A20_False",
        "A20.volumes_apart=false",
    ),
    "A21 networks behind the external one: met unless A21 is held": (
        "58c-with_gateways_A21_False",
        "A21.upstream_filtered=false",
    ),
    "A22 VLANs that a device asks its switch for: met unless A22 is held": (
        "59c-machines_on_one_leaf_A22_False",
        "A22.vlan_protocols_off=false",
    ),
    "A23 firmware of a former holder: met unless A23 is held": (
        "60c-host_handed_on_A23_False",
        "A23.firmware_restored=false",
    ),
    "A24 the operator's way to BMCs: met unless A24 is held": (
        "65c-machines_on_one_leaf_A24_False",
        "A24.bmc_answers_only=false",
    ),
    "E20 rights to a network, and networks on its wire, that no plan tells of": (
        "61b-two_tenants_without_rights_Network",
        "unlisted-networks",
    ),
    "E20 networks that no plan tells of, on the trunks that a driver fills": (
        "6d-filled_trunk_to_unlisted_networks",
        "unlisted-on-trunk",
    ),
    "E20 members of a project whom no plan tells of": (
        "61d-two_tenants_without_members_default",
        "unlisted-members",
    ),
    "E13 every project may plug into a shared network": ("11b-right_for_all", "rbac-everybody"),
    "E13 who was given a right may plug in": ("11a-right_for_another", "rbac-external"),
    "E13 a released VLAN may be on every switch unless its physical network is known": (78, None),
    "E9 a terminal passes nothing on while its guards are held": (
        "18b-forwarding_not_stated",
        "vipu-controller.ipv4_forwarding_off=false",
    ),
    "E11 a gateway meets a copy of the external network, and its hub unless it is filtered": (
        "14a-gateways_without_scope",
        "scope-shared",
    ),
    "E14 a bare-metal host reaches its BMC unless A13 is held": ("23-open_bmc", "A13.in_band_closed=false"),
    "E15 a machine joins RNIC, gateway and BMC unless A3 is held": (
        "22c-default_credentials",
        "A3.no_forwarding=false",
    ),
    "E16 links between machines carry data unless A4 is held": (
        "28b-allocation_unknown",
        "A4.one_allocation_each=false",
    ),
    "E17 an NVLink domain joins its partitions unless A8 is held": (
        "29-default_nvlink_partition",
        "A8.partitions_applied=false",
    ),
    "E18 a hypervisor joins its guests unless A5 is held": ("42a-without_mitigations", "A5.iommu=false"),
    "E19 a P_Key joins its members, and an InfiniBand subnet everybody unless A6 is held": (
        "25b-full_member",
        "A6.subnet_manager_keys_set=false",
    ),
    "A1 a switch joins all its VLANs unless A1 is held": (8, "A1.vlan_lists_enforced=false"),
    "A2 the cloud joins all projects unless A2 is held": (38, "A2.project_scope_enforced=false"),
    "A9 what was cleaned is its former holder's unless A9 is held": ("52b", "A9.steps_erase=false"),
    "A10 strangers may be on every claimed segment unless A10 is held": (261, "A10.pools_delegated=false"),
    "E21 the next switch reads a second tag where the first is taken off": (
        "64a-second_tag_behind_a_native_vlan",
        "second-tag",
    ),
    "E9 a declared device is an ordinary one for whoever is not in its audience": (
        "49c-address_declared_for_another",
        "vrf-audience",
    ),
    "A9 what was cleaned and nobody has may be the operator's again": (
        "n-cleaned_host_beside_its_former_holder",
        None,
    ),
}

#: An example in which the oracle's verdict and the prover's are others without any of these guards.
GUARDS: dict[str, str] = {
    "A1": "1-two_vpods", "A2": "1-two_vpods", "A3": "21b-keys_not_stated", "A4": "28a-plugged_boundary",
    "A4.secure_tls": "21b-keys_not_stated", "A5": "1-two_vpods", "A6": "25a-limited_members",
    "A7": "30d-own_addresses_on_a_private_vlan", "A9": "52a", "A10": "1-two_vpods",
    "A11.storage_rules_enforced": "1-two_vpods", "A11.bucket_rules_enforced": "50a-own_objects_only",
    "A13": "j-plug_that_may_be_the_bmcs", "external-network": "1-two_vpods", "storage-appliance": "1-two_vpods",
    "vipu-controller": "18a-controller_of_the_operators", "routed-back-end": "39b-router_with_an_access_list",
    "private-vlan-back-end": "30d-own_addresses_on_a_private_vlan", "monitoring": "38b-monitoring_that_is_declared",
    "name-and-time": "37b-instance_for_each_tenant", "A16": "53a-two_tenants_A16_True",
    "A17": "54a-with_an_overlay_A17_True", "A18": "55a-two_tenants_A18_True", "A19": "56a-two_tenants_A19_True",
    "A20": "57a-two_tenants_A20_True", "A21": "58a-with_gateways_A21_True",
    "A22": "59a-machines_on_one_leaf_A22_True", "A23": "60a-host_handed_on_A23_True",
    "A24": "65a-machines_on_one_leaf_A24_True",
}  # fmt: skip

_LABELS = "each end carries its owner's label without the edge; "
_ALONE = "the edge alone is asked for, exactly, by "
_PAGES = "tests/policies/"
_PLANS, _SWITCHES, _METAL = (f"{_PAGES}test_{name}.py" for name in ("edges_plans", "edges_switches", "bare_metal"))

#: (row, column) -> why nothing is there.
NO_ROW: dict[tuple[str, str], str] = {
    (
        "E5 a bare-metal server is on every interface of its host",
        "example",
    ): f"{_LABELS}an interface by its switch port",
    ("E5 a bare-metal server is on every interface of its host", "mutant"): f"{_LABELS}an interface by its switch port",
    (
        "E5 a server on a GPU node has the devices that are passed on to it",
        "mutant",
    ): f"{_LABELS}a device by its server",
    ("E5 a bare-metal port is on the switch ports behind its host's interfaces", "example"): (
        "the host's cables join the same ends (E5, E9); ISO-03 looks for the port itself"
    ),
    ("E7 a port without a server, on somebody else's network, is on every switch of it", "mutant"): (
        "a port on another's network is the mutants' of L3-02 and ISO-01, by its network's claim"
    ),
    ("E8 who has the parent port of a trunk has its sub-ports", "example"): f"{_LABELS}{_ALONE}{_PLANS}",
    ("E8 who has the parent port of a trunk has its sub-ports", "mutant"): f"{_LABELS}`trunk-sub-port` is told by it",
    ("E12 the wire of an external network of the plan's own", "example"): f"{_LABELS}{_ALONE}{_PLANS}",
    ("E12 the wire of an external network of the plan's own", "mutant"): f"{_LABELS}{_ALONE}{_PLANS}",
    ("E16 a V-IPU allocation joins its machines", "example"): f"{_LABELS}a machine by its allocation (example 28c)",
    ("E17 an NVLink partition joins its GPUs", "example"): f"{_LABELS}a GPU is exclusive (TOP-06, ISO-22)",
    ("E17 an NVLink partition joins its GPUs", "mutant"): f"{_LABELS}a GPU is exclusive (TOP-06, ISO-22)",
    ("E5 the operator's kernel hears what a switch port sends its host untagged", "mutant"): (
        "the workspaces' hosts send their own frames on another switch; tests/policies/test_rules.py has one"
    ),
    ("E7 a port whose host has no interface on its network may be on any of its VLANs", "mutant"): (
        f"{_ALONE}{_PAGES}test_edges_found.py: every workspace's server is on a host of its network"
    ),
    ("E9 a host that is given out whole forwards between its interfaces", "mutant"): (
        "a lent host's interfaces carry their borrower's label, and an idle one's the operator's"
    ),
    ("E10 a routing instance is at the other end of a routed port's cable", "example"): f"{_ALONE}{_SWITCHES}",
    ("E10 a routing instance is at the other end of a routed port's cable", "mutant"): f"{_ALONE}{_SWITCHES}",
    ("E12 the wire of the external network", "mutant"): f"{_LABELS}the external network claims its wire",
    ("E13 a released VLAN may be on every switch unless its physical network is known", "mutant"): (
        f"locks of today say the physical network; {_ALONE}{_METAL}"
    ),
    ("A9 what was cleaned is its former holder's unless A9 is held", "oracle"): "its guard has a line of its own",
    ("A9 what was cleaned and nobody has may be the operator's again", "mutant"): (
        f"a machine at rest is in nobody's VLAN; {_PAGES}test_settled.py puts one there"
    ),
    ("A9 what was cleaned and nobody has may be the operator's again", "oracle"): (
        "whose a device is, is a mark and no hop: examples n to s of those that were found"
    ),
    ("A10 strangers may be on every claimed segment unless A10 is held", "oracle"): "its guard has a line of its own",
    **{
        (name, "oracle"): "its guard has a line of its own"
        for name in ROWS
        if name.startswith(("A16", "A17", "A18", "A19", "A20", "A21", "A22", "A23", "A24"))
    },
}

_SERVICE = "a declared device is split while all guards of its kind hold, whatever the kind: `monitoring` stands for it"
_OWN_RULE = "what neither plan nor cable shows: it has a rule of its own, and no verdict about meeting rests on it"
_ONE_OF_ALL = "all guards of a kind are asked together; one of them that fails is a mutant"

#: Place of guards, and the columns that are empty for some of them -> why.
NO_GUARD: dict[tuple[str, str], str] = {
    ("A8", "example"): "example 29 is the world without them: they are false there, and nothing is left to deny",
    ("A14", "example"): _OWN_RULE, ("A15", "example"): _OWN_RULE,
    **{(kind, "example"): _SERVICE for kind in ("object-store", "bastion", "metadata", "registry")},
    **{(kind, "mutant"): _SERVICE for kind in ("object-store", "bastion", "metadata", "registry")},
    ("A7", "mutant"): "no workspace's switch has a private VLAN at first; `private-role-lost` makes one",
    ("private-vlan-back-end", "mutant"): "no workspace's switch has a private VLAN at first",
    ("storage-appliance", "mutant"): _ONE_OF_ALL, ("vipu-controller", "mutant"): _ONE_OF_ALL,
    ("monitoring", "mutant"): _ONE_OF_ALL, ("name-and-time", "mutant"): _ONE_OF_ALL,
}  # fmt: skip

_NOTHING = "no fact is made of it: `policies/facts/readings.py` says why"
_WORDS = "what its rule says of it is about one plan's words, and no packet or call rests on it"
_FOR_ANOTHER = "other resources say what it does: a mutant about it names these"

#: (kind of resource, column) -> why nothing is there.
NO_KIND: dict[tuple[str, str], str] = {
    **{(kind, column): _NOTHING for kind in ("Claims", "Role", "ShareQuota", "ShareType")
       for column in ("rule", "example", "oracle", "mutant")},
    **{("VolumeType", column): "whether its volumes are encrypted is SEC-10; no packet or call rests on it"
       for column in ("example", "oracle")},
    **{("Quota", column): _NOTHING for column in ("example", "oracle")},
    **{(kind, column): _WORDS for kind in
       ("SegmentRange", "Aggregate", "Flavor", "FlavorAccess", "VipuPartition")
       for column in ("example", "oracle")},
    ("VipuCluster", "oracle"): _WORDS,
    **{(kind, column): _FOR_ANOTHER
       for kind in ("Project", "SubnetPool", "Trunk", "SegmentRange", "Aggregate")
       for column in ("rule", "mutant")},
    ("Project", "oracle"): "it knows owners by the name that a reference has",
    ("RoleAssignment", "example"): "random worlds have roles; the page has no example of one",
    ("Trunk", "example"): "random worlds have trunks; the page has no example of one",
}  # fmt: skip

#: Theorem -> the rule that is nothing but it.
THEOREMS = {"Sep": "ISO-02", "Expo": "EXPO-01", "Auth": "AUTH-01", "Excl": "TOP-06"}
