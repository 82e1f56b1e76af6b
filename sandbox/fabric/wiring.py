"""What is cabled to what: switches and their ports, hosts, and links between switches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple


class End(NamedTuple):
    """A port of a switch, by its vendor name."""

    switch: str
    port: str


class WrongWiring(ValueError):
    """A port that no switch has, or that has two cables."""


@dataclass(frozen=True)
class Wiring:
    """A fabric as it is cabled. A port without a cable is not there: nothing could be seen of it."""

    #: Switch -> its ports, by vendor name.
    switches: Mapping[str, tuple[str, ...]]
    #: Host, RNIC or BMC -> the port that it is cabled to.
    hosts: Mapping[str, End]
    links: tuple[tuple[End, End], ...] = field(default=())

    def __post_init__(self) -> None:
        known = {End(switch, port) for switch, ports in self.switches.items() for port in ports}
        used: set[End] = set()
        for end in self.cabled():
            if end not in known:
                raise WrongWiring(f"{end.switch} has no port {end.port}")
            if end in used:
                raise WrongWiring(f"{end.switch} port {end.port} has two cables")
            used.add(end)

    def cabled(self) -> Iterator[End]:
        """Every end of a cable at a switch."""
        yield from self.hosts.values()
        for pair in self.links:
            yield from pair

    @cached_property
    def bridges(self) -> dict[str, str]:
        """Switch -> its bridge; interface names have at most 15 characters, so they are numbers."""
        return {name: f"s{number}" for number, name in enumerate(self.switches)}

    @cached_property
    def interfaces(self) -> dict[End, str]:
        """Port of a switch with a cable -> the interface that stands for it."""
        cabled = set(self.cabled())
        return {
            End(name, port): f"{self.bridges[name]}p{number}"
            for name, ports in self.switches.items()
            for number, port in enumerate(ports)
            if End(name, port) in cabled
        }
