"""What physical networks of the pool `roce` have to state: how their ports pause, mark and which frames they take.

A profile is what the operator says of every port of a network's switches. What switches say of it is shown by
`interlock switches`, and held against nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from interlock.model.site.inventory import PhysicalNetwork
from policies.about import SiteFact, devices, in_order
from policies.graph.model import Model
from policies.graph.search import connected

from .rule import Cause

_NO_SIZE = "state its `mtu`: at least that of its profile"
_NO_PROFILE = "state its `profile`, and the class, marks and frames of it under `fabric_profiles`"


def roce_networks(model: Model) -> tuple[PhysicalNetwork, ...]:
    """The physical networks on which GPU clusters get networks for RoCE."""
    site = model.site.site
    names = site.pools.roce.physical_networks if site.pools.roce is not None else ()
    return tuple(item for item in site.physical_networks if item.name in names)


def marks_and_pauses(model: Model) -> Iterator[Cause]:
    """TOP-21: RoCE networks without a profile, with one that marks nothing, and switches between that have none."""
    described = {profile.name: profile for profile in model.site.site.fabric_profiles}
    for network in roce_networks(model):
        profile = described.get(network.profile or "")
        if network.profile is None:
            missing = (SiteFact(f"physical_networks.{network.name}.profile"),)
            message = f"{network.name} is for RoCE, and nobody states which class its ports pause and what they mark"
            yield Cause((network.name, "profile"), message, (network.name,), _NO_PROFILE, missing, specificity=32)
        elif profile is not None and not profile.ecn:
            message = f"{network.name} is for RoCE, and by its profile {profile.name} its ports mark no congestion"
            hint = "set ECN on its switches, and `ecn: true` in the profile"
            witness = (f"{network.name}: profile {profile.name}", f"profile {profile.name}: ecn false")
            yield Cause((network.name, "ecn"), message, witness, hint, specificity=32)
        yield from _between(model, network)


def _between(model: Model, network: PhysicalNetwork) -> Iterator[Cause]:
    """Switches between two of its own that no network with a profile lists: frames may cross them."""
    import networkx as nx

    site = model.site.site
    told = {name for item in site.physical_networks if item.profile is not None for name in item.switches}
    links = [(a.switch, b.switch) for a, b in model.site.switch_links]
    silent: nx.Graph[str] = nx.Graph(pair for pair in links if not told.intersection(pair))
    ends: dict[str, set[str]] = {}
    for pair in links:
        for near, far in (pair, pair[::-1]):
            if near in network.switches and far not in {*told, *network.switches}:
                silent.add_node(far)
                ends.setdefault(far, set()).add(near)
    for group in connected(silent) if network.profile is not None else ():
        own = {end for name in group for end in ends.get(name, ())}
        if len(own) > 1:
            between = " and ".join(sorted(own))
            silent_ones = ", ".join(sorted(group))
            message = f"{network.name} is for RoCE, and nobody states the profile of {silent_ones} between {between}"
            missing = in_order(SiteFact(f"switches.{name}") for name in group)
            hint = "list it on a physical network with the same profile; or take the cable out"
            yield Cause(
                (network.name, "between", *sorted(group)), message, (*sorted(own), *sorted(group)), hint, missing,
                specificity=32, about=devices(*sorted(group)),
            )  # fmt: skip


def size_unknown(network: PhysicalNetwork) -> Cause:
    """TOP-23: a network for RoCE of which nobody states which frames its ports take."""
    message = f"{network.name} is for RoCE, and nobody states which frames its ports take"
    missing = (SiteFact(f"physical_networks.{network.name}.mtu"),)
    return Cause((network.name, "mtu"), message, (network.name,), _NO_SIZE, missing, specificity=32)
