"""`up --replace` on each kind of a tenant's stack: recreated with what rests on it, or refused with nothing lost."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from interlock.provider.actuators import ACTUATORS, Target
from interlock.provider.actuators.s3 import client_with, usable_keys
from interlock.provider.clouds import Cloud
from interlock.provider.markers import CARRIERS
from interlock.provider.state import declared, recorded_target
from interlock.resources import Claims
from tests.conftest import Sandbox
from tests.provider.ends import ANEW, REFUSED, SAME_ID
from tests.support.cloud.journal import Journal
from tests.support.engine.process import Process, Refused
from tests.support.engine.runs import force, up
from tests.support.engine.stack import Stack
from tests.support.world.small import World

PLACE, WRITTEN = 4096, b"a byte of the tenant's"


@pytest.fixture(scope="module")
def full(world: World, sandbox: Sandbox, operator: Cloud) -> Iterator[Stack]:
    """The tenant with something written into its volume and its bucket."""
    program = world.tenant
    with _volume(sandbox, program).open("r+b") as file:
        file.seek(PLACE)
        file.write(WRITTEN)
    _client(operator, program).put_object(Bucket="alice-bucket", Key="a", Body=WRITTEN)
    yield program
    _client(operator, program).delete_object(Bucket="alice-bucket", Key="a")


def _volume(sandbox: Sandbox, program: Stack) -> Path:
    return sandbox.dir / "state" / "cinder" / "volumes" / program.state["alice-volume"].id


def _client(cloud: Cloud, program: Stack) -> Any:
    return client_with(cloud, usable_keys(cloud, _target(program, "alice-bucket"))[0], "")


def _data(sandbox: Sandbox, operator: Cloud, program: Stack) -> list[bytes]:
    with _volume(sandbox, program).open("rb") as file:
        file.seek(PLACE)
        on_volume = file.read(len(WRITTEN))
    return [on_volume, _client(operator, program).get_object(Bucket="alice-bucket", Key="a")["Body"].read()]


def test_every_kind_of_a_tenant_ends_in_one_of_the_two_ways(world: World) -> None:
    kinds = {item.KIND for item in world.tenant.resources.values()} - {Claims.KIND}
    again = {world.tenant.resources[name].KIND for name in ANEW}
    assert again | set(REFUSED) == kinds
    assert not again & set(REFUSED)


@pytest.mark.parametrize("name", ANEW)
def test_it_is_recreated_and_what_rests_on_it_is_attached_again(
    full: Stack, sandbox: Sandbox, operator: Cloud, name: str
) -> None:
    along = ANEW[name]
    before = {each: item.id for each, item in full.state.items()}
    assert force(full, name) == [name, *along]
    after = {each: item.id for each, item in full.state.items()}
    changed = {each for each in before if after[each] != before[each]}
    assert {each for each in (name, *along) if full.resources[each].KIND not in SAME_ID} <= changed
    assert changed <= {name, *along}
    _settled(full, operator)
    assert _data(sandbox, operator, full) == [WRITTEN, WRITTEN]


def test_what_a_kill_left_out_of_the_state_is_not_in_the_way_of_its_router(full: Stack, operator: Cloud) -> None:
    # Of what was never made nothing could lead in by it.
    full.delete("alice-entry")
    lost = full.state.pop("alice-uplink")
    again = replace(full, process=Process())
    up(again, ("alice-router", "alice-uplink", "alice-entry"), "alice-router", preflight=True)
    again.process.close()
    assert full.state["alice-uplink"].id != lost.id
    _settled(full, operator)


def _settled(program: Stack, operator: Cloud) -> None:
    """The cloud is as the state says, and holds nothing else with our marker."""
    for name, item in program.resources.items():
        assert program.read(name) is not None, f"{name} is gone"
        assert program.diff(name) == {}, name
        if CARRIERS[item.KIND].field:
            assert list(ACTUATORS[item.KIND].find(operator, _target(program, name))) == [program.state[name].id], name


def _target(program: Stack, name: str) -> Target[Any]:
    recorded = program.state[name]
    return recorded_target(declared(program.resources[name].KIND, name, recorded.inputs), recorded.outputs)


@pytest.mark.parametrize("kind", REFUSED)
def test_it_is_refused_before_anything_is_deleted(
    full: Stack, sandbox: Sandbox, operator: Cloud, journal: Journal, kind: str
) -> None:
    name, reason = REFUSED[kind]
    before, state = journal.ours(), json.dumps({each: item.id for each, item in full.state.items()})
    with pytest.raises(Refused, match=f"{kind} .*{reason}") as refused:
        force(full, name)
    assert "next: leave out `--replace`" in str(refused.value)
    assert journal.ours() == before
    assert json.dumps({each: item.id for each, item in full.state.items()}) == state
    _settled(full, operator)
    assert _data(sandbox, operator, full) == [WRITTEN, WRITTEN]


def test_a_bucket_with_nothing_in_it_is_recreated(full: Stack, operator: Cloud) -> None:
    client = _client(operator, full)
    for version in client.list_object_versions(Bucket="alice-bucket")["Versions"]:
        client.delete_object(Bucket="alice-bucket", Key="a", VersionId=version["VersionId"])
    assert force(full, "alice-bucket") == ["alice-bucket"]
    _settled(full, operator)
    _client(operator, full).put_object(Bucket="alice-bucket", Key="a", Body=WRITTEN)
