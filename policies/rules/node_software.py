"""What rules about the software of GPU nodes look at: servers of a plan on such nodes, by image and type of node.

Which of the rules is about a server is decided by facts: its node's type in the catalogue, its node's ports, the
partitions and networks of the plan. A site without GPU nodes has none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from interlock.hardware.gpu import NODE_TYPES, NodeType
from interlock.model.site.gpu import GpuHost
from interlock.model.site.offers import ImageSpec
from interlock.model.site.software import ImageSoftware
from interlock.resources import Image
from interlock.vocabulary import Reference, Scheme
from policies.about import Fact, SaidFact, SiteFact, resources
from policies.facts.kinds import ServerFact
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.proof import Severity

from .roce import roce_networks
from .rule import Cause, RuleAnswer, by_facts

NVIDIA = "NVIDIA"
_FIXES = "take another image, or correct what the site states of this one"


@dataclass(frozen=True)
class NodesOfOneKind:
    """Servers on GPU nodes of one type that boot one image, and use their fabrics alike."""

    image: str
    #: Whether it is one of the site's, which alone states what is in it.
    is_listed: bool
    software: ImageSoftware
    node_type: str
    servers: tuple[str, ...]
    is_bare_metal: bool
    #: The nodes have compute ports on InfiniBand subnets, and the plan has them in a partition.
    has_infiniband: bool
    uses_infiniband: bool
    #: Names of the fabric profiles of the Ethernet networks that they are on: there, RoCE is meant.
    profiles: tuple[str, ...]
    #: Those of these networks that are for RoCE and state no profile.
    unprofiled: tuple[str, ...]

    @property
    def catalogued(self) -> NodeType | None:
        """The type of node, if the catalogue has it."""
        return NODE_TYPES.get(self.node_type)

    @property
    def gpu(self) -> str:
        """Name of its GPU; empty: unknown."""
        return self.catalogued.gpu.name if self.catalogued is not None else ""

    @property
    def has_cuda(self) -> bool:
        """Whether its GPUs are NVIDIA's; of a type that nobody knows, they may be."""
        return self.catalogued is None or self.catalogued.gpu.maker == NVIDIA

    @property
    def uses_rdma(self) -> bool:
        """Whether GPUs of several nodes reach each other by RDMA."""
        return self.uses_infiniband or bool(self.profiles or self.unprofiled)

    def stated(self, key: str) -> Fact:
        """The place where the site says this of the image; of an image that it does not list there is none."""
        if self.is_listed:
            return SiteFact(f"images.{self.image}.software.{key}")
        return SaidFact(f"what runs in image {self.image}: {key}")

    def unstated(self, *keys: str) -> tuple[Fact, ...]:
        """The places of those of these keys that nobody states."""
        return tuple(self.stated(key) for key in keys if getattr(self.software, key) is None)

    def words(self, *keys: str) -> tuple[str, ...]:
        """Each of these keys with what is stated, for a witness."""
        return tuple(f"image {self.image}: {key} {_shown(getattr(self.software, key))}" for key in keys)

    def cause(
        self, key: str, why: str, witness: tuple[str, ...] = (), *, missing: tuple[Fact, ...] = (),
        severity: Severity | None = None, hint: str = _FIXES,
    ) -> Cause:  # fmt: skip
        """Something wrong with the image on these nodes; with `missing`, perhaps."""
        first, others = self.servers[0], len(self.servers) - 1
        more = f" and {others} more" if others else ""
        boots = "boot" if others else "boots"
        return Cause(
            key=(
                self.image,
                self.node_type,
                self.is_bare_metal,
                self.uses_infiniband,
                key,
                *self.profiles,
                *self.unprofiled,
            ),
            message=f"{first}{more} on {self.node_type} {boots} image {self.image}, {why}",
            witness=(f"server {first}", f"node type {self.node_type}", *witness),
            hint="state it in the site file" if missing else hint,
            missing=missing,
            specificity=33,
            severity=severity,
            about=resources(*self.servers),
        )

    def unknown(self, key: str, why: str, *keys: str, severity: Severity | None = None) -> Cause:
        """That a rule cannot be answered, since nobody states these keys."""
        missing = self.unstated(*keys)
        lacking = " and ".join(item for item in keys if getattr(self.software, item) is None)
        why = f"which does not state {lacking}: {why}"
        return self.cause(key, why, self.words(*keys), missing=missing, severity=severity)


def _shown(value: object) -> str:
    match value:
        case None:
            return "not stated"
        case bool():
            return "true" if value else "false"
        case tuple():
            return ", ".join(map(str, value)) or "none"
    return str(value)


#: Reference of the image, type of node, and the rest of what `NodesOfOneKind` says, up to its profiles.
_Likeness = tuple[str, str, bool, bool, bool, tuple[str, ...], tuple[str, ...]]
#: What a rule says of nodes of one kind; None: it is not about them.
Check = Callable[[Model, NodesOfOneKind], Iterable[Cause] | None]


def asked(check: Check) -> Callable[[Model, Names], RuleAnswer]:
    """The question of a rule: its check of each kind of nodes in the plan."""

    def ask(model: Model, _: Names) -> RuleAnswer:
        found = [check(model, kind) for kind in kinds_of_nodes(model)]
        about = [list(causes) for causes in found if causes is not None]
        return by_facts(len(about), [cause for causes in about for cause in causes])

    return ask


def kinds_of_nodes(model: Model) -> tuple[NodesOfOneKind, ...]:
    """The servers of a plan that stand on GPU nodes, those alike together."""
    nodes = model.site.site.gpu_node
    if not nodes:
        return ()
    # A GUID is written in small letters or in capitals, by whoever writes it.
    members = {guid.lower() for key in model.plan.keys if key.is_claim for guid, _ in key.members}
    alike: defaultdict[_Likeness, list[str]] = defaultdict(list)
    for server in model.plan.servers:
        if server.host in nodes:
            alike[_likeness(model, server, nodes[server.host], members)].append(server.name)
    return tuple(_kind(model, likeness, servers) for likeness, servers in alike.items())


def _likeness(model: Model, server: ServerFact, node: GpuHost, members: set[str]) -> _Likeness:
    guids = [port.guid for port in node.ports if port.use == "compute"]
    joined = any(guid is not None and guid.lower() in members for guid in guids)
    profiles, unprofiled = _profiles(model, server)
    return server.image, node.node_type, server.is_bare_metal, bool(guids), joined, profiles, unprofiled


def _profiles(model: Model, server: ServerFact) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Fabric profiles of the physical networks that the server has a port on; those for RoCE that state none."""
    plan, for_roce = model.plan, {item.name for item in roce_networks(model)}
    networks = {plan.port[name].network for name in server.ports if name in plan.port}
    wires = {plan.network[name].physical_network for name in networks if name in plan.network}
    listed = [item for item in model.site.site.physical_networks if item.name in wires]
    profiles = {item.profile for item in listed if item.profile is not None}
    silent = {item.name for item in listed if item.profile is None} & for_roce
    return tuple(sorted(profiles)), tuple(sorted(silent))


def _kind(model: Model, likeness: _Likeness, servers: list[str]) -> NodesOfOneKind:
    image, node_type, is_bare_metal, has_infiniband, uses_infiniband, profiles, unprofiled = likeness
    name = Reference.name_in(image, Scheme.SITE, Image.KIND)
    spec = next((item for item in model.site.site.images if item.name == name), None)
    return NodesOfOneKind(
        image=image if name is None else name,
        is_listed=spec is not None,
        software=ImageSoftware() if spec is None else _software(spec),
        node_type=node_type,
        servers=tuple(servers),
        is_bare_metal=is_bare_metal,
        has_infiniband=has_infiniband,
        uses_infiniband=uses_infiniband,
        profiles=profiles,
        unprofiled=unprofiled,
    )


def _software(image: ImageSpec) -> ImageSoftware:
    """With the system and the kernel of the image's properties, where they are stated there."""
    said, properties = image.software, image.properties
    return said.model_copy(update={"os": said.os or properties.os, "kernel": said.kernel or properties.kernel})
