"""Operators on how the operator comes to controllers: a declared bastion, and which networks it is on."""

from __future__ import annotations

from random import Random

from interlock.model.site.physical import Device, SwitchPortConfig
from policies import Verdict
from tests.builders.pod64 import cable
from tests.mutants.ground import DEAD, MANAGEMENT
from tests.mutants.operator import Operator, pick
from tests.mutants.sites import declared
from tests.mutants.workspaces import VPodOf, Workspace

#: A port of management switches at which the ground has nothing.
PORT = 46


def _with_bastion(space: Workspace, *tagged: tuple[int, int]) -> Workspace:
    """A bastion with a leg in the first rack of each hall, or none of whose legs anything is stated."""
    switches = [item.switches[0] for item in space.site.physical_networks if item.name.startswith("mgmt-")]
    cables = (cable(f"bastion:eth{number}", f"{name}:{PORT}") for number, name in enumerate(switches))
    space = space.with_site(
        cables=(*space.site.cables, *cables),
        devices=(*space.site.devices, Device(name="bastion", role="appliance", serial="S9b")),
        sharing=(*space.site.sharing, declared("bastion", "bastion", "bastion")),
    )
    for name in switches if tagged else ():
        ports = (*space.site.switch[name].ports, SwitchPortConfig(port=PORT, mode="trunk", tagged=tagged))
        space = space.with_switch(name, ports=ports)
    return space


def _asked(space: Workspace, rng: Random, *tagged: tuple[int, int]) -> Workspace | None:
    pod: VPodOf | None = pick(rng, space.vpods)
    return None if pod is None else _with_bastion(space, *tagged).asking(pod.tenant)


def on_a_dead_network(space: Workspace, rng: Random) -> Workspace | None:
    return _asked(space, rng, (DEAD, DEAD))


def on_the_management_networks(space: Workspace, rng: Random) -> Workspace | None:
    return _asked(space, rng, MANAGEMENT)


def without_a_cable(space: Workspace, rng: Random) -> Workspace | None:
    pod = pick(rng, space.vpods)
    site = space.with_site(sharing=(*space.site.sharing, declared("bastion", "bastion", "bastion")))
    return None if pod is None else site.asking(pod.tenant)


BASTIONS = (
    Operator(
        "bastion-elsewhere", "a bastion that reaches no controller",
        on_a_dead_network, on_the_management_networks, "L3-09",
    ),
    Operator(
        "bastion-unplugged", "a bastion of which nobody states where it is plugged in",
        without_a_cable, on_the_management_networks, "L3-09", verdict=Verdict.NOT_PROVABLE,
    ),
)  # fmt: skip
