"""Ironic, Neutron, its genericswitch driver and the switches: where the legs of a whole host are, and when.

What is asserted of Ironic here is what interlock rests on; API versions stand at the calls that need them.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from sandbox.launcher import processes
from sandbox.launcher.catalogue import PROCESSES
from sandbox.launcher.layout import Instance
from tests.conftest import Sandbox
from tests.sandbox.cloud import Cloud, Tenant, outcome
from tests.sandbox.cloud import until as until_within
from tests.sandbox.switch_sessions import QUARANTINE, Client, clients
from tests.support.cloud import nodes
from tests.support.cloud.nodes import GROUP, Leg, fault, release, settled
from tests.support.sampling import Sampling
from tests.support.world.declared import RESOURCE_CLASS

SERVICE, FABRIC, CONTROL = 3000, 1301, 131
VERSION = "1.67"  # attach a VIF to a port that is named; all else here needs less


def until(condition: Callable[[], Any]) -> Any:
    """What a condition gives once it is true: seconds, or minutes on a busy machine."""
    return until_within(condition, 120)


@dataclass(frozen=True)
class Host:
    """A node with one leg on the fabric and one on the management switch, and how its world looks at it."""

    cloud: Cloud
    node: str
    legs: tuple[Leg, Leg]
    networks: tuple[str, str]
    tenant: str
    switches: dict[str, Client]

    def vlans(self) -> tuple[int, ...]:
        """The VLAN of each leg, from its switch's table: a session at the switch would take half a second."""
        tables = self.cloud.running.dir / "state" / "switches"
        switches = [json.loads((tables / f"{leg.switch.name}.json").read_text(encoding="utf-8")) for leg in self.legs]
        ports = [switch["ports"][leg.port] for switch, leg in zip(switches, self.legs, strict=True)]
        return tuple(port["access_vlan"] if port["mode"] == "access" else 0 for port in ports)

    def said(self) -> tuple[tuple[str, int], ...]:
        """Mode and VLAN of each leg, as its switch says them."""
        return tuple(self.switches[leg.switch.name].vlan_of(leg.port) for leg in self.legs)

    def claim(self, **more: Any) -> Any:
        """An allocation (1.52; `owner`: 1.60) of this node and no other, once Ironic has decided."""
        words = {"resource_class": RESOURCE_CLASS, "candidate_nodes": [self.node], **more}
        bare = self.cloud.admin.baremetal
        made = bare.create_allocation(**words)
        return until(lambda: (found := bare.get_allocation(made.id)).state != "allocating" and found)

    def attach(self) -> list[Any]:
        """A Neutron port of the tenant on each leg. The port is named (1.67): Ironic would choose one otherwise."""
        words = {"project_id": self.tenant, "binding_vnic_type": "baremetal"}
        made = [self.cloud.admin.network.create_port(network_id=on, **words) for on in self.networks]
        for leg, port in zip(self.legs, made, strict=True):
            self.attach_one(leg, port.id)
        return made

    def attach_one(self, leg: Leg, port: str) -> None:
        """One of them. What Ironic calls a port is the interface: it is found by its address."""
        bare = self.cloud.admin.baremetal
        interfaces = {one.address: one.id for one in bare.ports(node=self.node)}
        bare.attach_vif_to_node(self.node, port, port=interfaces[leg.address])

    def start_deploy(self) -> None:
        """Ask for a deploy with a config drive, given as JSON (1.56)."""
        # Ironic makes this project the lessee (1.65) while it is deployed.
        values = {"image_source": "http://127.0.0.1:1/poplar", "image_checksum": "0" * 64, "project_id": self.tenant}
        drive = {"meta_data": {"hostname": "train-0"}, "user_data": "#cloud-config\n"}
        bare = self.cloud.admin.baremetal
        changes = [{"op": "add", "path": f"/instance_info/{name}", "value": value} for name, value in values.items()]
        bare.patch_node(self.node, changes)
        bare.set_node_provision_state(self.node, "active", config_drive=drive)

    def ask(self, target: str) -> None:
        """Ask for another provision state."""
        self.cloud.admin.baremetal.set_node_provision_state(self.node, target)

    def until_in(self, state: str) -> Any:
        """The node, once it is in a state and nobody holds it."""
        return settled(self.cloud.admin, self.node, state)

    def at_once(self, method: str, path: str, body: object = None) -> int:
        """The status of one request. The SDK asks again for 15 seconds when it hears 409."""
        asked = self.cloud.admin.baremetal.request(
            path, method, json=body, microversion=VERSION, status_code_retries=0, raise_exc=False
        )
        return int(asked.status_code)

    def forget(self, ports: list[Any]) -> None:
        for port in ports:
            self.cloud.admin.network.delete_port(port)


@pytest.fixture(scope="module")
def networks(cloud: Cloud, tenant: Tenant) -> Iterator[dict[int, str]]:
    """The service network of one host, and two VLANs of a tenant."""
    network = cloud.admin.network
    made = {
        vlan: network.create_network(
            name=f"vlan-{vlan}-{cloud.tag}", project_id=owner, provider_network_type="vlan",
            provider_physical_network=physical, provider_segmentation_id=vlan,
        )
        for vlan, physical, owner in (
            (SERVICE, "mgmt1g", cloud.admin.current_project_id), (FABRIC, "fabric100g", tenant.id),
            (CONTROL, "mgmt1g", tenant.id),
        )
    }  # fmt: skip
    for vlan, one in made.items():
        network.create_subnet(network_id=one.id, ip_version=4, cidr=f"10.{vlan % 200}.0.0/26", gateway_ip=None)
    yield {vlan: one.id for vlan, one in made.items()}
    for one in made.values():
        for port in list(network.ports(network_id=one.id)):
            network.delete_port(port)
        network.delete_network(one)


@pytest.fixture(scope="module")
def host(cloud: Cloud, tenant: Tenant, networks: dict[int, str]) -> Iterator[Host]:
    """`poplar-1`, enrolled, and available."""
    fabric, first = (leg for leg in nodes.legs_of("poplar-1") if leg.interface in ("ens161f0", "eno1"))
    owner = cloud.admin.current_project_id
    node = nodes.described(f"poplar-1-{cloud.tag}", (fabric, first), networks[SERVICE], owner=owner)
    nodes.rest_in_quarantine(cloud.running.dir, node)
    uuid = nodes.enrol(cloud.admin, node)
    on = (networks[FABRIC], networks[CONTROL])
    yield Host(cloud, uuid, (fabric, first), on, tenant.id, clients(cloud.running.dir))
    nodes.withdraw(cloud.admin, uuid)


def test_an_enrolled_node_is_clean_and_in_quarantine(host: Host) -> None:
    node = host.cloud.admin.baremetal.get_node(host.node)
    assert (node.provision_state, node.is_maintenance, node.instance_id) == ("available", False, None)
    assert (node.network_interface, node.conductor_group) == ("neutron", GROUP)
    assert (node.owner, node.lessee) == (host.cloud.admin.current_project_id, None)
    assert host.vlans() == (QUARANTINE, QUARANTINE)
    pxe = {port.address: port.is_pxe_enabled for port in host.cloud.admin.baremetal.ports(node=host.node, details=True)}
    assert pxe == {host.legs[0].address: False, host.legs[1].address: True}


def test_the_conductor_serves_its_group_and_nodes_without_one(cloud: Cloud) -> None:
    bare = cloud.admin.baremetal
    made = bare.create_node(name=f"plain-{cloud.tag}", driver="fake-hardware", provision_state="enroll")
    assert (made.conductor_group, made.network_interface) == ("", "noop")
    bare.delete_node(made)
    words = {"name": f"other-{cloud.tag}", "driver": "fake-hardware", "conductor_group": "nova"}
    assert outcome(lambda: bare.create_node(**words)) == 400


def test_the_legs_of_a_host_are_in_the_tenants_vlans_exactly_while_it_is_active(host: Host) -> None:
    cloud, bare = host.cloud, host.cloud.admin.baremetal
    claimed = host.claim(name=f"train-0-{cloud.tag}", extra={"interlock": "marker"})
    assert (claimed.state, claimed.node_id, claimed.owner) == ("active", host.node, cloud.admin.current_project_id)
    assert bare.get_node(host.node).instance_id == claimed.id
    ports = host.attach()
    # Recorded only: nothing is on a switch. The Neutron port has the address of the interface from here on.
    assert host.vlans() == (QUARANTINE, QUARANTINE)
    recorded = cloud.admin.network.get_port(ports[0].id)
    assert (recorded.binding_vif_type, recorded.status) == ("binding_failed", "DOWN")
    assert recorded.mac_address == host.legs[0].address

    fault(cloud.admin, host.node, deploy="hold", clean="hold")
    host.start_deploy()
    until(lambda: host.vlans() == (QUARANTINE, SERVICE))
    assert bare.get_node(host.node).provision_state == "deploying"
    # The node is locked: Ironic says 409 to whatever wants to change it.
    assert host.at_once("DELETE", f"/allocations/{claimed.id}") == 409
    assert host.at_once("PATCH", f"/nodes/{host.node}", [{"op": "remove", "path": "/extra/sandbox"}]) == 409
    release(cloud.running.dir)
    active = host.until_in("active")
    assert host.vlans() == (FABRIC, CONTROL)
    assert host.said() == (("access", FABRIC), ("access", CONTROL))
    assert (active.lessee, active.instance_info["configdrive"]) == (host.tenant, "******")
    assert [cloud.admin.network.get_port(port.id).status for port in ports] == ["ACTIVE", "ACTIVE"]
    written = cloud.running.dir / "state" / "ironic" / "disks" / f"{host.node}.json"
    drive = json.loads(written.read_text(encoding="utf-8"))["configdrive"]
    assert (drive["meta_data"], drive["user_data"]) == ({"hostname": "train-0"}, "#cloud-config\n")
    # Ironic adds addresses itself.
    assert {link["ethernet_mac_address"] for link in drive["network_data"]["links"]} == {
        leg.address for leg in host.legs
    }
    assert host.at_once("DELETE", f"/allocations/{claimed.id}") == 409

    host.ask("deleted")
    until(lambda: host.vlans() == (QUARANTINE, SERVICE))
    assert bare.get_node(host.node).provision_state == "cleaning"
    release(cloud.running.dir)
    free = host.until_in("available")
    assert host.vlans() == (QUARANTINE, QUARANTINE)
    assert (free.instance_id, free.instance_info, free.lessee) == (None, {}, None)
    assert host.at_once("GET", f"/allocations/{claimed.id}") == 404
    assert list(bare.list_node_vifs(host.node)) == []
    assert not written.exists()
    unbound = cloud.admin.network.get_port(ports[0].id)
    assert (unbound.binding_vif_type, unbound.binding_host_id) == ("unbound", "")
    host.forget(ports)


def test_a_node_that_is_taken_is_given_to_nobody_else(host: Host) -> None:
    bare = host.cloud.admin.baremetal
    first, second = host.claim(), host.claim()
    assert (first.state, second.state, second.node_id) == ("active", "error", None)
    assert "none of the requested nodes are available" in second.last_error
    assert bare.get_node(host.node).instance_id == first.id
    # What failed stays until somebody deletes it; what was never deployed goes with its allocation.
    for one in (first, second):
        bare.delete_allocation(one)
    assert bare.get_node(host.node).instance_id is None


def test_what_fails_leaves_a_host_in_a_vlan_of_which_ironic_speaks_no_more(host: Host, sandbox: Sandbox) -> None:
    """A deploy, a detach whose switch is gone, a tear down: after the last two only the switch tells."""
    bare, network = host.cloud.admin.baremetal, host.cloud.admin.network
    claimed = host.claim()
    ports = host.attach()
    fault(host.cloud.admin, host.node, deploy="fail")
    host.start_deploy()
    failed = until(lambda: stopped(host, "deploy failed"))
    assert "fault switch" in failed.last_error
    assert (failed.is_maintenance, failed.instance_id) == (False, claimed.id)
    assert host.vlans() == (QUARANTINE, SERVICE)
    fault(host.cloud.admin, host.node, tear_down="fail")
    host.ask("active")
    host.until_in("active")

    end(sandbox, "switches")
    assert host.at_once("DELETE", f"/nodes/{host.node}/vifs/{ports[0].id}") == 204
    assert network.get_port(ports[0].id).binding_vif_type == "unbound"
    sandbox.supervise("up")
    assert host.vlans() == (FABRIC, CONTROL)
    host.attach_one(host.legs[0], ports[0].id)

    host.ask("deleted")
    failed = until(lambda: stopped(host, "error"))
    # The allocation is destroyed and the VIFs are forgotten, and they are bound.
    assert (failed.instance_id, list(bare.list_node_vifs(host.node))) == (None, [])
    assert host.at_once("GET", f"/allocations/{claimed.id}") == 404
    assert host.vlans() == (FABRIC, CONTROL)
    fault(host.cloud.admin, host.node)
    host.ask("deleted")
    host.until_in("available")
    assert host.vlans() == (FABRIC, QUARANTINE)
    # What is bound goes with its Neutron port.
    host.forget(ports)
    assert host.vlans() == (QUARANTINE, QUARANTINE)


def stopped(host: Host, state: str) -> Any:
    """The node, if it is in a state and nobody holds it. Its target is the one it failed to reach, not null."""
    found = host.cloud.admin.baremetal.get_node(host.node)
    return found if found.provision_state == state and not found.reservation else None


def test_a_node_that_is_not_clean_is_given_to_nobody(host: Host) -> None:
    bare = host.cloud.admin.baremetal
    host.ask("manage")
    host.until_in("manageable")
    fault(host.cloud.admin, host.node, clean="fail")
    host.ask("provide")
    failed = until(lambda: stopped(host, "clean failed"))
    assert (failed.is_maintenance, failed.fault) == (True, "clean failure")
    assert "fault switch" in failed.maintenance_reason
    assert host.vlans() == (QUARANTINE, QUARANTINE)
    refused = host.claim()
    assert refused.state == "error"
    bare.delete_allocation(refused)
    # The operator's way back.
    fault(host.cloud.admin, host.node)
    assert outcome(lambda: host.ask("provide")) == 400
    host.ask("manage")
    bare.unset_node_maintenance(host.node)
    host.ask("provide")
    host.until_in("available")


def end(sandbox: Sandbox, name: str) -> None:
    """End a process of the sandbox without a word."""
    instance, process = Instance(sandbox.dir), next(process for process in PROCESSES if process.name == name)
    os.kill(processes.pid_of(instance, process), signal.SIGKILL)
    until(lambda: not processes.pid_of(instance, process))


def kill_ironic(sandbox: Sandbox) -> None:
    """End Ironic without a word, and start it again."""
    end(sandbox, "ironic")
    sandbox.supervise("up")


def test_what_ironic_was_doing_when_it_was_killed_has_failed(host: Host, sandbox: Sandbox, sampling: Sampling) -> None:
    """It resumes nothing. The host is on its service network, and that port of it is in the way of nothing.

    One of both in a usual run: each kills Ironic and starts it again.
    """
    killed = {"deployment": killed_while_it_deploys, "cleaning": killed_while_it_cleans}
    for name in sampling.some("what Ironic is killed at", list(killed), 1):
        killed[name](host, sandbox)
        assert host.vlans() == (QUARANTINE, QUARANTINE)


def killed_while_it_deploys(host: Host, sandbox: Sandbox) -> None:
    """It is undone like any other deployment that failed."""
    claimed = host.claim()
    ports = host.attach()
    fault(host.cloud.admin, host.node, deploy="hold")
    host.start_deploy()
    until(lambda: host.vlans() == (QUARANTINE, SERVICE))
    kill_ironic(sandbox)
    failed = until(lambda: stopped(host, "deploy failed"))
    assert "can't be resumed" in failed.last_error
    assert (failed.instance_id, failed.lessee, failed.is_maintenance) == (claimed.id, host.tenant, False)
    assert len(list(host.cloud.admin.baremetal.list_node_vifs(host.node))) == 2
    assert host.vlans() == (QUARANTINE, SERVICE)
    fault(host.cloud.admin, host.node)
    host.ask("deleted")
    host.until_in("available")
    host.forget(ports)


def killed_while_it_cleans(host: Host, sandbox: Sandbox) -> None:
    """Not in maintenance, as after a step that failed; but not `available`, so given to nobody."""
    host.ask("manage")
    host.until_in("manageable")
    fault(host.cloud.admin, host.node, clean="hold")
    host.ask("provide")
    until(lambda: is_cleaned(host))
    kill_ironic(sandbox)
    failed = until(lambda: stopped(host, "clean failed"))
    assert ("can't be resumed" in failed.last_error, failed.is_maintenance) == (True, False)
    assert host.vlans() == (QUARANTINE, SERVICE)
    fault(host.cloud.admin, host.node)
    host.ask("manage")
    host.ask("provide")
    host.until_in("available")


def is_cleaned(host: Host) -> bool:
    """True while the ramdisk of a node that is cleaned would run."""
    node = host.cloud.admin.baremetal.get_node(host.node)
    return bool(node.clean_step) and host.vlans() == (QUARANTINE, SERVICE)
