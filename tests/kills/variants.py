"""For each kind that can change in place: the same resource with something in it changed."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import ip_address
from typing import Any, TypeVar

from interlock.resources import (
    KINDS,
    AddressScope,
    Aggregate,
    BareMetalServer,
    Bucket,
    BucketPolicy,
    Claims,
    Flavor,
    FloatingIp,
    Image,
    Network,
    PartitionKey,
    Port,
    Project,
    Quota,
    Resource,
    Role,
    Router,
    SecurityGroup,
    SegmentRange,
    Server,
    Share,
    ShareQuota,
    ShareType,
    Subnet,
    SubnetPool,
    SwitchPort,
    VipuObject,
    Volume,
    VolumeEncryption,
    VolumeType,
)
from tests.support.cloud.fabric import partition
from tests.support.sampling import Sampling

R = TypeVar("R", bound=Resource)


def _with(**update: Any) -> Callable[[Any], Any]:
    return lambda item: item.model_copy(update=update)


def _renamed(item: Any) -> Any:
    return item.model_copy(update={"name": f"{item.name}-changed"})


def _quota(item: Quota) -> Quota:
    """A figure of each service."""
    more = {"instances": item.instances + 1, "networks": item.networks + 1, "volumes": item.volumes + 1}
    return item.model_copy(update=more)


def _specs(item: Flavor) -> Flavor:
    kept = dict(sorted(item.extra_specs.items())[1:])
    return item.model_copy(update={"extra_specs": kept | {"hw:watchdog_action": "reset"}})


def _rules(item: SecurityGroup) -> SecurityGroup:
    """One rule less, another in its place, another name."""
    first = item.rules[0].model_copy(update={"remote_prefix": "198.51.100.128/25", "remote_group": None})
    return item.model_copy(update={"name": f"{item.name}-changed", "rules": (first, *item.rules[1:])})


def _subnet(item: Subnet) -> Subnet:
    return item.model_copy(update={"name": f"{item.name}-changed", "dns": (*item.dns, "9.9.9.9")})


def _port(item: Port) -> Port:
    return item.model_copy(update={"name": f"{item.name}-changed", "allowed_address_pairs": ("192.0.2.0/24",)})


def _addresses(item: SwitchPort) -> SwitchPort:
    """The last address is another one of its subnet, below those that are assigned by Neutron."""
    *kept, last = item.addresses
    return item.model_copy(update={"addresses": (*kept, str(ip_address(last) + 30))})


def _server(item: Server) -> Server:
    """Another name, and a port less."""
    return item.model_copy(update={"name": f"{item.name}-changed", "ports": item.ports[:-1]})


def _type(item: VolumeType) -> VolumeType:
    """Another name and text, and another key for its volumes, of which there are none yet."""
    encryption = VolumeEncryption(provider="luks2", cipher="aes-xts-plain64", key_size=128, control_location="back-end")
    return item.model_copy(update={"name": "kills-changed", "description": "Changed", "encryption": encryption})


def _hosts(item: Aggregate) -> Aggregate:
    """Another name, a host less, more metadata."""
    return item.model_copy(
        update={"name": f"{item.name}-changed", "hosts": item.hosts[1:], "metadata": item.metadata | {"rack": "2"}}
    )


def _members(item: PartitionKey) -> PartitionKey:
    """Another adapter in the place of the last, which takes a request for the whole set."""
    return partition(item.key, "n0-r0", "n2-r0")


#: Kind -> what changes. Kinds that are not here have no field that changes in place.
CHANGED: dict[str, Callable[[Any], Any]] = {
    Project.KIND: _with(description="Changed"),
    Role.KIND: _with(description="Changed"),
    Quota.KIND: _quota,
    SegmentRange.KIND: lambda item: item.model_copy(update={"maximum": item.maximum - 1}),
    AddressScope.KIND: _renamed,
    SubnetPool.KIND: _renamed,
    Network.KIND: _renamed,
    Subnet.KIND: _subnet,
    Router.KIND: lambda item: item.model_copy(update={"name": f"{item.name}-changed", "external_network": None}),
    SecurityGroup.KIND: _rules,
    Port.KIND: _port,
    FloatingIp.KIND: _with(port="kay-spare"),
    SwitchPort.KIND: _addresses,
    Flavor.KIND: _specs,
    Image.KIND: _with(name="kills-changed", visibility="private"),
    Aggregate.KIND: _hosts,
    Server.KIND: _server,
    PartitionKey.KIND: _members,
    BareMetalServer.KIND: lambda item: item.model_copy(update={"ports": item.ports[:1], "legs": item.legs[:1]}),
    VolumeType.KIND: _type,
    Volume.KIND: _renamed,
    ShareQuota.KIND: lambda item: item.model_copy(update={"shares": item.shares + 1, "share_gib": item.share_gib + 9}),
    ShareType.KIND: lambda item: item.model_copy(
        update={"name": "kills-changed", "extra_specs": {**item.extra_specs, "snapshot_support": "False"}}
    ),
    Share.KIND: _renamed,
    Bucket.KIND: _with(versioning=False),
}


#: Kinds that hold a tenant's data: in every sample.
DATA = (Volume.KIND, Share.KIND, Bucket.KIND)
#: Those that grow in place, each time by a GiB.
GROWING = (Volume.KIND, Share.KIND)

#: Without policies of buckets, which the embedded cloud's Swift refuses: tests/buckets kills at those. Nor what V-IPU
#: controllers are told, by commands: test_kill_vipu.py kills at those.
MADE = tuple(
    kind
    for kind, cls in KINDS.items()
    if cls.HAS_ACTUATOR and cls not in (Claims, BucketPolicy) and not issubclass(cls, VipuObject)
)


def sampled(sampling: Sampling) -> frozenset[str]:
    """The kinds that a run kills at: all in a long one, else data and others, half of them such as change in place."""
    if sampling.long:
        return frozenset(MADE)
    name = "kinds killed"
    rest = [kind for kind in MADE if kind not in DATA]
    sampling.random(name).shuffle(rest)
    half = (sampling.count(name) - len(DATA)) // 2
    chosen = [[kind for kind in rest if (kind in CHANGED) is changes][:half] for changes in (True, False)]
    return frozenset((*DATA, *chosen[0], *chosen[1]))


def grown(item: Volume | Share) -> Volume | Share:
    """A GiB more; there is no way back."""
    return item.model_copy(update={"size_gib": item.size_gib + 1})
