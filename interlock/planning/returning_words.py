"""What is said of a vPOD or GPU cluster that returns, and of what it had before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

PartKind = Literal["vpod", "cluster"]


@dataclass(frozen=True)
class PartReturn:
    """A vPOD or cluster that returns, and whether it has again what it had; `why_not`: empty if it has."""

    kind: PartKind
    name: str
    #: The machines or nodes that it had and asks for; empty where it returns without: its networks and P_Keys alone.
    devices: tuple[str, ...]
    #: Serial of the lock that gave it up.
    serial: int
    why_not: str = ""

    def document(self) -> dict[str, Any]:
        """The JSON form."""
        return _document(self.kind, self.name, self.devices) | {"serial": self.serial, "why_not": self.why_not}

    def __str__(self) -> str:
        if not self.why_not:
            what = "what it had" if self.devices else "the networks that it had"
            return f"has again {what}: nothing of its release (lock serial {self.serial}) was applied"
        return f"does not get {', '.join(self.devices) or 'its networks'} back: {self.why_not}"


@dataclass(frozen=True)
class WaitingDevices:
    """Machines or nodes that a part had and that nobody gets, itself included, before they were seen clean."""

    kind: PartKind
    name: str
    devices: tuple[str, ...]

    def document(self) -> dict[str, Any]:
        """The JSON form."""
        return _document(self.kind, self.name, self.devices)

    def told(self, tenant: str) -> str:
        """`gave up ipum-01, ipum-02: …`."""
        names = ", ".join(self.devices)
        return f"gave up {names}: nobody gets them, itself included, before `interlock settle {tenant}` saw them clean"


def _document(kind: PartKind, name: str, devices: tuple[str, ...]) -> dict[str, Any]:
    """Machines of a vPOD; of a cluster whole hosts, as its lock has them."""
    return {kind: name, "machines" if kind == "vpod" else "hosts": list(devices)}
