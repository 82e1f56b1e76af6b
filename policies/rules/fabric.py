"""Ports of one fabric agree: TOP-21 one RDMA profile, TOP-23 MTUs that fit, ISO-13 ids not used by others.

What TOP-21 and TOP-23 ask besides of networks for RoCE is in `roce`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from interlock.hardware import tunnel_mtu
from interlock.model.site.inventory import PhysicalNetwork
from interlock.model.site.networks import FabricProfile, Ranges
from policies.about import PlanResource, resources
from policies.facts.kinds import NetworkFact, SegmentRangeFact
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.graph.search import connected
from policies.proof import Severity

from .roce import marks_and_pauses, roce_networks, size_unknown
from .rule import Cause, Of, Polarity, Rule, RuleAnswer, by_facts


def _fabrics(model: Model) -> list[list[PhysicalNetwork]]:
    """Physical networks whose switches are one or are cabled to each other, together."""
    import networkx as nx

    links: nx.Graph[str] = nx.Graph()
    networks = sorted(model.site.site.physical_networks, key=lambda network: network.name)
    for network in networks:
        nx.add_path(links, network.switches)
    links.add_edges_from((a.switch, b.switch) for a, b in model.site.switch_links)
    return [[item for item in networks if group.intersection(item.switches)] for group in connected(links)]


# TOP-21


def _one_profile(model: Model, _: Names) -> RuleAnswer:
    stated = [[item for item in group if item.profile is not None] for group in _fabrics(model)]
    causes = [cause for group in stated for cause in _profiles_differ(group)]
    known = {profile.name for profile in model.site.site.fabric_profiles}
    strange = (item for group in stated for item in group if item.profile not in known)
    causes += [_cause(item.name, f"{item.name}: nothing describes its profile {item.profile}", ()) for item in strange]
    causes += marks_and_pauses(model)
    return by_facts(sum(map(bool, stated)) + len(roce_networks(model)), causes)


def _profiles_differ(group: list[PhysicalNetwork]) -> Iterator[Cause]:
    if len({item.profile for item in group}) > 1:
        words = tuple(f"{item.name}: {item.profile}" for item in group)
        yield _cause("profiles", f"one fabric has different profiles: {', '.join(words)}", words)


# TOP-23


def _frames_fit(model: Model, _: Names) -> RuleAnswer:
    if model.plan.is_tenant:
        sized = [(network, network.mtu) for network in model.plan.networks if network.mtu is not None]
        causes = (_too_long(model, network, mtu) for network, mtu in sized)
        return RuleAnswer(len(sized), violated=tuple(cause for cause in causes if cause is not None))
    stated = [(item, item.mtu) for item in model.site.site.physical_networks if item.mtu is not None]
    roce = [item for item in roce_networks(model) if item.mtu is None]
    return by_facts(
        len(stated) + len(roce), (*_mtus_differ(model), *_profiles_too_long(model, stated), *map(size_unknown, roce))
    )


def _too_long(model: Model, network: NetworkFact, mtu: int) -> Cause | None:
    limit = _limit(model, network)
    if limit is None or mtu <= limit:
        return None
    what = f"network {network.name} ({network.segment_name}) has frames of {mtu} bytes, {limit} fit"
    witness = (f"network {network.name}: {mtu}", f"{network.segment_name}: {limit}")
    return _cause(network.name, what, witness, resources(network.name))


def _limit(model: Model, network: NetworkFact) -> int | None:
    site = model.site.site
    if network.kind == "vxlan":
        stated = [underlay.mtu for underlay in site.underlays if underlay.mtu is not None]
        return tunnel_mtu(min(stated)) if stated else None
    return next((item.mtu for item in site.physical_networks if item.name == network.physical_network), None)


def _mtus_differ(model: Model) -> Iterator[Cause]:
    for group in _fabrics(model):
        stated = [item for item in group if item.mtu is not None]
        if len({item.mtu for item in stated}) > 1:
            words = tuple(f"{item.name}: {item.mtu}" for item in stated)
            yield _cause(words, f"one fabric has different MTUs: {', '.join(words)}", words)


def _profiles_too_long(model: Model, stated: list[tuple[PhysicalNetwork, int]]) -> Iterator[Cause]:
    profiles: dict[str | None, FabricProfile] = {profile.name: profile for profile in model.site.site.fabric_profiles}
    for item, mtu in stated:
        profile = profiles.get(item.profile)
        if profile is not None and profile.mtu > mtu:
            what = f"profile {profile.name} sends {profile.mtu} bytes, {item.name} takes {mtu}"
            yield _cause(item.name, what, (f"profile {profile.name}: {profile.mtu}", f"{item.name}: {mtu}"))


def _cause(key: object, message: str, witness: tuple[str, ...], about: tuple[PlanResource, ...] = ()) -> Cause:
    hint = "make both ends equal in the site file"
    return Cause(str(key), message, witness or (message,), hint, specificity=32, about=about)


# ISO-13


def _ranges_apart(model: Model, _: Names) -> RuleAnswer:
    stated = {
        SegmentRangeFact("", item.network_type, item.physical_network, item.minimum, item.maximum)
        for item in model.site.site.segment_ranges
    }
    planned = {
        SegmentRangeFact("", item.kind, item.physical_network, item.minimum, item.maximum) for item in model.plan.ranges
    }
    ranges = sorted(stated | planned, key=lambda item: (item.kind, str(item.physical_network), item.minimum))
    pools = list(_pools(model))
    causes = (_range_cause(model, item, pool) for item, pool in product(ranges, pools))
    return RuleAnswer(len(ranges), violated=tuple(cause for cause in causes if cause is not None))


#: A pool: its name, its kind, its physical network (None: VXLAN), its ids.
_Pool = tuple[str, str, str | None, Ranges]


def _pools(model: Model) -> Iterator[_Pool]:
    pools = model.site.site.pools
    for name, pool in pools.vlans_by_name.items():
        yield from ((name, "vlan", network, pool.vlans) for network in pool.physical_networks)
    yield "control", "vxlan", None, pools.control


def _range_cause(model: Model, item: SegmentRangeFact, pool: _Pool) -> Cause | None:
    name, kind, network, ids = pool
    shared = [(max(low, item.minimum), min(high, item.maximum)) for low, high in ids]
    met = next(((low, high) for low, high in shared if low <= high), None)
    if kind != item.kind or met is None or not _one_space(model, item.physical_network, network):
        return None
    where = f" on {item.physical_network}" if item.physical_network else ""
    return Cause(
        key=(item.kind, item.physical_network, item.minimum, name, network),
        message=f"the cloud may give out {met[0]}-{met[1]}{where} by itself, and the pool {name} holds them too",
        witness=(f"segment range {item.minimum}-{item.maximum}{where}", f"pool {name} on {network or 'VXLAN'}"),
        hint="keep segment_ranges and pools apart in the site file",
        specificity=64,
    )


def _one_space(model: Model, a: str | None, b: str | None) -> bool:
    """True if ids on both are the same ids: one physical network, or two labels on one switch."""
    if a == b:
        return True
    return bool(_serials(model, a) & _serials(model, b))


def _serials(model: Model, network: str | None) -> frozenset[str]:
    """The switches of a physical network; VXLAN has none."""
    found = () if network is None else model.site.switches_of.get(network, ())
    return frozenset(switch.serial for switch in found)


TOP_21 = Rule(
    id="TOP-21",
    title="one RDMA fabric has one profile",
    severity=Severity.ERROR,
    polarity=Polarity.BOTH,
    why="a port that marks or pauses otherwise drops what the others hold lossless",
    source="reference design, network §8.1: priority flow control on the RDMA fabric",
    needs=("physical_networks.profile", "fabric_profiles", "pools.roce", "cables"),
    ask=_one_profile,
    of=Of.SITE,
)
TOP_23 = Rule(
    id="TOP-23",
    title="frames fit on every network they cross",
    severity=Severity.ERROR,
    polarity=Polarity.BOTH,
    why="a frame too long is dropped without a word, and only under load",
    source="Neutron admin guide, MTU considerations: VXLAN takes 50 bytes",
    needs=("physical_networks.mtu", "underlays.mtu", "fabric_profiles.mtu", "pools.roce", "networks"),
    ask=_frames_fit,
)
ISO_13 = Rule(
    id="ISO-13",
    title="segment ids that the cloud allocates by itself are in no pool",
    severity=Severity.ERROR,
    polarity=Polarity.STATED,
    why="a network that names no id could be given a tenant's",
    source="Neutron admin guide, network segment ranges: shared and default ranges",
    needs=("segment_ranges", "pools", "physical_networks"),
    ask=_ranges_apart,
    of=Of.SITE,
)
