"""Operators on what maps and routes VLANs: overlays and routing instances of switches, and a third as the bridge."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from interlock.model.site.physical import Vrf, Vtep
from policies import Verdict
from tests.mutants.operator import (
    Operator,
    leaf,
    neighbours,
    strangers,
)
from tests.mutants.sites import declared
from tests.mutants.workspaces import VPodOf, Workspace

N = Verdict.NOT_PROVABLE

# Overlays.


def vtep_of_another(space: Workspace, rng: Random) -> Workspace | None:
    """Two VLANs of one leaf on one VNI."""
    found = neighbours(space, rng)
    if found is None:
        return None
    vlans = [pod.claims.ipu_data_vlan for pod in found]
    return _mapped(space, found[0], *(Vtep(vlan=v, vni=70001, underlay="evpn", encapsulation="vxlan") for v in vlans))


def vteps_of_their_own(space: Workspace, rng: Random) -> Workspace | None:
    found = neighbours(space, rng)
    if found is None:
        return None
    pairs = [(pod.claims.ipu_data_vlan, 70001 + index) for index, pod in enumerate(found)]
    return _mapped(space, found[0], *(Vtep(vlan=v, vni=n, underlay="evpn", encapsulation="vxlan") for v, n in pairs))


def _mapped(space: Workspace, pod: VPodOf, *vteps: Vtep) -> Workspace:
    return space.with_switch(leaf(space, pod), vteps=vteps).asking(pod.tenant)


def _onto_neutron(space: Workspace, rng: Random, encapsulation: str | None) -> Workspace | None:
    """A data VLAN mapped to the VNI of another's control network, on Neutron's underlay."""
    found = strangers(space, rng)
    if found is None or found[1].claims.control_vni is None or not space.site.underlays:
        return None
    fields = {"vlan": found[0].claims.ipu_data_vlan, "vni": found[1].claims.control_vni, "underlay": "overlay"}
    return _mapped(space, found[0], Vtep.model_validate(fields | {"encapsulation": encapsulation}))


def vxlan_of_neutron(space: Workspace, rng: Random) -> Workspace | None:
    return _onto_neutron(space, rng, "vxlan")


def geneve_beside_neutron(space: Workspace, rng: Random) -> Workspace | None:
    return _onto_neutron(space, rng, "geneve")


def some_encapsulation(space: Workspace, rng: Random) -> Workspace | None:
    return _onto_neutron(space, rng, None)


# Routing of switches.


def vrf_of_two(space: Workspace, rng: Random) -> Workspace | None:
    found = neighbours(space, rng)
    return None if found is None else _routed_storage(space, found, "*", declare=False)


def _routed_storage(space: Workspace, found: tuple[VPodOf, VPodOf], audience: str, *, declare: bool) -> Workspace:
    switch, vlans = leaf(space, found[0]), tuple(pod.claims.storage_vlan for pod in found)
    more = [declared("both", "name-and-time", f"{switch}/both", audience)] if declare else []
    routing = space.with_switch(switch, vrfs=(Vrf(name="both", vlans=vlans),))
    return routing.with_site(sharing=(*space.site.sharing, *more)).asking(found[0].tenant)


def vrf_that_is_declared(space: Workspace, rng: Random) -> Workspace | None:
    found = neighbours(space, rng)
    return None if found is None else _routed_storage(space, found, "*", declare=True)


def vrf_for_others(space: Workspace, rng: Random) -> Workspace | None:
    """Declared, but not for the tenant that meets it."""
    found = neighbours(space, rng)
    return None if found is None else _routed_storage(space, found, found[1].tenant, declare=True)


def _default_vrf(space: Workspace, found: tuple[VPodOf, VPodOf], vlans: tuple[int, ...] | None) -> Workspace:
    fields = {"routed_vlans": vlans, "ip_routing": True}
    return space.with_switch(leaf(space, found[0]), **fields).asking(found[0].tenant)


def switch_that_routes(space: Workspace, rng: Random) -> Workspace | None:
    found = neighbours(space, rng)
    return None if found is None else _default_vrf(space, found, tuple(pod.claims.storage_vlan for pod in found))


def switch_without_addresses(space: Workspace, rng: Random) -> Workspace | None:
    """It routes, and is in no VLAN: an address of the operator's in a tenant's VLAN would be one too many."""
    found = neighbours(space, rng)
    return None if found is None else _default_vrf(space, found, ())


def switch_with_some_addresses(space: Workspace, rng: Random) -> Workspace | None:
    found = neighbours(space, rng)
    return None if found is None else _default_vrf(space, found, None)


# A third as the bridge: only the partition in its footprint joins what two others have.


def _third(space: Workspace, rng: Random, *, joined: bool) -> Workspace | None:
    found = neighbours(space, rng)
    others = [] if found is None else [item for item in space.tenants if item not in (found[0].tenant, found[1].tenant)]
    if found is None or not others:
        return None
    serial = space.site.switch[leaf(space, found[0])].serial
    wires = tuple(sorted(f"L:{serial}:{pod.claims.storage_vlan}" for pod in found))
    third = rng.choice(others)
    classes = (wires,) if joined else tuple((wire,) for wire in wires)
    return replace(space, bridged={third: classes}, asked=found[0].tenant)


def bridge_of_a_third(space: Workspace, rng: Random) -> Workspace | None:
    return _third(space, rng, joined=True)


def third_on_both_apart(space: Workspace, rng: Random) -> Workspace | None:
    return _third(space, rng, joined=False)


SWITCHES = (
    Operator(
        "vtep-shared", "two VLANs of a leaf on one VNI",
        vtep_of_another, vteps_of_their_own, "ISO-11", ("ISO-01",),
    ),
    Operator(
        "vtep-neutron", "a VTEP on another's VNI of Neutron's",
        vxlan_of_neutron, geneve_beside_neutron, "ISO-11", ("ISO-01",),
    ),
    Operator(
        "vtep-unknown", "the same, the encapsulation not stated",
        some_encapsulation, geneve_beside_neutron, "ISO-11", ("ISO-01",), N,
    ),
    Operator(
        "vrf-two", "a routing instance in two tenants' VLANs",
        vrf_of_two, vrf_that_is_declared, "ISO-01", ("ISO-02",),
    ),
    Operator(
        "vrf-audience", "a declared routing instance outside its audience",
        vrf_for_others, vrf_that_is_declared, "ISO-02",
    ),
    Operator(
        "switch-routes", "a leaf that routes between two tenants' VLANs",
        switch_that_routes, switch_without_addresses, "ISO-01", ("ISO-02",),
    ),
    Operator(
        "switch-may-route", "the same, not stated in which VLANs",
        switch_with_some_addresses, switch_without_addresses, "ISO-03", ("ISO-01", "ISO-02", "ISO-11"), N,
    ),
    Operator(
        "third-bridge", "a third tenant joins two others' wires",
        bridge_of_a_third, third_on_both_apart, "ISO-01", ("ISO-02",),
    ),
)  # fmt: skip
