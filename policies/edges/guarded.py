"""Edges that a guard removes: terminals, gateways, and what each assumption of the proof keeps apart.

They are resolved after the union, from the site as it is now: a guard that goes missing makes them unknown again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from interlock.model.site.inventory import Sharing
from interlock.vocabulary.nodes import switch_vlan
from policies.about import Fact, OpenScope, SaidFact, ScopeIsShared, SiteFact, UndeclaredSharing, in_order
from policies.facts import identities as ids
from policies.facts.guards import BETWEEN_OWNERS, GuardState, sharing, welcome

from .operated import OPERATED_EDGES
from .plan import EXTERNAL_REFERENCE
from .shape import Edge, EdgeRule, Relation, Union
from .unlisted_in_cloud import unlisted_scopes


def unless(held: GuardState, rule: str, a: str, b: str) -> Iterator[Edge]:
    """The edge that a guard removes: there if it is known not to hold, perhaps there if nobody stated it."""
    yield Edge(a, b, rule, held.missing, held.broken, held.guards if held.value else (), held.guards)


def _terminals(union: Union) -> Iterator[Edge]:
    for server, attachment, kind, _ in union.facts(Relation.COPY):
        yield from unless(_declared_held(union, kind), "E9", server, attachment)


def declarations(union: Union, kind: str) -> tuple[Sharing, ...]:
    """The site's declarations of one kind of sharing; InfiniBand ports have no addresses to be met at."""
    return tuple(item for item in union.site.site.sharing if item.kind == kind and not ids.is_guid(item.node))


def _declared_held(union: Union, kind: str) -> GuardState:
    """Undeclared sharing is an ordinary node: like a declaration with a false guard."""
    found = declarations(union, kind)
    return sharing(union.site.site, found) if found else _broken(UndeclaredSharing(kind))


def _broken(fact: Fact) -> GuardState:
    return GuardState(value=False, broken=(fact,))


#: A router that does no NAT.
_JOINED = SaidFact("a subnet of the router joins an address scope")
#: What a gateway's addresses are that no guard filters: nothing translates IPv6, and the scope outside is for IPv4.
_PASSING = {"in scope": _JOINED, "IPv6": SaidFact("a subnet of the router is IPv6, and the scope outside is for IPv4")}


def _gateways(union: Union) -> Iterator[Edge]:
    held = _declared_held(union, "external-network")
    for (scope,) in union.facts(Relation.OPEN_SCOPE):
        held = _broken(ScopeIsShared(OpenScope.parse(scope)))
    unlisted = unlisted_scopes(union.site)
    for router, reference, addresses, _ in union.facts(Relation.GATEWAY):
        if reference != EXTERNAL_REFERENCE:
            yield Edge(router, ids.unresolved(reference), "E11")
            continue
        name = union.site.site.external.name
        copy, hub = ids.external_copy(name, router), ids.external_hub(name)
        yield Edge(router, copy, "E11")
        passing = _PASSING.get(addresses)
        state = _broken(passing) if passing is not None else held
        if state.value is True and unlisted:
            yield Edge(copy, hub, "E11", unlisted)
        else:
            yield from unless(_with(state, unlisted), "E11", copy, hub)


def _with(state: GuardState, unlisted: tuple[Fact, ...]) -> GuardState:
    """What nobody states takes what nobody listed besides."""
    return state if state.value is not None else replace(state, missing=in_order((*state.missing, *unlisted)))


def _machines(union: Union) -> Iterator[Edge]:
    held = union.site.assumption("A3")
    for machine in union.site.site.machines:
        rnic, gateway, bmc = (ids.part(machine.serial, name) for name in ("rnic", "gw", "bmc"))
        yield from unless(held, "E15", rnic, gateway)
        yield from unless(held, "E15", gateway, bmc)


def _links(union: Union) -> Iterator[Edge]:
    held, machine = union.site.assumption("A4"), union.site.site.machine
    for cable in union.site.site.cables:
        if cable.kind != "ethernet" and cable.a.device in machine and cable.b.device in machine:
            ends = (ids.part(machine[end.device].serial, "rnic") for end in (cable.a, cable.b))
            yield from unless(held, "E16", *ends)


def _hypervisors(union: Union) -> Iterator[Edge]:
    site = union.site.site
    apart = union.site.assumption("A5", without=BETWEEN_OWNERS)
    processors = union.site.assumption("A5", only=BETWEEN_OWNERS)
    for server, name, _ in union.facts(Relation.GUEST):
        host = site.host.get(name)
        serial = host.serial if host is not None else name
        yield from unless(apart, "E18", server, ids.hypervisor(serial))
        yield from unless(processors, "E18", server, ids.processors(serial))


def _switches_forward(union: Union) -> Iterator[Edge]:
    held = union.site.assumption("A1")
    for node in sorted(union.nodes if held.value else union.nodes.union(_vlans_of_switches(union))):
        if (vlan := switch_vlan(node)) is not None:
            switch = union.site.switch_of_bridge.get(vlan.bridge)
            if switch is not None:
                yield from unless(held, "A1", node, ids.fabric(switch.serial))


def _vlans_of_switches(union: Union) -> Iterator[str]:
    """Also those that nobody names, but devices on switch ports reach."""
    for switch in union.site.site.switches:
        yield from (ids.vlan_segment(ids.switch_bridge(switch.serial), vlan) for vlan in union.vlans)


def _cloud_scopes(union: Union) -> Iterator[Edge]:
    held = union.site.assumption("A2")
    for (node,) in union.facts(Relation.CAPABILITY):
        yield from unless(held, "A2", node, ids.cloud_api(union.site.site.cloud))


def _pools(union: Union) -> Iterator[Edge]:
    held = union.site.assumption("A10")
    for segment, *_ in union.facts(Relation.CLAIM):
        yield from unless(held, "A10", segment, ids.foreigners(union.site.site.cloud))


def _in_band(union: Union) -> Iterator[Edge]:
    held = union.site.assumption("A13")
    for server, name in union.facts(Relation.METAL):
        if name in union.site.site.host:
            yield from unless(held, "E14", server, union.site.bmc(name))
    # Whoever has a switch port behind a whole host may run the host, before a plan says that anybody does.
    for host in union.site.site.hosts:
        whole = union.site.interfaces(host.name) if host.provisioning == "bare-metal" else ()
        for interface in whole:
            yield from unless(held, "E14", interface, union.site.bmc(host.name))


def _cleaned(union: Union) -> Iterator[Edge]:
    """What was wiped is its former holder's again if wiping does not erase."""
    held = union.site.assumption("A9")
    for former, device in union.facts(Relation.SETTLED):
        yield from unless(held, "A9", device, former)


def _partition_keys(union: Union) -> Iterator[Edge]:
    """With one full member all hear each other by way of it; limited members alone hear nobody.

    A declared terminal answers each member by itself: it joins them only while a guard fails.
    """
    held = union.site.assumption("A6")
    members = union.facts(Relation.KEY)
    full: defaultdict[str, set[str]] = defaultdict(set)
    for key, port, membership, _ in members:
        if membership == "full":
            full[key].add(port)
    declared = union.site.shared_ports
    for key, port, _, fabric in members:
        yield from _key_edges(union, key, port, [declared.get(other, ()) for other in sorted(full[key])])
        yield from unless(held, "E19", port, fabric)
        yield from _unwelcome(union, port, {other: declared[other] for other in sorted(full[key] & set(declared))})


def _unwelcome(union: Union, port: str, terminals: dict[str, tuple[Sharing, ...]]) -> Iterator[Edge]:
    """Whoever is not in a terminal's audience meets the terminal itself."""
    owners = {label for share in union.shares for label in share.labels.get(port, ())} - ids.RESERVED_LABELS
    for terminal, declared in terminals.items():
        if terminal != port and not all(welcome(declared, owner) for owner in owners):
            audiences = tuple(SiteFact(f"sharing.{item.name}.audience") for item in declared)
            yield Edge(port, terminal, "E19", broken=audiences)


def _key_edges(union: Union, key: str, port: str, full: list[tuple[Sharing, ...]]) -> Iterator[Edge]:
    if not all(full):
        yield Edge(port, key, "E19")
    elif full:
        served = tuple(item for found in full for item in found)
        yield from unless(sharing(union.site.site, served), "E19", port, key)


def _nvlinks(union: Union) -> Iterator[Edge]:
    held = union.site.assumption("A8")
    for partition, fabric in union.facts(Relation.NVLINK):
        yield from unless(held, "E17", partition, fabric)


#: One row for each guard; A1, A2, A9 and A10 are the edges that false assumptions add.
GUARDED_EDGES: tuple[EdgeRule[Union], ...] = (
    EdgeRule("E9", "a terminal passes nothing on while its guards are held", _terminals),
    EdgeRule("E11", "a gateway meets a copy of the external network, and its hub unless it is filtered", _gateways),
    EdgeRule("E14", "a bare-metal host reaches its BMC unless A13 is held", _in_band),
    EdgeRule("E15", "a machine joins RNIC, gateway and BMC unless A3 is held", _machines),
    EdgeRule("E16", "links between machines carry data unless A4 is held", _links),
    EdgeRule("E17", "an NVLink domain joins its partitions unless A8 is held", _nvlinks),
    EdgeRule("E18", "a hypervisor joins its guests unless A5 is held", _hypervisors),
    EdgeRule("E19", "a P_Key joins its members, and an InfiniBand subnet everybody unless A6 is held", _partition_keys),
    EdgeRule("A1", "a switch joins all its VLANs unless A1 is held", _switches_forward),
    EdgeRule("A2", "the cloud joins all projects unless A2 is held", _cloud_scopes),
    EdgeRule("A9", "what was cleaned is its former holder's unless A9 is held", _cleaned),
    EdgeRule("A10", "strangers may be on every claimed segment unless A10 is held", _pools),
    *OPERATED_EDGES,
)
