"""`pulumi up --replace URN`, with the real engine: recreated with all attached again, or refused with nothing touched.

Which kind ends how is in `tests/provider/test_replace.py`, for all of them. The tenant stays for `test_fence_walks.py`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from openstack.connection import Connection

from tests.conftest import Sandbox
from tests.e2e import s3
from tests.e2e.listing import listing
from tests.e2e.project import PACK, Project, Result, changes
from tests.e2e.standing import SITE, Standing
from tests.e2e.victim import STACK
from tests.support.cloud.journal import Journal

SERVER, VOLUME, ATTACHMENT = "initech-lab-poplar-0", "initech-lab-poplar-0-data", "initech-lab-poplar-0-attachment"
PLACE, WRITTEN = 4096, b"what the tenant wrote"


@pytest.fixture(scope="module")
def standing(stands: Standing, sandbox: Sandbox, cloud: Connection) -> Project:
    """The small tenant, applied, with something in its volume and in its bucket."""
    project = stands.apply(SITE, STACK)
    with _volume(project, sandbox).open("r+b") as file:
        file.seek(PLACE)
        file.write(WRITTEN)
    _client(project, cloud).put_object(Bucket="initech-results", Key="a", Body=WRITTEN)
    return project


def _volume(project: Project, sandbox: Sandbox) -> Path:
    return sandbox.dir / "state" / "cinder" / "volumes" / str(project.objects(STACK)[VOLUME]["id"])


def _client(project: Project, cloud: Connection) -> Any:
    pod = project.output(STACK, "--show-secrets")["vpods"]["initech-lab"]
    return s3.client(cloud, pod["s3_access_key"], pod["s3_secret_key"])


def _data(project: Project, sandbox: Sandbox, cloud: Connection) -> list[bytes]:
    with _volume(project, sandbox).open("rb") as file:
        file.seek(PLACE)
        on_volume = file.read(len(WRITTEN))
    return [on_volume, _client(project, cloud).get_object(Bucket="initech-results", Key="a")["Body"].read()]


def _forced(project: Project, name: str, *arguments: str) -> Result:
    return project.plain_up(STACK, "--replace", project.objects(STACK)[name]["urn"], *arguments)


def _ids(project: Project) -> dict[str, str]:
    return {name: item["id"] for name, item in project.objects(STACK).items()}


def test_a_server_is_recreated_and_its_volume_is_attached_again(
    standing: Project, sandbox: Sandbox, cloud: Connection
) -> None:
    before, objects = _ids(standing), listing(cloud, "initech")
    done = standing.must(_forced(standing, SERVER, "--policy-pack", str(PACK)))
    assert changes(done)["replaced"] == 2, done.text
    after = _ids(standing)
    assert {name for name in before if after[name] != before[name]} == {SERVER, ATTACHMENT}
    assert listing(cloud, "initech") == objects
    assert cloud.block_storage.get_volume(after[VOLUME]).attachments[0]["server_id"] == after[SERVER]
    assert _data(standing, sandbox, cloud) == [WRITTEN, WRITTEN]
    standing.unchanged(STACK, "--refresh")


#: What is refused -> what the refusal says.
REFUSED = {
    "initech-lab-ipu-data": "Network initech-lab-ipu-data .* is not recreated while .* depends on it: it is in use",
    VOLUME: f"Volume {VOLUME} .* is not recreated while VolumeAttachment {ATTACHMENT} depends on it: it holds data",
    "initech-results": "Bucket initech-results .* holds data and would be deleted only to be recreated",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_in_use_or_holds_data_is_refused_before_anything_is_touched(
    standing: Project, sandbox: Sandbox, cloud: Connection, journal: Journal, name: str
) -> None:
    before, objects, since = _ids(standing), listing(cloud, "initech"), journal.now()
    refused = _forced(standing, name)
    assert refused.code != 0
    assert re.search(REFUSED[name], refused.text), refused.text
    assert "leave out `--replace`" in refused.text
    assert since.ours() == []
    assert _ids(standing) == before
    assert listing(cloud, "initech") == objects
    assert _data(standing, sandbox, cloud) == [WRITTEN, WRITTEN]
    standing.unchanged(STACK)
