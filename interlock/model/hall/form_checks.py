"""What must hold in `halls:` before it can be expanded: designs, node types, places, names of ports, power."""

from __future__ import annotations

from interlock.hardware.gpu import HALL_DESIGNS, NODE_TYPES, OFFERED, PortRole, cluster_verdict, hall_fault
from interlock.model.site.file import SiteFile
from interlock.model.site.places import Path
from interlock.model.text.errors import Code
from interlock.model.text.faults import Faults
from interlock.model.text.validation import nearest

from .compute_checks import check_compute
from .ethernet import compute_names, ethernet_names, ethernet_ports
from .file import HallFile, HallNodeFile
from .names import Layout, infiniband_fabrics, layout_of, type_name


def check_halls_before_expansion(file: SiteFile, faults: Faults) -> None:
    """Adds every fault that would leave the expansion of a hall without an answer, and of what it draws."""
    for name, hall in file.halls.items():
        path: Path = ("halls", name)
        if _check_design(hall, path, faults):
            layout = layout_of(hall)
            check_compute(hall, layout, path, faults)
            _check_subnets(hall, layout, path, faults)
            _check_places(hall, layout, path, faults)
            _check_switches(hall, layout, path, faults)
            _check_power(hall, layout, path, faults)
            for place, node in hall.nodes.items():
                _check_node(hall, layout, (*path, "nodes", place), node, faults)


def _check_design(hall: HallFile, path: Path, faults: Faults) -> bool:
    """Whether the catalogue has the hall, and clusters of what stands in it can be offered."""
    design = HALL_DESIGNS.get(hall.design)
    if design is None:
        message = f"`{hall.design}` is not a design of halls in the catalogue"
        faults.add(Code.NO_SUCH, (*path, "design"), message, nearest(hall.design, HALL_DESIGNS))
        return False
    wrong = hall_fault(design, hall.units)
    if wrong is not None:
        what, _, hint = wrong.partition("; ")
        faults.add(Code.VALUE, (*path, "units"), what, hint)
        return False
    return _check_type(hall, (*path, "design" if hall.node_type is None else "node_type"), faults)


def _check_type(hall: HallFile, path: Path, faults: Faults) -> bool:
    name, design = type_name(hall), HALL_DESIGNS[hall.design]
    node = NODE_TYPES.get(name)
    if node is None:
        message = f"`{name}` is not a node type of the catalogue"
        faults.add(Code.NO_SUCH, path, message, nearest(name, OFFERED))
    elif node.not_offered is not None:
        hint = f"the nearest node type is {node.not_offered.instead}"
        faults.add(Code.CONTRADICTION, path, f"no cluster of {name}: {node.not_offered.why}", hint)
    elif not (verdict := cluster_verdict(name, fabric=True)).passes:
        faults.add(Code.CONTRADICTION, path, verdict.reason.partition(": ")[0], verdict.reason.partition(": ")[2])
    else:
        ports, rails = node.ports_for(PortRole.COMPUTE), design.fabric(PortRole.COMPUTE).rails.value
        count = None if ports is None or ports.count is None else ports.count.value
        if count == rails:
            return True
        has = "an unknown number of" if count is None else str(count)
        message = f"a {name} has {has} ports for compute, and {design.name} has {rails} rails"
        hint = "take a node type with one port for each rail, or state its nodes under `hosts` and `gpu_nodes`"
        faults.add(Code.CONTRADICTION, path, message, hint)
    return False


def _check_subnets(hall: HallFile, layout: Layout, path: Path, faults: Faults) -> None:
    medium = layout.design.fabric(PortRole.STORAGE).medium.value
    if hall.storage is not None and medium != "infiniband":
        message = f"storage of {layout.design.name} is {medium}, which no subnet manager has"
        faults.add(Code.CONTRADICTION, (*path, "storage"), message, "leave the line out")
    elif hall.storage is not None and hall.storage == hall.compute:
        message = f"`{hall.storage}` is the subnet of the compute fabric already"
        hint = "storage is a fabric of its own, with switches and a subnet manager of its own"
        faults.add(Code.TWICE, (*path, "storage"), message, hint)


def _check_places(hall: HallFile, layout: Layout, path: Path, faults: Faults) -> None:
    """Nodes stand at places of the design, and what is listed by place reaches as far as there are nodes."""
    places = layout.places
    if len(hall.nodes) > len(places):
        message = f"{len(hall.nodes)} nodes: {layout.design.name} with {_units(hall.units)} has {len(places)} places"
        faults.add(Code.VALUE, (*path, "nodes"), message, "write more `units`, or take nodes out")
    else:
        wrong = f"is no place of {layout.design.name} with {_units(hall.units)}"
        for place in hall.nodes:
            if place not in places:
                hint = f"places are {places[0]} to {places[-1]}"
                faults.add(Code.NO_SUCH, (*path, "nodes", place), f"`{place}` {wrong}", hint)
    for ports in ethernet_ports(hall, layout):
        below: Path = (*path, *ports.path)
        beyond = [place for place in ports.places[len(ports.ends) :] if place in hall.nodes]
        if len(ports.ends) > len(ports.places):
            where = "the unit" if ports.path[0] == "roce" else "the hall"
            message = f"{len(ports.ends)} switch ports, and {where} has {len(ports.places)} places"
            faults.add(Code.VALUE, below, message, "list one for each place, in the order of the places")
        elif ports.ends and beyond:
            message = f"{len(ports.ends)} switch ports, and none for the node at `{beyond[0]}`"
            hint = "list one for each place, in the order of the places, also of those that are empty"
            faults.add(Code.VALUE, below, message, hint)


def _units(count: int) -> str:
    return "1 unit" if count == 1 else f"{count} units"


def _check_switches(hall: HallFile, layout: Layout, path: Path, faults: Faults) -> None:
    fabrics = infiniband_fabrics(hall)
    known = {switch.name for switch in layout.hall.switches if switch.fabric in fabrics}
    for name in hall.switches:
        message = f"`{name}` is no InfiniBand switch of this hall"
        faults.need_name((*path, "switches", name), name, known, message)


def _check_power(hall: HallFile, layout: Layout, path: Path, faults: Faults) -> None:
    """Nameplates of the nodes that are there; one that is in no document draws nothing that anybody could add up."""
    nameplate = layout.node_type.build.nameplate
    each = None if nameplate is None else nameplate.known
    if hall.power is None or each is None or len(hall.nodes) * each <= hall.power:
        return
    message = (
        f"{len(hall.nodes)} × {layout.node_type.name} draw {len(hall.nodes) * each} W, and the hall has {hall.power} W"
    )
    hint = f"{hall.power // each} of them fit: each draws {each} W at most"
    faults.add(Code.CONTRADICTION, (*path, "power"), message, hint)


def _check_node(hall: HallFile, layout: Layout, path: Path, node: HallNodeFile, faults: Faults) -> None:
    compute = {*compute_names(layout)}
    # Where nothing says what compute ports are, that was told once, of the hall.
    either = compute if hall.compute is None and not hall.roce else set[str]()
    ports = {port for role in infiniband_fabrics(hall) for _, port in layout.hcas[role]} | either
    for port in node.guids:
        if hall.compute is None and hall.roce and port in compute:
            message = f"`{port}` is an Ethernet port by `roce`, and has no GUID"
            hint = f"state its MAC address instead: `macs`, or the column `mac {port}` of the inventory"
            faults.add(Code.CONTRADICTION, (*path, "guids", port), message, hint)
        else:
            message = f"`{port}` is no InfiniBand port of a node of this hall"
            faults.need_name((*path, "guids", port), port, ports, message)
    interfaces = ethernet_names(hall, layout) | either
    for interface in node.macs:
        message = f"`{interface}` is no Ethernet interface of a node of this hall"
        faults.need_name((*path, "macs", interface), interface, interfaces, message)
    if node.unit is not None and node.rack is None and hall.racks is None:
        message, hint = "a unit, and no rack", "write the `rack`, or `racks` of the hall for those of the design"
        faults.add(Code.MISSING_KEY, (*path, "unit"), message, hint)
