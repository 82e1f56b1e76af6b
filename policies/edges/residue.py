"""Residue: what was released and not shown to be free keeps the former holder's label (semantics, owner)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace

from interlock.model.lock.record import FormerKey, Premise, Released, Settled
from interlock.vocabulary import CLAIMS_OF, NetworkRole, SubnetKey, Vlan, nodes
from policies.facts import identities as ids
from policies.facts.room import released_room
from policies.facts.site import SiteFacts

from .shape import GraphFragment, Relation, premise

VLAN_CLAIMS = tuple(item.vlan for item in CLAIMS_OF.values())
#: Claims whose segment is the operator's: tenants' machines only hang on it by their management ports.
OPERATORS_CLAIMS = (CLAIMS_OF[NetworkRole.MANAGEMENT].vlan,)

#: Claims on the room of a host -> the node by which whoever shares that room meets.
_ROOM_OF = {"hosts": ids.processors, "heads": ids.processors, "controller_host": ids.host_identity}
#: The same -> how many virtual functions a server had, where that is known: a head of a cluster has none.
_FUNCTIONS_OF = {"heads": ("0",)}


def with_released(site: SiteFacts, share: GraphFragment, released: tuple[Released, ...]) -> GraphFragment:
    """The share and everything that its owner released: labels, exclusive identities, premises."""
    labels = dict(share.labels)
    exclusive = set(share.exclusive)
    premises = set(share.premises)
    held = {item.tuple[0] for item in premises if item.relation == Relation.CLAIM}
    for entry in released:
        owner = ids.OPERATOR if entry.claim in OPERATORS_CLAIMS else share.owner
        for node, identity in still_held(site, entry):
            labels[node] = labels.get(node, frozenset()) | {owner}
            exclusive.add(identity)
            premises.update(_residue(share.owner, entry, node, identity, again=node in held))
        vlan = _vlan(entry)
        if vlan is not None and vlan.network not in site.switches_of:
            # On a physical network that is not recorded or not known: it may lie on any switch.
            words = f"{entry.vpod} {entry.claim} {entry.value}"
            node = ids.lost_claim(share.owner, words)
            labels[node] = frozenset({owner})
            premises.add(premise(Relation.SOMEWHERE, node, str(vlan.id), f"released claim {words} of {share.owner}"))
    premises.update(_room_still_taken(site, share, released))
    return replace(share, labels=labels, premises=tuple(premises), exclusive=frozenset(exclusive))


def with_former_keys(share: GraphFragment, keys: Iterable[FormerKey]) -> GraphFragment:
    """The share and the login keys that servers may still have, though no plan of their owner names them."""
    found = frozenset(ids.login_key_identity(one.fingerprint) for one in keys)
    return replace(share, exclusive=share.exclusive | found, former_keys=found)


def _room_still_taken(site: SiteFacts, share: GraphFragment, released: tuple[Released, ...]) -> Iterator[Premise]:
    """Room of hosts, for each server that was given up and may still be there (CAP-02).

    One that is known to be applied says by itself what it takes.
    """
    given_up: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for entry in released:
        if entry.claim in _ROOM_OF:
            given_up[entry.claim, entry.value].append(entry.flavor)
    for (claim, name), flavors in sorted(given_up.items()):
        host = site.site.host.get(name)
        if host is None or (site.is_whole(name) and claim == "hosts") or site.is_bare_metal(name):
            continue
        place = _ROOM_OF[claim](host.serial)
        takes = (item.tuple for item in share.premises if item.relation == Relation.TAKES)
        applied = sum(where == place and server in share.former for where, server, *_ in takes)
        for number, flavor in enumerate(sorted(flavors)[applied:], start=1):
            server = ids.server(share.owner, f"released {claim} {name} {number}")
            yield premise(Relation.TAKES, place, server, *released_room(flavor, *_FUNCTIONS_OF.get(claim, ())).columns)


def with_settled(site: SiteFacts, share: GraphFragment, settled: Iterable[Settled]) -> GraphFragment:
    """The share and the devices that its owner had, which were cleaned: they are others' only while A9 is held.

    Without it an idle one is not known to be the operator's, as little as one that was not cleaned.
    """
    labels, premises = dict(share.labels), set(share.premises)
    for entry in settled:
        erased = erases(site, entry.identity)
        former = ids.former_holder(share.owner, entry.identity)
        for device in _devices(site, entry.identity):
            labels[former] = frozenset({share.owner})
            premises.add(premise(Relation.SETTLED, former, device))
            if not erased:
                labels.setdefault(device, frozenset())
    return replace(share, labels=labels, premises=tuple(premises))


def erases(site: SiteFacts, identity: str) -> bool:
    """True if cleaning leaves nothing of a former holder behind."""
    return all(site.assumption(name).value is True for name in cleaned_by(identity))


def cleaned_by(identity: str) -> tuple[str, ...]:
    """The assumptions that cleaning rests on: no wipe of disks reaches the firmware of a whole host."""
    return ("A9", "A23") if isinstance(nodes.parse(identity), nodes.HeldHost) else ("A9",)


def _devices(site: SiteFacts, identity: str) -> tuple[str, ...]:
    """The nodes of a device that was cleaned. A host may be a hypervisor by now: then its guests are on it."""
    match nodes.parse(identity):
        case nodes.HeldMachine(serial):
            return (ids.part(serial, "rnic"),)
        case nodes.HeldHost(serial):
            hosts = [item for item in site.site.hosts if item.serial == serial]
            whole = [node for host in hosts for node in site.lent_parts(host.name)]
            return (*whole, *(ids.hypervisor(serial) for host in hosts if not site.is_bare_metal(host.name)))
        case nodes.GpuNode():
            return (identity,)
        case _:
            return ()


def _residue(owner: str, entry: Released, node: str, identity: str, *, again: bool) -> Iterator[Premise]:
    """A wire that its former holder claims `again` has the one claim."""
    yield premise(Relation.RESIDUE, identity, owner, entry.vpod)
    if ids.is_wire(node) and not again:
        words = f"{entry.claim} {entry.value}"
        yield premise(Relation.CLAIM, node, owner, f"{entry.vpod} {words}", words, "released")


def _vlan(entry: Released) -> Vlan | None:
    """The VLAN that a claim is a claim on; None for every other claim."""
    return Vlan.parse(entry.value) if entry.claim in VLAN_CLAIMS else None


def still_held(site: SiteFacts, entry: Released) -> Iterator[tuple[str, str]]:
    """(node, exclusive identity) of a released claim; nothing for what is room or addresses inside of another claim."""
    if entry.serial:
        yield from _device(site, entry)
    elif entry.claim == "machines":
        machine = site.site.machine.get(entry.value)
        if machine is not None:
            yield from ((ids.part(machine.serial, "rnic"), identity) for identity in site.held_with(machine))
    elif entry.claim == "hosts" and site.is_whole(entry.value):
        identity = ids.host_identity(site.site.host[entry.value].serial)
        yield from ((node, identity) for node in site.lent_parts(entry.value))
    elif entry.claim == "storage_vip":
        address = ids.share_address(site.site.cloud, entry.value)
        yield address, address
    elif entry.claim == "partition_keys":
        yield from ((key, key) for key in _keys(site, entry))
    else:
        yield from ((segment, ids.segment_identity(segment)) for segment in _segments(site, entry))


def _device(site: SiteFacts, entry: Released) -> Iterator[tuple[str, str]]:
    """The same of a device by its serial, whatever its name is by now; it may have left the site."""
    inventory, serial = site.site, entry.serial
    if entry.claim == "machines":
        name = inventory.machine_of.get(serial)
        held = (ids.machine_identity(serial),) if name is None else site.held_with(inventory.machine[name])
        yield from ((ids.part(serial, "rnic"), identity) for identity in held)
    else:
        name = inventory.host_of.get(serial)
        is_whole = name is not None and site.is_whole(name)
        parts = site.lent_parts(name) if name is not None and is_whole else (ids.hypervisor(serial),)
        yield from ((node, ids.host_identity(serial)) for node in parts)


def lost_segments(site: SiteFacts, entry: Released) -> Iterator[str]:
    """The exclusive identities of a released VLAN whose physical network nobody knows: it may lie on any switch."""
    vlan = _vlan(entry)
    if vlan is not None and vlan.network not in site.switches_of:
        for switch in site.site.switches:
            yield ids.segment_identity(ids.vlan_segment(ids.switch_bridge(switch.serial), vlan.id))


def _keys(site: SiteFacts, entry: Released) -> Iterator[str]:
    """The P_Key; of a subnet that the site lists no more it may be on any."""
    name, key = SubnetKey.parse(entry.value)
    subnets = site.site.infiniband
    known = [item.prefix for item in subnets if item.name == name] or [item.prefix for item in subnets]
    yield from (ids.partition_key(prefix, key) for prefix in known)


def _segments(site: SiteFacts, entry: Released) -> tuple[str, ...]:
    if entry.claim == CLAIMS_OF[NetworkRole.CONTROL].vni:
        return (ids.overlay(site.site.cloud, int(entry.value)),)
    vlan = _vlan(entry)
    return () if vlan is None else site.segments(vlan.network, vlan.id)
