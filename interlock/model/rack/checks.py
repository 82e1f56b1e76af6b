"""What must hold in a site file before its short forms can be expanded: designs, counts, roles, ports, units.

`rack_port_checks` looks at port maps and port tables, `rack_stand_checks` at physical racks and power.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from interlock.hardware.designs import POD_DESIGNS, GatewayMode, PodDesign
from interlock.model.site.file import SiteFile
from interlock.model.site.places import Path
from interlock.model.text.errors import Code
from interlock.model.text.faults import Faults
from interlock.model.text.validation import nearest

from .file import GatewaySwitchFile, RackFile, RackSwitchFile
from .names import (
    first_numbers,
    host_names,
    logical_names,
    machine_names,
    management_names,
    switch_serials,
    tor_names,
)
from .port_checks import check_port_map, check_port_tables
from .stand_checks import check_stand

#: Way of cabling -> least and most logical racks that it joins, and how a message says that. A machine has two
#: GW-Links, so that cables without switches make a pair or a ring; V-IPU's `looped` rings have at most 4.
JOINED = {"none": (1, 1024, "any number of"), "direct-pair": (2, 2, "2"), "looped": (2, 4, "2 to 4")}

#: Numbers of logical racks: one byte of an address, without the two that mean a network and all of it.
NUMBERS = range(1, 255)

#: (path, found, least, most, what)
Count = tuple[Path, int, int, int, str]


def check_before_expansion(file: SiteFile, faults: Faults) -> None:
    """Adds every fault that would leave the expansion without an answer."""
    for index, rack in enumerate(file.racks):
        _check_rack(rack, ("racks", index), faults)
    _check_numbers(file.racks, faults)
    check_port_tables(file, faults)
    for index, cable in enumerate(file.cables):
        if len(cable.ends) != 2:
            faults.add(Code.VALUE, ("cables", index, "ends"), f"a cable has 2 ends, not {len(cable.ends)}")


def _check_rack(rack: RackFile, path: Path, faults: Faults) -> None:
    pod = POD_DESIGNS.get(rack.design)
    if pod is None:
        message = f"`{rack.design}` is not a design in the catalogue"
        faults.add(Code.NO_SUCH, (*path, "design"), message, nearest(rack.design, POD_DESIGNS))
        return
    before = len(faults.found)
    for below, found, least, most, what in _counts(rack, pod):
        if not least <= found <= most:
            wanted = str(most) if least == most else f"{least} to {most}"
            faults.add(Code.VALUE, (*path, *below), f"{found} {what}: {pod.name} has {wanted}")
    _check_whole_hosts(rack, path, faults)
    _check_shares(rack, pod, path, faults)
    _check_switches(rack, path, faults)
    _check_links(rack, pod, path, faults)
    _check_gateway(rack, pod, path, faults)
    check_port_map(rack, path, faults)
    # A wrong count is one fault: where devices would stand then is no second one.
    check_stand(rack, path, faults, fits=len(faults.found) == before)


def _counts(rack: RackFile, pod: PodDesign) -> Iterator[Count]:
    design, logical = pod.rack, pod.logical_racks.value
    servers, ports = len(rack.poplar.serials), design.server.fabric_ports.value
    cords = design.server.management_ports.value
    yield ("machines", "names"), len(machine_names(rack)), pod.machines, pod.machines, "names of IPU-Machines"
    yield ("machines", "serials"), len(rack.machines.serials), pod.machines, pod.machines, "serials of IPU-Machines"
    yield ("machines", "sync_cables"), rack.machines.sync_cables, 0, _most_sync(pod), "Sync-Link cables"
    most = design.max_servers.value * logical
    yield ("poplar", "serials"), servers, logical, most, "serials of Poplar hosts"
    yield ("poplar", "names"), len(host_names(rack)), servers, servers, "names of Poplar hosts"
    yield ("poplar", "huge_pages"), rack.poplar.huge_pages, 0, design.server.ram.value, "huge pages"
    yield ("poplar", "dedicated_cpus"), rack.poplar.dedicated_cpus, 0, design.server.threads.value, "CPUs"
    yield ("poplar", "tor_interfaces"), len(rack.poplar.tor_interfaces), ports, ports, "interfaces"
    yield ("poplar", "management_interfaces"), len(rack.poplar.management_interfaces), cords, cords, "interfaces"
    yield ("pdus",), len(rack.pdus), 0, design.max_pdus * logical, "PDUs"
    for part, macs in rack.machines.macs or ():
        if macs is not None:
            yield ("machines", "macs", part), len(macs), pod.machines, pod.machines, "MAC addresses"
    for interface, macs in rack.poplar.macs.items():
        yield ("poplar", "macs", interface), len(macs), servers, servers, "MAC addresses"
    yield from _switch_counts("tor", rack.tor, tor_names(rack), logical)
    yield from _switch_counts("management", rack.management, management_names(rack), logical)
    if rack.pdu_serials is not None:
        yield ("pdu_serials",), len(rack.pdu_serials), len(rack.pdus), len(rack.pdus), "serials of PDUs"


def _switch_counts(key: str, file: RackSwitchFile, names: Sequence[str], logical: int) -> Iterator[Count]:
    serials = switch_serials(file)
    if serials:
        word = "" if file.serials is None else "s"
        yield (key, f"serial{word}"), len(serials), logical, logical, "serials of switches"
    if file.macs is not None:
        yield (key, "macs"), len(file.macs), logical, logical, "MAC addresses of switches"
    word = "" if file.names is None else "s"
    yield (key, f"name{word}"), len(names), logical, logical, "names of switches"


def _check_whole_hosts(rack: RackFile, path: Path, faults: Faults) -> None:
    """Hosts that are given out whole are of this rack, each once."""
    seen, known = set[str](), host_names(rack)
    for name in rack.poplar.bare_metal.names:
        where = (*path, "poplar", "bare_metal", "names")
        if name not in known:
            faults.add(Code.NO_SUCH, where, f"`{name}` is not a Poplar host of this rack", nearest(name, known))
        elif name in seen:
            faults.add(Code.TWICE, where, f"`{name}` is there twice")
        seen.add(name)


def _most_sync(pod: PodDesign) -> int:
    """Half of a machine's Sync-Link ports: it has two neighbours."""
    return pod.rack.machine.sync_link_ports.value // 2


def _check_shares(rack: RackFile, pod: PodDesign, path: Path, faults: Faults) -> None:
    """Servers and PDUs are given out to the logical racks in equal parts."""
    logical = pod.logical_racks.value
    for below, found, what in (
        (("poplar", "serials"), len(rack.poplar.serials), "servers"),
        (("pdus",), len(rack.pdus), "PDUs"),
    ):
        if found % logical:
            hint = f"write a multiple of {logical}: they are counted off in the order of the logical racks"
            message = f"{found} {what}: {logical} logical racks cannot have the same number each"
            faults.add(Code.VALUE, (*path, *below), message, hint)


def _check_switches(rack: RackFile, path: Path, faults: Faults) -> None:
    """`name` or `names`, and `serial` or `serials`, not both; and no switch without a serial."""
    for key, file in (("tor", rack.tor), ("management", rack.management)):
        if not switch_serials(file):
            hint = "add `serial:` here, or `serials:` for several"
            faults.add(Code.MISSING_KEY, (*path, key, "serial"), "`serial` is missing", hint)
        for word, one, several in (
            ("name", file.name, file.names),
            ("serial", file.serial, file.serials),
        ):
            if one is not None and several is not None:
                message = f"`{word}` and `{word}s` say the same thing"
                faults.add(Code.CONTRADICTION, (*path, key, f"{word}s"), message, "keep one of them")


def _check_links(rack: RackFile, pod: PodDesign, path: Path, faults: Faults) -> None:
    if rack.topology == "torus" and not pod.rack.closure.value:
        hint = "write `topology: mesh`, or leave the line out"
        message = f"{pod.name} has no cable from the last machine back to the first"
        faults.add(Code.CONTRADICTION, (*path, "topology"), message, hint)
    if rack.address_plan == "factory" and pod.logical_racks.value > 1:
        message = f"the factory's addresses are those of one logical rack: {pod.name} has {len(logical_names(rack))}"
        hint = "machines of two racks would have one address: give them 10.x.y.z, then write `address_plan: pod`"
        faults.add(Code.CONTRADICTION, (*path, "address_plan"), message, hint)


def _check_gateway(rack: RackFile, pod: PodDesign, path: Path, faults: Faults) -> None:
    mode = rack.gw or pod.gateway.value
    wrong = _gateway_fault(mode, pod)
    if wrong:
        hint = f"leave `gw` out: it is {pod.gateway.value}"
        faults.add(Code.CONTRADICTION, (*path, "gw"), wrong, hint)
        return
    if mode == "switched":
        _check_gw_switches(rack.gw_switches, pod, (*path, "gw_switches"), faults)
    elif rack.gw_switches is not None:
        hint = "leave them out, or write `gw: switched` where the design has such switches"
        message = "no GW-Link of this pod leads to a switch"
        faults.add(Code.CONTRADICTION, (*path, "gw_switches"), message, hint)


def _gateway_fault(mode: GatewayMode, pod: PodDesign) -> str:
    """Why GW-Links of this pod cannot be cabled so; empty if they can."""
    if mode == "switched":
        return "" if pod.gw_switches else f"{pod.name} has no switches for its GW-Links"
    least, most, wanted = JOINED[mode]
    logical = pod.logical_racks.value
    return "" if least <= logical <= most else f"`{mode}` joins {wanted} logical racks: {pod.name} has {logical}"


def _check_gw_switches(file: GatewaySwitchFile | None, pod: PodDesign, path: Path, faults: Faults) -> None:
    if file is None:
        hint = "write `gw_switches: {serials: [first, second]}`"
        faults.add(Code.MISSING_KEY, path, "`gw_switches` is missing: GW-Links are switched", hint)
        return
    count = 0 if pod.gw_switches is None else pod.gw_switches.count.value
    for key, found in (("serials", file.serials), ("names", file.names), ("macs", file.macs)):
        if found is not None and len(found) != count:
            message = f"{len(found)} {key} of GW-Link switches: {pod.name} has {count}"
            faults.add(Code.VALUE, (*path, key), message)


def _check_numbers(racks: Sequence[RackFile], faults: Faults) -> None:
    """Numbers of logical racks are 1 to 254, each once."""
    taken, is_full = dict[int, str](), False
    for index, (rack, first) in enumerate(zip(racks, first_numbers(racks), strict=True)):
        for number, name in _numbered(rack, first):
            if number in taken:
                hint = "the number is the y of 10.x.y.z: write another `number:`"
                message = f"`{name}` has the number {number} of `{taken[number]}`"
                faults.add(Code.TWICE, ("racks", index, "number"), message, hint)
                break
            if number not in NUMBERS:
                # That those after it, which only count on, have none either follows from this one.
                if rack.number or not is_full:
                    message = f"`{name}` would have the number {number}: there are {NUMBERS[0]} to {NUMBERS[-1]}"
                    faults.add(Code.VALUE, ("racks", index, "number"), message, _way_out(rack))
                is_full = True
                break
            taken[number] = name


def _numbered(rack: RackFile, first: int | None) -> Iterator[tuple[int, str]]:
    """(number, logical rack) of an entry; nothing if it has no numbers, or no design that says how many."""
    if first is not None and rack.design in POD_DESIGNS:
        yield from enumerate(logical_names(rack), start=first)


def _way_out(rack: RackFile) -> str:
    if rack.number:
        return "write a lower `number:`"
    return (
        f"one address plan joins at most {NUMBERS[-1]} logical racks: leave out `address_plan: pod` where machines "
        "have other addresses (then no number is needed), or write a lower `number:` that is free"
    )
