"""Segments of layer 2 as claims have them: a VLAN of a physical network, or an overlay."""

from __future__ import annotations

from typing import NamedTuple

from .digits import is_number


class Vlan(NamedTuple):
    """A VLAN id on a physical network. Ids are local to it: the same id on another network may be another wire.

    An empty `network`: nobody recorded which, as in claims that were released before locks said so.
    """

    network: str
    id: int

    @classmethod
    def parse(cls, text: str) -> Vlan:
        """From `<physical network>:<id>`, or the id alone. Raises ValueError if it is neither."""
        network, colon, number = text.rpartition(":")
        if not is_number(number) or (colon and not network):
            raise ValueError(f"{text!r} is no VLAN of a physical network: <physical network>:<id>")
        return cls(network, int(number))

    def __str__(self) -> str:
        return f"{self.network}:{self.id}" if self.network else str(self.id)

    @property
    def words(self) -> str:
        """As messages name it."""
        return f"VLAN {self.id} on {self.network}"


class Overlay(NamedTuple):
    """A VXLAN network identifier."""

    id: int

    @property
    def words(self) -> str:
        """As messages name it."""
        return f"VXLAN {self.id}"


#: What a network of a plan is on, or what a claim is a claim on.
Segment = Vlan | Overlay
