"""Routing instances of switches, as `sharing:` and messages call them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RoutingInstance:
    """`tor-1` in its default VRF, or `tor-1/storage`. No name of a switch holds a slash."""

    switch: str
    vrf: str | None = None

    @classmethod
    def parse(cls, text: str) -> RoutingInstance:
        """From the name of a switch, or of a VRF of it; any other name is that of a device."""
        switch, slash, vrf = text.partition("/")
        return cls(switch, vrf if slash else None)

    def __str__(self) -> str:
        return self.switch if self.vrf is None else f"{self.switch}/{self.vrf}"
