"""What must hold between the halls of a site and all else in it: subnets, switch ports, racks, GUIDs, GPU nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from interlock.hardware.gpu import NODE_TYPES, OFFERED
from interlock.model.site.cable_checks import check_end, check_plug
from interlock.model.site.physical import Endpoint
from interlock.model.site.places import Path
from interlock.model.site.state_checks import check_reason
from interlock.model.site.view import SiteView
from interlock.model.text.errors import Code

from .names import node_name, switch_name


def check_halls(view: SiteView) -> None:
    """Adds faults of halls, GPU nodes and InfiniBand switches."""
    _check_subnets(view)
    _check_ethernet(view)
    _check_standing(view)
    _check_gpu_nodes(view)
    _check_guids(view)


def _check_subnets(view: SiteView) -> None:
    """Each fabric of a hall is a subnet of its own."""
    owners = dict[str, str]()
    for name, hall in view.file.halls.items():
        for key, subnet in (("compute", hall.compute), ("storage", hall.storage)):
            if subnet is None:
                continue
            path: Path = ("halls", name, key)
            view.need(path, "an InfiniBand subnet", subnet, view.file.infiniband, "infiniband")
            if owners.setdefault(subnet, name) != name:
                hint = "a fabric of a hall is a subnet of its own, with a subnet manager of its own"
                view.faults.add(Code.TWICE, path, f"`{subnet}` is a fabric of the hall `{owners[subnet]}`", hint)


def _check_ethernet(view: SiteView) -> None:
    plugs = Counter(str(end) for cable in view.site.cables for end in (cable.a, cable.b))
    for name, hall in view.file.halls.items():
        path: Path = ("halls", name)
        stated: list[tuple[Path, Sequence[tuple[Endpoint, ...]]]] = []
        if hall.in_band is not None:
            network, known = hall.in_band.physical_network, view.site.physical_network
            where = (*path, "in_band", "physical_network")
            view.need(where, "a physical network", network, known, "physical_networks")
            stated += [((*path, "in_band", "ports", key), ends) for key, ends in hall.in_band.ports.items()]
        if hall.out_of_band is not None:
            stated.append(((*path, "out_of_band", "ports"), hall.out_of_band.ports))
        for unit, roce in enumerate(hall.roce):
            below: Path = (*path, "roce", unit)
            known = view.site.physical_network
            view.need(
                (*below, "physical_network"), "a physical network", roce.physical_network, known, "physical_networks"
            )
            stated += [((*below, "ports", key), ends) for key, ends in roce.ports.items()]
        for where, ends in stated:
            for index, several in enumerate(ends):
                for end in several:
                    check_end(view, (*where, index), end, plugs)
                    check_plug(view, (*where, index), end, "ethernet")


def _check_standing(view: SiteView) -> None:
    racks = {rack.name for rack in view.site.physical_racks}
    for name, hall in view.file.halls.items():
        for place, node in hall.nodes.items():
            path: Path = ("halls", name, "nodes", place)
            check_reason(view, path, node.state, node.reason)
            if node.rack is not None:
                view.faults.need((*path, "rack"), "a physical rack", node.rack, racks)


def _check_gpu_nodes(view: SiteView) -> None:
    """Those of the full form are hosts, of a type that is offered, on subnets that there are."""
    for name, node in view.file.gpu_nodes.items():
        path: Path = ("gpu_nodes", name)
        host = view.site.host.get(name)
        if host is None or host.role != "gpu":
            hint = "state it under `hosts`, with `role: gpu`"
            view.faults.add(Code.NO_SUCH, path, f"`{name}` is no host of role gpu", hint)
        kind = NODE_TYPES.get(node.node_type)
        if kind is None:
            message = f"`{node.node_type}` is not a node type of the catalogue"
            view.faults.need_name((*path, "node_type"), node.node_type, OFFERED, message)
        elif kind.not_offered is not None:
            message = f"no cluster of {kind.name}: {kind.not_offered.why}"
            hint = f"the nearest node type is {kind.not_offered.instead}"
            view.faults.add(Code.CONTRADICTION, (*path, "node_type"), message, hint)
        for port, stated in node.ports.items():
            where = (*path, "ports", port, "infiniband")
            view.need(where, "an InfiniBand subnet", stated.infiniband, view.file.infiniband, "infiniband")
    for name, host_file in view.file.hosts.items():
        if host_file.role == "gpu" and name not in view.file.gpu_nodes and not view.faults.short_of("gpu_nodes"):
            hint = "add it under `gpu_nodes`: node type, hall, unit, and its InfiniBand ports"
            view.faults.add(Code.MISSING_KEY, ("hosts", name), f"`{name}` has no entry under `gpu_nodes`", hint)
    for name, switch in view.file.fabric_switches.items():
        where = ("fabric_switches", name, "infiniband")
        view.need(where, "an InfiniBand subnet", switch.infiniband, view.file.infiniband, "infiniband")


def _check_guids(view: SiteView) -> None:
    """A GUID is one port or switch: the subnet manager knows them by nothing else."""
    owners = dict[str, str]()
    for owner, guid, path in _guids(view):
        if guid is not None and owners.setdefault(guid, owner) != owner:
            message = f"{owner} has the GUID {guid} of {owners[guid]}"
            view.faults.add(Code.TWICE, path, message, "read both again: `ibstat -p` on the node prints them")


def _guids(view: SiteView) -> Iterator[tuple[str, str | None, Path]]:
    """(what it is of, the GUID, where it stands) of everything that may have one."""
    for name, hall in view.file.halls.items():
        for place, node in hall.nodes.items():
            owner, below = node_name(name, place, node), ("halls", name, "nodes", place, "guids")
            yield from ((f"{port} of `{owner}`", guid, (*below, port)) for port, guid in node.guids.items())
        for switch, stated in hall.switches.items():
            yield f"`{switch_name(name, switch)}`", stated.guid, ("halls", name, "switches", switch, "guid")
    for name, gpu_node in view.file.gpu_nodes.items():
        for port, of_port in gpu_node.ports.items():
            yield f"{port} of `{name}`", of_port.guid, ("gpu_nodes", name, "ports", port, "guid")
    for name, fabric_switch in view.file.fabric_switches.items():
        yield f"`{name}`", fabric_switch.guid, ("fabric_switches", name, "guid")
