"""Facts about what switches, V-IPU controllers and fabric managers set."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from . import identities as ids


@dataclass(frozen=True)
class SwitchPortFact:
    """A switch port that the plan puts into access mode."""

    name: str
    switch: str
    port: int
    device: str
    interface: str
    vlan: int
    vpod: str | None
    #: Neutron wires it, and so sets the VLAN of `network`.
    by_neutron: bool = False
    #: Label, from the project that its Neutron port lies in.
    owner: str | None = None
    #: Network and subnet by plan name; None: nobody states them.
    network: str | None = None
    subnet: str | None = None
    addresses: tuple[str, ...] = ()


@dataclass(frozen=True)
class AllocationFact:
    """A V-IPU allocation: the machines that one controller joins. `owner` is the tenant of the plan."""

    name: str
    owner: str
    vpod: str | None
    controller: str
    machines: tuple[str, ...]
    topology: str
    #: The V-IPU cluster that it is of, by plan name.
    cluster: str = ""


@dataclass(frozen=True)
class PartitionFact:
    """A V-IPU partition with its options, as V-IPU names them."""

    name: str
    vpod: str | None
    allocation: str
    ipus: int
    gcds: int
    replicas: int
    reconfigurable: bool
    sync_type: str
    routing: str
    controller: str = ""


@dataclass(frozen=True)
class PartitionKeyFact:
    """A P_Key of an InfiniBand subnet. `members` are (GUID, full or limited)."""

    name: str
    infiniband: str
    key: int
    members: tuple[tuple[str, str], ...]
    #: Component of the vPOD or GPU cluster that it is of; None: of none.
    vpod: str | None = None
    #: Whether it is the first key of its ports, which NCCL uses.
    index0: bool = True
    #: Whether several stacks have members in it.
    shared: bool = False
    #: Of a shared one who may be full in it, by GUID: what its writers go by.
    servers: tuple[str, ...] = ()

    @property
    def is_claim(self) -> bool:
        """Whether its plan has the key for itself. Limited members do not claim one that is everybody's, or shared."""
        full = any(membership == "full" for _, membership in self.members)
        return full or not (self.shared or self.key & ids.KEY_BITS == ids.DEFAULT_KEY)


@dataclass(frozen=True)
class ClusterFact:
    """A GPU cluster: its nodes are the whole hosts that it takes."""

    name: str
    hosts: tuple[str, ...]
    #: The hosts below its heads. A plan may call a server on a GPU node a head: rules ask `nodes_of`.
    heads: tuple[str, ...] = ()


def part_in_words(clusters: Iterable[ClusterFact], name: str | None) -> str:
    """A part of a tenant's plan that is kept apart, as messages call it."""
    return f"cluster {name}" if any(item.name == name for item in clusters) else f"vPOD {name}"


@dataclass(frozen=True)
class NvlinkFact:
    """GPUs of one NVLink domain that reach each other."""

    name: str
    domain: str
    partition: int
    gpus: tuple[str, ...]
