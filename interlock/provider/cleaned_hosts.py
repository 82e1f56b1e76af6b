"""What Ironic says of whole hosts that were released: cleaned, and when, or what keeps it from saying so.

A node is `available` only after a cleaning: `deleted` and `provide` both go through one, unless it is switched off for
the node (`automated_clean`) or for all nodes, which no call of the API shows: that is part of A9 (steps erase). Neither
BIOS nor firmware of a BMC is touched by upstream's clean steps; A23 stands for those.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .actuators.bare_metal_node import AVAILABLE, RETURNING
from .clouds import Cloud

#: Field of a node -> what is said where it holds something: somebody has it.
_HELD = {"instance_uuid": "has an instance", "allocation_uuid": "has an allocation", "lessee": "is lent to a lessee"}


@dataclass(frozen=True)
class CleanedHost:
    """One node, by the name of its host. Exactly one of `at`, `held` and `why_not` says something."""

    host: str
    #: When its last cleaning ended.
    at: datetime.datetime | None = None
    #: What still has it.
    held: str = ""
    #: Why it is not known to be clean.
    why_not: str = ""


def cleaned_hosts(cloud: Cloud, hosts: Mapping[str, str]) -> Iterator[CleanedHost]:
    """Of each host (name -> serial) that is a node there; nothing of others, and nothing where there is no Ironic."""
    if "baremetal" not in cloud.login.catalogue.regions:
        return
    for host, serial in hosts.items():
        node = cloud.api("baremetal").find(f"/nodes/{host}")
        if node is not None:
            yield said_of(host, serial, node)


def said_of(host: str, serial: str, node: Mapping[str, Any]) -> CleanedHost:
    """What the fields of a node come to: nothing, where the node is another device, or does not say which it is.

    The operator writes the serial when it enrols a node, in `extra`, as `interlock nodes` lists it.
    """
    stated = (node.get("extra") or {}).get("serial")
    if stated != serial:
        which = f"device {stated}" if stated else "no device that it names (`extra` has no `serial`)"
        return CleanedHost(host, why_not=f"Ironic says that {host} is {which}, not {serial}: which one was cleaned?")
    held = [words for field, words in _HELD.items() if node.get(field)]
    if held:
        return CleanedHost(host, held=f"Ironic says that {host} {' and '.join(held)}")
    why = _why_not(node)
    if why:
        return CleanedHost(host, why_not=f"Ironic says that {host} {why}")
    return CleanedHost(host, at=datetime.datetime.fromisoformat(str(node["provision_updated_at"])))


def _why_not(node: Mapping[str, Any]) -> str:
    state = node["provision_state"]
    if state in RETURNING:
        return f"is {state}: its cleaning has not ended"
    if state != AVAILABLE:
        return f"is {state}, not {AVAILABLE}{_because(node)}"
    if node["maintenance"]:
        return f"is in maintenance{_because(node)}"
    if node["last_error"]:
        return f"had an error: {node['last_error']}"
    if node["automated_clean"] is False:
        return "is not cleaned by itself: its `automated_clean` is false"
    return "" if node["provision_updated_at"] else "has no time at which its state changed"


def _because(node: Mapping[str, Any]) -> str:
    found = node["last_error"] or node["maintenance_reason"]
    return f" ({found})" if found else ""
