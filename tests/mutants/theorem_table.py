"""Theorem beside row, guard and kind: where each decides it, and why nothing is there where nothing is.

Sep beside rows and guards is the table of `matrix_table`; here is what the other theorems have, and all of kinds.
"""

from __future__ import annotations

#: Theorem -> the rules that are nothing but it.
RULES = {
    "Sep": frozenset({"ISO-01", "ISO-02", "ISO-03", "ISO-11"}), "Expo": frozenset({"EXPO-01"}),
    "Auth": frozenset({"AUTH-01"}), "Excl": frozenset({"TOP-06"}),
}  # fmt: skip

#: Theorem -> row of the table of edges -> an example in which it is another without the row.
ROWS: dict[str, dict[str, str]] = {
    "Auth": {
        "E7 an ordinary vNIC reaches its network's segment on its host": "20b-packets_of_its_callers",
        "E7 the storage appliance has an address on the network of each grant": "31b-shares_by_address_alone",
    }
}

_ANY, _CONTROLLER = "1-two_vpods", "21a-controller_without_keys"

#: Theorem -> place of guards -> an example in which it is another where one of them is denied.
GUARDS: dict[str, dict[str, str]] = {
    "Auth": {
        **dict.fromkeys(("A1", "A2", "A5", "A10", "A16", "A17", "A18", "A19", "A20", "A21"), _ANY),
        **dict.fromkeys(("A11", "external-network", "storage-appliance"), _ANY),
        "A4": "21b-keys_not_stated", "A22": _CONTROLLER,
    }
}  # fmt: skip

#: Theorem -> kind of resource -> a mutant that is about one, and breaks the theorem.
KINDS: dict[str, dict[str, str]] = {
    "Sep": {
        "SwitchPort": "rnic-idle", "Network": "vlan-reuse", "Server": "vni-reuse", "Port": "vf-spoof",
        "VipuAllocation": "management-on-rnic", "BareMetalServer": "unlisted-plugs", "RbacPolicy": "rbac-everybody",
        "Router": "router-two", "AddressScope": "scope-shared", "Subnet": "scope-ipv6-outside",
        "RouterInterface": "gateway-unfiltered", "VolumeAttachment": "volume-of-another",
        "SecurityGroup": "remote-group-members", "PartitionKey": "cluster-port",
        "ShareAccess": "cluster-share-routed",
    },
    "Auth": {
        "RoleAssignment": "role-admin", "BucketPolicy": "bucket-another", "Bucket": "bucket-key",
        "StoredCredential": "stored-credential", "S3Credential": "stored-credential",
        "VipuAllocation": "controller-of-two", "VipuUser": "vipu-user-of-another",
        "VolumeAttachment": "volume-of-another", "Server": "key-of-another",
        # Whose packets meet, speaks with what trusts an address, and may call it.
        "SwitchPort": "vlan-reuse", "Network": "vlan-reuse", "Port": "vni-reuse", "RbacPolicy": "rbac-one",
        "Router": "router-two", "AddressScope": "scope-shared", "Subnet": "scope-ipv6-outside",
        "RouterInterface": "gateway-unfiltered", "BareMetalServer": "unlisted-plugs", "PartitionKey": "cluster-port",
        "ShareAccess": "cluster-share-routed",
    },
    "Expo": {
        "Server": "floating-undeclared", "FloatingIp": "floating-undeclared", "BucketPolicy": "bucket-undeclared",
        "Port": "floating-elsewhere", "SecurityGroup": "floating-elsewhere",
    },
}  # fmt: skip

_WORDS = "its rule is about words or figures of one plan; nobody meets, calls or enters by it"
_MADE_UP = "no fact is made of it: `policies/facts/readings.py` says why"
_BY_CALLS = "what it gives, it gives by calls: Auth"

#: Kind -> why it decides no theorem, or none but the one that has it above.
NO_KIND: dict[str, str] = {
    **dict.fromkeys(("Claims", "Role", "Quota", "ShareQuota", "VolumeType", "ShareType"), _MADE_UP),
    **dict.fromkeys(("SegmentRange", "Aggregate", "Flavor", "FlavorAccess", "VipuPartition", "VipuCluster"), _WORDS),
    "VipuAgent": "a machine is an identity that one owner has: Excl; whom a controller asks is TOP-10",
    **dict.fromkeys(("RoleAssignment", "StoredCredential", "S3Credential", "Bucket", "VipuUser"), _BY_CALLS),
    "BucketPolicy": f"{_BY_CALLS}, and Expo where it is for everybody",
    "FloatingIp": "an entry from outside, which is Expo; where it leads is L3-08",
    "Project": "whose a resource is: every other mutant changes it with what it owns",
    "ServiceUser": "a key of the wrong user of one's own is SEC-12",
    "Keypair": "a key in two requests is SEC-05, before it stands in any resource",
    "SubnetPool": "subnets and scopes say what it does",
    "Trunk": "`trunk-sub-port` is about the port that it has",
    "Image": "who writes an image is SEC-15",
    "Volume": "its attachment says who reads it",
    "Share": "who may mount it is SEC-14, by the addresses of its rules",
    "ShareAccess": "who may mount it is SEC-14, by the addresses of its rules",
    "NvlinkPartition": "a GPU is an identity that one owner has: Excl and ISO-22",
    **dict.fromkeys(("SwitchPort", "Network", "RbacPolicy", "Router", "AddressScope", "Subnet", "RouterInterface",
                     "BareMetalServer", "VolumeAttachment", "VipuAllocation", "PartitionKey"),
                    "nothing of it lets anybody in from outside, and none is an identity that one owner has"),
    "SecurityGroup": (
        "it adds a meeting by its remote group and removes none (example 33); who gets in by an entry is Expo, and "
        "calls take none"
    ),
}  # fmt: skip

#: (theorem, column) -> why it has no cell there.
NOTHING: dict[tuple[str, str], str] = {
    ("Expo", "row"): "what is declared is compared with what the plan has; where an entry leads to is read from it",
    ("Expo", "guard"): "an entry is one whatever the site assumes",
    ("Excl", "row"): "an identity has two owners or not: no way is looked for",
    ("Excl", "guard"): "what keeps packets apart makes no machine of two owners one of one",
    ("Excl", "kind"): "exclusive are machines, GPUs, hosts, addresses and P_Keys; TOP-06 names these and no resource",
}
