"""What a comparison finds: one port, one matter, and both sides of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class FindingKind(StrEnum):
    """What kind of finding it is."""

    #: The switch says something else than is stated or planned.
    DIFFERENT = "different"
    #: The switch carries something that nothing states.
    UNSTATED = "unstated"
    #: LLDP hears something else than the list of cables says.
    CABLE = "cable"
    #: The switch, or its reader, does not say it.
    UNKNOWN = "unknown"
    #: A cable is stated, and nobody is heard by LLDP: many devices send none.
    UNHEARD = "unheard"


#: Those of which the switch is known to be other than it should be.
DIFFERENCES = frozenset({FindingKind.DIFFERENT, FindingKind.UNSTATED, FindingKind.CABLE})

#: Who states what a switch is compared with, in words, beside the plan of a stack.
SITE_FILE = "the site file"
NOBODY = "nothing"
#: What a switch says of what it, or its reader, does not tell.
NOT_SAID = "nothing of it"


@dataclass(frozen=True)
class SwitchFinding:
    """One finding. Equal worlds give equal findings, in the order of the ports."""

    found: FindingKind
    switch: str
    #: Number of the port; None: of the switch, or of an interface without a number in the site file.
    port: int | None
    #: What the switch calls it; empty: of the whole switch.
    name: str
    #: `VLAN`, `mode`, `native VLAN`, `trunk`, `admin state`, `neighbour` …
    about: str
    #: What should be, and what is.
    stated: str
    says: str
    #: Who states it: the site file, a stack's plan, nobody.
    by: str

    @property
    def where(self) -> str:
        """The port and the matter: `tor-1 5 (Ethernet5/1): VLAN`."""
        at = " ".join(part for part in (self.switch, str(self.port or ""), self.name and f"({self.name})") if part)
        return f"{at}: {self.about}"

    def __str__(self) -> str:
        return f"{self.where}: {self.by} {self.stated}; the switch says {self.says}"
