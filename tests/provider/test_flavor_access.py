"""Private flavours: what Nova is asked for, and what it shows."""

from __future__ import annotations

from typing import Any, cast

import pytest

from interlock.provider.actuators import ACTUATORS, Target
from interlock.provider.clouds import Cloud
from interlock.provider.errors import Failure, Trouble
from interlock.provider.markers import marker
from interlock.resources import Flavor, FlavorAccess
from interlock.vocabulary.owners import OwnerId

PRIVATE, PUBLIC, ALICE, BOB = "f-private", "f-public", "p-alice", "p-bob"


class Nova:
    """Flavours and their lists, as Nova answers: a public flavour has no list."""

    def __init__(self) -> None:
        self.lists: dict[str, set[str]] = {PRIVATE: {BOB}}
        self.made: list[dict[str, Any]] = []

    def find(self, path: str) -> dict[str, Any] | None:
        flavor = path.split("/")[2]
        if path.endswith("/os-flavor-access"):
            rows = self.lists.get(flavor)
            return None if rows is None else {"flavor_access": [{"flavor_id": flavor, "tenant_id": p} for p in rows]}
        public = flavor not in self.lists
        return {
            "flavor": {
                "name": flavor, "vcpus": 1, "ram": 1, "disk": 1, "extra_specs": {},
                "description": marker(OwnerId("0"), "f"),
                "os-flavor-access:is_public": public,
            }
        }  # fmt: skip

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        if path == "/flavors":
            self.made.append(body["flavor"])
            return {"flavor": {"id": "new"}}
        rows = self.lists.get(path.split("/")[2])
        ((action, what),) = body.items()
        if action == "removeTenantAccess":
            if rows is None or what["tenant"] not in rows:
                raise Failure(Trouble.NOT_FOUND, "Flavor access not found")
            rows.remove(what["tenant"])
            return {}
        assert action == "addTenantAccess"
        if rows is None:
            raise Failure(Trouble.CONFLICT, "Can not add access to a public flavor.")
        rows.add(what["tenant"])
        return {}


class OneCloud:
    """A cloud with one service."""

    def __init__(self) -> None:
        self.nova = Nova()

    def api(self, _: str) -> Nova:
        return self.nova


def wanted(flavor: str = PRIVATE) -> Target[Any]:
    spec = FlavorAccess(project="t-project", flavor="site:Flavor/gpu")
    return Target("t-gpu", OwnerId("0"), spec, {"project": ALICE, "flavor": flavor})


def test_a_place_on_the_list_comes_and_goes() -> None:
    found, actuator = OneCloud(), ACTUATORS["FlavorAccess"]
    cloud = cast(Cloud, found)
    assert actuator.find(cloud, wanted()) == []
    ident = actuator.create(cloud, wanted())
    assert (ident, found.nova.lists[PRIVATE]) == (f"{PRIVATE}/{ALICE}", {ALICE, BOB})
    seen = actuator.read(cloud, ident)
    assert seen is not None
    assert seen.references == {"project": ALICE, "flavor": PRIVATE}
    assert actuator.find(cloud, wanted()) == [ident]
    actuator.delete(cloud, ident, wanted())
    assert found.nova.lists[PRIVATE] == {BOB}
    assert actuator.read(cloud, ident) is None
    # Once more, as after a kill: what is not there counts as deleted.
    actuator.delete(cloud, ident, wanted())


def test_a_public_flavour_has_no_list() -> None:
    cloud, actuator = cast(Cloud, OneCloud()), ACTUATORS["FlavorAccess"]
    assert actuator.find(cloud, wanted(PUBLIC)) == []
    with pytest.raises(Failure, match="public flavor"):
        actuator.create(cloud, wanted(PUBLIC))


@pytest.mark.parametrize("public", [True, False])
def test_a_flavour_is_made_and_seen_as_public_or_not(public: bool) -> None:
    found, actuator = OneCloud(), ACTUATORS["Flavor"]
    cloud = cast(Cloud, found)
    spec = Flavor(name="f", vcpus=1, ram_mib=1, disk_gib=1, public=public)
    actuator.create(cloud, Target("f", OwnerId("0"), spec, {}))
    assert found.nova.made[0]["os-flavor-access:is_public"] is public
    seen = actuator.read(cloud, PUBLIC if public else PRIVATE)
    assert seen is not None
    assert seen.fields["public"] is public
