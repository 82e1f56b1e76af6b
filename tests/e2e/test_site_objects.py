"""A new image beside a tenant, the real way: it is made, the tenant moves, the old one goes, and not before."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from openstack.connection import Connection

from tests.e2e.project import Project
from tests.e2e.standing import SITE
from tests.e2e.victim import STACK

_IMAGES, _REQUEST = "lyon/site.yaml", "lyon/tenants/initech.yaml"
_WITH, _WITHOUT = "vipu-controller: *placeholder\n  {}: *placeholder\n", "vipu-controller: *placeholder\n"
_SERVERS, _ASKING = "{servers: 1, flavor", "{servers: 1, image: %s, flavor"


@pytest.fixture
def user(world: Project) -> Iterator[Project]:
    """The small tenant, with an image that nobody else has; it and the image are taken away again."""
    world.edit(_IMAGES, _WITHOUT, _WITH.format("poplar-a"))
    world.edit(_REQUEST, _SERVERS, _ASKING % "poplar-a")
    world.must(world.interlock("lock"))
    world.must(world.plain_up(SITE))
    world.must(world.plain_up(STACK))
    yield world
    world.destroy(STACK)
    world.edit(_IMAGES, _WITH.format("poplar-b"), _WITHOUT)
    world.edit(_REQUEST, _ASKING % "poplar-b", _SERVERS)
    world.must(world.interlock("lock"))
    world.must(world.plain_up(SITE))


def _left(project: Project) -> list[str]:
    """The steps that are left, as commands; the exit code says whether there are any."""
    ended = project.interlock("rollout", "--format", "json")
    steps: list[dict[str, Any]] = json.loads(ended.out)["steps"]
    assert ended.code == (1 if steps else 0), ended.text
    return [step["command"] for step in steps]


def _images(cloud: Connection) -> set[str]:
    return {image.name for image in cloud.image.images()} & {"poplar-a", "poplar-b"}


def test_the_new_image_comes_the_tenant_moves_the_old_one_goes(user: Project, cloud: Connection) -> None:
    site, tenant = f"pulumi up --stack {SITE}", f"pulumi up --stack {STACK}"
    assert _left(user) == []
    user.edit(_IMAGES, "  poplar-a: *placeholder", "  poplar-b: *placeholder")
    user.edit(_REQUEST, "image: poplar-a", "image: poplar-b")
    user.must(user.interlock("lock"))
    assert _left(user) == [site, tenant, site]
    kept = user.must(user.up(SITE))
    assert f"kept: Image/poplar-a is not in the site file, and is used by {STACK}" in kept.text
    assert _images(cloud) == {"poplar-a", "poplar-b"}
    assert _left(user) == [tenant, site]
    user.must(user.plain_up(STACK))
    server = next(iter(cloud.compute.servers(all_projects=True, name="^initech-lab-poplar-0$")))
    assert cloud.image.get_image(server.image.id).name == "poplar-b"
    assert _left(user) == [site]
    user.must(user.plain_up(SITE))
    assert (_images(cloud), _left(user)) == ({"poplar-b"}, [])
    user.unchanged(STACK)
