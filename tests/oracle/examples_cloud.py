"""Worked examples about the cloud: rights, routers, gateways, controllers, images, data. Letters are variants."""

from __future__ import annotations

from interlock.resources import (
    AddressScope,
    Bucket,
    BucketPolicy,
    BucketStatement,
    FloatingIp,
    Image,
    RbacPolicy,
    S3Credential,
    ServiceUser,
    StoredCredential,
    SubnetPool,
    Volume,
    VolumeAttachment,
)

from .drafting import CONTROLLERS, EXTERNAL, Draft, without_scope
from .sayings import A, Example, G, both, control, controller, leaf, management, tenant
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


def _two_gateways() -> Draft:
    draft = both()
    for number, name in enumerate((A, G)):
        control(draft, name, 5001 + number)
    return draft


def gateways_without_scope() -> Draft:
    """Two routers with SNAT on one external network that is in no scope."""
    draft = _two_gateways()
    without_scope(draft)
    return draft


def scope_facts_missing() -> Draft:
    """Nobody says whether the L3 agent enforces scopes."""
    draft = _two_gateways()
    draft.sharing["external"]["l3_agent_enforces_scopes"] = None
    return draft


def outside_in_a_scope() -> Draft:
    """The external network in scope `pub`, which no tenant may use."""
    return _two_gateways()


def insides_in_the_scope() -> Draft:
    """`pub` is shared with tenants, and their subnets are in it."""
    draft = both()
    draft.add(OP, "pub", AddressScope(name="pub", shared=True))
    draft.add(OP, "pool", SubnetPool(name="pool", address_scope="pub", prefixes=("10.0.0.0/8",), shared=True))
    for number, name in enumerate((A, G)):
        network = draft.vxlan(name, f"{name}-a-control", 5001 + number)
        subnet = draft.subnet(name, network, f"10.30.{number}.0/24", subnet_pool="site:SubnetPool/pool")
        draft.router(name, f"{name}-router", (subnet,))
    return draft


def floating_address() -> Draft:
    """On acme's own server, asked for."""
    draft = _two_gateways()
    entry = FloatingIp(
        project=draft.project(A), external_network=EXTERNAL, address="192.0.2.20", port="acme-a-control-port"
    )
    draft.add(A, "acme-entry", entry)
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


def any_address_on_an_own_vlan() -> Draft:
    """`allowed_address_pairs 0.0.0.0/0` where nobody else is."""
    draft = both()
    port = draft.plug(A, "acme-a-any", "acme-a-ipu-data-1001", allowed_address_pairs=("0.0.0.0/0",))
    draft.server(A, "acme-a-any-server", "hv-1", (port,))
    return draft


def one_prefix_twice() -> Draft:
    """Both use 10.0.0.0/24 on VLANs of their own."""
    draft = both()
    for name, vlan in ((A, 1001), (G, 1002)):
        draft.subnet(name, f"{name}-a-ipu-data-{vlan}", "10.0.0.0/24")
    return draft


def monitoring_server() -> Draft:
    """The operator's, on acme's control network, not declared."""
    draft = both()
    network = control(draft, A, 5001)
    port = draft.plug(A, "acme-a-monitor-port", network, project=CONTROLLERS, vnic_type="normal")
    draft.server(A, "acme-a-monitor", "hv-1", (port,), project=CONTROLLERS)
    return draft


def two_vpods_of_one() -> Draft:
    """A server of acme with functions on two data segments of acme's."""
    draft = both()
    tenant(draft, A, 1003)
    ports = tuple(draft.plug(A, f"acme-b-{vlan}", f"acme-a-ipu-data-{vlan}") for vlan in (1001, 1003))
    draft.server(A, "acme-a-two", "hv-1", ports)
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


def own_objects_only() -> Draft:
    """acme's key opens what is acme's."""
    return _bucket(BucketStatement(principals=("acme-a-s3",), actions=("read", "write")), kept=True)


def key_where_others_read() -> Draft:
    """The same key lies in a bucket that others may read."""
    return _bucket(BucketStatement(principals=("*",), actions=("read",)), kept=True)


EXAMPLES = (
    Example("11a", "V", right_for_another),
    Example("11b", "V", right_for_all),
    Example("12", "P", outside_for_all),
    Example("13", "V", router_on_anothers_subnet),
    Example("14a", "V", gateways_without_scope),
    Example("14b", "N", scope_facts_missing),
    Example("15a", "P", outside_in_a_scope),
    Example("15b", "V", insides_in_the_scope),
    Example("16a", "P", floating_address),
    Example("16c", "V", floating_address_of_a_controller, rules=("L3-08",)),
    Example("17", "V", controller_of_the_tenants),
    Example("18a", "P", controller_of_the_operators),
    Example("18b", "N", forwarding_not_stated),
    Example("19", "P", one_management_network, rules=("ISO-02", "TOP-06")),
    Example("22a", "V", server_on_management),
    Example("30a", "P", any_address_on_an_own_vlan),
    Example("31a", "P", one_prefix_twice),
    Example("38a", "V", monitoring_server),
    Example("40a", "P", two_vpods_of_one),
    Example("41a", "V", image_of_another, rules=("SEC-15",)),
    Example("41b", "P", image_of_the_operators),
    Example("43a", "V", volume_on_two),
    Example("44a", "V", network_of_a_stranger),
    Example("44b", "P", cloud_of_our_own),
    Example("50a", "P", own_objects_only, rules=("AUTH-01", "SEC-11")),
    Example("50b", "V", key_where_others_read, rules=("AUTH-01",)),
)
