"""What may join two parts of one tenant, each of which is an owner: vPODs and GPU clusters."""

from __future__ import annotations

from interlock.planning.plan import Component, ComponentType
from interlock.resources import Network, Share, ShareAccess

from .scene import Scene

#: VLANs that no other plot takes.
_VLANS = (1090, 1091)


def share_of_parts(made: Scene) -> None:
    """A share that two parts of a tenant mount, a vPOD and a cluster or two clusters, each at an address of its own of
    an appliance that may route from one address to the other.
    """
    rng, draft, a = made.rng, made.draft, made.one()
    parts: tuple[tuple[str, ComponentType, str], ...] = (("train", "GpuCluster", "cluster"),)
    parts += (rng.choice((("serve", "GpuCluster", "cluster"), ("c", "VirtualPod", "storage"))),)
    share = Share(name="parts", project=draft.project(a), size_gib=1, share_type="site:ShareType/x")
    draft.add(a, f"{a}-parts", share)
    for number, ((name, kind, role), vlan) in enumerate(zip(parts, _VLANS, strict=True)):
        part = f"{a}-{name}"
        draft.components[a].append(Component(name=part, type=kind, parent=a))
        network = Network(
            name=f"{part}-{role}", project=draft.project(a), network_type="vlan",
            physical_network=made.leaf[a].replace("leaf", "data"), segmentation_id=vlan,
        )  # fmt: skip
        draft.add(a, network.name, network, component=part)
        access = ShareAccess(
            project=draft.project(a), share=f"{a}-parts", network=network.name, prefix=f"10.60.{number}.0/24",
            vip=f"10.60.{number}.2",
        )  # fmt: skip
        draft.add(a, f"{a}-parts-access-{name}", access)
    draft.sharing["appliance"]["no_routing_between_vips"] = rng.choice((True, False, None))
    draft.assumptions["A11"] = {"storage_rules_enforced": True, "bucket_rules_enforced": True}
    if rng.random() < 0.2:
        draft.one_owner.add(a)
