"""Identities of what is met only while a guard is not held: switches, clouds and services that keep nobody apart."""

from __future__ import annotations

from dataclasses import dataclass

from .node_types import plain


@dataclass(frozen=True, slots=True)
class FabricNode:
    """All VLANs of a switch, P_Keys of a subnet or partitions of a domain: met only where they are not kept apart."""

    name: str

    def __str__(self) -> str:
        return f"fabric:{plain(self.name)}"


@dataclass(frozen=True, slots=True)
class CloudApiNode:
    """A cloud that does not keep its projects apart."""

    cloud: str

    def __str__(self) -> str:
        return f"cloud:{plain(self.cloud)}"


@dataclass(frozen=True, slots=True)
class OperatedNode:
    """What the operator runs for all tenants: met only where it does not keep them apart."""

    place: str
    service: str

    def __str__(self) -> str:
        return f"ops:{plain(self.place)}:{plain(self.service)}"
