"""A tenant's S3 key reaches its server by the real CLI and the real Barbican, follows a rotation, and goes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from keystoneauth1.adapter import Adapter
from openstack.connection import Connection

from interlock.channel import Desk, Shelf
from tests.conftest import Sandbox
from tests.e2e.identity import identity
from tests.e2e.project import Project
from tests.e2e.victim import STACK

REQUEST, SITE_FILE = "lyon/tenants/initech.yaml", "lyon/site.yaml"
NAME, SERVER, USER = "initech-lab-poplar-0-s3-keys", "initech-lab-poplar-0", "initech-lab-s3"


@dataclass
class Handing:
    """The small tenant on a site whose metadata API asks, and what waits for its server."""

    project: Project
    cloud: Connection

    @property
    def shelf(self) -> Shelf:
        return Shelf(Adapter(self.cloud.session, service_type="key-manager", min_version="1", max_version="1.latest"))

    def up(self) -> None:
        self.project.must(self.project.interlock("lock", "initech"))
        self.project.must(self.project.up(STACK))
        self.project.unchanged(STACK)

    def keys(self) -> dict[str, str]:
        """Access half -> secret half of the tenant's keys."""
        user = identity(self.cloud).find_user(USER)
        assert user is not None
        found = self.cloud.identity.get(f"/users/{user.id}/credentials/OS-EC2").json()["credentials"]
        return {item["access"]: item["secret"] for item in found}

    def fetched(self, server: str) -> dict[str, str]:
        """As the program in the server asks."""
        desk = Desk(self.shelf, gap=timedelta(0))
        desk.ask(server)
        return desk.ask(server).items

    def without_taken(self, ticket: str) -> dict[str, str]:
        """What a ticket says, but that its secret was fetched."""
        found = self.cloud.key_manager.get(f"/secrets/{ticket}/metadata").json()["metadata"]
        return {key: value for key, value in found.items() if key != "taken"}

    def waiting(self) -> list[dict[str, Any]]:
        """All that the channel has in Barbican."""
        listed = self.cloud.key_manager.get("/secrets", params={"limit": 100}).json()["secrets"]
        return [item for item in listed if str(item["name"]).startswith("interlock-")]


@pytest.fixture
def handing(victim: Project, cloud: Connection) -> Iterator[Handing]:
    site, request = (victim.folder / "stacks" / name for name in (SITE_FILE, REQUEST))
    before = {path: path.read_text() for path in (site, request)}
    site.write_text(f"{before[site]}\nchannel: true\n")
    yield Handing(victim, cloud)
    for path, text in before.items():
        path.write_text(text)
    victim.must(victim.interlock("lock", "initech"))


@pytest.mark.timeout(1200)
def test_channel_secret_reaches_its_server_by_pulumi_up(handing: Handing, sandbox: Sandbox) -> None:
    project = handing.project
    handing.up()
    objects = project.objects(STACK)
    server, ticket = objects[SERVER]["id"], objects[NAME]["id"]
    ((access, secret),) = handing.keys().items()
    assert secret not in str(project.state(STACK))
    looked = project.must(project.interlock("channel", "look", server, "--cloud", sandbox.cloud))
    assert looked.out.startswith("s3: waits until")
    key = f"[default]\naws_access_key_id = {access}\naws_secret_access_key = {secret}\n"
    assert handing.fetched(server) == {"s3": key}
    project.refresh(STACK)
    project.unchanged(STACK)
    assert project.objects(STACK)[NAME]["id"] == ticket

    # Rotated: the newest of both is left in place of the first.
    project.edit(REQUEST, "    machines: 1\n", "    machines: 1\n    s3_keys: [1, 2]\n")
    handing.up()
    ((newer, second),) = handing.keys().items() - {(access, secret)}
    assert project.objects(STACK)[NAME]["id"] != ticket
    assert handing.fetched(server) == {"s3": key.replace(access, newer).replace(secret, second)}

    # Fetched and told, but not noted, is as lost on the way: a refresh finds it, and the next `up` leaves it again.
    lost = project.objects(STACK)[NAME]["id"]
    handing.cloud.key_manager.put(f"/secrets/{lost}/metadata", json={"metadata": handing.without_taken(lost)})
    project.refresh(STACK)
    project.must(project.plain_up(STACK))
    assert project.objects(STACK)[NAME]["id"] != lost
    assert "s3" in handing.fetched(server)
    project.destroy(STACK)
    assert handing.waiting() == []
