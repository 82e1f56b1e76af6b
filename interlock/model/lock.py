"""What a tenant was given: written by `interlock lock`, committed and reviewed like a package manager's lock.

The plan is a function of the allocation. `footprint` is all that others could collide with
(docs/design/semantics.md, footprints): boundary nodes and the partition that this tenant induces on them.
"""

from __future__ import annotations

from typing import Final, Literal

from interlock.resources import Frozen, digest_of

FORMAT: Final = 1


class VPodAllocation(Frozen):
    """The claims of one vPOD, all exclusive."""

    machines: tuple[str, ...]
    #: Host of each Poplar server, by index.
    hosts: tuple[str, ...]
    #: Flavour of those servers: how much of its host each takes. Empty: not recorded, count the largest.
    flavor: str = ""
    controller_host: str
    ipu_data_vlan: int
    storage_vlan: int
    management_vlan: int
    control_vni: int
    ipu_data_subnet: str
    storage_subnet: str
    control_subnet: str
    management_subnet: str


class Allocation(Frozen):
    """Claims by vPOD."""

    vpods: dict[str, VPodAllocation]


class Released(Frozen):
    """A claim given up; it counts until state, cloud and switch have all let go."""

    vpod: str
    claim: str
    value: str


class Premise(Frozen):
    """A half of an edge whose other half may come from another owner; resolved after the union."""

    relation: str
    tuple: tuple[str, ...]


class Footprint(Frozen):
    """A tenant's boundary. Node names are the canonical identities of `policies.identities`."""

    #: The partition induced on the boundary nodes: classes, each sorted, the whole sorted.
    classes: tuple[tuple[str, ...], ...]
    #: Boundary node -> labels that the tenant puts on it.
    labels: dict[str, tuple[str, ...]]
    #: Exclusive identities: machines, switch ports, hosts' slots, addresses on shared media …
    exclusive: tuple[str, ...]
    exposures: tuple[str, ...] = ()
    grants: tuple[str, ...] = ()
    premises: tuple[Premise, ...] = ()
    #: Edges and labels that rest on a fact nobody stated.
    unknown: tuple[str, ...] = ()


class Lock(Frozen):
    """A lock file. `hash` covers everything else in it."""

    format: Literal[1] = FORMAT
    id: str
    #: Random, minted once; every object on the cloud carries it.
    owner: str
    serial: int
    #: Hashes of the request and of the site that this lock was made from.
    request: str
    site: str
    allocation: Allocation
    released: tuple[Released, ...] = ()
    footprint: Footprint
    hash: str = ""

    def sealed(self) -> Lock:
        """The same lock with its hash."""
        return self.model_copy(update={"hash": self.expected_hash()})

    def expected_hash(self) -> str:
        """The hash that a lock with this content must carry."""
        return digest_of(self.model_dump(mode="json", exclude={"hash"}))


class SiteLock(Frozen):
    """The lock of the operator's own stack: its owner id, and the hash of the site it was made from."""

    format: Literal[1] = FORMAT
    id: Literal["site"] = "site"
    owner: str
    serial: int
    site: str
    hash: str = ""

    def sealed(self) -> SiteLock:
        """The same lock with its hash."""
        return self.model_copy(update={"hash": self.expected_hash()})

    def expected_hash(self) -> str:
        """The hash that a lock with this content must carry."""
        return digest_of(self.model_dump(mode="json", exclude={"hash"}))
