"""Whole hosts as an operator enrols them in the embedded cloud's Ironic: ports in quarantine, create, manage, provide.

A node is one entry of the file that `openstack baremetal create` reads, `{"nodes": [NODE, …]}`, with its ports:

    node = described("poplar-1", legs_of("poplar-1"), service.id, owner=project.id)
    rest_in_quarantine(sandbox.dir, node)
    uuid = enrol(connection, node)
    ...
    withdraw(connection, uuid)

The machines are Ironic's fake ones: of a file for real ones (driver `redfish`, a BMC) enrol `on_fake_hardware(node)`.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox.switches import devices, keys
from tests.sandbox.switch_sessions import LYON, QUARANTINE, clients

GROUP = "interlock"
RESOURCE_CLASS = "poplar-r6525"


@dataclass(frozen=True)
class Leg:
    """An interface of a host and the switch port that it is cabled to, by the maker's name."""

    switch: devices.Switch
    port: str
    interface: str
    address: str

    @property
    def link(self) -> dict[str, str]:
        """`local_link_connection` of the Ironic port."""
        return {"switch_id": self.switch.mac, "switch_info": self.switch.name, "port_id": self.port}


def legs_of(host: str) -> tuple[Leg, ...]:
    """The interfaces of a host that the switches see, without its BMC; those of the first switch first."""
    number = int(host.rsplit("-", 1)[1])
    found = [
        (switch, port, end.port)
        for switch in LYON.switches
        for port, end in switch.neighbors.items()
        if end.system == host and end.port != "idrac"
    ]
    return tuple(
        Leg(switch, port, interface, f"02:00:00:01:{number:02x}:{place:02x}")
        for place, (switch, port, interface) in enumerate(found)
    )


def described(name: str, legs: Iterable[Leg], service: str, *, owner: str) -> dict[str, Any]:
    """A node for `enrol`. `service`: the network that its first 1G interface is cleaned and provisioned on."""
    first = next(leg.interface for leg in legs if leg.interface.startswith("eno"))
    return {
        "name": name,
        "driver": "fake-hardware",
        "network_interface": "neutron",
        "resource_class": RESOURCE_CLASS,
        "conductor_group": GROUP,
        "owner": owner,
        "properties": {},
        "driver_info": {"cleaning_network": service, "provisioning_network": service},
        "ports": [
            {
                "address": leg.address,
                "physical_network": leg.switch.physical_network,
                "pxe_enabled": leg.interface == first,
                "local_link_connection": leg.link,
            }
            for leg in legs
        ],
    }


def on_fake_hardware(node: Mapping[str, Any]) -> dict[str, Any]:
    """The same node without a BMC; of `driver_info` the two networks are kept."""
    kept = {name: value for name, value in node["driver_info"].items() if name.endswith("_network")}
    return {**node, "driver": "fake-hardware", "driver_info": kept}


def rest_in_quarantine(instance: Path, node: Mapping[str, Any]) -> None:
    """Set the switch ports of a node as an operator does before it is enrolled: shut, in quarantine.

    As the sandbox comes, ports of hosts are those of hypervisors: a trunk on the fabric, the operator's VLAN.
    """
    known = clients(instance)
    writer = {
        "username": keys.WRITER,
        "key_file": str(keys.user_key_file(instance / "state" / "switches", keys.WRITER)),
    }
    lines: dict[str, list[str]] = {}
    for port in node["ports"]:
        link = port["local_link_connection"]
        lines.setdefault(link["switch_info"], ["configure"]).extend([
            f"interface {link['port_id']}", "switchport mode access",
            f"switchport access vlan {QUARANTINE}", "shutdown",
        ])  # fmt: skip
    for switch, typed in lines.items():
        assert known[switch].answers("\n".join(typed), **writer) == [(0, "")]


def enrol(connection: Any, node: Mapping[str, Any]) -> str:
    """Create a node and its ports, then have it cleaned until it is available. Returns its uuid."""
    bare = connection.baremetal
    words = {name: value for name, value in node.items() if name not in ("ports", "traits")}
    made = bare.create_node(provision_state="enroll", **words)
    bare.set_node_traits(made.id, list(node.get("traits", ())))
    for port in node["ports"]:
        bare.create_port(node_uuid=made.id, **port)
    bare.set_node_provision_state(made.id, "manage")
    settled(connection, made.id, "manageable")
    bare.set_node_provision_state(made.id, "provide")
    settled(connection, made.id, "available")
    return str(made.id)


def settled(connection: Any, node: str, state: str, seconds: float = 120.0) -> Any:
    """The node, once it is in a state and nobody holds it; any other state at which it stops is an error."""
    deadline = time.monotonic() + seconds
    while True:
        found = connection.baremetal.get_node(node)
        if not found.reservation and found.provision_state == state:
            return found
        what = f"{found.name} is {found.provision_state}, not {state}: {found.last_error}"
        assert "fail" not in found.provision_state, what
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def fault(connection: Any, node: str, **parts: str | float) -> None:
    """Set the sandbox's fault switch of a node for `deploy`, `clean` and `tear_down`: "fail", "hold", or seconds."""
    connection.baremetal.patch_node(node, [{"op": "add", "path": "/extra/sandbox", "value": parts}])


def release(instance: Path) -> None:
    """Let go what the fault switch holds."""
    (instance / "state" / "ironic" / "release").touch()


def withdraw(connection: Any, node: str) -> None:
    """Take a node away, whatever became of it; its ports in Neutron are their makers'."""
    bare = connection.baremetal
    bare.set_node_maintenance(node, "the test is over")
    for port in list(bare.ports(node=node)):
        bare.delete_port(port)
    bare.delete_node(node)
