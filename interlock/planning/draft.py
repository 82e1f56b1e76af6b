"""The claims of one vPOD while they are collected; what is set is taken for everybody else at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from interlock.model.lock.record import Released, VPodAllocation
from interlock.vocabulary import Vlan

from .allocation_state import AllocationState
from .claims import NETWORK_OF, OF_VPODS, Claim, claimed_values, claims_of_part, released_claim
from .errors import NeedsMove, PlanningError
from .host_room import ServerNeed
from .hosts import choose_controller_host, choose_host, flavor_of, no_room, server_need
from .identifiers import (
    choose_data_vlan,
    choose_storage_vip,
    choose_storage_vlan,
    choose_subnet,
    choose_vlan,
    choose_vni,
)
from .layout import Networks
from .machines import MachinePlacement
from .out_of_service import BRING_BACK, counted, refused_pin, said_of
from .placing import new_place, settled_place
from .suitability import Wish, control_network, controller_networks, vlans_of

#: Claims that a vPOD has once and that no physical network decides on.
_SUBNETS = tuple(item.subnet for item in OF_VPODS)
FREE_CLAIMS = ("control_vni", *_SUBNETS, "controller_host")

#: What servers on other hosts, or of another kind or flavour, cost.
RECREATES_SERVERS = "its Poplar servers (volumes stay)"


@dataclass
class Draft:
    """One vPOD: first `keep`, for all vPODs of a tenant, then `complete`."""

    allocated: AllocationState
    wish: Wish
    may_move: bool
    has_share: bool
    claims: dict[str, int | str] = field(default_factory=dict)
    hosts: tuple[str, ...] = ()
    place: MachinePlacement | None = None

    @property
    def asked(self) -> tuple[str, str]:
        """Section and name of the vPOD in its request."""
        return "vpods", self.wish.vpod.name

    @property
    def pins_vlans(self) -> bool:
        """True if an id is pinned, which can be taken only once the machines are known."""
        return any(getattr(self.wish.pins, item.vlan) is not None for item in OF_VPODS)

    @cached_property
    def _held(self) -> frozenset[tuple[str, str]]:
        """What the previous lock holds: it is taken already."""
        return frozenset(claimed_values(self.wish.before)) if self.wish.before else frozenset()

    def keep(self) -> None:
        """Claim what is not up to us: what is pinned, and what the previous lock holds."""
        self._check_pins()
        for claim in FREE_CLAIMS:
            value = getattr(self.wish.pins, claim) or getattr(self.wish.before, claim, None)
            if value is not None and not (self.wish.is_bare_metal and claim == "control_vni"):
                self._set(claim, value)
        self.place = settled_place(self.allocated, self.wish, may_move=self.may_move)
        if self.place:
            self._settle(self.place)

    def complete(self) -> None:
        """Claim whatever is still missing."""
        if self.place is None:
            self.place = new_place(self.allocated, self.wish, may_move=self.may_move)
            self._settle(self.place)
        networks = self.place.networks
        need, wish = self._need(networks), self.wish
        while len(self.hosts) < wish.vpod.poplar.servers:
            host = choose_host(self.allocated, need, wish.vpod, wish.tenant, self.place.machines, self.hosts)
            self._add_host(host)
        self._complete_vlans(networks)
        self._complete_free(networks)

    def finished(self) -> VPodAllocation:
        """The claims as a lock records them."""
        if self.place is None:
            raise RuntimeError(f"{self.wish.holder} is not complete")
        networks = self.place.networks
        fields: dict[str, object] = {
            "machines": self.place.machines,
            "hosts": self.hosts,
            "flavor": self.wish.vpod.poplar.flavor,
            "ipu_data_network": networks.ipu_data,
            "storage_network": networks.storage,
            "management_network": networks.management,
        }
        return VPodAllocation.model_validate(fields | self.claims)

    def _check_pins(self) -> None:
        vpod, pins = self.wish.vpod, self.wish.pins
        if not self.wish.is_bare_metal:
            flavor_of(self.allocated.site, vpod)
        for claim, pinned, wanted, asked in (
            ("machines", pins.machines, vpod.machines, "machines"),
            ("hosts", pins.hosts, vpod.poplar.servers, "Poplar servers"),
        ):
            if pinned is not None and len(pinned) != wanted:
                raise PlanningError(
                    f"vPOD {vpod.name} asks for {wanted} {asked} and pins {len(pinned)} {claim}",
                    f"pin {wanted}, or remove `{claim}` from its pins",
                    ("pins", vpod.name, claim),
                )
        self._check_states()

    def _check_states(self) -> None:
        """Nobody is given what is out of service, asked for or not; what a vPOD has it may go on to pin."""
        before = self.wish.before
        held = (*before.machines, *before.hosts, before.controller_host) if before else ()
        refused = refused_pin(self.allocated.site, self.wish.pins, held)
        if refused is not None:
            claim, device = refused
            raise PlanningError(
                f"vPOD {self.wish.vpod.name} pins {said_of(device, 'which ')}",
                f"pin another, or remove `{claim}` from its pins; or {BRING_BACK}",
                ("pins", self.wish.vpod.name, claim),
            )

    def _settle(self, place: MachinePlacement) -> None:
        """Take the machines, and what of ids and hosts is kept or pinned on their networks."""
        for machine in place.machines:
            self._take("machines", machine)
        if self.wish.is_bare_metal:
            self.claims["control_network"] = control_network(self.allocated, self.wish, place.networks)
        for claim, network in self._vlan_networks(place.networks).items():
            before = self.wish.before
            stays = before is not None and getattr(before, NETWORK_OF[claim]) == network
            value = getattr(self.wish.pins, claim) or (getattr(before, claim) if stays else None)
            if value is not None:
                self._set_vlan(claim, network, value)
        self._keep_hosts(place.networks)

    def _keep_hosts(self, networks: Networks) -> None:
        """Take the hosts that are pinned or stay. The room of the old servers is looked at without them."""
        before, wish, need = self.wish.before, self.wish, self._need(networks)
        for claim in _host_claims(wish, before):
            self.allocated.remove(claim)
        wanted = wish.pins.hosts or (before.hosts[: wish.vpod.poplar.servers] if before else ())
        same = before is not None and self._has_same_servers(before, networks)
        for host in wanted:
            if wish.pins.hosts and not same:
                self._check_room(host, need)
            if wish.pins.hosts or same or self._takes(host, need):
                self._add_host(host)
        elsewhere = wish.pins.machines is not None and wish.networks_before != networks
        if len(self.hosts) < len(wanted) and not self.may_move and not elsewhere:
            left = ", ".join(host for host in wanted if host not in self.hosts)
            idle = counted(found for name in wanted if (found := self.allocated.site.host.get(name)) is not None)
            why = f"{left} cannot carry what it asks for now" + (f": {idle}" if idle else "")
            what, path = f"vPOD {wish.vpod.name} needs other hosts", ("vpods", wish.vpod.name, "poplar")
            raise NeedsMove(wish.vpod.name, what, why, RECREATES_SERVERS, path)
        kept = list(self.hosts)
        for claim in _host_claims(wish, before):
            if claim.value in kept:
                kept.remove(claim.value)
            else:
                entry = Released(vpod=wish.vpod.name, claim="hosts", value=claim.value, flavor=claim.flavor)
                self.allocated.add(released_claim(wish.tenant, entry))

    def _has_same_servers(self, before: VPodAllocation, networks: Networks) -> bool:
        """True if nothing changes for servers that stay: then whether their host still suits is the gate's."""
        return (
            before.flavor == self.wish.vpod.poplar.flavor
            and (before.control_vlan is not None) == self.wish.is_bare_metal
            and self.wish.networks_before == networks
        )

    def _check_room(self, name: str, need: ServerNeed) -> None:
        """Pins are taken as given, but for a host that is full: nothing would tell before the server is created."""
        host = self.allocated.site.host.get(name)
        if host is not None and need.is_met_by(host) and not self.allocated.hosts.fits(host, need):
            raise no_room(self.allocated, need, self.wish.vpod.name, host)

    def _takes(self, name: str, need: ServerNeed) -> bool:
        host = self.allocated.site.host.get(name)
        return host is not None and self.allocated.hosts.fits(host, need) > 0

    def _complete_vlans(self, networks: Networks) -> None:
        allocated, claims = self.allocated, self.claims
        if "ipu_data_vlan" not in claims:
            storage = _number(claims.get("storage_vlan"))
            vlan = choose_data_vlan(allocated, networks.ipu_data, networks.storage, storage)
            self._set_vlan("ipu_data_vlan", networks.ipu_data, vlan)
        if "storage_vlan" not in claims:
            vlan = choose_storage_vlan(allocated, networks.storage, _number(claims["ipu_data_vlan"]))
            self._set_vlan("storage_vlan", networks.storage, vlan)
        for claim, network in self._vlan_networks(networks).items():
            if claim not in claims:
                self._set_vlan(claim, network, choose_vlan(allocated, claim, network))

    def _complete_free(self, networks: Networks) -> None:
        allocated, wish = self.allocated, self.wish
        if "control_vni" not in self.claims and not wish.is_bare_metal:
            self._set("control_vni", choose_vni(allocated))
        for claim in _SUBNETS:
            if claim not in self.claims:
                self._set(claim, choose_subnet(allocated, claim))
        if "controller_host" not in self.claims or self._controller_is_cut_off(networks):
            reached = controller_networks(networks, self._control_networks())
            self._set("controller_host", choose_controller_host(allocated, wish.vpod.name, reached))
        if self.has_share:
            self._set("storage_vip", self._storage_vip(str(self.claims["storage_subnet"])))

    def _controller_is_cut_off(self, networks: Networks) -> bool:
        """True if the vPOD was moved to where its controller's host is not."""
        if self.wish.pins.controller_host or self.wish.networks_before == networks:
            return False
        host = self.allocated.site.host.get(str(self.claims["controller_host"]))
        reached = controller_networks(networks, self._control_networks())
        return host is None or not all(network in host.interfaces for network in reached)

    def _storage_vip(self, subnet: str) -> str:
        before = self.wish.before
        if before is not None and before.storage_vip and before.storage_subnet == subnet:
            return before.storage_vip
        return choose_storage_vip(self.allocated, f"vPOD {self.wish.vpod.name}", subnet)

    def _vlan_networks(self, networks: Networks) -> dict[str, str]:
        control = self._control_networks()
        return vlans_of(networks) | ({"control_vlan": control[0]} if control else {})

    def _control_networks(self) -> list[str]:
        found = self.claims.get("control_network")
        return [str(found)] if found else []

    def _need(self, networks: Networks) -> ServerNeed:
        used: Sequence[str] = (networks.ipu_data, networks.storage, *self._control_networks())
        return server_need(self.allocated.site, self.wish.vpod, used)

    def _set(self, claim: str, value: int | str) -> None:
        self.claims[claim] = value
        self._take(claim, str(value))

    def _set_vlan(self, claim: str, network: str, vlan: int) -> None:
        self.claims[claim] = vlan
        self._take(claim, str(Vlan(network, vlan)))

    def _add_host(self, host: str) -> None:
        self.hosts = (*self.hosts, host)
        wish = self.wish
        self.allocated.add(Claim("hosts", host, wish.holder, wish.vpod.poplar.flavor))

    def _take(self, claim: str, value: str) -> None:
        """Take a claim that the vPOD did not have before."""
        wish = self.wish
        if (claim, value) not in self._held:
            self.allocated.add(Claim(claim, value, wish.holder, wish.vpod.poplar.flavor))


def _host_claims(wish: Wish, before: VPodAllocation | None) -> list[Claim]:
    if before is None:
        return []
    claims = claims_of_part(wish.tenant, wish.vpod.name, before)
    return [claim for claim in claims if claim.field == "hosts"]


def _number(value: int | str | None) -> int | None:
    return value if isinstance(value, int) else None
