"""Power of a pod: PDUs, which feed each hangs on, and the two cords of every device with two inputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from interlock.model.site.physical import Cable, Device, Endpoint

from .file import RackFile
from .names import LogicalPart, design_of, logical_parts

#: Inputs of a device that has two.
INPUTS = ("psu-1", "psu-2")


def pdu_devices(rack: RackFile) -> Iterator[Device]:
    """The PDUs; a serial that the file does not state is unknown."""
    for name, serial in zip_longest(rack.pdus, rack.pdu_serials or []):
        yield Device(name=name, role="pdu", serial=serial)


def power_cables(rack: RackFile) -> Iterator[Cable]:
    """`psu-1` of each device to the first PDU of its logical rack, `psu-2` to the second; none if not stated.

    Outlets are numbered in the order of the devices: which one it really is makes no difference to any rule.
    """
    if rack.power == "both-pdus":
        for part in logical_parts(rack):
            yield from _cords(part, _with_two_inputs(rack, part))


def feeds_of(rack: RackFile, part: LogicalPart) -> dict[str, str]:
    """PDU -> feed, for the PDUs of one logical rack: as stated, else in turn; empty if no feed is stated."""
    if rack.rack is None or not rack.rack.feeds:
        return {}
    feeds = list(rack.rack.feeds)
    in_turn = {pdu: feeds[index % len(feeds)] for index, pdu in enumerate(part.pdus)}
    return {pdu: rack.rack.pdus.get(pdu, feed) for pdu, feed in in_turn.items()}


def _with_two_inputs(rack: RackFile, part: LogicalPart) -> list[str]:
    """Devices of a logical rack that are known to have two inputs; a figure only remembered is not known."""
    design = design_of(rack).rack
    models = (
        (part.machines, design.machine),
        (part.hosts, design.server),
        ((part.management,), design.management),
        ((part.tor,), design.tor),
    )
    return [device for devices, model in models if model.power_inputs.known == len(INPUTS) for device in devices]


def _cords(part: LogicalPart, devices: Sequence[str]) -> Iterator[Cable]:
    for plug, pdu in zip(INPUTS, part.pdus, strict=True):
        for number, device in enumerate(devices, start=1):
            outlet = Endpoint(device=pdu, interface=f"outlet-{number}")
            yield Cable(a=Endpoint(device=device, interface=plug), b=outlet, kind="power")
