"""GPU nodes on which Nova runs servers, in drafts: by hand for the examples, and at random for the worlds."""

from __future__ import annotations

from interlock.model.site.gpu import GpuHost, HcaPort
from interlock.model.site.inventory import FlavorSpec, Host, InfinibandSubnet
from interlock.resources import NvlinkPartition, PartitionKey, PartitionMember

from .drafting import Draft
from .sayings import POOL
from .scene import Scene

FABRIC = "ib"
#: Hands out GPUs and adapters, none of which is on Ethernet. Like all flavours of drafts it takes nothing of a host.
FLAVOR = FlavorSpec(
    name="gpu", role="gpu", vcpus=0, ram_gib=0, disk_gib=0, public=False, devices="other",
    extra_specs={"pci_passthrough:alias": "gpu:8,hca:8"},
)  # fmt: skip


def fabric(draft: Draft) -> None:
    """The subnet that the nodes are on, and the flavour of their servers."""
    if not draft.infiniband:
        draft.infiniband = [InfinibandSubnet(name=FABRIC, prefix="fe80000000000001")]
    if FLAVOR not in draft.flavors:
        draft.flavors.append(FLAVOR)


def passed_on_node(draft: Draft, name: str, leaf: str, network: str, compute: str, storage: str | None = None) -> None:
    """A node with one port of the compute fabric, perhaps one of storage, and an uplink for its server's network."""
    subnet = draft.infiniband[0].name
    ports = [HcaPort(name="compute1", use="compute", infiniband=subnet, rail=1, guid=compute)]
    if storage is not None:
        ports.append(HcaPort(name="storage1", use="storage", infiniband=subnet, rail=1, guid=storage))
    draft.gpu_nodes.append(GpuHost(name=name, node_type="dgx-h100", hall="hall-1", unit=1, ports=tuple(ports)))
    draft.hosts[name] = Host(
        name=name, serial=f"SN-{name}", role="gpu", interfaces={network: ("e0",)}, bmc="idrac",
    )  # fmt: skip
    number = draft.port(leaf, mode="trunk", tagged=POOL)
    draft.cable((name, "e0"), (leaf, number))


def server(draft: Draft, owner: str, host: str, network: str, flavor: str = "gpu") -> None:
    """A server on it, in band by an ordinary port."""
    name = f"{owner}-on-{host}-{len(draft.resources[owner])}"
    port = draft.plug(owner, f"{name}-port", network, vnic_type="normal")
    draft.server(owner, name, host, (port,), flavor=f"site:Flavor/{flavor}")


def key(draft: Draft, owner: str, number: int, *guids: str) -> None:
    """A partition of the owner's, with full members."""
    members = tuple(PartitionMember(guid=guid, membership="full") for guid in guids)
    part = PartitionKey(infiniband=draft.infiniband[0].name, key=number, members=members)
    draft.add(owner, f"{owner}-key-{number}", part)


def gpus(draft: Draft, owner: str, node: str) -> None:
    """A fabric manager is told that all GPUs of a node are the owner's."""
    every = tuple(map(str, range(1, 9)))
    draft.add(owner, f"{owner}-gpus-{node}", NvlinkPartition(name="all", domain=node, partition=0, gpus=every))


def passed_on_nodes(made: Scene) -> None:
    """A node of each of two tenants: now and then both on one, a port in the other's partition, GPUs told to be
    another's; and what somebody gave up, cleaned or not."""
    rng, draft = made.rng, made.draft
    fabric(draft)
    pair = made.pair()
    names = [f"node-{tenant}" for tenant in pair]
    ports = [f"{0x200 + number:016x}" for number in (1, 2)]
    stored = [f"{0x300 + number:016x}" for number in (1, 2)]
    for name, tenant, *guids in zip(names, pair, ports, stored, strict=True):
        passed_on_node(draft, name, made.leaf[tenant], f"data-{made.leaf[tenant][-1]}", *guids)
    for number, tenant in enumerate(pair):
        on = rng.choice((*[number] * 10, 1 - number, None))
        if on is not None:
            server(draft, tenant, names[on], f"{tenant}-a-ipu-data", rng.choice((*["gpu"] * 5, "poplar")))
        member = rng.choice((*[ports[number]] * 10, ports[1 - number], stored[number]))
        if rng.random() < 0.6:
            key(draft, tenant, 0x40 + number, member)
    if rng.random() < 0.2:
        gpus(draft, rng.choice(pair), rng.choice(names))
    if rng.random() < 0.4:
        _former(made, pair, names)


def _former(made: Scene, pair: tuple[str, str], names: list[str]) -> None:
    rng, draft = made.rng, made.draft
    if rng.random() < 0.3:
        draft.give_up(rng.choice(pair), "hosts", rng.choice(names))
    else:
        draft.clean(rng.choice(pair), rng.choice(names))
        assumption, guard = rng.choice((("A9", "steps_erase"), ("A23", "firmware_restored")))
        draft.assumptions[assumption] = {guard: made.unsure()}
