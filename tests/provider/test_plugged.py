"""A port that is plugged into a server: Nova takes it off before Neutron deletes it, or it stays."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from interlock.provider import removing
from interlock.provider.actuators.network import PortActuator
from interlock.provider.clouds import Cloud
from tests.conftest import Sandbox
from tests.nova_book import functions_taken
from tests.sandbox.cloud import until
from tests.support.engine.process import Refused
from tests.support.engine.stack import Stack
from tests.support.world.small import World

PORT, SERVER = "alice-port-data", "alice-server"


@pytest.fixture
def alice(world: World) -> Iterator[Stack]:
    """The tenant; its port is there and plugged in again afterwards."""
    program = world.tenant
    yield program
    _again(program)


def _again(program: Stack) -> None:
    """As the next `up` does it: what is not in the state is made, and the server takes it up."""
    if PORT not in program.state:
        program.create(PORT)
    assert program.read(SERVER) is not None
    if program.diff(SERVER):
        program.update(SERVER)
    assert program.diff(SERVER) == {}


def _port(operator: Cloud, program: Stack) -> dict[str, str]:
    found = operator.api("network").get(f"/ports/{program.state[PORT].id}")["port"]
    return {key: found[key] for key in ("id", "device_id")}


def test_however_often_a_port_is_recreated_the_server_has_one_virtual_function_for_it(
    alice: Stack, sandbox: Sandbox
) -> None:
    before, server = functions_taken(sandbox.dir), alice.state[SERVER].id
    for _ in range(3):
        alice.delete(PORT)
        _again(alice)
    assert alice.state[SERVER].id == server
    assert functions_taken(sandbox.dir) == before


def test_a_run_killed_between_the_two_is_gone_on_with(alice: Stack, operator: Cloud, sandbox: Sandbox) -> None:
    before, ident, server = functions_taken(sandbox.dir), alice.state[PORT].id, alice.state[SERVER].id
    operator.api("compute").delete(f"/servers/{server}/os-interface/{ident}")
    alice.delete(PORT)
    assert operator.api("network").find(f"/ports/{ident}") is None
    _again(alice)
    assert functions_taken(sandbox.dir) == before


def test_a_server_that_does_not_let_go_keeps_its_port(
    alice: Stack, operator: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = _port(operator, alice)
    # As if the host's nova-compute were down: Nova's API says yes, and nobody does it.
    monkeypatch.setattr(PortActuator, "detach", lambda *_: None)
    monkeypatch.setattr(removing, "TAKING_OFF", 0.5)
    with pytest.raises(Refused, match=rf"Port {PORT} .*: server {before['device_id']} has not detached it") as refused:
        alice.delete(PORT)
    assert "next: make sure that nova-compute on its host is up" in str(refused.value)
    assert _port(operator, alice) == before


def test_a_suspended_server_keeps_its_port(alice: Stack, operator: Cloud) -> None:
    before, path = _port(operator, alice), f"/servers/{alice.state[SERVER].id}"
    _act(operator, path, "suspend", "SUSPENDED")
    with pytest.raises(Refused, match="while it is in vm_state suspended") as refused:
        alice.delete(PORT)
    assert "next: bring it into a state in which compute allows that" in str(refused.value)
    assert _port(operator, alice) == before
    _act(operator, path, "resume", "ACTIVE")


def _act(operator: Cloud, path: str, action: str, status: str) -> None:
    api = operator.api("compute")
    api.post(f"{path}/action", {action: None})
    until(lambda: api.get(path)["server"]["status"] == status)


def test_what_a_tenant_wrote_into_its_port_holds_nothing(alice: Stack, operator: Cloud) -> None:
    api = operator.api("network")
    alice.delete(PORT)
    alice.create(PORT)
    # A tenant may set the device of its own port: here a server at which Nova does not have it.
    ident = alice.state[PORT].id
    api.put(f"/ports/{ident}", {"port": {"device_id": alice.state[SERVER].id}})
    alice.delete(PORT)
    assert api.find(f"/ports/{ident}") is None
