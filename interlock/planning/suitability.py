"""Whether a vPOD can live on some physical networks: ids, hosts and a place for its controller there."""

from __future__ import annotations

from dataclasses import dataclass

from interlock.model.lock.record import VPodAllocation
from interlock.model.tenant.request import Pins, VPod
from interlock.vocabulary import Claimant

from .allocation_state import AllocationState
from .claims import NETWORK_OF
from .errors import AllocationError, PlanningError
from .host_room import ServerNeed
from .hosts import choose_controller_host, no_host, server_need
from .identifiers import free_vlans, no_vlan
from .layout import Networks


@dataclass(frozen=True)
class Wish:
    """What one vPOD asks for, what is pinned for it, and what it has so far."""

    tenant: str
    vpod: VPod
    pins: Pins
    before: VPodAllocation | None

    @property
    def holder(self) -> Claimant:
        """Who holds its claims."""
        return Claimant(self.tenant, self.vpod.name)

    @property
    def is_bare_metal(self) -> bool:
        """True if its Poplar servers are whole hosts."""
        return self.vpod.poplar.kind == "bare-metal"

    @property
    def is_plain(self) -> bool:
        """True if nothing is pinned or held: then all wishes of one kind are refused in the same places."""
        return self.before is None and self.pins == Pins()

    @property
    def kind(self) -> tuple[str, ...]:
        """What the places for a plain wish depend on, besides the machines."""
        poplar = self.vpod.poplar
        return poplar.kind, poplar.flavor, str(poplar.servers)

    @property
    def networks_before(self) -> Networks | None:
        """The networks that it is on."""
        if self.before is None:
            return None
        return Networks(self.before.ipu_data_network, self.before.storage_network, self.before.management_network)


def refusal(allocated: AllocationState, wish: Wish, networks: Networks) -> AllocationError | None:
    """What a vPOD lacks on these networks; None if it can have everything there."""
    for claim, network in vlans_of(networks).items():
        needs_one = getattr(wish.pins, claim) is None and not _has_vlan(wish, claim, network)
        if needs_one and not free_vlans(allocated, claim, network):
            return no_vlan(allocated, claim, network)
    try:
        used = [networks.ipu_data, networks.storage]
        if wish.is_bare_metal:
            used.append(control_network(allocated, wish, networks))
        choose_controller_host(allocated, wish.vpod.name, controller_networks(networks, used[2:]))
    except AllocationError as error:
        return error
    return _no_hosts(allocated, wish, server_need(allocated.site, wish.vpod, used))


def control_network(allocated: AllocationState, wish: Wish, networks: Networks) -> str:
    """The network of a bare-metal vPOD's control VLAN: one that enough hosts on its data network reach."""
    pool = allocated.site.pools.bare_metal_control
    if pool is None:
        raise PlanningError(
            f"vPOD {wish.vpod.name} asks for bare-metal servers, and the site has no VLANs for their control network",
            "add the pool `bare_metal_control` to the site file, or ask for VMs",
            ("vpods", wish.vpod.name, "poplar", "kind"),
        )
    plain = server_need(allocated.site, wish.vpod, (networks.ipu_data, networks.storage))
    here = [host for host in allocated.layout.hosts.get(networks.ipu_data, ()) if plain.is_of_kind(host)]
    fit = [host for host in here if plain.is_met_by(host)]
    # Where no host has enough even without it, the error is about all that they lack, not about this network.
    reached = {network for host in fit or here for network in host.interfaces}
    refused: AllocationError | None = None
    for network in (name for name in pool.physical_networks if name in reached):
        need = server_need(allocated.site, wish.vpod, (networks.ipu_data, networks.storage, network))
        refused = _no_hosts(allocated, wish, need)
        if refused is None and not _has_vlan(wish, "control_vlan", network) and wish.pins.control_vlan is None:
            refused = (
                None if free_vlans(allocated, "control_vlan", network) else no_vlan(allocated, "control_vlan", network)
            )
        if refused is None:
            return network
    if not fit:
        raise refused or no_host(allocated, plain, wish.vpod)
    raise refused or AllocationError(
        f"vPOD {wish.vpod.name}: no bare-metal host on {plain.in_words} has an interface on "
        f"a network of the pool bare_metal_control ({', '.join(pool.physical_networks)})",
        hint="state the 1G `interfaces` of the bare-metal hosts in the site file",
        path=("vpods", wish.vpod.name, "poplar", "kind"),
    )


def controller_networks(networks: Networks, control: list[str]) -> list[str]:
    """The physical networks that a controller's host must have interfaces on; VXLAN needs none."""
    return [networks.management, *control]


def vlans_of(networks: Networks) -> dict[str, str]:
    """VLAN claim -> physical network, for the VLANs that every vPOD has."""
    return {
        "ipu_data_vlan": networks.ipu_data,
        "storage_vlan": networks.storage,
        "management_vlan": networks.management,
    }


def _has_vlan(wish: Wish, claim: str, network: str) -> bool:
    return wish.before is not None and getattr(wish.before, NETWORK_OF[claim]) == network


def _no_hosts(allocated: AllocationState, wish: Wish, need: ServerNeed) -> AllocationError | None:
    """Why there are too few hosts; servers that are there already, or pinned, only have to reach the networks."""
    fixed = wish.pins.hosts or (wish.before.hosts if wish.before else ())
    known = [allocated.site.host[name] for name in fixed[: wish.vpod.poplar.servers] if name in allocated.site.host]
    staying = [host for host in known if need.is_met_by(host)]
    if wish.pins.hosts and len(staying) < len(known):
        return AllocationError(
            f"vPOD {wish.vpod.name}: not every host that is pinned has interfaces on {need.in_words}",
            hint="pin hosts that reach the machines' data network, or leave `hosts` out of the pins",
            path=("pins", wish.vpod.name, "hosts"),
        )
    missing = wish.vpod.poplar.servers - len(staying)
    if missing <= 0 or wish.pins.hosts or allocated.hosts.count(need) >= missing:
        return None
    return no_host(allocated, need, wish.vpod)
