"""What a random tenant asks for: a small set of cheap resources, and the ways in which it changes its mind."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

from interlock.resources import (
    Bucket,
    Keypair,
    Network,
    Port,
    Project,
    Quota,
    Resource,
    RoleAssignment,
    Router,
    RouterInterface,
    S3Credential,
    SecurityGroup,
    Server,
    ServiceUser,
    Subnet,
    SwitchPort,
    Volume,
)
from tests.support.world import declared

#: What can be asked for -> what it needs besides.
PARTS: dict[str, tuple[str, ...]] = {
    "quota": (),
    "key": (),
    "net": (),
    "second": (),
    "router": ("net",),
    "group": (),
    "port": ("net", "group"),
    "fabric": (),
    "function": ("fabric",),
    "rnic": ("fabric",),
    "volume": (),
    "spare": (),
    "bucket": (),
    "server": (),
}

#: Ports; the server has those that are asked for.
PLUGS = ("port", "function")

#: Parts that have a name that may change.
RENAMED = ("net", "second", "router", "group", "port", "fabric", "function", "volume", "spare", "server")

#: Parts that can grow.
RESIZED = ("quota", "net", "group", "volume", "spare")

#: Parts that can go to another place: another segment, another range of addresses, another address.
MOVED = ("net", "second", "port", "fabric", "function", "rnic")

#: Parts that hold data.
DATA = ("volume", "spare", "bucket")

#: Segment ids of one tenant: nobody has another's.
SEGMENTS = 100


@dataclass(frozen=True)
class Wish:
    """What one tenant wants now. `number` tells apart all tenants that there ever are."""

    number: int
    parts: frozenset[str]
    #: Part -> how often it was renamed, resized, moved.
    renamed: dict[str, int] = field(default_factory=dict)
    resized: dict[str, int] = field(default_factory=dict)
    moved: dict[str, int] = field(default_factory=dict)
    #: Parts whose data may go with them.
    erased: frozenset[str] = frozenset()

    @property
    def tenant(self) -> str:
        return f"m{self.number}"

    def with_part(self, part: str) -> Wish:
        return replace(self, parts=self.parts | {part, *PARTS[part]})

    def without(self, part: str) -> Wish:
        gone = {part, *(other for other, needs in PARTS.items() if part in needs)}
        return replace(self, parts=self.parts - gone)

    def once_more(self, how: str, part: str) -> Wish:
        """Renamed, resized or moved once more."""
        counts = getattr(self, how)
        changed: Any = {how: {**counts, part: counts.get(part, 0) + 1}}
        return replace(self, **changed)


def chosen(number: int, parts: frozenset[str], erased: frozenset[str]) -> Wish:
    """A wish for these parts and what they need."""
    wish = Wish(number, frozenset(), erased=erased)
    for part in sorted(parts):
        wish = wish.with_part(part)
    return wish


def resources(wish: Wish) -> dict[str, Resource]:
    """Plan name -> resource, each after what it refers to."""
    t, project = wish.tenant, f"{wish.tenant}-project"
    found: dict[str, Resource] = {
        project: Project(name=t, description="A tenant"),
        f"{t}-operator": declared.operator(project),
    }
    for part in PARTS:
        if part in wish.parts:
            found |= _MAKERS[part](wish, t, project)
    return found


def everything(number: int) -> dict[str, Resource]:
    """All that a tenant may ever have, in order."""
    return resources(chosen(number, frozenset(PARTS), frozenset()))


def part_of(name: str) -> str:
    """The part that a plan name belongs to; empty if it belongs to none."""
    words = name.split("-")
    return words[1] if words[1] in PARTS else ""


def _named(wish: Wish, part: str) -> str:
    return f"{wish.tenant}-{part}" + "-n" * (wish.renamed.get(part, 0) % 3)


def _quota(wish: Wish, t: str, project: str) -> dict[str, Resource]:
    limits = declared.quota(project)
    return {f"{t}-quota": Quota(**limits.model_dump() | {"networks": 10 + wish.resized.get("quota", 0) % 5})}


def _key(wish: Wish, t: str, project: str) -> dict[str, Resource]:
    return {f"{t}-key": Keypair(name=f"{t}-key", public_key=declared.KEY)}


def _net(wish: Wish, t: str, project: str) -> dict[str, Resource]:
    return _segment(wish, t, project, "net", 10)


def _second(wish: Wish, t: str, project: str) -> dict[str, Resource]:
    return _segment(wish, t, project, "second", 60)


def _segment(wish: Wish, t: str, project: str, part: str, byte: int) -> dict[str, Resource]:
    """A network with its subnet. Moved, it goes to another segment or to another range of addresses in turn."""
    moved = wish.moved.get(part, 0)
    segment = 400_000 + wish.number * SEGMENTS + byte + (moved + 1) // 2 % 20
    prefix = f"10.{byte + moved // 2 % 20}.0"
    return {
        f"{t}-{part}": Network(
            name=_named(wish, part), project=project, network_type="vxlan", segmentation_id=segment
        ),
        f"{t}-{part}-subnet": Subnet(
            name=_named(wish, part), project=project, network=f"{t}-{part}", cidr=f"{prefix}.0/24",
            gateway=f"{prefix}.1", dhcp=False, dns=("9.9.9.9", "1.1.1.1")[: wish.resized.get(part, 0) % 3],
        ),
    }  # fmt: skip


def _router(wish: Wish, t: str, project: str) -> dict[str, Resource]:
    return {
        f"{t}-router": Router(name=_named(wish, "router"), project=project),
        f"{t}-router-interface": RouterInterface(project=project, router=f"{t}-router", subnet=f"{t}-net-subnet"),
    }


def _group(wish: Wish, t: str, project: str) -> dict[str, Resource]:
    rules = (declared.SSH, declared.among(f"{t}-group"), declared.OUT)[: 1 + wish.resized.get("group", 0) % 3]
    return {f"{t}-group": SecurityGroup(name=_named(wish, "group"), project=project, rules=rules)}


def _port(wish: Wish, t: str, project: str) -> dict[str, Resource]:
    net = resources_prefix(wish)
    return {
        f"{t}-port": Port(
            name=_named(wish, "port"), project=project, network=f"{t}-net", subnet=f"{t}-net-subnet",
            address=f"{net}.{20 + wish.moved.get('port', 0) % 50}", security_groups=(f"{t}-group",),
        )
    }  # fmt: skip


def _fabric(wish: Wish, t: str, project: str) -> dict[str, Resource]:
    """A VLAN of the hosts' cards. Moved, it goes to another id and back; no two tenants at once have the same ones."""
    vlan = 2200 + wish.number % 300 * 2 + wish.moved.get("fabric", 0) % 2
    return {
        f"{t}-fabric": Network(
            name=_named(wish, "fabric"), project=project, network_type="vlan", physical_network="fabric100g",
            segmentation_id=vlan,
        ),
        f"{t}-fabric-subnet": Subnet(
            name=_named(wish, "fabric"), project=project, network=f"{t}-fabric", cidr="10.90.0.0/24", dhcp=False
        ),
    }  # fmt: skip


def _function(wish: Wish, t: str, project: str) -> dict[str, Resource]:
    """A port on a virtual function."""
    return {
        f"{t}-function": Port(
            name=_named(wish, "function"), project=project, network=f"{t}-fabric", subnet=f"{t}-fabric-subnet",
            address=f"10.90.0.{20 + wish.moved.get('function', 0) % 50}", vnic_type="direct",
        )
    }  # fmt: skip


def vlans(wish: Wish) -> frozenset[int]:
    """The VLANs on which a tenant's fabric is, by turns; no other tenant of the same time has one of them."""
    first = 2200 + wish.number % 300 * 2
    return frozenset({first, first + 1})


def _rnic(wish: Wish, t: str, project: str) -> dict[str, Resource]:
    """The switch port of a machine. Moved, it is another machine's, and back; no two tenants at once have the same."""
    number = 1 + wish.number % 8 + wish.moved.get("rnic", 0) % 2 * 8
    vlan = 2200 + wish.number % 300 * 2 + wish.moved.get("fabric", 0) % 2
    planned = declared.switch_port(t, number, vlan, f"10.90.0.{100 + number}")
    references = {"network": f"{t}-fabric", "subnet": f"{t}-fabric-subnet"}
    return {f"{t}-rnic": SwitchPort(**planned.model_dump() | references)}


def _server(wish: Wish, t: str, project: str) -> dict[str, Resource]:
    return {
        f"{t}-server": Server(
            name=_named(wish, "server"), project=project, flavor="site:Flavor/small", image="site:Image/raw",
            host=f"poplar-{1 + wish.number % 2}",
            ports=tuple(f"{t}-{part}" for part in PLUGS if part in wish.parts),
        )
    }  # fmt: skip


def resources_prefix(wish: Wish) -> str:
    """The first three bytes of the addresses in the first network."""
    return f"10.{10 + wish.moved.get('net', 0) // 2 % 20}.0"


def _volume(wish: Wish, t: str, project: str) -> dict[str, Resource]:
    return _disk(wish, t, project, "volume")


def _spare(wish: Wish, t: str, project: str) -> dict[str, Resource]:
    return _disk(wish, t, project, "spare")


def _disk(wish: Wish, t: str, project: str, part: str) -> dict[str, Resource]:
    size = 1 + min(wish.resized.get(part, 0), 4)
    volume_type = "site:VolumeType/fake"
    return {
        f"{t}-{part}": Volume(
            name=_named(wish, part),
            project=project,
            size_gib=size,
            volume_type=volume_type,
            on_delete=_on_delete(wish, part),
        )
    }


def _bucket(wish: Wish, t: str, project: str) -> dict[str, Resource]:
    return {
        f"{t}-bucket-user": ServiceUser(name=f"{t}-s3", project=project),
        f"{t}-bucket-role": RoleAssignment(project=project, user=f"{t}-bucket-user", role="cloud:Role/member"),
        f"{t}-bucket-key": S3Credential(project=project, user=f"{t}-bucket-user"),
        f"{t}-bucket": Bucket(
            name=f"{t}-bucket", project=project, credential=f"{t}-bucket-key", on_delete=_on_delete(wish, "bucket")
        ),
    }


def _on_delete(wish: Wish, part: str) -> Literal["keep", "erase"]:
    return "erase" if part in wish.erased else "keep"


_MAKERS = {
    "quota": _quota, "key": _key, "net": _net, "second": _second, "router": _router, "group": _group, "port": _port,
    "fabric": _fabric, "function": _function, "rnic": _rnic, "volume": _volume, "spare": _spare, "bucket": _bucket,
    "server": _server,
}  # fmt: skip
