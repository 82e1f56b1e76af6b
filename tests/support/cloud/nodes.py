"""Nodes of Ironic as an operator enrolls them: cabled to two switches, with a service network of their own."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from keystoneauth1.identity.v3 import Password
from keystoneauth1.session import Session

from interlock.provider.clouds import Cloud
from interlock.resources import BareMetalLeg
from tests.support.world.declared import RESOURCE_CLASS

GROUP = "interlock"

#: Seconds that a state may take to come.
PATIENCE = 90.0


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
        deadline = time.monotonic() + PATIENCE
        while (raw := self.raw())["provision_state"] != state:
            assert time.monotonic() < deadline, f"{self.name} is {raw['provision_state']}: {raw['last_error']}"
            time.sleep(0.1)
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


@contextmanager
def enrolled(cloud: Cloud, name: str, vlan: int, *legs: BareMetalLeg) -> Iterator[Enrolled]:
    """A node of the operator's project, cabled to the switch ports of these legs, and available."""
    network, ironic = cloud.api("network"), cloud.api("baremetal")
    number = vlan % 256
    # As hosts do: from their 1G interface, where they have one.
    boots = max(legs, key=lambda leg: leg.switch.startswith("mgmt"))
    segment = {
        "name": f"service-{name}", "provider:network_type": "vlan", "provider:physical_network": _physical(boots),
        "provider:segmentation_id": vlan,
    }  # fmt: skip
    service = str(network.post("/networks", {"network": segment})["network"]["id"])
    subnet = {"network_id": service, "cidr": f"10.90.{number}.0/26", "ip_version": 4}
    network.post("/subnets", {"subnet": subnet})
    wanted = {
        "name": name, "driver": "fake-hardware", "network_interface": "neutron", "resource_class": RESOURCE_CLASS,
        "conductor_group": GROUP, "owner": cloud.login.project,
        "driver_info": {"cleaning_network": service, "provisioning_network": service},
    }  # fmt: skip
    node = Enrolled(cloud, name, str(ironic.post("/nodes", wanted)["uuid"]), service)
    for place, leg in enumerate(legs):
        link = {"switch_info": leg.switch, "switch_id": leg.switch_mac, "port_id": leg.port_name}
        ironic.post("/ports", {
            "node_uuid": node.id, "address": f"02:00:00:0a:{number:02x}:{place:02x}",
            "physical_network": _physical(leg),
            "pxe_enabled": leg == boots, "local_link_connection": link,
        })  # fmt: skip
    node.becomes("manageable", after="manage")
    node.becomes("available", after="provide")
    try:
        yield node
    finally:
        retire(node)


def _physical(leg: BareMetalLeg) -> str:
    return "fabric100g" if leg.switch.startswith("tor") else "mgmt1g"


def retire(node: Enrolled) -> None:
    """Out of Ironic, whatever state it is in."""
    ironic = node.cloud.api("baremetal")
    node.patch(maintenance=True)
    ironic.delete(f"/nodes/{node.id}")
    node.cloud.api("network").delete(f"/networks/{node.network}")
