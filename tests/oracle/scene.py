"""The clean worlds that plots disturb: tenants with own VLANs on one or two leaves, servers, machines, gateways."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from .drafting import Draft

NAMES = ("acme", "globex", "initech", "umbrella")
POOL = ((1000, 1099),)


@dataclass
class Scene:
    """A draft, and what was put where."""

    rng: Random
    draft: Draft = field(default_factory=Draft)
    leaves: tuple[str, ...] = ()
    tenants: tuple[str, ...] = ()
    #: Tenant -> leaf, host, data network, VLAN, machines.
    leaf: dict[str, str] = field(default_factory=dict)
    host: dict[str, str] = field(default_factory=dict)
    vlan: dict[str, int] = field(default_factory=dict)
    machines: dict[str, list[str]] = field(default_factory=dict)
    #: Host or machine -> its data port.
    port: dict[str, tuple[str, int]] = field(default_factory=dict)
    #: Uplinks: both ends.
    uplinks: list[tuple[tuple[str, int], tuple[str, int]]] = field(default_factory=list)

    def unsure(self) -> bool | None:
        """A fact that may hold, not hold or be unknown."""
        return self.rng.choice((True, False, None))

    def pair(self) -> tuple[str, str]:
        """Two tenants."""
        a, b = self.rng.sample(self.tenants, 2)
        return a, b

    def one(self) -> str:
        """A tenant."""
        return self.rng.choice(self.tenants)

    def name(self, owner: str, what: str) -> str:
        """A plan name that is not used yet."""
        used = {item.name for item in self.draft.resources.get(owner, ())}
        name, number = f"{owner}-{what}", 2
        while name in used:
            name, number = f"{owner}-{what}-{number}", number + 1
        return name


def scene(rng: Random) -> Scene:
    """A clean world; what is in it varies."""
    made = Scene(rng)
    _fabric(made)
    made.tenants = NAMES[: rng.choice((2, 2, 2, 3, 3, 4))]
    for number, tenant in enumerate(made.tenants):
        _tenant(made, tenant, 1001 + number)
    return made


def _fabric(made: Scene) -> None:
    rng, draft = made.rng, made.draft
    made.leaves = ("leaf-1", "leaf-2")[: rng.choice((1, 2, 2, 2, 2))]
    draft.switch("mgmt-1")
    draft.networks["mgmt"] = ("mgmt-1",)
    for number, leaf in enumerate(made.leaves, start=1):
        draft.switch(leaf)
        draft.networks[f"data-{number}"] = (leaf,)
        host = f"hv-{number}"
        made.port[host] = leaf, draft.hypervisor(host, leaf, f"data-{number}", POOL)
    if len(made.leaves) == 2:
        _uplinks(made)


def _uplinks(made: Scene) -> None:
    if made.rng.random() < 0.7:
        ports = made.draft.link("leaf-1", "leaf-2", {}, {})
        made.uplinks.append((("leaf-1", ports[0]), ("leaf-2", ports[1])))
        return
    for leaf in made.leaves:
        ports = made.draft.link(leaf, "spine-1", {}, {})
        made.uplinks.append(((leaf, ports[0]), ("spine-1", ports[1])))


def _tenant(made: Scene, tenant: str, vlan: int) -> None:
    rng, draft = made.rng, made.draft
    draft.tenant(tenant)
    number = rng.randrange(len(made.leaves)) + 1
    made.leaf[tenant], made.host[tenant], made.vlan[tenant] = f"leaf-{number}", f"hv-{number}", vlan
    made.machines[tenant] = []
    network = draft.vlan(tenant, f"{tenant}-a-ipu-data", f"data-{number}", vlan)
    port = draft.plug(tenant, f"{tenant}-a-poplar-0-ipu-data", network)
    draft.server(tenant, f"{tenant}-a-poplar-0", f"hv-{number}", (port,))
    if rng.random() < 0.4:
        machine(made, tenant)
    if rng.random() < 0.4:
        control(made, tenant, vlan + 4000)


def machine(made: Scene, tenant: str, vlan: int | None = None) -> str:
    """A machine on the tenant's data VLAN or another, its management port in no VLAN."""
    name = f"ipum-{len(made.draft.machines) + 1}"
    rnic, _ = made.draft.machine(name, made.leaf[tenant])
    made.port[name] = made.leaf[tenant], rnic
    made.draft.switch_port(tenant, made.leaf[tenant], rnic, vlan or made.vlan[tenant])
    made.machines[tenant].append(name)
    return name


def control(made: Scene, tenant: str, vni: int) -> str:
    """A control network behind a router with a gateway; the router's name."""
    router = f"{tenant}-router"
    if any(item.name == router for item in made.draft.resources[tenant]):
        return router
    network = made.draft.vxlan(tenant, f"{tenant}-a-control", vni)
    subnet = made.draft.subnet(tenant, network, f"10.30.{vni % 250}.0/24")
    return made.draft.router(tenant, router, (subnet,))
