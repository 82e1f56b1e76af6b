"""Cables and bundles that the file states: ends that exist, one cable in each plug, kinds that fit their ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from interlock.hardware import MACHINE_PLUGS
from interlock.model.text.errors import Code
from interlock.vocabulary.digits import is_number

from .file import CableFile
from .full_file import LagFile
from .physical import CableKind, Endpoint, SwitchPortConfig
from .places import Path
from .view import SiteView

#: Kind of cable -> what stands at its two ends, whichever way round.
ENDS: dict[CableKind, tuple[frozenset[str], frozenset[str]]] = {
    "ipu-link": (frozenset({"machine"}), frozenset({"machine"})),
    "sync-link": (frozenset({"machine"}), frozenset({"machine"})),
    "gw-link": (frozenset({"machine"}), frozenset({"machine", "switch"})),
    "power": (frozenset({"machine", "host", "switch", "fabric switch", "device"}), frozenset({"PDU"})),
}


def check_cables(view: SiteView) -> None:
    """Adds faults of the cables beside the racks."""
    plugs = Counter(str(end) for cable in view.site.cables for end in (cable.a, cable.b))
    for index, cable in enumerate(view.file.cables):
        fits = _check_kind(view, ("cables", index), cable)
        for side, ends in enumerate(cable.ends):
            for end in ends:
                check_end(view, ("cables", index, "ends", side), end, plugs)
                if fits:
                    check_plug(view, ("cables", index, "ends", side), end, cable.kind)
                    _check_hca(view, ("cables", index, "ends", side), end, cable.kind)
        _check_loop(view, ("cables", index, "ends"), cable)


def check_end(view: SiteView, path: Path, end: Endpoint, plugs: Counter[str]) -> None:
    """Adds a fault if an end is at no device of the site, or has another cable."""
    view.faults.need(path, "a device", end.device, view.devices)
    if plugs[str(end)] > 1:
        hint = "look at the design's port map"
        view.faults.add(Code.TWICE, path, f"`{end}` has more than one cable", hint)


def check_plug(view: SiteView, path: Path, end: Endpoint, kind: CableKind) -> None:
    """Adds a fault if what a cable ends at is no plug for it: a machine's are its model's, a switch's its ports.

    Power inputs have any name but those of ports; hosts and other devices have names of their own for all plugs.
    """
    machine, count = view.site.machine.get(end.device), _port_count(view, end.device)
    if count is not None:
        # Also written as the number is: `05` would be another plug of port 5, and its cable another one there.
        is_port = end.interface in map(str, range(1, count + 1))
        if kind == "power" and is_port:
            hint = "name the power input as it is labelled, such as `psu-1`"
            view.faults.add(Code.CONTRADICTION, path, f"`{end}` is a port, and no power input", hint)
        elif kind != "power" and not is_port:
            view.faults.add(Code.NO_SUCH, path, f"`{end}`: the switch has ports 1 to {count}")
    elif machine is not None and kind == "ethernet" and end.interface not in MACHINE_PLUGS[machine.generation]:
        known = ", ".join(MACHINE_PLUGS[machine.generation])
        view.faults.add(Code.NO_SUCH, path, f"`{end}`: the network plugs of the model {machine.generation} are {known}")


def _port_count(view: SiteView, device: str) -> int | None:
    """Ports of a switch; None for any other device."""
    switch, of_fabric = view.site.switch.get(device), view.fabric_switch.get(device)
    return switch.port_count if switch is not None else of_fabric.ports if of_fabric is not None else None


def _check_hca(view: SiteView, path: Path, end: Endpoint, kind: CableKind) -> None:
    """An InfiniBand cable at a GPU node ends at one of its InfiniBand ports."""
    node = view.site.gpu_node.get(end.device)
    if node is not None and kind == "infiniband":
        ports = [port.name for port in node.ports]
        message = f"`{end}`: the node has no InfiniBand port of this name"
        view.faults.need_name(path, end.interface, ports, message, of=("gpu_nodes",))


def _check_kind(view: SiteView, path: Path, cable: CableFile) -> bool:
    """Whether a cable's kind fits its ends, or nobody can tell.

    An IPU-Link into a switch is a slip of the pen, and a power cable without a PDU powers nothing. A GW-Link into a
    switch for tenants' networks would be on their wire, which no proof follows.
    """
    wanted = ENDS.get(cable.kind)
    kinds = [_kind(view, end.device) for ends in cable.ends for end in ends[:1]]
    if wanted is None or "unknown" in kinds:
        return True
    one, other = kinds
    if not ((one in wanted[0] and other in wanted[1]) or (other in wanted[0] and one in wanted[1])):
        message = f"a cable of the kind `{cable.kind}` from a {one} to a {other}"
        hint = f"it joins a {_words(wanted[0])} to a {_words(wanted[1])}"
        view.faults.add(Code.CONTRADICTION, (*path, "kind"), message, hint)
        return False
    return cable.kind != "gw-link" or all(_takes_links(view, path, end.device) for ends in cable.ends for end in ends)


def _takes_links(view: SiteView, path: Path, device: str) -> bool:
    switch = view.site.switch.get(device)
    if switch is None or switch.role == "gw-link":
        return True
    message = f"a cable of the kind `gw-link` to `{device}`, a switch of the role `{switch.role}`"
    hint = "GW-Links go to switches of the role `gw-link`, which carry nothing else"
    view.faults.add(Code.CONTRADICTION, (*path, "kind"), message, hint)
    return False


def _kind(view: SiteView, device: str) -> str:
    tables: tuple[tuple[str, Mapping[str, object]], ...] = (
        ("machine", view.site.machine), ("host", view.site.host), ("switch", view.site.switch),
        ("fabric switch", view.fabric_switch),
    )  # fmt: skip
    for kind, known in tables:
        if device in known:
            return kind
    roles = view.device_roles
    return "unknown" if device not in roles else "PDU" if roles[device] == "pdu" else "device"


def _words(kinds: frozenset[str]) -> str:
    return " or ".join(sorted(kinds))


def _check_loop(view: SiteView, path: Path, cable: CableFile) -> None:
    for a, b in zip(*cable.ends, strict=True):
        if a.device == b.device:
            message = f"both ends of the cable are on `{a.device}`"
            view.faults.add(Code.CONTRADICTION, path, message, "a cable joins two devices")


def check_lags(view: SiteView) -> None:
    """Adds faults of bundles: members on one device, each cabled and in one bundle."""
    of_racks = view.site.lags[: len(view.site.lags) - len(view.file.lags)]
    seen = {(lag.device, lag.name) for lag in of_racks}
    bundled = {(lag.device, member): lag.name for lag in of_racks for member in lag.interfaces}
    for index, lag in enumerate(view.file.lags):
        path: Path = ("lags", index)
        if (lag.device, lag.name) in seen:
            view.faults.add(Code.TWICE, (*path, "name"), f"`{lag.device}` has two bundles called `{lag.name}`")
        seen.add((lag.device, lag.name))
        _check_lag(view, path, lag, bundled)


def _check_lag(view: SiteView, path: Path, lag: LagFile, bundled: dict[tuple[str, str], str]) -> None:
    view.faults.need((*path, "device"), "a device", lag.device, view.devices)
    if lag.device not in view.devices:
        return
    members = (*path, "interfaces")
    if len(lag.interfaces) < 2:
        hint = "one alone acts as one link already: leave the entry out"
        view.faults.add(Code.VALUE, members, f"a bundle of {len(lag.interfaces)} interface", hint)
    for member, times in Counter(lag.interfaces).items():
        if times > 1:
            view.faults.add(Code.TWICE, members, f"`{member}` is there twice")
        first = bundled.setdefault((lag.device, member), lag.name)
        if first != lag.name:
            view.faults.add(Code.TWICE, members, f"`{lag.device}:{member}` is in the bundle `{first}` already")
        if (lag.device, member) not in view.site.cable_at:
            hint = "add the cable, or take it out of the bundle"
            view.faults.add(Code.NO_SUCH, members, f"`{lag.device}:{member}` has no cable", hint)
    far = sorted(set(_far_devices(view, lag)))
    if lag.mode == "vf-lag" and len(far) > 1:
        message = f"the interfaces of `{lag.name}` end at {' and '.join(f'`{name}`' for name in far)}"
        hint = "an adapter bundles its ports only towards one switch: cable both there, or write another mode"
        view.faults.add(Code.CONTRADICTION, members, message, hint)
    cabled = [name for name in lag.interfaces if (lag.device, name) in view.site.cable_at]
    _check_alike(view, members, [Endpoint(device=lag.device, interface=name) for name in cabled])
    _check_alike(view, members, [end for name in cabled if (end := view.site.far_end(lag.device, name)) is not None])


def _check_alike(view: SiteView, path: Path, ends: Sequence[Endpoint]) -> None:
    """Switch ports of one bundle are one logical port: nobody can tell which of two settings it has."""
    records = [(end, record) for end in ends if (record := _record(view, end)) is not None]
    for (first, one), (other, two) in pairwise(records):
        if one.model_copy(update={"port": two.port}) != two:
            message = f"`{first}` and `{other}` are ports of one bundle and are set differently"
            hint = "set all its ports alike, disable the one that is not in use, or take it out of the bundle"
            view.faults.add(Code.CONTRADICTION, path, message, hint)


def _record(view: SiteView, end: Endpoint) -> SwitchPortConfig | None:
    """What is stated of a switch port, if it passes frames."""
    switch = view.site.switch.get(end.device)
    found = switch.by_port.get(int(end.interface)) if switch is not None and is_number(end.interface) else None
    return None if found is None or found.mode == "disabled" else found


def _far_devices(view: SiteView, lag: LagFile) -> Iterator[str]:
    for member in lag.interfaces:
        far = view.site.far_end(lag.device, member)
        if far is not None:
            yield far.device
