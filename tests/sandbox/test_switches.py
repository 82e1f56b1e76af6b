"""Neutron, its genericswitch driver and the switches behind ssh: what is bound is what the switch says."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from sandbox.launcher import configuration, golden, ports, processes
from sandbox.launcher.catalogue import PROCESSES
from sandbox.launcher.layout import Instance
from sandbox.switches import keys
from tests.conftest import Sandbox
from tests.sandbox.cloud import Cloud, outcome, until
from tests.sandbox.switch_sessions import MANAGEMENT, QUARANTINE, TOR, Client, clients

VLAN = 1234


@pytest.fixture(scope="module")
def network(cloud: Cloud) -> Iterator[Any]:
    """A VLAN of the fabric."""
    with cloud.vlan(VLAN) as made:
        yield made


@pytest.fixture(scope="module")
def tor(cloud: Cloud) -> Client:
    """`tor-1`, as a reader sees it."""
    return clients(cloud.running.dir)[TOR.name]


def bind(cloud: Cloud, network: Any, port: str, switch: str = TOR.name, mac: str = TOR.mac) -> Any:
    """A Neutron port on a port of a switch."""
    link = {"switch_id": mac, "switch_info": switch, "port_id": port}
    return cloud.admin.network.create_port(
        network_id=network.id,
        name=f"{port}-{cloud.tag}",
        binding_vnic_type="baremetal",
        binding_host_id="ipum-01",
        binding_profile={"local_link_information": [link]},
    )


def is_up(cloud: Cloud, port: Any) -> bool:
    return bool(cloud.admin.network.get_port(port.id).status == "ACTIVE")


def test_a_network_is_a_vlan_of_the_switches_of_its_physical_network(cloud: Cloud, network: Any, tor: Client) -> None:
    assert tor.show("vlan")["vlans"][str(VLAN)]["name"] == network.id.replace("-", "")
    assert str(VLAN) not in clients(cloud.running.dir)[MANAGEMENT.name].show("vlan")["vlans"]


def test_a_bound_port_is_in_its_vlan_and_a_deleted_one_shut_in_quarantine(
    cloud: Cloud, network: Any, tor: Client
) -> None:
    made = bind(cloud, network, "Ethernet1/1")
    assert made.binding_vif_type == "other"
    until(lambda: is_up(cloud, made))
    assert tor.vlan_of("Ethernet1/1") == ("access", VLAN)
    assert "Ethernet1/1" in tor.show("vlan")["vlans"][str(VLAN)]["interfaces"]
    table = json.loads((cloud.running.dir / "state" / "switches" / "tor-1.json").read_text(encoding="utf-8"))
    assert (table["ports"]["Ethernet1/1"]["enabled"], table["ports"]["Ethernet1/1"]["access_vlan"]) == (True, VLAN)
    cloud.admin.network.delete_port(made)
    assert tor.vlan_of("Ethernet1/1") == ("access", QUARANTINE)
    links = tor.show("interfaces Ethernet1/1 status")["interfaceStatuses"]
    assert links["Ethernet1/1"]["linkStatus"] == "disabled"


def test_a_switch_may_be_named_by_its_mac_alone(cloud: Cloud, network: Any, tor: Client) -> None:
    made = bind(cloud, network, "Ethernet2/1", switch="")
    until(lambda: is_up(cloud, made))
    assert tor.vlan_of("Ethernet2/1") == ("access", VLAN)
    cloud.admin.network.delete_port(made)


def test_a_port_that_the_switch_does_not_have_is_an_error_and_changes_nothing(
    cloud: Cloud, network: Any, tor: Client
) -> None:
    before = tor.show("interfaces switchport")
    assert outcome(lambda: bind(cloud, network, "Ethernet99/1")) == 500
    assert list(cloud.admin.network.ports(network_id=network.id)) == []
    assert tor.show("interfaces switchport") == before


@pytest.mark.parametrize(
    ("switch", "mac"), [("tor-9", "02:1c:73:00:00:99"), (MANAGEMENT.name, MANAGEMENT.mac)], ids=["unknown", "elsewhere"]
)
def test_a_switch_that_does_not_lead_there_binds_nothing(cloud: Cloud, network: Any, switch: str, mac: str) -> None:
    made = bind(cloud, network, "Ethernet1/1", switch, mac)
    assert (made.binding_vif_type, made.status) == ("binding_failed", "DOWN")
    cloud.admin.network.delete_port(made)


def test_only_keys_open_a_switch_and_a_reader_changes_nothing(cloud: Cloud, tor: Client) -> None:
    assert tor.attempt("show version", key_file="", password="secret") == {"refused": "PermissionDenied"}
    assert tor.attempt("show version", username="admin") == {"refused": "PermissionDenied"}
    other = clients(cloud.running.dir)[MANAGEMENT.name].entry["host_key"]
    assert tor.attempt("show version", host_key=other) == {"refused": "HostKeyNotVerifiable"}
    assert tor.answers("configure terminal", "frobnicate", "show version")[:2] == [
        (1, "% Authorization denied for command 'configure'\n"),
        (1, "% Invalid input\n"),
    ]
    private = Path(tor.entry["key_file"])
    assert private.stat().st_mode & 0o077 == 0
    assert keys.READER == tor.entry["username"] != keys.WRITER


SERVER = tuple(process for process in PROCESSES if process.name == "switches")


def kill_switches(instance: Instance) -> None:
    """End them without a word."""
    os.kill(processes.pid_of(instance, SERVER[0]), signal.SIGKILL)
    until(lambda: not processes.pid_of(instance, SERVER[0]))


def test_a_switch_that_is_gone_fails_requests_and_remembers_all(
    cloud: Cloud, network: Any, tor: Client, sandbox: Sandbox
) -> None:
    """Unreachable: no port is made. A port that is deleted meanwhile keeps its VLAN on the switch: nobody told it."""
    made = bind(cloud, network, "Ethernet3/1")
    until(lambda: is_up(cloud, made))
    before = tor.show("interfaces switchport")
    kill_switches(Instance(sandbox.dir))
    assert outcome(lambda: bind(cloud, network, "Ethernet4/1")) == 500
    cloud.admin.network.delete_port(made)
    assert list(cloud.admin.network.ports(network_id=network.id)) == []
    sandbox.supervise("up")
    assert tor.show("interfaces switchport") == before
    assert tor.vlan_of("Ethernet3/1") == ("access", VLAN)
    again = bind(cloud, network, "Ethernet3/1")
    until(lambda: is_up(cloud, again))
    cloud.admin.network.delete_port(again)
    assert tor.vlan_of("Ethernet3/1") == ("access", QUARANTINE)


@pytest.fixture
def second(sandbox: Sandbox, tmp_path: Path) -> Iterator[Instance]:
    """The switches of another instance beside the running one, without its cloud."""
    instance = Instance(tmp_path / "second")
    chosen = ports.renew(instance)
    golden.prepare(instance)
    configuration.write(instance, chosen)
    processes.start(instance, SERVER)
    yield instance
    processes.stop(instance, SERVER)


def test_switches_of_two_instances_do_not_meet(tor: Client, second: Instance) -> None:
    other = clients(second.folder)[TOR.name]
    writer = {"username": keys.WRITER, "key_file": str(keys.user_key_file(second.state / "switches", keys.WRITER))}
    assert other.entry["host"] == tor.entry["host"]
    assert other.entry["port"] != tor.entry["port"]
    assert other.attempt("show version", key_file=tor.entry["key_file"]) == {"refused": "PermissionDenied"}
    assert tor.attempt("show version", **writer) == {"refused": "PermissionDenied"}
    before = tor.show("interfaces switchport")
    lines = "configure\ninterface Ethernet5/1\nswitchport access vlan 77"
    assert other.answers(lines, **writer) == [(0, "")]
    assert other.vlan_of("Ethernet5/1") == ("access", 77)
    assert tor.show("interfaces switchport") == before


def test_what_readers_need_lies_beside_the_clouds_yaml(cloud: Cloud) -> None:
    listed = yaml.safe_load((cloud.running.dir / "switches.yaml").read_text(encoding="utf-8"))["switches"]
    assert list(listed) == [TOR.name, MANAGEMENT.name]
    port = json.loads((cloud.running.dir / "ports.json").read_text(encoding="utf-8"))["switches"]
    for name, switch in ((TOR.name, TOR), (MANAGEMENT.name, MANAGEMENT)):
        entry = listed[name]
        assert entry.keys() == {"platform", "host", "port", "username", "key_file", "host_key"}
        assert (entry["platform"], entry["host"], entry["port"]) == ("eos", switch.address, port)
        assert clients(cloud.running.dir)[name].show("version")["systemMacAddress"] == switch.mac
