"""Addresses that agents of one vPOD take over from each other, as where its logical racks change.

By its address an agent commands a machine, so the one that had it goes before another is made there. That one is of the
same `up`: it is recreated at its own new address, or deleted, and its operation then finds it gone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlock.provider.errors import Failure, Trouble
from interlock.resources import VipuAgent

from .base import Target

if TYPE_CHECKING:
    from interlock.vipu.client import ControllerClient


def own_agents(spec: VipuAgent) -> str:
    """With what ids of agents of this vPOD begin: those of a plan, that is, and of nobody else's."""
    return f"{spec.controller.removesuffix('controller')}agent-"


def clear_address(controller: ControllerClient, target: Target[VipuAgent]) -> None:
    """Takes away agents of this vPOD that stand where another one is planned. Raises `VipuError`, or `Failure` while
    a cluster has one.

    Where any of a cluster's agents is recreated, the cluster went before; and agents of the racks behind come first,
    which have the addresses of others (`planning.vpod_vipu`). Left is a machine of another name at the same address.
    """
    spec, own = target.spec, own_agents(target.spec)
    former = [
        item.id
        for item in controller.agents().values()
        if item.host == spec.host and item.id != spec.name and item.id.startswith(own)
    ]
    held = {agent: item.id for item in controller.clusters().values() for agent in item.agents} if former else {}
    for name in former:
        if name in held:
            what = (
                f"{spec.KIND} {target.name}: {spec.host} is still the address of agent {name} in cluster {held[name]}"
            )
            target_of = f"--target '**VipuCluster::{held[name]}' --target-dependents"
            hint = f"run `pulumi destroy {target_of}`, which ends what runs in its partitions, then `pulumi up`"
            raise Failure(Trouble.IN_USE, what, hint)
        controller.remove("agent", name)
