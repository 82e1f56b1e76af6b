"""Links between switches: ISO-14 they carry declared VLANs only, ISO-15 their native VLANs are dead ones.

Asked about a tenant, both rules name the link by which two owners come onto one segment. Asked about the site,
they look at every link, whoever uses it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from interlock.model.site.inventory import SwitchPortConfig
from interlock.model.site.networks import Ranges
from interlock.vocabulary.nodes import NeutronPortNode, SwitchPortNode, parse, switch_vlan
from policies.about import SiteFact, devices
from policies.edges.second_tags import SECOND_TAG
from policies.facts import identities as ids
from policies.facts.port_modes import SwitchEnd
from policies.graph.model import Model
from policies.graph.naming import Names, missing_on
from policies.graph.search import Path, meeting, shortest
from policies.proof import Severity

from .attachments import at_odds, claimants, claims, neighbourhood
from .rule import Cause, Polarity, Rule, RuleAnswer, absence, by_facts

if TYPE_CHECKING:
    from policies.graph.search import Graph

#: A step of a path, if it is one by which the link joins what it should not: its words, and what to do.
_Guilty = Callable[[Model, "Graph", str, str], tuple[str, str] | None]
_Unstated = Callable[[SwitchEnd, SwitchPortConfig], tuple[SiteFact, ...]]


# Where two owners come onto one segment by a link.


def _by_link(model: Model, names: Names, guilty: _Guilty) -> RuleAnswer:
    count = sum(len(_bridges_of(wire)) > 1 for wire in model.wires(model.must) if model.touched(wire))
    return absence(model, count, lambda graph: _joined_by_link(model, names, graph, guilty))


def _bridges_of(wire: set[str]) -> set[str]:
    """The switches that a segment spans."""
    return {vlan.bridge for vlan in map(switch_vlan, wire) if vlan is not None}


def _joined_by_link(model: Model, names: Names, graph: Graph, guilty: _Guilty) -> Iterator[Cause]:
    for wire in model.wires(graph):
        path = _conflict(model, graph, wire) if len(_bridges_of(wire)) > 1 and model.touched(wire) else ()
        for a, b in pairwise(path):
            found = guilty(model, graph, a, b)
            if found is not None:
                words, hint = found
                yield Cause(
                    key=(a, b),
                    message=f"{words} joins {names.of(a)} and {names.of(b)}, and with them two owners or claims",
                    witness=names.path(graph, path),
                    path=path,
                    hint=hint,
                    missing=missing_on(graph, path),
                    specificity=79,
                )


def _conflict(model: Model, graph: Graph, wire: set[str]) -> Path:
    """The way between claims of two owners on a segment, else between two owners on it; empty if there is none."""
    pair = at_odds(model, wire)
    if pair is not None:
        ours, theirs = (_claimed_by(model, wire, claimants(model, claim)) for claim in pair)
        return shortest(graph, sorted(ours), theirs.__contains__, within=wire) or ()
    around = neighbourhood(graph, wire)
    return meeting(graph.subgraph(around), model.labels, around, model.plan.owner) or ()


def _claimed_by(model: Model, wire: set[str], owners: frozenset[str]) -> set[str]:
    return {node for node in wire for item in claims(model, {node}) if claimants(model, item) <= owners}


def _ends_between(model: Model, a: str, b: str) -> Iterator[tuple[SwitchEnd, SwitchEnd]]:
    """The links between the switches of two VLANs."""
    near, far = switch_vlan(a), switch_vlan(b)
    if near is None or far is None:
        return
    wanted = {near.bridge, far.bridge}
    for ends in model.site.switch_links:
        if {ids.switch_bridge(model.site.site.switch[end.switch].serial) for end in ends} == wanted:
            yield ends


def _unpruned(model: Model, graph: Graph, a: str, b: str) -> tuple[str, str] | None:
    if graph.edges[a, b]["rule"] != "E1":
        return None
    for ends in _ends_between(model, a, b):
        for end in ends:
            record = _record(model, end)
            if record is not None and record.mode == "trunk" and record.tagged is None:
                return f"the trunk {_link(ends)}, without a list of VLANs at {_port(end)},", _PRUNE
            if record is not None and record.filled_by is not None and not _is_listed(record, a, b):
                return f"the trunk {_link(ends)}, which Neutron fills at {_port(end)},", _OWN_IDS
    return None


def _is_listed(record: SwitchPortConfig, *vlans: str) -> bool:
    """Whether a trunk's own list names one of these VLANs."""
    numbers = {vlan.number for vlan in map(switch_vlan, vlans) if vlan is not None}
    return any(low <= number <= high for low, high in record.tagged or () for number in numbers)


def _untagged(model: Model, graph: Graph, a: str, b: str) -> tuple[str, str] | None:
    rule = graph.edges[a, b]["rule"]
    if rule not in ("E2", SECOND_TAG) or isinstance(parse(a), NeutronPortNode | SwitchPortNode):
        return None
    ends = next(_ends_between(model, a, b), None)
    if rule == SECOND_TAG:
        if ends is None or not any(_has_sender(model, graph, first) for first in _left_untagged(model, ends, a, b)):
            return None
        return f"a second tag on the link {_link(ends)}, behind one that is taken off,", _DEAD
    return ("a link whose ends nobody describes" if ends is None else f"the link {_link(ends)}, untagged,"), _DEAD


def _left_untagged(model: Model, ends: tuple[SwitchEnd, SwitchEnd], *vlans: str) -> Iterator[str]:
    """Those of two VLANs that leave their end of a link without a tag: where the sender of a second one is."""
    for node in vlans:
        vlan = switch_vlan(node)
        for end in ends:
            bridge = ids.switch_bridge(model.site.site.switch[end.switch].serial)
            if vlan is not None and vlan.bridge == bridge and vlan.number in model.site.configured(end).untagged:
                yield node


def _has_sender(model: Model, graph: Graph, vlan: str) -> bool:
    """Whether a tenant, or the world, is with a VLAN by what is listed and stated.

    Where only what nobody listed (E20) or stated may be there, that is the cause, and other rules name it.
    """
    # Imported here: most commands ask no rule.
    import networkx as nx

    beside = ("E20", SECOND_TAG)

    def known(a: str, b: str) -> bool:
        found = graph.edges[a, b]
        return found["rule"] not in beside and not found["missing"]

    listed = nx.subgraph_view(graph, filter_edge=known)
    return any(model.label(node) - {ids.OPERATOR} for node in nx.node_connected_component(listed, vlan))


def _record(model: Model, end: SwitchEnd) -> SwitchPortConfig | None:
    return model.site.site.switch[end.switch].by_port.get(end.port)


def _port(end: SwitchEnd) -> str:
    return f"{end.switch} port {end.port}"


def _link(ends: tuple[SwitchEnd, SwitchEnd]) -> str:
    return f"{_port(ends[0])} – {_port(ends[1])}"


# Every link of the site.


def _links_of_site(
    model: Model, wrong: Callable[[SwitchPortConfig], str], hint: str, unstated: _Unstated | None = None
) -> RuleAnswer:
    """`unstated`: the facts without which nobody knows whether what is wrong is so."""
    ends = sorted({end for pair in model.site.switch_links for end in pair}, key=_port)
    records = {end: _record(model, end) for end in ends}
    known = ((end, record) for end, record in records.items() if record is not None)
    found = [(end, wrong(record), unstated(end, record) if unstated else ()) for end, record in known]
    causes = [_port_cause(end, words, hint, missing) for end, words, missing in found if words]
    unrecorded = [_unrecorded(end) for end, record in records.items() if record is None]
    return by_facts(len(ends), (*unrecorded, *causes))


def _port_cause(end: SwitchEnd, words: str, hint: str, missing: tuple[SiteFact, ...]) -> Cause:
    port, about = _port(end), devices(end.switch)
    return Cause(port, f"{port} {words}", (port, words), hint, missing=missing, specificity=63, about=about)


def _unstated_tag(end: SwitchEnd, record: SwitchPortConfig) -> tuple[SiteFact, ...]:
    """A native VLAN that leaves tagged is no native one."""
    return () if record.tag_native is False else (SiteFact(f"switches.{end.switch}.ports.{end.port}.tag_native"),)


def _unrecorded(end: SwitchEnd) -> Cause:
    return Cause(
        key=_port(end),
        message=f"nobody states which VLANs {_port(end)} carries to the next switch",
        witness=(_port(end),),
        hint="describe the port in the site file",
        missing=(SiteFact(f"switches.{end.switch}.ports.{end.port}"),),
        specificity=63,
    )


def _undeclared(declared: frozenset[int | None], record: SwitchPortConfig) -> str:
    """What a trunk carries that no pool, range or port of the site file names; empty if nothing."""
    if record.mode != "trunk":
        return ""
    if record.tagged is None:
        return "carries every VLAN: it has no list"
    for low, high in record.tagged:
        strange = next((vlan for vlan in range(low, high + 1) if vlan not in declared), None)
        if strange is not None:
            return f"carries VLAN {strange}, which nothing in the site file declares"
    return ""


def _declared(model: Model) -> frozenset[int | None]:
    ranges = [(item.minimum, item.maximum) for item in model.site.site.segment_ranges if item.network_type == "vlan"]
    named = {vlan for low, high in (*_pooled(model), *ranges) for vlan in range(low, high + 1)}
    return _spoken_of(model).union(named)


def _pooled(model: Model) -> Ranges:
    return tuple(span for pool in model.site.site.pools.vlans_of.values() for span in pool.vlans)


def _spoken_of(model: Model) -> frozenset[int | None]:
    """VLANs that the site file uses itself: on access ports, routed, in overlays, for Ironic, to the outside.

    None among them is that of an access port or an external network without one.
    """
    site = model.site.site
    access = {port.untagged for switch in site.switches for port in switch.ports if port.mode == "access"}
    routed = {vlan for switch in site.switches for vlan in switch.routed_vlans or ()}
    routed |= {vlan for switch in site.switches for vrf in switch.vrfs for vlan in vrf.vlans}
    mapped = {item.vlan for switch in site.switches for item in switch.vteps}
    ports = (port for switch in site.switches for port in switch.ports)
    mapped |= {vlan for port in ports for pair in port.translations for vlan in pair}
    networks = site.ironic.networks if site.ironic is not None else ()
    ironic = {vlan for item in networks for low, high in item.vlans for vlan in range(low, high + 1)}
    return frozenset((*access, *routed, *mapped, *ironic, site.external.vlan))


def _alive(pooled: Ranges, spoken_of: frozenset[int | None], record: SwitchPortConfig) -> str:
    """What a native VLAN is besides; empty if it is a dead one, or frames of it leave tagged."""
    native = record.untagged
    if record.mode != "trunk" or native is None or record.tag_native is True:
        return ""
    if any(low <= native <= high for low, high in pooled):
        return f"sends VLAN {native} untagged, an id that the pools give to tenants"
    if native in spoken_of:
        return f"sends VLAN {native} untagged, which is in use elsewhere in the site file"
    return ""


_PRUNE = "list the VLANs that the devices behind this link need, at both ends"
_OWN_IDS = (
    "give each leaf group VLAN ids of its own, or list what this trunk carries instead of letting Neutron fill it"
)
_DEAD = "give the link a native VLAN that nobody uses, or none, or tag the native one"


def _pruned(model: Model, names: Names) -> RuleAnswer:
    if not model.plan.is_tenant:
        return _links_of_site(model, partial(_undeclared, _declared(model)), _PRUNE)
    return _by_link(model, names, _unpruned)


def _dead_natives(model: Model, names: Names) -> RuleAnswer:
    if not model.plan.is_tenant:
        return _links_of_site(model, partial(_alive, _pooled(model), _spoken_of(model)), _DEAD, _unstated_tag)
    return _by_link(model, names, _untagged)


ISO_14 = Rule(
    id="ISO-14",
    title="links between switches carry declared VLANs only",
    severity=Severity.ERROR,
    polarity=Polarity.ABSENCE,
    why="an id used twice on two switches is two segments until a link carries it. For the site it is a rule of its "
    "own: a link without a list will join the next two owners who have one id",
    source="Neutron generic-switch driver: allowed VLANs of trunk ports; docs/design/semantics.md §4, E1",
    needs=("cables between switches", "switch ports", "pools", "claims"),
    ask=_pruned,
)
ISO_15 = Rule(
    id="ISO-15",
    title="native VLANs of links between switches are unused",
    severity=Severity.ERROR,
    polarity=Polarity.ABSENCE,
    why="what leaves one switch untagged is in the other's native VLAN, whatever its number, or in the one that a "
    "second tag names. For the site it is a rule of its own: a native VLAN that is used waits for the other end",
    source="IEEE 802.1Q, port VLAN id; docs/design/semantics.md §4, E2 and E21",
    needs=("cables between switches", "switch ports", "pools", "claims"),
    ask=_dead_natives,
)
