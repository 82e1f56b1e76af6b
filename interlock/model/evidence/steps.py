"""Which steps must be seen before what was released goes to somebody else, for each kind of exclusive identity.

The steps are those of docs/design/semantics.md §3: a claim ends with a read-back, a lent machine runs its former
holder's code until the operator's power cycle, and residue stays until the wipe.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from interlock.vocabulary import nodes


class SeenStep(StrEnum):
    """What somebody saw done."""

    #: Its partitions are removed, and no V-IPU controller has its agent any more.
    DEREGISTERED = "deregistered"
    #: Read back from the switch, subnet manager, fabric manager or appliance itself: it is off there.
    UNWIRED = "unwired"
    #: Started from the operator's own ramdisk: the former holder's code no longer runs.
    POWER_CYCLED = "power-cycled"
    #: Disks, flash and memory that a holder can write are erased.
    WIPED = "wiped"
    #: Its self-test ended without a fault: BIST, and the links to its neighbours.
    SELF_TESTED = "self-tested"
    #: Of a GPU node: firmware of adapters, GPUs and NVSwitches is their makers', in a version that the site accepts.
    FIRMWARE_ATTESTED = "firmware-attested"
    #: Of a GPU node: DCGM's diagnostics found nothing.
    DIAGNOSED = "diagnosed"
    #: Of a GPU node: an all-reduce over its GPUs is as fast as it has to be.
    BANDWIDTH_MEASURED = "bandwidth-measured"
    #: Of a GPU node: its ports on the compute fabric run at full width and speed, without errors.
    FABRIC_CHECKED = "fabric-checked"


#: Steps that clean something: they count only while A9 (sanitising steps erase) is held.
SANITISING = frozenset({SeenStep.POWER_CYCLED, SeenStep.WIPED})

#: What a GPU node has to show after its cleaning, before it is given out again, in this order (`accepting`).
ACCEPTANCE = (
    SeenStep.FIRMWARE_ATTESTED,
    SeenStep.DIAGNOSED,
    SeenStep.BANDWIDTH_MEASURED,
    SeenStep.FABRIC_CHECKED,
)


@dataclass(frozen=True)
class Steps:
    """The steps of one kind of identity, in the order in which they must have been seen, and why these."""

    steps: tuple[SeenStep, ...]
    why: str


_DEVICE = (SeenStep.UNWIRED, SeenStep.POWER_CYCLED, SeenStep.WIPED)
#: LIF-01: an IPU-Machine boots no ramdisk, so what Ironic sees of a host is seen of it out of band, and tested.
_MACHINE = (SeenStep.DEREGISTERED, *_DEVICE, SeenStep.SELF_TESTED)
_READ_BACK = (SeenStep.UNWIRED,)

#: Kind of exclusive identity -> what it needs. Every kind that a footprint can hold stands here.
STEPS: Mapping[type[nodes.Node], Steps] = {
    nodes.HeldMachine: Steps(_MACHINE, "it runs its former holder's code, on a live port, until it is wiped"),
    nodes.HeldHost: Steps(_DEVICE, "its former holder was root on it"),
    nodes.GpuNode: Steps(_DEVICE, "its memory and firmware were its former holder's"),
    nodes.HeldSwitchPort: Steps(_READ_BACK, "a port keeps its VLAN until the switch has taken it off"),
    nodes.HeldSegment: Steps(_READ_BACK, "a port that was deleted while its switch was down keeps its VLAN there"),
    nodes.ShareAddressNode: Steps(_READ_BACK, "the appliance answers at an address until it is taken off"),
    nodes.PartitionKeyNode: Steps(_READ_BACK, "the subnet manager keeps members until they are taken out"),
    nodes.InfinibandPortNode: Steps(_READ_BACK, "a port is in its partitions until the subnet manager takes it out"),
    nodes.NvlinkPartitionNode: Steps(_READ_BACK, "the fabric manager keeps a partition until it is deleted"),
    nodes.MacAddress: Steps((), "an address goes with its machine"),
    nodes.HeldLoginKey: Steps((), "the servers that may have it are looked at on the cloud (`former_keys`)"),
}

#: What must be seen of a device that stands where another stood before anybody uses it (LIF-13).
BEFORE_USE: Mapping[type[nodes.Node], SeenStep] = {
    nodes.HeldMachine: SeenStep.SELF_TESTED,
    nodes.HeldHost: SeenStep.SELF_TESTED,
}


def steps_of(identity: str) -> tuple[SeenStep, ...]:
    """The steps that an exclusive identity needs; all of them for a kind that the table does not know."""
    found = STEPS.get(type(nodes.parse(identity)))
    return _DEVICE if found is None else found.steps


def evidenced(identity: str, *, accepted: bool = False) -> tuple[SeenStep, ...]:
    """Every step of which there can be evidence: of its release, and of a device before it is used.

    `accepted`: it may be a GPU node, of which there is acceptance besides.
    """
    before_use = BEFORE_USE.get(type(nodes.parse(identity)))
    more = ACCEPTANCE if accepted else ()
    return tuple(dict.fromkeys((*steps_of(identity), *((before_use,) if before_use else ()), *more)))
