"""What a comparison of a discovered subnet with a site finds: one cable or port, and both sides of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class CableFindingKind(StrEnum):
    """What kind of finding it is."""

    #: A cable that is stated leads elsewhere.
    OTHER_PEER = "other peer"
    #: A cable that is stated has no link, and what hangs on it is there otherwise.
    NOT_FOUND = "not found"
    #: A link that no cable of the site is.
    NOT_STATED = "not stated"
    #: Where a port of a node should be, an adapter with another GUID is.
    REPLACED = "replaced"
    #: A port of a host that the site does not know.
    STRANGER = "stranger"
    #: A node of which no port has a link: it may be off.
    ABSENT = "absent"
    #: The site or UFM does not say enough to compare.
    UNKNOWN = "unknown"


#: Those in which the subnet is known to be other than it is stated.
CABLE_DIFFERENCES = frozenset(CableFindingKind) - {CableFindingKind.ABSENT, CableFindingKind.UNKNOWN}

#: What to do about each.
CABLE_HINTS = {
    CableFindingKind.OTHER_PEER: "put the cables where the site file has them, or correct `cables` there",
    CableFindingKind.NOT_FOUND: "see that both ends are plugged in and up; a cable that is gone leaves the site file",
    CableFindingKind.NOT_STATED: "unplug it, or state it in the site file",
    CableFindingKind.REPLACED: (
        "if the adapter was replaced, write the new GUID into the site file or its inventory, then run `interlock "
        "lock` and `pulumi up`, which takes the old one out of its partition first"
    ),
    CableFindingKind.STRANGER: "find out whose it is: the default partition has it already; or state its node",
    CableFindingKind.ABSENT: "none, if the node is meant to be off",
    CableFindingKind.UNKNOWN: "state it, then look again",
}


@dataclass(frozen=True)
class CableFinding:
    """One finding. Equal worlds give equal findings, in the order of the site's cables."""

    found: CableFindingKind
    infiniband: str
    #: What it is about: the ends of a cable, the port of a node, a switch.
    where: str
    #: What the site states, and what the subnet manager has discovered, in words.
    stated: str
    says: str
    #: GPU nodes of the site that it is about.
    nodes: tuple[str, ...] = ()
    #: GUIDs that it is about: of ports of hosts that no node of the site has, and those that a node should have.
    guids: tuple[str, ...] = ()
    #: Stacks that have ports of these nodes in their partitions; empty: nobody asked, or none has.
    stacks: tuple[str, ...] = ()

    @property
    def is_difference(self) -> bool:
        """False where it is not known to be other than stated."""
        return self.found in CABLE_DIFFERENCES

    @property
    def hint(self) -> str:
        """What to do."""
        return CABLE_HINTS[self.found]

    def __str__(self) -> str:
        at = f" (at {', '.join(self.stacks)})" if self.stacks else ""
        return f"{self.infiniband}: {self.where}{at}: {self.stated}; the subnet manager has discovered {self.says}"
