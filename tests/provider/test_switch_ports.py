"""Switch ports on the real path: Neutron, its driver, ssh, and what the switch says when it is read back."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator

import pytest
import yaml

from interlock.provider.clouds import Cloud
from interlock.provider.preflight import preflight
from interlock.resources import SwitchPort
from sandbox.launcher import processes
from sandbox.launcher.catalogue import PROCESSES
from sandbox.launcher.layout import Instance
from sandbox.switches import keys
from tests.conftest import Sandbox
from tests.sandbox.switch_sessions import QUARANTINE, Client, clients
from tests.support.engine.process import Refused
from tests.support.engine.stack import Stack
from tests.support.world.declared import switch_port
from tests.support.world.small import World

NAME, PORT, VLAN = "alice-rnic", "Ethernet5/1", 2100
ByHand = Callable[..., None]


@pytest.fixture
def tor(sandbox: Sandbox) -> Client:
    """`tor-1`, as a reader sees it."""
    return clients(sandbox.dir)["tor-1"]


@pytest.fixture
def by_hand(sandbox: Sandbox, tor: Client) -> ByHand:
    """Sets a port of `tor-1` past Neutron."""
    key = keys.user_key_file(Instance(sandbox.dir).state / "switches", keys.WRITER)

    def run(port: str, *lines: str) -> None:
        said = tor.answers(
            "\n".join(("configure", f"interface {port}", *lines)), username=keys.WRITER, key_file=str(key)
        )
        assert said == [(0, "")]

    return run


@pytest.fixture
def switches_down(sandbox: Sandbox) -> Iterator[Callable[[], None]]:
    """Takes all switches down; they are up again afterwards, or when it is called once more."""
    instance = Instance(sandbox.dir)
    server = next(process for process in PROCESSES if process.name == "switches")
    down = False

    def turn() -> None:
        nonlocal down
        if down:
            sandbox.supervise("up")
        else:
            os.kill(processes.pid_of(instance, server), signal.SIGKILL)
        down = not down

    yield turn
    if down:
        turn()


def recreated(program: Stack) -> None:
    """As the engine replaces it."""
    program.delete(NAME)
    program.create(NAME)


def faults(program: Stack, *new: str) -> list[str]:
    """What the preflight of an update says that creates these."""
    return [str(fault) for fault in preflight(program.admission(), Cloud("sandbox"), frozenset(new))]


def ports_named(operator: Cloud, name: str) -> list[str]:
    return [str(item["id"]) for item in operator.api("network").items("/ports", "ports", name=name)]


def test_the_switch_says_what_was_planned(world: World, tor: Client) -> None:
    assert tor.vlan_of(PORT) == ("access", VLAN)
    assert world.tenant.read(NAME, record=False) == world.tenant.state[NAME]


@pytest.mark.parametrize("lines", [("switchport access vlan 4000",), ("shutdown",), ("switchport mode trunk",)])
def test_a_port_that_somebody_set_is_drift_and_up_sets_it_again(
    world: World, tor: Client, by_hand: ByHand, lines: tuple[str, ...]
) -> None:
    program = world.tenant
    by_hand(PORT, *lines)
    assert program.read(NAME) is not None
    assert program.diff(NAME) == {"vlan": True}
    recreated(program)
    assert tor.vlan_of(PORT) == ("access", VLAN)
    assert program.diff(NAME) == {}


def test_a_port_that_goes_is_shut_in_quarantine(world: World, tor: Client) -> None:
    world.tenant.delete(NAME)
    assert tor.vlan_of(PORT) == ("access", QUARANTINE)
    assert tor.show(f"interfaces {PORT} status")["interfaceStatuses"][PORT]["linkStatus"] == "disabled"
    world.tenant.create(NAME)


def test_a_deletion_that_the_switch_did_not_hear_of_is_none(
    world: World, operator: Cloud, tor: Client, switches_down: Callable[[], None]
) -> None:
    """Neutron says 204 and forgets the port; the switch keeps the tenant's VLAN on it."""
    program = world.tenant
    before = program.state[NAME]
    switches_down()
    with pytest.raises(Refused, match=f"how tor-1 {PORT} is set is not known"):
        program.delete(NAME)
    assert ports_named(operator, NAME) == []
    assert program.state[NAME] == before, "the state keeps it"
    switches_down()
    assert tor.vlan_of(PORT) == ("access", VLAN)
    program.delete(NAME)
    assert tor.vlan_of(PORT) == ("access", QUARANTINE)
    assert ports_named(operator, NAME) == []
    program.create(NAME)


def test_a_port_that_somebody_made_a_trunk_meanwhile_has_not_let_go(
    world: World, operator: Cloud, tor: Client, by_hand: ByHand
) -> None:
    """Neutron has no port any more; a trunk of all VLANs is in none of them alone, and carries the tenant's."""
    program = world.tenant
    operator.api("network").delete(f"/ports/{program.state[NAME].id}")
    by_hand(PORT, "switchport mode trunk", "switchport trunk allowed vlan 1-4094", "no shutdown")
    program.delete(NAME)
    assert tor.vlan_of(PORT) == ("access", QUARANTINE)
    assert tor.show(f"interfaces {PORT} status")["interfaceStatuses"][PORT]["linkStatus"] == "disabled"
    program.create(NAME)


def test_a_switch_that_is_down_is_told_before_anything_is_made(world: World, switches_down: Callable[[], None]) -> None:
    switches_down()
    (fault,) = faults(world.tenant, NAME)
    assert "switch tor-1" in fault
    assert "out of reach" in fault


def test_a_creation_that_fails_half_way_leaves_nothing(
    world: World, operator: Cloud, tor: Client, switches_down: Callable[[], None]
) -> None:
    program = world.tenant
    program.delete(NAME)
    switches_down()
    with pytest.raises(Refused, match=f"Neutron could not set tor-1 {PORT}"):
        program.create(NAME)
    assert ports_named(operator, NAME) == []
    switches_down()
    program.create(NAME)
    assert tor.vlan_of(PORT) == ("access", VLAN)


def test_a_port_that_the_switch_does_not_have_is_told(world: World, operator: Cloud) -> None:
    """Before the apply; and if nobody asked, by the switch, and nothing is left of it."""
    program = world.tenant
    wrong = switch_port("alice", 9, VLAN, "10.5.2.7").model_copy(update={"port_name": "Ethernet99/1"})
    kept = program.resources
    program.resources = {**kept, "alice-wrong": wrong}
    try:
        assert any("tor-1 has no port Ethernet99/1" in fault for fault in faults(program, "alice-wrong"))
        assert program.admit(preview=False) == []
        with pytest.raises(Refused, match="Neutron could not set tor-1 Ethernet99/1"):
            program.create("alice-wrong")
        assert ports_named(operator, "alice-wrong") == []
    finally:
        program.declare(kept)
        assert program.admit(preview=False) == []


def faults_with(program: Stack, more: SwitchPort) -> list[str]:
    """What the preflight finds if the plan has another switch port."""
    kept = program.resources
    program.resources = {**kept, "alice-more": more}
    try:
        return faults(program, "alice-more")
    finally:
        program.declare(kept)


def test_a_port_in_use_is_not_taken(world: World, by_hand: ByHand) -> None:
    """Whoever set it did so past Neutron: a former tenant's VLAN looks like this."""
    by_hand("Ethernet9/1", "switchport mode access", "switchport access vlan 1999", "no shutdown")
    try:
        (fault,) = faults_with(world.tenant, switch_port("alice", 9, VLAN, "10.5.2.7"))
        assert "tor-1 Ethernet9/1 is access 1999: it is neither at rest nor as planned" in fault
    finally:
        by_hand("Ethernet9/1", "switchport access vlan 4000", "shutdown")
    assert faults_with(world.tenant, switch_port("alice", 9, VLAN, "10.5.2.7")) == []


def test_a_port_that_another_neutron_port_is_bound_to_is_not_taken(world: World, operator: Cloud) -> None:
    link = {"switch_info": "tor-1", "port_id": "Ethernet9/1"}
    body = {
        "network_id": world.tenant.state["alice-data"].id, "name": "somebody",
        "binding:vnic_type": "baremetal", "binding:host_id": "elsewhere",
        "binding:profile": {"local_link_information": [link]},
    }  # fmt: skip
    api = operator.api("network")
    other = str(api.post("/ports", {"port": body})["port"]["id"])
    try:
        found = faults_with(world.tenant, switch_port("alice", 9, VLAN, "10.5.2.7"))
        assert any(f"tor-1 Ethernet9/1 is bound by port somebody ({other})" in fault for fault in found)
    finally:
        api.delete(f"/ports/{other}")


def test_whoever_answers_with_another_host_key_is_no_switch(
    world: World, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = yaml.safe_load((sandbox.dir / "switches.yaml").read_text(encoding="utf-8"))
    document["switches"]["tor-1"]["host_key"] = document["switches"]["mgmt-1"]["host_key"]
    file = sandbox.dir / "switches-forged.yaml"
    file.write_text(yaml.safe_dump(document), encoding="utf-8")
    monkeypatch.setenv("INTERLOCK_SWITCHES", str(file))
    (fault,) = faults(world.tenant, NAME)
    assert "the host key is not the known one" in fault
    monkeypatch.setenv("INTERLOCK_SWITCHES", str(sandbox.dir / "nowhere.yaml"))
    (fault,) = faults(world.tenant, NAME)
    assert "there is no such file" in fault
