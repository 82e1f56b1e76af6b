"""Whole hosts as an operator enrols them in the embedded cloud's Ironic: ports in quarantine, create, manage, provide.

A node is one entry of the file that `openstack baremetal create` reads, `{"nodes": [NODE, …]}`, with its ports:

    node = described("poplar-1", legs_of("poplar-1"), service.id, owner=project.id)
    rest_in_quarantine(sandbox.dir, node)
    uuid = enrol(connection, node)
    ...
    withdraw(connection, uuid)

`enrolled` does all of it for a plan's legs, with a service network of the node's own. The machines are Ironic's fake
ones: of a file for real ones (driver `redfish`, a BMC) enrol `on_fake_hardware(node)`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from keystoneauth1.identity.v3 import Password
from keystoneauth1.session import Session
from openstack.connection import Connection

from interlock.provider.clouds import Cloud
from interlock.resources import BareMetalLeg
from sandbox.switches import devices, keys
from tests.sandbox.switch_sessions import LYON, MANAGEMENT, QUARANTINE, clients
from tests.support.world.declared import RESOURCE_CLASS

GROUP = "interlock"

#: Seconds that a state may take to come.
PATIENCE = 120.0


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


def boots_from(legs: Iterable[Leg]) -> Leg:
    """The first 1G interface; of a host that has none the first one."""
    return max(legs, key=lambda leg: leg.interface.startswith("eno"))


def described(name: str, legs: Iterable[Leg], service: str, *, owner: str) -> dict[str, Any]:
    """A node for `enrol`. `service`: the network on which it is cleaned and provisioned, from where it boots."""
    legs = tuple(legs)
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
                "pxe_enabled": leg == boots_from(legs),
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


def settled(connection: Any, node: str, state: str) -> Any:
    """The node, once it is in a state and nobody holds it; any other state at which it stops is an error."""
    deadline = time.monotonic() + PATIENCE
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
    bare.delete_node(node)


@dataclass(frozen=True)
class Enrolled:
    """A node that is available."""

    cloud: Cloud
    name: str
    id: str
    network: str

    def raw(self) -> dict[str, Any]:
        """As Ironic shows it."""
        return self.cloud.api("baremetal").get(f"/nodes/{self.id}")

    def patch(self, **members: Any) -> None:
        """Sets members of it; None takes one away."""
        operations = [
            {"op": "remove", "path": f"/{path}"} if value is None else {"op": "add", "path": f"/{path}", "value": value}
            for path, value in members.items()
        ]
        self.asked("PATCH", f"/nodes/{self.id}", operations)

    def asked(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        """As the whole system's administrator, who may change owners and conductor groups of nodes."""
        known = self.cloud._region.config["auth"]
        auth = {key: value for key, value in known.items() if not key.startswith("project")}
        answer = Session(Password(**auth, system_scope="all")).request(
            self.cloud.endpoint("baremetal").rstrip("/") + path, method, json=body,
            headers={"X-OpenStack-Ironic-API-Version": "1.67"}, raise_exc=False,
        )  # fmt: skip
        assert answer.status_code < 400, answer.text
        found: dict[str, Any] = answer.json() if answer.content else {}
        return found

    def switch(self, **faults: Any) -> None:
        """The sandbox's fault switch: what of its work fails, or how many seconds it takes."""
        self.patch(extra={"sandbox": faults})

    def becomes(self, state: str, *, after: str = "") -> dict[str, Any]:
        """The node once it is in this state; `after`: what Ironic is asked to do before."""
        if after:
            self.cloud.api("baremetal").put(f"/nodes/{self.id}/states/provision", {"target": after})
        return self.until(lambda raw: bool(raw["provision_state"] == state))

    def until(self, shows: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The node once it shows something."""
        deadline = time.monotonic() + PATIENCE
        while not shows(raw := self.raw()):
            assert time.monotonic() < deadline, f"{self.name} is {raw['provision_state']}: {raw['last_error']}"
            time.sleep(0.05)
        return raw

    @contextmanager
    def in_maintenance(self) -> Iterator[None]:
        """Meanwhile Ironic lets change what it otherwise guards."""
        self.patch(maintenance=True)
        yield
        self.patch(maintenance=False)

    @contextmanager
    def renamed(self, port: str, other: str) -> Iterator[None]:
        """Meanwhile its port at this switch port is stated to be at another one."""
        (raw,) = [raw for raw in self.ports() if raw["local_link_connection"]["port_id"] == port]
        path = "/local_link_connection/port_id"
        self._port(raw, {"op": "add", "path": path, "value": other})
        try:
            yield
        finally:
            self._port(raw, {"op": "add", "path": path, "value": port})

    def grouped(self, raw: dict[str, Any], group: str) -> None:
        """Puts a port into a port group, or out of it."""
        path = "/portgroup_uuid"
        self._port(raw, {"op": "add", "path": path, "value": group} if group else {"op": "remove", "path": path})

    def _port(self, raw: dict[str, Any], operation: dict[str, Any]) -> None:
        with self.in_maintenance():
            self.cloud.api("baremetal").patch(f"/ports/{raw['uuid']}", [operation])

    def ports(self) -> list[dict[str, Any]]:
        """Its ports."""
        return list(self.cloud.api("baremetal").items("/ports/detail", "ports", node=self.id))


def leg_at(leg: BareMetalLeg, address: str) -> Leg:
    """An interface that is cabled to the switch port of a plan's leg; as hosts do, it boots from its 1G one."""
    switch = next(one for one in LYON.switches if one.name == leg.switch)
    return Leg(switch, str(leg.port_name), "eno1" if switch == MANAGEMENT else "ens161f0", address)


@contextmanager
def enrolled(cloud: Cloud, name: str, vlan: int, *legs: BareMetalLeg) -> Iterator[Enrolled]:
    """A node of the operator's project, cabled to the switch ports of these legs, and available.

    `vlan`: that of its service network. The ports are at rest already, as the sandbox has those of no cable.
    """
    network, number = cloud.api("network"), vlan % 256
    interfaces = [leg_at(leg, f"02:00:00:0a:{number:02x}:{place:02x}") for place, leg in enumerate(legs)]
    segment = {
        "name": f"service-{name}", "provider:network_type": "vlan",
        "provider:physical_network": boots_from(interfaces).switch.physical_network, "provider:segmentation_id": vlan,
    }  # fmt: skip
    service = str(network.post("/networks", {"network": segment})["network"]["id"])
    subnet = {"network_id": service, "cidr": f"10.90.{number}.0/26", "ip_version": 4}
    network.post("/subnets", {"subnet": subnet})
    connection = Connection(config=cloud._region)
    ident = enrol(connection, described(name, interfaces, service, owner=cloud.login.project))
    try:
        yield Enrolled(cloud, name, ident, service)
    finally:
        withdraw(connection, ident)
        connection.close()
        network.delete(f"/networks/{service}")
