"""Encrypted volumes: their types are private until they are encrypted, and what is not encrypted is not handed on."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from interlock.provider.clouds import Cloud
from interlock.provider.preflight.encryption import encrypted_types, key_manager
from interlock.provider.regions import Catalogue
from interlock.resources import Project, Resource, Volume, VolumeType
from tests.conftest import Sandbox
from tests.support.cloud.journal import Journal, Trap
from tests.support.engine.process import Process, Refused
from tests.support.engine.stack import Stack
from tests.support.world.declared import LUKS
from tests.support.world.declared import operator as admin_of

OWNER = "5ec001"
SPECS = {"volume_backend_name": "fake"}
TYPE, PLAIN, VOLUME = "sealed", "plain", "papers"


@pytest.fixture(scope="module")
def program(sandbox: Sandbox, folder: Path, operator: Cloud) -> Iterator[Stack]:
    """A project, and a volume type in the clear; the rest is made by the tests."""
    resources: dict[str, Resource] = {
        "project": Project(name="sealed"),
        "operator": admin_of("project"),
        PLAIN: VolumeType(name="sealed-plain", extra_specs=SPECS),
        TYPE: VolumeType(name="sealed-luks", extra_specs=SPECS, encryption=LUKS),
        VOLUME: Volume(
            name="papers", project="project", size_gib=1, volume_type=TYPE, on_delete="erase", encrypted=True
        ),
    }
    found = Stack(Process(), "lyon-sealed", OWNER, resources, OWNER, folder)
    assert found.admit(preview=False) == []
    for name in ("project", "operator", PLAIN):
        found.create(name)
    yield found
    found.delete_all()
    found.process.close()


@pytest.fixture
def sealed(program: Stack) -> str:
    """The id of the encrypted type, which is there."""
    if TYPE not in program.state:
        program.create(TYPE)
    return program.state[TYPE].id


def of_type(cloud: Cloud, ident: str) -> tuple[bool, dict[str, Any]]:
    """(public, encryption) of a volume type, as Cinder says it."""
    api = cloud.api("block-storage")
    encryption = api.get(f"/types/{ident}/encryption")
    said = {key: value for key, value in encryption.items() if key in LUKS.model_dump()}
    return bool(api.get(f"/types/{ident}")["volume_type"]["is_public"]), said


def declared(program: Stack, name: str, **fields: object) -> None:
    """From now on the program says this of a resource."""
    program.resources[name] = program.resources[name].model_copy(update=fields)
    assert program.admit(preview=False) == []


def _release(trap: Trap) -> None:
    """Lets the held request fail with 503 as soon as it is held."""
    trap.wait(20)
    trap.release()


def test_a_type_is_for_nobody_until_it_is_encrypted(
    program: Stack, operator: Cloud, sandbox: Sandbox, journal: Journal
) -> None:
    """Killed between the two requests, the next run goes on from there."""
    trap, since = Trap(sandbox.dir), journal.now()
    trap.arm(1, "before", "/encryption")
    releasing = threading.Thread(target=_release, args=(trap,))
    releasing.start()
    with pytest.raises(Refused) as stopped:
        program.create(TYPE)
    releasing.join()
    assert stopped.value.partial is not None
    left = stopped.value.partial.id
    assert of_type(operator, left) == (False, {})
    assert program.create(TYPE).id == left
    assert of_type(operator, left) == (True, LUKS.model_dump())
    sent = [(item["method"], item["path"].split("/types")[-1].replace(left, "ID")) for item in since.ours()]
    made = ("POST", "/ID/encryption")
    assert [one for one in sent if one != made] == [("POST", ""), ("PUT", "/ID")]
    assert sent[-2:] == [made, ("PUT", "/ID")]
    assert program.diff(TYPE) == {}


def test_a_volume_is_encrypted_grows_and_does_not_shrink(program: Stack, operator: Cloud, sealed: str) -> None:
    made = program.create(VOLUME)
    seen = operator.api("block-storage").get(f"/volumes/{made.id}")["volume"]
    assert (seen["encrypted"], seen["size"]) == (True, 1)
    try:
        declared(program, VOLUME, size_gib=2)
        assert program.check(VOLUME) == []
        program.update(VOLUME)
        assert operator.api("block-storage").get(f"/volumes/{made.id}")["volume"]["size"] == 2
        declared(program, VOLUME, size_gib=1)
        told = "size_gib cannot change from 2 to 1: a volume can grow, not shrink"
        assert program.check(VOLUME) == [("size_gib", told)]
        declared(program, VOLUME, encrypted=False)
        assert [field for field, _ in program.check(VOLUME)] == ["size_gib", "encrypted"]
    finally:
        # A provider that has refused changes nothing any more.
        program.process.close()
        program.process = Process()
        declared(program, VOLUME, size_gib=1, encrypted=True)
        program.delete(VOLUME)


def test_encryption_is_changed_while_there_is_no_volume_of_the_type(
    program: Stack, operator: Cloud, sealed: str
) -> None:
    wider = LUKS.model_copy(update={"provider": "luks2", "control_location": "back-end"})
    try:
        program.create(VOLUME)
        declared(program, TYPE, encryption=wider)
        with pytest.raises(Refused, match="Volume type in use"):
            program.update(TYPE)
        assert of_type(operator, sealed) == (True, LUKS.model_dump())
        program.delete(VOLUME)
        program.update(TYPE)
        assert of_type(operator, sealed) == (True, wider.model_dump())
        declared(program, TYPE, encryption=None)
        program.update(TYPE)
        assert of_type(operator, sealed) == (True, {})
    finally:
        declared(program, TYPE, encryption=LUKS)
        program.update(TYPE)
    assert of_type(operator, sealed) == (True, LUKS.model_dump())


def test_nothing_is_made_of_a_type_that_lost_its_encryption(
    program: Stack, operator: Cloud, sealed: str, journal: Journal
) -> None:
    api = operator.api("block-storage")
    api.delete(f"/types/{sealed}/encryption/{api.get(f'/types/{sealed}/encryption')['encryption_id']}")
    since = journal.now()
    try:
        with pytest.raises(Refused, match=r"its volume type .* has no encryption on the cloud") as refused:
            program.create(VOLUME)
        assert refused.value.partial is None
        assert since.ours() == []
        assert program.read(TYPE, record=False).outputs["encryption"] is None  # type: ignore[union-attr]
    finally:
        program.read(TYPE)
        assert program.diff(TYPE) == {"encryption": False}
        program.update(TYPE)


def test_trap_a_volume_with_our_marker_in_the_clear(program: Stack, operator: Cloud, sealed: str) -> None:
    """Somebody made it while its type was not encrypted yet: it is named, and neither taken nor deleted."""
    plain, project = program.state[PLAIN].id, program.state["project"].id
    body = {"name": "papers", "size": 1, "volume_type": plain, "metadata": {"interlock": f"interlock:{OWNER}:{VOLUME}"}}
    api = operator.api("block-storage", project)
    found = api.post("/volumes", {"volume": body})["volume"]["id"]
    while api.get(f"/volumes/{found}")["volume"]["status"] != "available":
        pass
    try:
        with pytest.raises(Refused, match="carries its marker but differs in encrypted, volume_type"):
            program.create(VOLUME)
        assert VOLUME not in program.state
        assert api.find(f"/volumes/{found}") is not None
    finally:
        api.delete(f"/volumes/{found}")
        while api.find(f"/volumes/{found}") is not None:
            pass


def test_preflight_of_a_cloud_without_a_key_manager(program: Stack, sandbox: Sandbox) -> None:
    cloud = Cloud(sandbox.cloud)
    assert list(key_manager(cloud, program.admission())) == []
    regions = {kind: names for kind, names in cloud.login.catalogue.regions.items() if kind != "key-manager"}
    vars(cloud)["login"] = replace(cloud.login, catalogue=Catalogue(regions))
    (fault,) = key_manager(cloud, program.admission())
    assert fault.message == (
        f"{TYPE}, {VOLUME}: to be encrypted, and the catalogue of cloud {sandbox.cloud!r} has no key-manager"
    )
    assert "[key_manager] backend = barbican" in fault.hint


def test_preflight_of_a_site_whose_type_is_not_encrypted(program: Stack, operator: Cloud, sealed: str) -> None:
    volume = program.resources[VOLUME]
    tenant = replace(program, existing={"VolumeType/a": program.state[PLAIN].id, "VolumeType/b": sealed})
    tenant.resources = {
        "one": volume.model_copy(update={"volume_type": "site:VolumeType/a"}),
        "two": volume.model_copy(update={"volume_type": "site:VolumeType/b"}),
    }
    (fault,) = encrypted_types(operator, tenant.admission())
    assert fault.message.startswith("one: to be encrypted, and site:VolumeType/a (")
