"""Fabrics of Ethernet switches beside the small POD64: names of switches, cables between them, and what is listed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import product

from interlock.model.site.inventory import PhysicalNetwork, Site, Switch, SwitchPortConfig
from interlock.model.site.networks import FabricProfile
from interlock.model.site.physical import Cable, Endpoint, SwitchRole
from tests.policies.workspace import changed, full_site

PROFILE = FabricProfile(name="paused", pfc_priority=3, dscp=26, ecn=True, mtu=4200)
#: What the first letter of a switch's name says.
ROLES: dict[str, SwitchRole] = {"l": "tor", "s": "spine", "m": "management", "g": "gw-link"}


def pairs(leaves: Sequence[str], spines: Sequence[str]) -> tuple[str, ...]:
    """A cable from each leaf to each spine."""
    return tuple(f"{leaf} {spine}" for leaf, spine in product(leaves, spines))


def switch_of(name: str, ports: tuple[SwitchPortConfig, ...] = ()) -> Switch:
    """Of 64 ports, all trunks for some VLANs where nothing else is said."""
    told = {item.port: item for item in ports}
    every = tuple(
        told.get(number, SwitchPortConfig(port=number, mode="trunk", tagged=((1000, 1099),))) for number in range(1, 65)
    )
    return Switch(
        name=name, serial=f"S-{name}", model="some", role=ROLES[name[0]], port_groups=((400, 64),), ports=every
    )


def cables_of(joined: Sequence[str]) -> tuple[Cable, ...]:
    """`l1 s1`: the next free port of both."""
    used = Counter[str]()
    found = []
    for text in joined:
        used.update(text.split())
        a, b = (Endpoint(device=name, interface=str(used[name])) for name in text.split())
        found.append(Cable(a=a, b=b))
    return tuple(found)


def fabric(
    *joined: str, unlisted: Sequence[str] = (), profile: str | None = "paused", switches: Sequence[Switch] = ()
) -> Site:
    """The site with these switches: all on the physical network `rdma`, but those `unlisted`."""
    site = full_site()
    names = sorted({name for text in joined for name in text.split()})
    told = {item.name: item for item in switches}
    network = PhysicalNetwork(
        name="rdma", switches=tuple(name for name in names if name not in unlisted), mtu=9000, profile=profile
    )
    return changed(
        site,
        switches=(*site.switches, *(told.get(name, switch_of(name)) for name in names)),
        physical_networks=(*site.physical_networks, network),
        fabric_profiles=(*site.fabric_profiles, PROFILE),
        cables=(*site.cables, *cables_of(joined)),
    )
