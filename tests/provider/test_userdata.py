"""A changed document or ssh key replaces no server on the real path: what is there stays, what is made anew gets it."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import pytest

from interlock.provider.actuators import ACTUATORS
from interlock.provider.clouds import Cloud
from tests.builders.pod64 import ssh_key
from tests.support.engine.runs import force, up
from tests.support.engine.stack import Stack
from tests.support.world.small import World

SERVERS = ("alice-server", "alice-metal")
OLD, NEW = "#cloud-config\n{}\n", "#cloud-config\nhostname: another\n"


@pytest.fixture
def program(world: World) -> Iterator[Stack]:
    """The tenant with other documents and another key in its plan; afterwards as it was."""
    stack, planned = world.tenant, dict(world.tenant.resources)
    stack.declare(planned | {name: _with(planned[name], user_data=NEW) for name in SERVERS})
    yield stack
    stack.declare(planned)
    up(stack, stack.resources, preflight=True)
    assert all(stack.diff(name) == {} for name in stack.resources)


def _with(resource: Any, **fields: Any) -> Any:
    return resource.model_copy(update=fields)


def _ids(stack: Stack) -> dict[str, str]:
    return {name: item.id for name, item in stack.state.items()}


def _at_nova(operator: Cloud, stack: Stack) -> str:
    found = operator.api("compute").get(f"/servers/{stack.state['alice-server'].id}")["server"]
    return base64.b64decode(found["OS-EXT-SRV-ATTR:user_data"]).decode()


def test_changed_userdata_replaces_nothing_and_the_state_says_what_is_applied(program: Stack, operator: Cloud) -> None:
    before = _ids(program)
    assert all(program.diff(name) == {} for name in SERVERS)
    up(program, program.resources, preflight=True)
    assert _ids(program) == before
    for name in SERVERS:
        assert (program.state[name].inputs["user_data"], program.state[name].outputs["user_data"]) == (NEW, OLD)
        assert program.read(name) is not None, "a refresh writes what is there"
        assert program.state[name].inputs["user_data"] == OLD
        assert program.diff(name) == {}
    assert _at_nova(operator, program) == OLD


def test_another_change_beside_changed_userdata_is_made_in_place(program: Stack, operator: Cloud) -> None:
    before, planned = _ids(program), dict(program.resources)
    server: Any = planned["alice-server"]
    program.declare(planned | {"alice-server": _with(server, name="renamed", ports=server.ports[:1])})
    changes = program.diff("alice-server")
    assert {"name", "ports"} <= set(changes)
    assert not any(changes.values()), "nothing is replaced"
    up(program, program.resources, preflight=True)
    assert _ids(program) == before
    assert program.state["alice-server"].outputs["user_data"] == OLD
    shown = operator.api("compute").get(f"/servers/{before['alice-server']}")["server"]
    assert shown["name"] == "renamed"
    assert _at_nova(operator, program) == OLD
    program.declare(planned)
    up(program, program.resources, preflight=True)


def test_userdata_reaches_a_server_that_is_made_anew(program: Stack, operator: Cloud) -> None:
    planned = dict(program.resources)
    up(program, program.resources, preflight=True)
    before = _ids(program)
    assert force(program, "alice-server") == ["alice-server", "alice-attachment", "alice-handed"]
    assert program.state["alice-server"].id != before["alice-server"]
    assert program.state["alice-server"].outputs["user_data"] == NEW
    assert _at_nova(operator, program) == NEW
    program.declare(planned | {"alice-server": _with(planned["alice-server"], user_data=OLD)})
    force(program, "alice-server")
    assert _at_nova(operator, program) == OLD


def test_another_ssh_key_beside_changed_userdata_replaces_the_key_alone(program: Stack, operator: Cloud) -> None:
    before, planned = _ids(program), dict(program.resources)
    program.declare(planned | {"alice-key": _with(planned["alice-key"], public_key=ssh_key("another"))})
    assert program.diff("alice-key") == {"public_key": True}
    up(program, program.resources, preflight=True)
    assert _ids(program) == before, "a key pair is its name, and nothing else was recreated"
    pair = operator.api("compute").get(f"/os-keypairs/{before['alice-key']}")["keypair"]
    assert pair["public_key"] == ssh_key("another")
    assert all(program.diff(name) == {} for name in program.resources)
    program.declare(planned)
    up(program, program.resources, preflight=True)


def test_no_secret_of_the_stack_stands_in_userdata_or_beside_it(world: World, operator: Cloud) -> None:
    stack = world.tenant
    key = stack.state["alice-s3-key"]
    secrets = [key.outputs[name] for name in ACTUATORS["S3Credential"].SECRET]
    assert secrets
    assert all(len(secret) > 20 for secret in secrets)
    server = operator.api("compute").get(f"/servers/{stack.state['alice-server'].id}")["server"]
    node = operator.api("baremetal").get("/nodes/node-alice")
    shown = (_at_nova(operator, stack), json.dumps(server), json.dumps(node))
    assert [secret for secret in secrets for text in shown if secret in text] == []
