"""What the parts of a request are read with: what the site offers, the faults, and a note of every default."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from interlock.model.site.file import TenantDefaultsFile
from interlock.model.site.inventory import Site
from interlock.model.site.leaf_groups import largest_leaf_groups
from interlock.model.site.physical import Host, Machine
from interlock.model.text.errors import Code
from interlock.model.text.faults import Faults
from interlock.model.text.source import Step
from interlock.model.text.validation import FileModel, nearest
from interlock.resources.storage import OnDelete

from .file import TenantFile
from .request import Default

Path = tuple[Step, ...]
Origin = Literal["interlock", "the site", "the tenant"]
T = TypeVar("T")


@dataclass(frozen=True)
class Offered:
    """Everything that requests may name, looked up once for all tenants of a site."""

    defaults: TenantDefaultsFile
    #: Keystone domain of members that name none.
    domain: str
    flavors: Collection[str]
    images: Collection[str]
    volume_types: Collection[str]
    share_types: Collection[str]
    machines: Mapping[str, Machine]
    #: Node type -> hall -> nodes of the type there, in the order of the site.
    gpu_nodes: Mapping[str, Mapping[str, int]]
    #: Whether the site has a pool of RoCE networks.
    has_roce: bool
    #: Node type -> whole nodes of it that one leaf group has at most, with all Ethernet compute ports there.
    roce_nodes: Mapping[str, int]
    #: Node -> its type.
    type_of_node: Mapping[str, str]
    #: GPU node -> how it is given out.
    provisioning_of_node: Mapping[str, str]
    poplar_hosts: Mapping[str, Host]
    infra_hosts: Collection[str]
    #: True if some logical rack has the cable that closes its chain to a ring.
    torus: bool
    #: Addresses that tenants' packets come from outside: of gateways and floating IPs.
    external_pool: tuple[str, str]
    #: True if the site has a bastion, by which public servers are reached as well.
    bastion: bool
    #: Kind of the object storage; empty: the site does not state it.
    storage_kind: str
    #: Currency of the price book; None: the site has no prices.
    currency: str | None

    @classmethod
    def of(cls, site: Site, defaults: TenantDefaultsFile) -> Offered:
        """What this site offers."""
        return cls(
            defaults=defaults,
            domain=site.domain,
            flavors={flavor.name for flavor in site.flavors if flavor.role == "poplar"},
            images={image.name for image in site.images},
            volume_types=set(site.volume_types),
            share_types={item.name for item in site.share_types},
            machines=site.machine,
            gpu_nodes=_counted(site),
            has_roce=site.pools.roce is not None,
            roce_nodes=largest_leaf_groups(site),
            type_of_node={node.name: node.node_type for node in site.gpu_nodes},
            provisioning_of_node={host.name: host.provisioning for host in site.hosts if host.role == "gpu"},
            poplar_hosts={host.name: host for host in site.hosts if host.role == "poplar"},
            infra_hosts={host.name for host in site.hosts if host.role == "infra"},
            torus=any(rack.topology == "torus" for rack in site.logical_racks),
            external_pool=site.external.pool,
            bastion=site.bastion is not None,
            storage_kind=site.object_storage.kind if site.object_storage else "",
            currency=site.prices.currency if site.prices else None,
        )


@dataclass
class RequestReading:
    """One request on its way to the full form."""

    file: TenantFile
    offered: Offered
    faults: Faults
    defaults: list[Default] = field(default_factory=list)

    def note(self, path: Path, value: object, origin: Origin = "interlock") -> None:
        """The request does not state `path`; this is what it gets."""
        dotted = ".".join(str(step) for step in path)
        self.defaults.append(Default(path=dotted, value=_text(value), origin=origin))

    def note_left_out(self, path: Path, model: FileModel, *names: str) -> None:
        """Notes those of these keys that the file leaves to their defaults."""
        for name in names:
            if name not in model.model_fields_set:
                self.note((*path, name), getattr(model, name))

    def filled(self, path: Path, stated: T | None, default: T) -> T:
        """The stated value, or interlock's own default, noted."""
        if stated is not None:
            return stated
        self.note(path, default)
        return default

    def choice(self, path: Path, what: str, stated: str | None, default: str | None, known: Collection[str]) -> str:
        """One of the names that the site offers, by default the site's; empty after a fault."""
        if stated is not None:
            self.faults.need(path, what, stated, known)
        elif default is not None:
            self.note(path, default, "the site")
        else:
            message = f"`{path[-1]}` is missing, and the site has no default"
            self.faults.add(Code.MISSING_KEY, path, message, nearest("", known))
        return stated or default or ""

    def on_delete(self, path: Path, stated: OnDelete | None) -> OnDelete:
        """What happens to the data of one thing, by default what the request says for all."""
        return self._own_or_for_all((*path, "on_delete"), stated, self.file.on_delete)

    def encrypted(self, path: Path, stated: bool | None) -> bool:
        """Whether one volume has to be encrypted, by default what the request says for all."""
        return self._own_or_for_all((*path, "encrypted"), stated, self.file.encrypted)

    def _own_or_for_all(self, path: Path, stated: T | None, for_all: T) -> T:
        """The stated value, or what the request says under the same key for all, noted."""
        if stated is not None:
            return stated
        own = path[-1] in self.file.model_fields_set
        self.note(path, for_all, "the tenant" if own else "interlock")
        return for_all

    def size(self, path: Path, what: str, gib: int) -> int:
        """A size that is more than nothing."""
        if gib < 1:
            self.faults.add(Code.VALUE, (*path, "size"), f"{what} of 0 GiB", "leave it out for none")
        return gib

    def s3_keys(self, path: Path, numbers: Collection[int]) -> tuple[int, ...]:
        """Numbers of the S3 keys of a vPOD or cluster, ascending."""
        if list(numbers) != sorted(set(numbers)):
            message = f"S3 keys {', '.join(map(str, numbers))}: each number stands once, the older key first"
            self.faults.add(Code.VALUE, (*path, "s3_keys"), message, "write `[1, 2]`; the last is the key in use")
        return tuple(numbers)

    def cluster_names(self, path: Path, names: Collection[str]) -> tuple[str, ...]:
        """Names of the tenant's own clusters, each once."""
        for index, name in enumerate(names):
            if name in self.file.vpods:
                message, hint = f"`{name}` is a vPOD, and a cluster is meant here", "name it under `vpods:`"
                self.faults.add(Code.NO_SUCH, (*path, index), message, hint)
            else:
                message = f"`{name}` is no cluster of this tenant"
                self.faults.need_name((*path, index), name, self.file.clusters, message, of=("clusters",))
        self.each_once(path, tuple(names))
        return tuple(names)

    def part_names(self, path: Path, names: Collection[str]) -> tuple[str, ...]:
        """Names of the tenant's own vPODs and clusters, each once."""
        known = (*self.file.vpods, *self.file.clusters)
        for index, name in enumerate(names):
            message = f"`{name}` is no vPOD or cluster of this tenant"
            if not self.faults.short_of("clusters"):
                self.faults.need_name((*path, index), name, known, message, of=("vpods",))
        self.each_once(path, tuple(names))
        return tuple(names)

    def vpod_names(self, path: Path, names: Collection[str]) -> tuple[str, ...]:
        """Names of the tenant's own vPODs, each once."""
        for index, name in enumerate(names):
            self.vpod_name((*path, index), name, "name it under `clusters:`")
        self.each_once(path, tuple(names))
        return tuple(names)

    def vpod_name(self, path: Path, name: str, hint: str = "name vPODs here, or leave it out") -> bool:
        """True if the tenant has this vPOD, else a fault. `hint`: what to do about a cluster."""
        message = f"`{name}` is no vPOD of this tenant"
        if name in self.file.clusters:
            self.faults.add(Code.NO_SUCH, path, f"`{name}` is a cluster, and a vPOD is meant here", hint)
            return False
        self.faults.need_name(path, name, self.file.vpods, message, of=("vpods",))
        return name in self.file.vpods

    def each_once(self, path: Path, names: Collection[str]) -> None:
        """A fault for everything that a list has already."""
        seen = set[str]()
        for index, name in enumerate(names):
            if name in seen:
                self.faults.add(Code.TWICE, (*path, index), f"`{name}` is there twice")
            seen.add(name)


def _counted(site: Site) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for node in site.gpu_nodes:
        halls = found.setdefault(node.node_type, {})
        halls[node.hall] = halls.get(node.hall, 0) + 1
    return found


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ", ".join(str(item) for item in value) or "none"
    return "none" if value is None else str(value)
