"""What may go wrong without a packet: buckets and who may read them, keys in them, entries, calls, addresses."""

from __future__ import annotations

from copy import copy

from interlock.planning.plan import Component
from interlock.resources import (
    Bucket,
    BucketPolicy,
    BucketStatement,
    FloatingIp,
    Keypair,
    Network,
    Port,
    S3Credential,
    SecurityGroup,
    SecurityGroupRule,
    Server,
    ServiceUser,
    StoredCredential,
    VipuAllocation,
)
from tests.builders.pod64 import ssh_key

from .drafting import CONTROLLERS, EXTERNAL
from .scene import Scene, control, machine
from .world import OP


def buckets(made: Scene) -> None:
    """Two tenants' buckets, of which one may be open to others and keep the key of one."""
    rng, draft = made.rng, made.draft
    held = rng.choice((True, True, True, False, None))
    draft.assumptions["A11"] = {"storage_rules_enforced": True, "bucket_rules_enforced": held}
    for tenant in made.pair():
        project, bucket, key = draft.project(tenant), f"{tenant}-data", f"{tenant}-s3-key"
        draft.add(tenant, f"{tenant}-s3", ServiceUser(name=f"{tenant}-s3", project=project))
        draft.add(tenant, key, S3Credential(project=project, user=f"{tenant}-s3"))
        draft.add(tenant, bucket, Bucket(name="data", project=project, credential=key))
        if rng.random() < 0.6:
            who = rng.choice((f"{tenant}-s3", f"{tenant}-s3", "*", "nobody-s3"))
            actions = rng.choice((("read",), ("read", "write")))
            statement = BucketStatement(principals=(who,), actions=actions)  # type: ignore[arg-type]
            rules = BucketPolicy(project=project, bucket=bucket, credential=key, statements=(statement,))
            draft.add(tenant, f"{bucket}-policy", rules)
            if who == "*" and rng.random() < 0.6:
                draft.public[tenant] = (bucket,)
        if rng.random() < 0.3:
            draft.add(tenant, f"{tenant}-secret", StoredCredential(project=project, credential=key, place=bucket))
    if rng.random() < 0.3:
        handed_keys(made)


def handed_keys(made: Scene) -> None:
    """A server of a tenant's that fetches a key: its own, now and then another's, or one of nobody's."""
    rng, draft = made.rng, made.draft
    a, b = made.pair()
    control(made, a, 5300)
    port = draft.plug(a, made.name(a, "fetching-port"), f"{a}-a-control", vnic_type="normal")
    server = draft.server(a, made.name(a, "fetching"), made.host[a], (port,))
    whose = rng.choice((a, a, a, b, "nobody"))
    handed = StoredCredential(project=draft.project(a), credential=f"{whose}-s3-key", place=server, item="s3")
    draft.add(a, f"{server}-s3-keys", handed)


def entries(made: Scene) -> None:
    """A floating IP of a tenant's server, declared or not, or of one of the operator's."""
    rng, draft, a = made.rng, made.draft, made.one()
    control(made, a, 5300)
    whose = rng.choice((draft.project(a), draft.project(a), CONTROLLERS))
    group, name = made.name(a, "filter"), made.name(a, "entry")
    let_in = rng.choice(("198.51.100.0/25", "198.51.100.0/24", "198.51.100.0/23", "0.0.0.0/0"))
    rule = SecurityGroupRule(direction="ingress", protocol="tcp", port_min=22, port_max=22, remote_prefix=let_in)
    draft.add(a, group, SecurityGroup(name=group, project=draft.project(a), rules=(rule,)))
    port = draft.plug(
        a, made.name(a, "a-entry-port"), f"{a}-a-control", vnic_type="normal", project=whose,
        security_groups=rng.choice(((), (group,))),
    )  # fmt: skip
    draft.server(a, made.name(a, "a-entered"), made.host[a], (port,), project=whose)
    entry = FloatingIp(project=draft.project(a), external_network=EXTERNAL, address="192.0.2.20", port=port)
    draft.add(a, name, entry)
    if rng.random() < 0.6:
        draft.public[a] = (name,)
        draft.public_from[name] = ("198.51.100.0/25", "198.51.100.128/25")


def called_controllers(made: Scene) -> None:
    """A controller with an allocation, called by whoever meets it, with or without keys."""
    rng, draft, a = made.rng, made.draft, made.one()
    if any(item.name == f"{a}-a-controller" for item in draft.resources[a]):
        return
    own = machine(made, a)
    network = draft.vxlan(a, made.name(a, "a-calls"), 5600 + rng.randrange(9))
    port = draft.plug(a, made.name(a, "a-calls-port"), network, vnic_type="normal", project=CONTROLLERS)
    name = draft.controller(a, (port,), made.host[a], (own,))
    draft.assumptions["A4"]["secure_tls"] = rng.choice((True, True, False, None))
    if rng.random() < 0.4:
        caller = draft.plug(a, made.name(a, "a-caller-port"), network, vnic_type="normal")
        draft.server(a, made.name(a, "a-caller"), made.host[a], (caller,))
    if rng.random() < 0.3:
        b = rng.choice([tenant for tenant in made.tenants if tenant != a])
        theirs = VipuAllocation(name="x", controller=name, cluster="x", machines=(machine(made, b),))
        draft.add(b, made.name(b, "allocation"), theirs)
    draft.vlan(OP, made.name(OP, "management"), "mgmt", 112)


def two_vpods(made: Scene) -> None:
    """A second vPOD of a tenant, on a data segment of its own or on that of the first, apart or meeting at a server."""
    rng, draft, a = made.rng, made.draft, made.one()
    vpod, physical = f"{a}-b", made.leaf[a].replace("leaf", "data")
    if any(item.name == vpod for item in draft.components[a]):
        return
    draft.components[a].append(Component(name=vpod, type="VirtualPod", parent=a))
    vlan = rng.choice((made.vlan[a], 1070, 1070, 1070))
    network = Network(
        name=f"{vpod}-ipu-data", project=draft.project(a), network_type="vlan", physical_network=physical,
        segmentation_id=vlan,
    )  # fmt: skip
    draft.add(a, network.name, network, component=vpod)
    _of_vpod(made, a, vpod, (network.name, *rng.choice(((), (), (), (f"{a}-a-ipu-data",)))))
    if rng.random() < 0.2:
        draft.one_owner.add(a)


def _of_vpod(made: Scene, owner: str, vpod: str, networks: tuple[str, ...]) -> None:
    """A server with a function on each of these networks."""
    draft, name = made.draft, f"{vpod}-poplar-0"
    for network in networks:
        plug = Port(
            name=f"{name}-{network}", project=draft.project(owner), network=network, subnet=f"{network}-subnet",
            address="10.0.0.9", vnic_type="direct",
        )  # fmt: skip
        draft.add(owner, plug.name, plug, component=vpod)
    ports = tuple(f"{name}-{network}" for network in networks)
    server = Server(
        name=name, project=draft.project(owner), flavor="site:Flavor/poplar", image="site:Image/poplar",
        host=made.host[owner], ports=ports,
    )  # fmt: skip
    draft.add(owner, name, server, component=vpod)


def one_login(made: Scene) -> None:
    """A key pair of each of two tenants; perhaps one key under two names, or one that servers of the other have."""
    a, b = made.pair()
    whose = {a: a, b: made.rng.choice((a, a, b))}
    for tenant, of in whose.items():
        name = made.name(tenant, "login")
        made.draft.add(tenant, name, Keypair(name=name, public_key=f"{ssh_key(of)}@{tenant}"))
    # Of a copy of the dice: worlds that are known by their numbers stay what they are.
    former = copy(made.rng).choice((None, None, None, a, f"nobody of {b}"))
    if former is not None:
        made.draft.take_out(b, ssh_key(former))


PLOTS = (
    two_vpods, two_vpods, one_login, one_login, buckets, buckets, buckets, entries, entries, called_controllers,
    called_controllers,
)  # fmt: skip
