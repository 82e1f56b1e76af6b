"""Neutron: addresses of an external network that lead to one port."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from interlock.provider.clouds import Cloud
from interlock.resources import FloatingIp, Resource

from .base import Ids, Observed, Target
from .neutron import NeutronActuator


class FloatingIpActuator(NeutronActuator[FloatingIp]):
    """Floating IPs. Neutron chooses the address where the plan states none, and keeps it while the object is there.

    Whether a router's agent has set it up already (`status`) is not waited for: without a network node in use it
    never is, and the port behind it may be filtered for everybody anyway.
    """

    KIND: ClassVar[type[Resource]] = FloatingIp
    PATH: ClassVar[str] = "floatingips"
    ONE: ClassVar[str] = "floatingip"
    MUTABLE: ClassVar[tuple[str, ...]] = ("port_id",)
    OUTPUTS: ClassVar[Mapping[str, str]] = {"public_address": "address outside that leads to the port"}

    def body(self, cloud: Cloud, target: Target[FloatingIp]) -> dict[str, Any]:
        body = {"floating_network_id": target.one("external_network"), "port_id": target.one("port")}
        return body if target.spec.address is None else body | {"floating_ip_address": target.spec.address}

    def observe(self, cloud: Cloud, raw: dict[str, Any]) -> Observed:
        references: dict[str, Ids] = {
            "project": raw["project_id"],
            "external_network": raw["floating_network_id"],
            # Of a port that was deleted, or that somebody took the address off, the id is empty: a recorded floating
            # IP always leads somewhere.
            "port": raw["port_id"] or "",
        }
        address = raw["floating_ip_address"]
        outputs = {"public_address": address}
        return Observed(raw["id"], raw["description"], {"address": address}, references, outputs)
