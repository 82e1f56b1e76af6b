"""What must hold of a hall's compute fabric: InfiniBand or Ethernet, and of Ethernet which port is where."""

from __future__ import annotations

from interlock.hardware.gpu import NODE_TYPES, OFFERED
from interlock.model.site.places import Path
from interlock.model.text.errors import Code
from interlock.model.text.faults import Faults

from .ethernet import compute_names
from .file import HallFile
from .names import Layout


def check_compute(hall: HallFile, layout: Layout, path: Path, faults: Faults) -> None:
    """Adds faults of `compute` and `roce`."""
    if hall.compute is not None and hall.roce:
        message = "the compute ports are InfiniBand ports by `compute`, and Ethernet ports by `roce`"
        faults.add(Code.CONTRADICTION, (*path, "roce"), message, "take one of both out")
    elif hall.roce:
        _check_roce(hall, layout, path, faults)
    elif hall.compute is None and not faults.lost(*path, "compute") and not faults.lost(*path, "roce"):
        hint = "write `compute: <InfiniBand subnet>`; or `roce:` with one entry for each unit, if they are Ethernet"
        faults.add(Code.MISSING_KEY, path, "neither `compute` nor `roce`: what its compute ports are on", hint)


def _check_roce(hall: HallFile, layout: Layout, path: Path, faults: Faults) -> None:
    if not layout.node_type.ethernet_rails:
        able = ", ".join(name for name in OFFERED if NODE_TYPES[name].ethernet_rails)
        message = f"no port for compute of a {layout.node_type.name} is Ethernet"
        hint = f"write `compute: <InfiniBand subnet>`; of {able} they can be Ethernet"
        faults.add(Code.CONTRADICTION, (*path, "roce"), message, hint)
        return
    if len(hall.roce) != hall.units:
        entries = "1 entry" if len(hall.roce) == 1 else f"{len(hall.roce)} entries"
        units = "1 unit" if hall.units == 1 else f"{hall.units} units"
        hint = "write one for each unit, in their order: each unit is a leaf group, or a part of one"
        faults.add(Code.VALUE, (*path, "roce"), f"{entries}, and the hall has {units}", hint)
    _check_units(hall, layout, path, faults)
    _check_beside(hall, layout, path, faults)


def _check_units(hall: HallFile, layout: Layout, path: Path, faults: Faults) -> None:
    """Each unit has every compute port once, on a physical network that is not the in-band one."""
    names = compute_names(layout)
    for index, unit in enumerate(hall.roce):
        below: Path = (*path, "roce", index)
        if hall.in_band is not None and unit.physical_network == hall.in_band.physical_network:
            message = f"`{unit.physical_network}` is the physical network of the in-band ports already"
            hint = "compute ports are on one of their own: what is in the pool `roce`"
            faults.add(Code.TWICE, (*below, "physical_network"), message, hint)
        for port in unit.ports:
            message = f"`{port}` is no compute port of a node of this hall"
            faults.need_name((*below, "ports", port), port, names, message)
        for port in names:
            if port not in unit.ports and not faults.lost(*below, "ports", port):
                hint = f"add it: `{port}: [switch:1-32]`, or `{port}: []` if its cables are unknown"
                faults.add(Code.MISSING_KEY, (*below, "ports"), f"no switch ports of `{port}`", hint)


def _check_beside(hall: HallFile, layout: Layout, path: Path, faults: Faults) -> None:
    """What else the hall says of these ports, and of nodes that cannot pass them on."""
    for place, node in hall.nodes.items():
        if node.provisioning == "hypervisor":
            message = "Ethernet compute ports of a node below a hypervisor cannot be passed on to its server"
            hint = "give it out as `bare-metal`; or state it under `hosts` and `gpu_nodes`, without these ports"
            faults.add(Code.CONTRADICTION, (*path, "nodes", place, "provisioning"), message, hint)
    in_band = () if hall.in_band is None else hall.in_band.ports
    for port in compute_names(layout):
        if port in in_band:
            message = f"`{port}` is a compute port, which `roce` has on a physical network"
            faults.add(Code.TWICE, (*path, "in_band", "ports", port), message, "take it out here")
