"""What may go wrong in the cloud: gateways, rights, trunks, keys and images, guards, fabrics, what was given up."""

from __future__ import annotations

from typing import Literal

from interlock.model.site.guards import ASSUMPTION_GUARDS
from interlock.model.site.inventory import InfinibandSubnet
from interlock.resources import (
    AddressScope,
    Image,
    Keypair,
    NvlinkPartition,
    PartitionKey,
    PartitionMember,
    RbacPolicy,
    RoleAssignment,
    RouterInterface,
    Share,
    ShareAccess,
    SubnetPool,
    Trunk,
    TrunkSubPort,
    VipuAllocation,
    Volume,
    VolumeAttachment,
)
from tests.builders.pod64 import ssh_key

from .drafting import CONTROLLERS, EXTERNAL, without_scope
from .plots_guards import PLOTS as GUARD_PLOTS
from .plots_wire import whole_host
from .scene import Scene, control, machine
from .world import OP


def gateways(made: Scene) -> None:
    """Two tenants with routers on one external network that filters, or not, or nobody knows."""
    rng, draft = made.rng, made.draft
    for number, tenant in enumerate(made.pair()):
        control(made, tenant, 5100 + number)
    draft.sharing["external"]["l3_agent_enforces_scopes"] = rng.choice((True, True, False, None))
    if rng.random() < 0.2:
        without_scope(draft)
    if rng.random() < 0.2:
        draft.add(OP, "pub", AddressScope(name="pub", shared=rng.random() < 0.5))
        draft.add(OP, "pub-pool", SubnetPool(name="pub", address_scope="pub", prefixes=("192.0.2.0/24",)))
    if rng.random() < 0.1:
        draft.sharing["external"] = {}
    elif rng.random() < 0.15:
        draft.audience["external"] = (made.one(),)


def subnet_in_scope(made: Scene) -> None:
    """A subnet behind a router that joins the operator's address scope."""
    for tenant in made.pair():
        if made.rng.random() < 0.5:
            network = made.draft.vxlan(tenant, made.name(tenant, "a-scoped"), made.rng.randint(5500, 5900))
            subnet = made.draft.subnet(tenant, network, "10.40.0.0/24", subnet_pool="site:SubnetPool/external-pool")
            made.draft.router(tenant, made.name(tenant, "second-router"), (subnet,))


def rights(made: Scene) -> None:
    """A right to plug into somebody's network, or into the outside."""
    rng = made.rng
    a, b = made.pair()
    target = rng.choice((f"cloud:Project/{b}", f"cloud:Project/{a}", "cloud:Project/nobody", "*"))
    thing = rng.choice((f"{a}-a-ipu-data", f"{a}-a-ipu-data", EXTERNAL))
    action = "access_as_external" if thing == EXTERNAL and rng.random() < 0.5 else "access_as_shared"
    project = made.draft.project(a)
    right = RbacPolicy(project=project, object=thing, action=action, target=target)  # type: ignore[arg-type]
    made.draft.add(a, made.name(a, "right"), right)


def shared_network(made: Scene) -> None:
    """A network that is shared with everybody."""
    a = made.one()
    made.draft.vxlan(a, made.name(a, "a-open"), made.rng.randint(8000, 8100), shared=made.rng.random() < 0.7)


def on_the_outside(made: Scene) -> None:
    """A server straight on the external network, or a trunk with such a sub-port."""
    a = made.one()
    port = made.draft.plug(a, made.name(a, "a-port"), EXTERNAL, vnic_type="normal")
    made.draft.server(a, made.name(a, "a-outside"), made.host[a], (port,))


def trunks(made: Scene) -> None:
    """A trunk on a server's port, with a sub-port on a network of its own or of the operator's."""
    rng, draft = made.rng, made.draft
    a = made.one()
    whose = rng.choice((CONTROLLERS, CONTROLLERS, draft.project(a)))
    network = draft.vxlan(a, made.name(a, "a-second"), rng.randint(9200, 9300), project=whose)
    parent = draft.plug(a, made.name(a, "a-parent"), f"{a}-a-ipu-data")
    sub = draft.plug(a, made.name(a, "a-sub"), network, vnic_type="normal")
    draft.server(a, made.name(a, "a-trunked"), made.host[a], (parent,))
    pairs = (TrunkSubPort(port=sub, vlan=rng.choice((7, made.vlan[a]))),)
    draft.add(a, made.name(a, "a-trunk"), Trunk(name="t", project=draft.project(a), port=parent, sub_ports=pairs))


def on_operators_network(made: Scene) -> None:
    """A server of a tenant on a network of the operator's, on a wire or an overlay."""
    rng, draft = made.rng, made.draft
    a = made.one()
    name = made.name(a, "a-service")
    if rng.random() < 0.5:
        draft.vxlan(a, name, 9000 + rng.randint(10, 40), project=CONTROLLERS)
    else:
        draft.vlan(a, name, f"data-{made.leaf[a][-1]}", 1070 + rng.randint(0, 9), project=CONTROLLERS)
    owner = rng.choice((CONTROLLERS, draft.project(a)))
    port = draft.plug(a, made.name(a, "a-port"), name, project=owner)
    if rng.random() < 0.8:
        draft.server(a, made.name(a, "a-guest"), made.host[a], (port,), project=owner)


def router_elsewhere(made: Scene) -> None:
    """A router with an interface on the operator's subnet."""
    a = made.one()
    control(made, a, 5200)
    network = made.draft.vxlan(a, made.name(a, "a-backstage"), 9400 + made.rng.randint(0, 9), project=CONTROLLERS)
    subnet = made.draft.subnet(a, network, "10.99.0.0/24", project=CONTROLLERS)
    if made.rng.random() < 0.1:
        subnet = "subnet-of-nobody"
    if made.rng.random() < 0.8:
        # Now and then somebody else's router, by the name that it has in the other plan, or nobody's.
        whose = made.rng.choice((*made.tenants, "nobody")) if made.rng.random() < 0.2 else a
        leg = RouterInterface(project=made.draft.project(a), router=f"{whose}-router", subnet=subnet)
        made.draft.add(a, made.name(a, "leg"), leg)


def controllers(made: Scene) -> None:
    """A controller on a tenant's control network and on the operator's management network."""
    rng, draft = made.rng, made.draft
    a = made.one()
    if any(item.name == f"{a}-a-controller" for item in draft.resources[a]):
        return
    control(made, a, 5300)
    network = next(item.name for item in draft.resources[a] if item.name.startswith(f"{a}-a-control"))
    management = draft.vlan(a, f"{a}-a-management", "mgmt", 110 + rng.randint(0, 30), project=CONTROLLERS)
    if "infra-1" not in draft.hosts:
        draft.hypervisor("infra-1", "mgmt-1", "mgmt", ((110, 199),))
    ports = tuple(
        draft.plug(a, f"{a}-a-controller-{part}", part, project=CONTROLLERS, vnic_type="normal")
        for part in (network, management)
    )
    draft.controller(a, ports, "infra-1")
    if rng.random() < 0.7:
        draft.sharing["vipu-controller"]["ipv6_forwarding_off"] = made.unsure()
    if rng.random() < 0.15:
        draft.audience["vipu-controller"] = (made.one(),)


def control_of_servers(made: Scene) -> None:
    """A key, a role, an image or a volume that gives somebody a hand in a server."""
    rng, draft = made.rng, made.draft
    a = made.one()
    whose = rng.choice((None, draft.project(a)))
    network = draft.vxlan(a, made.name(a, "a-lent"), rng.randint(8200, 8300), project=whose)
    port = draft.plug(a, made.name(a, "a-port"), network, vnic_type="normal", project=CONTROLLERS)
    key = draft.add(a, made.name(a, "key"), Keypair(name="key", public_key=ssh_key(a)))
    seen: Literal["private", "public"] = "public" if rng.random() < 0.1 else "private"
    image = draft.add(a, made.name(a, "image"), Image(name="own", file="x", sha512="0", visibility=seen))
    with_key, with_image = rng.random() < 0.3, rng.random() < 0.2
    server = draft.server(
        a, made.name(a, "a-helper"), made.host[a], (port,), project=CONTROLLERS,
        keypair=key if with_key else None, image=image if with_image else "site:Image/poplar",
    )  # fmt: skip
    if rng.random() < 0.2:
        role = RoleAssignment(project=CONTROLLERS, user="cloud:User/alice", role="cloud:Role/reader")
        draft.add(a, made.name(a, "role"), role)
    owner = rng.choice((CONTROLLERS, draft.project(a)))
    volume = Volume(name="v", project=owner, size_gib=1, volume_type="site:VolumeType/ceph")
    draft.add(a, made.name(a, "volume"), volume)
    if not (with_key or with_image):
        lent = made.rng.random() < 0.2
        server = f"{a}-a-poplar-0" if lent else server
    held = VolumeAttachment(project=owner, server=server, volume=draft.resources[a][-1].name)
    draft.add(a, made.name(a, "attachment"), held)


def infiniband(made: Scene) -> None:
    """Partition keys of two tenants on one subnet."""
    rng, draft = made.rng, made.draft
    draft.infiniband = [InfinibandSubnet(name="ib", prefix="fe80000000000001")]
    for number, tenant in enumerate(made.pair()):
        key = rng.choice((0x7FFF, 0x7FFF, 5, 0x8005, 6))
        members = (PartitionMember(guid=f"{number:016x}", membership=rng.choice(("limited", "limited", "full"))),)
        draft.add(tenant, made.name(tenant, "key"), PartitionKey(infiniband="ib", key=key, members=members))
    if rng.random() < 0.4:
        guard = rng.choice(ASSUMPTION_GUARDS["A6"])
        draft.assumptions["A6"][guard] = made.unsure()


def nvlink(made: Scene) -> None:
    """Two tenants' GPUs in one NVLink domain."""
    rng, draft = made.rng, made.draft
    for number, tenant in enumerate(made.pair()):
        gpus = (f"gpu-{rng.choice((number, number, number, 0))}",)
        item = NvlinkPartition(name="n", domain="rack", partition=rng.choice((number + 1, number + 1, 1)), gpus=gpus)
        draft.add(tenant, made.name(tenant, "nvlink"), item)
    if rng.random() < 0.5:
        draft.assumptions["A8"][rng.choice(("partitions_applied", "default_partition_empty"))] = made.unsure()


def links_between_machines(made: Scene) -> None:
    """Cables and allocations over the boundary between two tenants' machines."""
    rng, draft = made.rng, made.draft
    a, b = made.pair()
    first, second = machine(made, a), machine(made, b)
    draft.cable((first, "ipu-link-down-1"), (second, "ipu-link-up-1"), "ipu-link")
    draft.assumptions["A4"][rng.choice(("one_allocation_each", "secure_tls", "operator_run"))] = made.unsure()
    if rng.random() < 0.15:
        both = VipuAllocation(name="x", controller="x", cluster="x", machines=(first, second))
        draft.add(a, made.name(a, "allocation"), both)


def _cleaned(made: Scene, a: str, b: str) -> None:
    """A machine or a whole host that one had and that one of the two has by now, cleaned in between."""
    rng, draft = made.rng, made.draft
    if rng.random() < 0.6:
        draft.clean(a, machine(made, rng.choice((a, b))))
        draft.assumptions["A9"] = {"steps_erase": rng.choice((True, False, None))}
        return
    whole_host(made)
    draft.clean(a, sorted(name for name in draft.hosts if name.startswith("bm-"))[-1])
    if rng.random() < 0.8:
        draft.assumptions["A23"] = {"firmware_restored": rng.choice((False, None))}


def given_up(made: Scene) -> None:
    """A claim that a tenant gave up and that is not settled, or a machine that it gave up and that was cleaned."""
    rng, draft = made.rng, made.draft
    a, b = made.pair()
    kind = rng.choice(("machines", "ipu_data_vlan", "control_vni", "old vlan", "cleaned"))
    if kind == "cleaned":
        _cleaned(made, a, b)
    elif kind == "machines":
        draft.give_up(a, kind, machine(made, rng.choice((a, b))))
    elif kind == "control_vni":
        control(made, b, 5400)
        draft.give_up(a, kind, str(rng.choice((5400, 5401, made.vlan[b] + 4000))))
    else:
        where = f"data-{made.leaf[b][-1]}:" if kind != "old vlan" else ""
        draft.give_up(a, "ipu_data_vlan", f"{where}{rng.choice((made.vlan[b], 1099))}")


def shares(made: Scene) -> None:
    """Two tenants' networks with an address of the appliance."""
    for number, tenant in enumerate(made.pair()):
        same = made.rng.random() < 0.5
        access = ShareAccess(
            project=made.draft.project(tenant), share=f"{tenant}-share", network=f"{tenant}-a-ipu-data",
            prefix="10.21.0.0/24", vip=f"10.21.0.{200 if same else 201 + number}",
        )  # fmt: skip
        made.draft.add(tenant, made.name(tenant, "access"), access)
        share = Share(name="share", project=made.draft.project(tenant), size_gib=1, share_type="site:ShareType/x")
        made.draft.add(tenant, f"{tenant}-share", share)
    made.draft.sharing["appliance"]["no_routing_between_vips"] = made.unsure()
    held = made.rng.choice((True, True, True, False, None))
    made.draft.assumptions["A11"] = {"storage_rules_enforced": held, "bucket_rules_enforced": True}


PLOTS = (
    gateways, gateways, subnet_in_scope, rights, rights, shared_network, on_the_outside, *[trunks] * 4,
    on_operators_network, on_operators_network, router_elsewhere, controllers, controllers, *[control_of_servers] * 5,
    *[infiniband] * 9, *[nvlink] * 10, links_between_machines, *[given_up] * 4, *[shares] * 5,
    links_between_machines, links_between_machines, *GUARD_PLOTS,
)  # fmt: skip
