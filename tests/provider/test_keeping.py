"""`on_delete: snapshot`: what was written is there when the volume is gone, wherever the deletion was cut off."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

import pytest

from interlock.provider.clouds import Cloud
from interlock.provider.errors import Failure
from interlock.provider.preflight.presence import copies
from interlock.resources import Project, Resource, Volume, VolumeType
from tests.conftest import Sandbox
from tests.support.engine.process import Process, Refused
from tests.support.engine.stack import Stack
from tests.support.world.declared import operator as admin_of
from tests.support.world.small import SITE_OWNER

OWNER, VOLUME = "5afe", "data"
PLACE, WRITTEN = 123_456_789, b"what the tenant wrote"


@dataclass
class Scene:
    """One project with one volume, in which something is written."""

    program: Stack
    cloud: Cloud
    state: Path

    @property
    def volume(self) -> str:
        return self.program.state[VOLUME].id

    def write(self, data: bytes) -> None:
        """As a guest would; in the sandbox no guest can."""
        with (self.state / "volumes" / self.volume).open("r+b") as file:
            file.seek(PLACE)
            file.write(data)

    def kept(self, backup: str, size: int) -> bytes:
        with (self.state / "backups" / backup).open("rb") as file:
            file.seek(PLACE)
            return file.read(size)

    def backups(self, volume: str) -> list[dict[str, Any]]:
        found = self.cloud.api("block-storage").items(
            "/backups/detail", "backups", all_tenants=1, volume_id=volume, sort="created_at:asc"
        )
        return list(found)

    def there(self, volume: str) -> bool:
        return self.cloud.api("block-storage").find(f"/volumes/{volume}") is not None

    def attach(self) -> str:
        """As Nova does it, as far as Cinder is concerned."""
        body = {"volume_uuid": self.volume, "instance_uuid": str(uuid4())}
        return str(self.cloud.api("block-storage").post("/attachments", {"attachment": body})["attachment"]["id"])

    def detach(self, attachment: str) -> None:
        self.cloud.api("block-storage").delete(f"/attachments/{attachment}")

    def new_process(self) -> None:
        """As after a kill."""
        self.program.process.close()
        self.program.process = Process()
        assert self.program.admit(preview=False) == []


@pytest.fixture(scope="module")
def tenant(sandbox: Sandbox, folder: Path, operator: Cloud) -> Iterator[Stack]:
    """All of a small tenant but its volume."""
    kept: dict[str, Resource] = {
        "fast": VolumeType(name="safe-fast", extra_specs={"volume_backend_name": "fake"}),
        "project": Project(name="safe"),
        "operator": admin_of("project"),
        "nowhere": VolumeType(name="safe-nowhere", extra_specs={"volume_backend_name": "none"}),
        VOLUME: Volume(name="safe-data", project="project", size_gib=1, volume_type="fast", on_delete="snapshot"),
    }
    program = Stack(Process(), "lyon-safe", OWNER, kept, SITE_OWNER, folder)
    assert program.admit(preview=False) == []
    for name in ("fast", "nowhere", "project", "operator"):
        assert program.check(name) == []
        program.create(name)
    yield program
    program.delete_all()
    program.process.close()


@pytest.fixture
def scene(sandbox: Sandbox, tenant: Stack, operator: Cloud) -> Iterator[Scene]:
    tenant.create(VOLUME)
    found = Scene(tenant, operator, sandbox.dir / "state" / "cinder")
    found.write(WRITTEN)
    yield found
    tenant.state.pop(VOLUME, None)
    _clear(operator, tenant.state["project"].id)


def _clear(cloud: Cloud, project: str) -> None:
    """What an operator does with copies that nobody needs any more."""
    api = cloud.api("block-storage")
    for path in ("backups", "volumes"):
        for item in list(api.items(f"/{path}/detail", path, all_tenants=1, project_id=project)):
            api.delete(f"/{path}/{item['id']}")
            while api.find(f"/{path}/{item['id']}") is not None:
                pass


def test_the_data_outlive_the_volume_and_are_named(scene: Scene, capfd: pytest.CaptureFixture[str]) -> None:
    volume = scene.volume
    scene.program.delete(VOLUME)
    assert not scene.there(volume)
    (backup,) = scene.backups(volume)
    assert backup["status"] == "available"
    assert backup["metadata"] == {"interlock": f"interlock:{OWNER}:{VOLUME}"}
    assert backup["os-backup-project-attr:project_id"] == scene.program.state["project"].id
    assert scene.kept(backup["id"], len(WRITTEN)) == WRITTEN
    said = capfd.readouterr().err
    assert f"Volume {VOLUME} ({volume}) is gone; its data are in backup safe-data ({backup['id']})" in said


def test_the_project_stays_and_says_what_keeps_it(scene: Scene) -> None:
    volume = scene.volume
    scene.program.delete(VOLUME)
    (backup,) = scene.backups(volume)
    with pytest.raises(Refused) as refused:
        scene.program.delete("project")
    said = str(refused.value)
    assert f"still holds data that were kept: backup safe-data ({backup['id']}) of volume {volume}" in said
    assert "next: remove these objects, then run the command again" in said


def test_what_was_kept_can_be_had_back(scene: Scene) -> None:
    volume = scene.volume
    scene.program.delete(VOLUME)
    (backup,) = scene.backups(volume)
    api = scene.cloud.api("block-storage", scene.program.state["project"].id)
    back = api.post(f"/backups/{backup['id']}/restore", {"restore": {"name": "back"}})["restore"]["volume_id"]
    while api.get(f"/volumes/{back}")["volume"]["status"] != "available":
        pass
    with (scene.state / "volumes" / back).open("rb") as file:
        file.seek(PLACE)
        assert file.read(len(WRITTEN)) == WRITTEN


class Killed(Exception):
    """Stands for SIGKILL: nothing after it runs."""


#: Where a deletion is cut off: (method of the actuator, before or after it did its work).
POINTS = [("copies", "before"), ("copy", "before"), ("copy", "after"), ("delete", "before"), ("delete", "after")]


@pytest.mark.parametrize(("method", "when"), POINTS)
def test_killed_anywhere_the_next_deletion_ends_with_one_whole_copy(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], method: str, when: str
) -> None:
    from interlock.provider.actuators import ACTUATORS

    actuator, volume = ACTUATORS["Volume"], scene.volume
    whole = getattr(actuator, method)

    def cut(*arguments: Any) -> Any:
        if when == "after":
            whole(*arguments)
        raise Killed

    monkeypatch.setattr(actuator, method, cut)
    with pytest.raises(Refused, match="Killed"):
        scene.program.delete(VOLUME)
    monkeypatch.undo()
    scene.new_process()
    scene.program.delete(VOLUME)
    assert not scene.there(volume)
    (backup,) = scene.backups(volume)
    assert backup["status"] == "available"
    assert scene.kept(backup["id"], len(WRITTEN)) == WRITTEN
    # Also where the first one had deleted it, and could not say so any more.
    said = "was gone already; its last copy is" if (method, when) == ("delete", "after") else "is gone; its data are in"
    assert f"Volume {VOLUME} ({volume}) {said} backup safe-data ({backup['id']})" in capfd.readouterr().err


def test_a_volume_that_somebody_else_deleted_has_no_copy(scene: Scene, capfd: pytest.CaptureFixture[str]) -> None:
    api, volume = scene.cloud.api("block-storage"), scene.volume
    api.delete(f"/volumes/{volume}")
    while api.find(f"/volumes/{volume}") is not None:
        pass
    scene.program.delete(VOLUME)
    assert VOLUME not in capfd.readouterr().err


def test_an_answer_that_was_lost_leads_to_no_second_copy(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    from interlock.provider.actuators import ACTUATORS
    from interlock.provider.errors import Trouble

    actuator, volume = ACTUATORS["Volume"], scene.volume
    whole, lost = actuator.copy, []

    def copy(*arguments: Any) -> str:
        lost.append(whole(*arguments))
        raise Failure(Trouble.LOST_ANSWER, "the connection broke")

    monkeypatch.setattr(actuator, "copy", copy)
    scene.program.delete(VOLUME)
    assert [item["id"] for item in scene.backups(volume)] == lost
    assert not scene.there(volume)


def test_a_copy_from_before_the_last_change_does_not_count(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    from interlock.provider.actuators import ACTUATORS

    actuator, volume = ACTUATORS["Volume"], scene.volume
    monkeypatch.setattr(actuator, "delete", _killed)
    with pytest.raises(Refused, match="Killed"):
        scene.program.delete(VOLUME)
    monkeypatch.undo()
    # The operator thinks better of it; the volume is used again, and goes at last.
    later = b"what was written later"
    scene.write(later)
    scene.detach(scene.attach())
    scene.program.delete(VOLUME)
    first, last = scene.backups(volume)
    assert scene.kept(first["id"], len(WRITTEN)) == WRITTEN
    assert scene.kept(last["id"], len(later)) == later


def _killed(*_: Any) -> None:
    raise Killed


def test_a_copy_that_failed_leaves_the_volume_and_the_next_one_takes_its_place(scene: Scene) -> None:
    volume = scene.volume
    file, hidden = scene.state / "volumes" / volume, scene.state / "hidden"
    file.rename(hidden)
    said = r"(?s)says `on_delete: snapshot` and stays: backup safe-data .* failed: .*next: "
    with pytest.raises(Refused, match=said):
        scene.program.delete(VOLUME)
    hidden.rename(file)
    assert scene.there(volume)
    assert [item["status"] for item in scene.backups(volume)] == ["error"]
    scene.program.delete(VOLUME)
    assert not scene.there(volume)
    assert [item["status"] for item in scene.backups(volume) if item["status"] != "deleting"] == ["available"]


def test_a_volume_that_is_in_use_stays(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("interlock.provider.keeping.LETTING_GO", 0.0)
    volume, attachment = scene.volume, scene.attach()
    with pytest.raises(Refused, match=r"stays, since it cannot be copied: .*must be available or in-use"):
        scene.program.delete(VOLUME)
    assert scene.there(volume)
    scene.detach(attachment)


def _service(state: str, status: str) -> dict[str, str]:
    return {"binary": "cinder-backup", "state": state, "status": status}


#: The services that Cinder lists -> whether one of them takes backups.
SERVICES: list[tuple[list[dict[str, str]], bool]] = [
    ([], False),
    ([_service("down", "enabled")], False),
    ([_service("up", "disabled")], False),
    ([_service("down", "enabled"), _service("up", "enabled")], True),
]


@pytest.mark.parametrize(("services", "taken"), SERVICES)
def test_where_nobody_takes_backups_the_promise_is_refused_before_the_first_call(
    tenant: Stack, services: list[dict[str, str]], taken: bool
) -> None:
    class Answering:
        """Stands for a cloud with these services."""

        def api(self, _: str) -> Answering:
            return self

        def get(self, path: str, **asked: str) -> dict[str, Any]:
            assert (path, asked) == ("/os-services", {"binary": "cinder-backup"})
            return {"services": services}

    faults = [str(fault) for fault in copies(cast("Cloud", Answering()), tenant.admission())]
    assert (faults == []) == taken
    if not taken:
        (fault,) = faults
        assert "data: `on_delete: snapshot` is kept as a backup, and no service cinder-backup is up" in fault


def test_the_embedded_cloud_takes_backups(tenant: Stack, operator: Cloud) -> None:
    assert list(copies(operator, tenant.admission())) == []


def test_a_volume_to_be_kept_that_was_never_made_is_made_again(tenant: Stack, operator: Cloud) -> None:
    """In the state it would be protected, so that the engine could never replace it."""
    name, project = "never", tenant.state["project"].id
    tenant.resources[name] = Volume(
        name="safe-never", project="project", size_gib=1, volume_type="nowhere", on_delete="keep"
    )
    api, seen = operator.api("block-storage"), set[str]()
    for attempt in range(2):
        tenant.process.close()
        tenant.process = Process()
        assert tenant.admit(preview=False) == []
        with pytest.raises(Refused, match="deletes this one and creates another") as refused:
            tenant.create(name)
        assert refused.value.partial is None
        (volume,) = api.items("/volumes/detail", "volumes", all_tenants=1, project_id=project)
        assert volume["status"] == "error"
        seen.add(volume["id"])
        assert len(seen) == attempt + 1
    del tenant.resources[name]
    _clear(operator, project)
