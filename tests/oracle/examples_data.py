"""Worked examples about entries, calls, addresses and data: what reaches another without a packet of its own."""

from __future__ import annotations

from interlock.resources import (
    BareMetalServer,
    Bucket,
    BucketPolicy,
    BucketStatement,
    FloatingIp,
    Image,
    S3Credential,
    SecurityGroup,
    SecurityGroupRule,
    ServiceUser,
    ShareAccess,
    StoredCredential,
    VipuAllocation,
    VipuUser,
    Volume,
    VolumeAttachment,
)

from .drafting import CONTROLLERS, EXTERNAL, Draft
from .examples_cloud import two_gateways
from .sayings import A, Example, G, both, controller, machine
from .world import OP


def floating_address() -> Draft:
    """On acme's own server; the request does not say so."""
    draft = two_gateways()
    entry = FloatingIp(
        project=draft.project(A), external_network=EXTERNAL, address="192.0.2.20", port="acme-a-control-port"
    )
    draft.add(A, "acme-entry", entry)
    return draft


def declared_floating_address() -> Draft:
    """On acme's own server, asked for."""
    draft = floating_address()
    draft.public[A] = ("acme-entry",)
    return draft


def _reached_from(prefix: str, stated: str) -> Draft:
    """On acme's own server, asked for and filtered: who is let in, and who is to be."""
    draft = declared_floating_address()
    draft.public_from = {"acme-entry": (stated,)}
    rule = SecurityGroupRule(direction="ingress", protocol="tcp", port_min=22, port_max=22, remote_prefix=prefix)
    group = SecurityGroup(name="acme-public", project=draft.project(A), rules=(rule,))
    draft.filter(A, "acme-a-control-port", group)
    return draft


def reached_from_where_it_says() -> Draft:
    """A part of what the request states."""
    return _reached_from("198.51.100.0/25", "198.51.100.0/24")


def reached_from_elsewhere() -> Draft:
    """Twice as much as the request states."""
    return _reached_from("198.51.100.0/23", "198.51.100.0/24")


def reached_from_its_own_subnet() -> Draft:
    """The port's subnet, cut from a pool of the site: whoever has an address there has a port of the plan."""
    return _reached_from("10.30.1.0/24", "198.51.100.0/24")


def reached_from_a_subnet_of_everybody() -> Draft:
    """The same, and the plan calls half of all addresses its subnet."""
    draft = _reached_from("0.0.0.0/1", "198.51.100.0/24")
    for place, item in enumerate(draft.resources[A]):
        if item.name == "acme-a-control-subnet":
            wide = item.resource.model_copy(update={"cidr": "0.0.0.0/1"})
            draft.resources[A][place] = item.model_copy(update={"resource": wide})
    return draft


def floating_address_of_a_controller() -> Draft:
    """The same on the controller."""
    draft = both()
    controller(draft, A, 111, 5001)
    entry = FloatingIp(
        project=draft.project(A), external_network=EXTERNAL, address="192.0.2.20",
        port="acme-a-controller-acme-a-control",
    )  # fmt: skip
    draft.add(A, "acme-entry", entry)
    draft.public[A] = ("acme-entry",)
    return draft


def allocation_on_anothers_controller() -> Draft:
    """acme's control network and the operator's: no packet passes, and globex's machines stand on it too."""
    draft = both()
    for owner, name, vlan in ((A, "ipum-01", 1001), (G, "ipum-02", 1002)):
        machine(draft, owner, name, vlan)
    controller(draft, A, 111, 5001, ("ipum-01",))
    theirs = VipuAllocation(name="x", controller="acme-a-controller", cluster="x", machines=("ipum-02",))
    draft.add(G, "globex-a-allocation", theirs)
    return draft


def packets_of_its_callers() -> Draft:
    """The same, as packets see it: the controller is split."""
    return allocation_on_anothers_controller()


def _with_allocation(secure: bool | None) -> Draft:
    draft = both()
    machine(draft, A, "ipum-01", 1001)
    controller(draft, A, 111, 5001, ("ipum-01",))
    draft.assumptions["A4"]["secure_tls"] = secure
    return draft


def controller_with_keys() -> Draft:
    """Users and TLS: acme calls what is acme's."""
    return _with_allocation(True)


def controller_without_keys() -> Draft:
    """Whoever meets it administers it, and it is the operator's."""
    return _with_allocation(False)


def keys_not_stated() -> Draft:
    """Nobody says."""
    return _with_allocation(None)


def any_address_on_an_own_vlan() -> Draft:
    """`allowed_address_pairs 0.0.0.0/0` where nobody else is."""
    draft = both()
    port = draft.plug(A, "acme-a-any", "acme-a-ipu-data-1001", allowed_address_pairs=("0.0.0.0/0",))
    draft.server(A, "acme-a-any-server", "hv-1", (port,))
    return draft


def _on_a_private_vlan(*pairs: str) -> Draft:
    """Servers of both on hosts with isolated uplinks, on a VLAN of the operator's with a declared back end."""
    draft = Draft()
    draft.switch("leaf-1")
    draft.networks["data-1"] = ("leaf-1",)
    for number, owner in enumerate((A, G), start=1):
        draft.tenant(owner)
        draft.hypervisor(f"hv-{number}", "leaf-1", "data-1", ((4000, 4000),), private_vlan="isolated")
        network = draft.vlan(owner, f"{owner}-a-back-end", "data-1", 4000, project=CONTROLLERS)
        allowed = pairs if owner == A else ()
        port = draft.plug(
            owner, f"{owner}-a-port", network, address=f"10.0.0.{number}", allowed_address_pairs=allowed
        )  # fmt: skip
        draft.server(owner, f"{owner}-a-server", f"hv-{number}", (port,))
    draft.appliance("filer", "leaf-1", untagged=4000)
    draft.declare("filer", "private-vlan-back-end")
    return draft


def any_address_on_a_private_vlan() -> Draft:
    """The address is all that tells one client of the back end from the other."""
    return _on_a_private_vlan("0.0.0.0/0")


def own_addresses_on_a_private_vlan() -> Draft:
    """No pair: nothing of the one's gets to the other."""
    return _on_a_private_vlan()


def any_address_before_an_appliance() -> Draft:
    """acme's port on the network at which its shares are given by address."""
    draft = any_address_on_an_own_vlan()
    for number, (name, vlan) in enumerate(((A, 1001), (G, 1002))):
        access = ShareAccess(
            project=draft.project(name), share="s", network=f"{name}-a-ipu-data-{vlan}",
            prefix=f"10.0.{number}.0/24", vip=f"10.0.{number}.200",
        )  # fmt: skip
        draft.add(name, f"{name}-access", access)
    return draft


def one_prefix_twice() -> Draft:
    """Both use 10.0.0.0/24 on VLANs of their own."""
    draft = both()
    for name, vlan in ((A, 1001), (G, 1002)):
        draft.subnet(name, f"{name}-a-ipu-data-{vlan}", "10.0.0.0/24")
    return draft


def image_of_another() -> Draft:
    """globex boots a community image of a project that is not its own."""
    draft = both()
    port = draft.plug(G, "globex-a-port", "globex-a-ipu-data-1002")
    draft.server(G, "globex-a-booted", "hv-1", (port,), image="cloud:Image/of-acme")
    return draft


def image_of_the_operators() -> Draft:
    """Public and read-only."""
    draft = both()
    draft.add(OP, "poplar", Image(name="poplar", file="poplar.raw", sha512="0"))
    return draft


def volume_on_two() -> Draft:
    """One volume at servers of two projects."""
    draft = both()
    draft.add(A, "acme-volume", Volume(name="v", project=draft.project(A), size_gib=1, volume_type="site:VolumeType/x"))
    network = draft.vxlan(A, "acme-a-backstage", 5800, project=CONTROLLERS)
    port = draft.plug(A, "acme-a-helper-port", network, project=CONTROLLERS, vnic_type="normal")
    helper = draft.server(A, "acme-a-helper", "hv-1", (port,), project=CONTROLLERS)
    for server in ("acme-a-poplar-1001", helper):
        held = VolumeAttachment(project=draft.project(A), server=server, volume="acme-volume")
        draft.add(A, f"{server}-attachment", held)
    return draft


def _bucket(*statements: BucketStatement, kept: bool = False) -> Draft:
    draft = both()
    project = draft.project(A)
    draft.add(A, "acme-a-s3", ServiceUser(name="acme-a-s3", project=project))
    draft.add(A, "acme-a-s3-key", S3Credential(project=project, user="acme-a-s3"))
    draft.add(A, "acme-data", Bucket(name="data", project=project, credential="acme-a-s3-key"))
    if statements:
        rules = BucketPolicy(project=project, bucket="acme-data", credential="acme-a-s3-key", statements=statements)
        draft.add(A, "acme-data-policy", rules)
    if kept:
        stored = StoredCredential(project=project, credential="acme-a-s3-key", place="acme-data")
        draft.add(A, "acme-data-secret", stored)
    return draft


def bucket_for_everybody() -> Draft:
    """A plan has no word for the condition by address, nor would it count: others can present the address."""
    return _bucket(BucketStatement(principals=("*",), actions=("read", "write")))


def own_objects_only() -> Draft:
    """acme's key opens what is acme's."""
    return _bucket(BucketStatement(principals=("acme-a-s3",), actions=("read", "write")), kept=True)


def bucket_alone() -> Draft:
    """A bucket without a policy: that it is its owner's is a rule of the service."""
    return _bucket()


def key_where_others_read() -> Draft:
    """The same key lies in a bucket that others may read."""
    return _bucket(BucketStatement(principals=("*",), actions=("read",)), kept=True)


def _handed(owner_of_key: str) -> Draft:
    """A key that acme's server fetches: of acme's service user, or of globex's."""
    draft = both()
    for tenant in (A, G):
        user = f"{tenant}-a-s3"
        draft.add(tenant, user, ServiceUser(name=user, project=draft.project(tenant)))
        draft.add(tenant, f"{user}-key", S3Credential(project=draft.project(tenant), user=user))
    handed = StoredCredential(
        project=draft.project(A), credential=f"{owner_of_key}-a-s3-key", place="acme-a-poplar-1001", item="s3"
    )
    draft.add(A, "acme-a-poplar-1001-s3-keys", handed)
    return draft


def own_key_in_ones_server() -> Draft:
    """What a server fetches, whoever controls the server holds."""
    return _handed(A)


def anothers_key_in_ones_server() -> Draft:
    """With globex's key acme's server is globex, for all that S3 knows."""
    return _handed(G)


def _handed_in_band(owner_of_key: str) -> Draft:
    """acme's whole host has a key from a server of acme's, which has it as well where it is acme's."""
    draft = _handed(A)
    port = draft.whole_host("bm-1", "leaf-1", untagged=1001)
    draft.switch_port(A, "leaf-1", port, 1001)
    whole = BareMetalServer(name="x", project=draft.project(A), node="bm-1", image="site:Image/poplar", ports=())
    draft.add(A, "acme-a-whole", whole)
    handed = StoredCredential(
        project=draft.project(A), credential=f"{owner_of_key}-a-s3-key", place="acme-a-whole", item="munge",
        by=("acme-a-poplar-1001",),
    )  # fmt: skip
    draft.add(A, "acme-a-whole-munge-key", handed)
    return draft


def own_key_in_ones_host() -> Draft:
    """What a whole host is given in band, whoever controls the host holds."""
    return _handed_in_band(A)


def anothers_key_in_ones_host() -> Draft:
    """The same with globex's key."""
    return _handed_in_band(G)


def _vipu_key(owner_of_key: str) -> Draft:
    """The same with the key of a user at a V-IPU controller."""
    draft = both()
    for tenant in (A, G):
        user = VipuUser(name="x", controller=f"{tenant}-a-controller", allocations=())
        draft.add(tenant, f"{tenant}-a-vipu", user)
    handed = StoredCredential(
        project=draft.project(A), credential=f"{owner_of_key}-a-vipu", place="acme-a-poplar-1001", item="vipu"
    )
    draft.add(A, "acme-a-poplar-1001-vipu-key", handed)
    return draft


def own_vipu_key_in_ones_server() -> Draft:
    """A Poplar server is a user at its vPOD's controller."""
    return _vipu_key(A)


def anothers_vipu_key_in_ones_server() -> Draft:
    """With the key of globex's user acme's server is globex, for all that V-IPU knows."""
    return _vipu_key(G)


EXAMPLES = (
    Example("16a", "P", declared_floating_address, rules=("ISO-02", "EXPO-01", "L3-08")),
    Example("16b", "V", floating_address, rules=("EXPO-01",)),
    Example("16c", "V", floating_address_of_a_controller, rules=("L3-08",)),
    Example("16d", "P", reached_from_where_it_says, rules=("ISO-02", "EXPO-01", "L3-08")),
    Example("16e", "V", reached_from_elsewhere, rules=("EXPO-01",)),
    Example("16f", "P", reached_from_its_own_subnet, rules=("ISO-02", "EXPO-01", "L3-08")),
    Example("16g", "V", reached_from_a_subnet_of_everybody, rules=("EXPO-01",)),
    Example("20a", "V", allocation_on_anothers_controller, rules=("SEC-03",)),
    Example("20b", "P", packets_of_its_callers, rules=("ISO-01", "ISO-02", "ISO-11"), without=frozenset({"Auth"})),
    Example("21a", "V", controller_without_keys, rules=("SEC-01", "AUTH-01")),
    Example("21b", "N", keys_not_stated, rules=("SEC-01", "AUTH-01")),
    Example("21c", "P", controller_with_keys, rules=("ISO-02", "SEC-01", "SEC-03", "AUTH-01")),
    Example("30a", "P", any_address_on_an_own_vlan),
    Example("30b", "V", any_address_on_a_private_vlan, rules=("L3-10",)),
    Example("30c", "V", any_address_before_an_appliance, rules=("L3-10",)),
    Example("30d", "P", own_addresses_on_a_private_vlan, rules=("ISO-01", "ISO-02", "L3-10")),
    Example("31a", "P", one_prefix_twice),
    Example("32a", "V", bucket_for_everybody, rules=("SEC-11", "AUTH-01")),
    Example("41a", "V", image_of_another, rules=("SEC-15",)),
    Example("41b", "P", image_of_the_operators),
    Example("43a", "V", volume_on_two),
    Example("50a", "P", own_objects_only, rules=("AUTH-01", "SEC-11")),
    Example("50b", "V", key_where_others_read, rules=("AUTH-01",)),
    Example("50c", "P", own_key_in_ones_server, rules=("AUTH-01",)),
    Example("50d", "V", anothers_key_in_ones_server, rules=("AUTH-01",)),
    Example("50e", "P", own_key_in_ones_host, rules=("AUTH-01",)),
    Example("50f", "V", anothers_key_in_ones_host, rules=("AUTH-01",)),
    Example("50g", "P", own_vipu_key_in_ones_server, rules=("AUTH-01",)),
    Example("50h", "V", anothers_vipu_key_in_ones_server, rules=("AUTH-01",)),
)
