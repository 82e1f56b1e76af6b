"""The part of a site around one tenant's claims: its footprint is a function of that, not of the whole site.

A footprint holds what touches the tenant's own nodes. So every switch of its networks counts, every machine of its
racks, every host that it is on or that is cabled there, and whatever is at the other end of their cables; a rack
added elsewhere changes nothing. It also keeps the cost of a lock the same however large the site is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from interlock.model.lock.record import Allocation, Released
from interlock.model.site.inventory import Cable, Host, Machine, PhysicalNetwork, Site, Switch
from interlock.planning.claims import ROOM_CLAIMS, VLAN_CLAIMS, claimed_values
from interlock.vocabulary import Vlan

T = TypeVar("T", Host, Machine, Switch)


@dataclass(frozen=True)
class Centre:
    """What a slice is made around, by name."""

    networks: frozenset[str]
    racks: frozenset[str]
    hosts: frozenset[str]


class Slices:
    """The slices of one site. Tenants of one rack mostly share theirs, so each is made once."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self._made: dict[Centre, Site] = {}
        self._cables_at: defaultdict[str, list[int]] = defaultdict(list)
        for number, cable in enumerate(site.cables):
            for device in {cable.a.device, cable.b.device}:
                self._cables_at[device].append(number)
        self._in_rack: defaultdict[str, list[str]] = defaultdict(list)
        racks = [(machine.logical_rack, machine.name) for machine in site.machines]
        for rack, name in racks + [(host.logical_rack or "", host.name) for host in site.hosts]:
            self._in_rack[rack].append(name)
        names = [*site.machine, *site.host, *site.switch]
        self._order = {name: number for number, name in enumerate(names)}

    def around(self, allocation: Allocation, released: Iterable[Released]) -> Site:
        """The slice around these claims, in force or released; in the full form, in the site's order."""
        centre = self._centre(allocation, released)
        if centre not in self._made:
            self._made[centre] = self._slice(centre)
        return self._made[centre]

    def _centre(self, allocation: Allocation, released: Iterable[Released]) -> Centre:
        claims = [claim for part in allocation.parts.values() for claim in claimed_values(part)]
        claims += [(entry.claim, entry.value) for entry in released]
        machines = [self.site.machine.get(value) for claim, value in claims if claim == "machines"]
        racks = frozenset(machine.logical_rack for machine in machines if machine is not None)
        on = {value for claim, value in claims if claim in (*ROOM_CLAIMS, "controller_host")}
        inside = {name for rack in racks for name in self._in_rack[rack]}
        return Centre(
            networks=frozenset(Vlan.parse(value).network for claim, value in claims if claim in VLAN_CLAIMS),
            racks=racks,
            hosts=frozenset(on - inside),
        )

    def _slice(self, centre: Centre) -> Site:
        switches = {name for item in self._networks(centre.networks) for name in item.switches}
        devices = switches | centre.hosts | {name for rack in centre.racks for name in self._in_rack[rack]}
        # A host that is cabled to these switches is known with all its legs, or one would look like a stranger.
        devices |= {name for name in self._ends(switches) if name in self.site.host}
        numbers = sorted({number for name in devices for number in self._cables_at[name]})
        cables = tuple(self.site.cables[number] for number in numbers)
        devices |= {end.device for cable in cables for end in (cable.a, cable.b)}
        return self._limited(devices, cables)

    def _limited(self, devices: Collection[str], cables: tuple[Cable, ...]) -> Site:
        site = self.site
        limits = {
            "machines": self._records(devices, site.machine),
            "hosts": self._records(devices, site.host),
            "gpu_nodes": tuple(node for node in site.gpu_nodes if node.name in devices),
            "switches": self._records(devices, site.switch),
            "cables": cables,
            "lags": tuple(lag for lag in site.lags if lag.device in devices),
        }
        # Not `model_copy`: it would bring along look-ups that were made for the whole site.
        return Site.model_construct(**({name: getattr(site, name) for name in Site.model_fields} | limits))

    def _records(self, devices: Collection[str], known: dict[str, T]) -> tuple[T, ...]:
        names = sorted((name for name in devices if name in known), key=self._order.__getitem__)
        return tuple(known[name] for name in names)

    def _networks(self, names: Iterable[str]) -> list[PhysicalNetwork]:
        found = (self.site.physical_network.get(name) for name in sorted(names))
        return [item for item in found if item is not None]

    def _ends(self, devices: Iterable[str]) -> set[str]:
        """What the cables of these devices lead to."""
        cables: Sequence[Cable] = [self.site.cables[n] for name in devices for n in self._cables_at[name]]
        return {end.device for cable in cables for end in (cable.a, cable.b)}
