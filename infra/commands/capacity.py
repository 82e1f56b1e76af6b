"""`interlock capacity`: how much more a site holds."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Annotated

from infra.cli.formats import Format, format_option, print_json
from infra.cli.terminal import print_text
from infra.commands.options import Site
from infra.locking.index import held
from infra.program.gate import Gate
from interlock.planning import Capacity
from interlock.planning import capacity as capacity_of
from interlock.planning.cleaning import Cleaning
from interlock.planning.node_rooms import NodeRoom

UNKNOWN = "not stated"


def capacity(
    site: Site = "",
    form: Annotated[Format, format_option("capacity")] = Format.TEXT,
) -> None:
    """Count how many more vPODs and GPU nodes a site holds.

    Also free machines, VLANs, VNIs, P_Keys, subnets, servers, ports and kilowatts.
    Everything is counted by itself, as if nothing else ran out first. What is released and not settled is
    cleaning: counted beside, not as free, and listed with whose it was and since when. What failed or is in
    maintenance is counted beside as well. Requests that are not locked yet do not count.

    Exit code: 0 counted, 2 the input is wrong.

    \b
    Examples:
      interlock capacity
      interlock capacity --format json
    """
    gate = Gate.indexed(site)
    found = capacity_of(gate.workspace.site, held(gate.workspace.locks))
    if form is Format.JSON:
        print_json(dataclasses.asdict(found))
    else:
        print_text(table(found))


def table(found: Capacity) -> str:
    """The report for people: a line for each thing, what is left first."""
    rows = list(_rows(found))
    width = max(len(left) for _, left in rows)
    return "".join(f"{left:>{width}}  {what}\n" for what, left in rows) + _unclean(found)


def _rows(found: Capacity) -> Iterator[tuple[str, str]]:
    """(what, how many are left)."""
    for size in found.vpods:
        besides = f", and {size.unaligned} in unaligned runs" if size.unaligned else ""
        machines = f"{size.machines} IPU-Machine{'s' if size.machines > 1 else ''}"
        yield f"vPODs of {machines} ({size.generation}){besides}", str(size.aligned)
    for rack in found.racks:
        block = f", the largest free block is {rack.largest_block}" if rack.free else ""
        idle = _idle(rack.failed, rack.maintenance, rack.cleaning)
        yield f"IPU-Machines in logical rack {rack.rack} ({rack.generation}){block}{idle}", str(rack.free)
    for network in found.vlans:
        pairs = f", {network.pairs} with their partner on storage" if network.pairs is not None else ""
        yield (
            f"{network.pool.replace('_', '-')} VLANs on {network.network}{pairs}{_idle(0, 0, network.cleaning)}",
            str(network.free),
        )
    if found.vnis is not None:
        yield "control VNIs", str(found.vnis.free)
    yield from ((f"{pool.pool.replace('_', '-')} subnets", str(pool.free)) for pool in found.subnets)
    yield from ((f"Poplar servers of flavour {item.flavor}", str(item.servers)) for item in found.servers)
    yield "bare-metal hosts", str(found.bare_metal_hosts)
    for hosts in found.hosts:
        if idle := _idle(hosts.failed, hosts.maintenance, hosts.cleaning):
            yield (
                f"{hosts.role} hosts in service, of {hosts.of}{idle}",
                str(hosts.of - hosts.failed - hosts.maintenance),
            )
    for nodes in found.nodes:
        largest = _largest(nodes) if nodes.free else ""
        idle = _idle(nodes.failed, nodes.maintenance, nodes.cleaning)
        below = "" if nodes.provisioning == "bare-metal" else " for virtual servers"
        yield f"{nodes.node_type} nodes{below} in {nodes.hall}, of {nodes.of}{largest}{idle}", str(nodes.free)
    yield from ((f"heads of clusters of flavour {item.flavor}", str(item.servers)) for item in found.heads)
    yield from ((f"P_Keys on InfiniBand subnet {pool.pool}", str(pool.free)) for pool in found.partition_keys)
    if found.controllers is not None:
        yield "V-IPU controllers within the operator's quota", str(found.controllers)
    yield from ((f"ports of {item.role} switches, of {item.of}", str(item.free)) for item in found.ports)
    for place in (*found.racks_power, *found.rooms_power):
        left = UNKNOWN if place.left_w is None else f"{place.left_w / 1000:.1f} kW"
        yield f"power in {place.place}{_of_limit(place.limit_w)}", left


def _largest(nodes: NodeRoom) -> str:
    """The largest clusters that a type has room for."""
    roce = "" if nodes.largest_roce is None else f", with RoCE {nodes.largest_roce}"
    return f", the largest cluster has {nodes.largest}, in one unit {nodes.largest_in_unit}{roce}"


def _unclean(found: Capacity) -> str:
    """A line for each thing that is cleaning; empty if nothing is."""
    lines = "".join(f"  {_said(one)}\n" for one in found.cleaning)
    return f"\ncleaning: released, and nobody's until `interlock settle` has seen it clean\n{lines}" if lines else ""


def _said(one: Cleaning) -> str:
    serial = f" ({one.serial})" if one.serial else ""
    ports = f", with ports {', '.join(one.ports)}" if one.ports else ""
    since = f"since {one.since}" if one.since else "nobody recorded since when"
    return f"{one.kind} {one.name}{serial}: was {one.tenant}'s ({one.vpod}), {since}{ports}"


def _idle(failed: int, maintenance: int, cleaning: int) -> str:
    """How many are out of service or cleaning; empty if none is."""
    counts = ((failed, "failed"), (maintenance, "in maintenance"), (cleaning, "cleaning"))
    return "".join(f", {count} {words}" for count, words in counts if count)


def _of_limit(watts: int | None) -> str:
    return "" if watts is None else f", of {watts / 1000:.1f} kW"
