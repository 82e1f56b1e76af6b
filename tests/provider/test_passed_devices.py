"""Is a GPU node free, whole and for one use: what Placement says, and what preflight and settling make of it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from interlock.provider.clouds import Cloud
from interlock.provider.errors import Failure
from interlock.provider.markers import marker
from interlock.provider.passed_devices import MANAGED, ONE_TIME_USE, give_back
from interlock.provider.preflight.passed_devices import passed_devices
from interlock.resources import Admission, Admitted, Flavor, Resource, Server
from interlock.vocabulary.owners import OwnerId

OURS, THEIRS = OwnerId("0a11ce"), OwnerId("0b0b0b")
ALIAS = "h100:2,nvswitch:1"


class OneService:
    """Placement with the devices of `n-1`, Nova with servers there, in one."""

    def __init__(self, *states: tuple[int, int, bool], servers: tuple[OwnerId, ...] = ()) -> None:
        #: Provider -> (reserved, used, for one use).
        self.devices = {f"n-1_0000:{number:02x}:00.0": state for number, state in enumerate(states, start=0x10)}
        self.servers, self.puts = servers, list[tuple[str, dict[str, Any]]]()
        self.login = SimpleNamespace(catalogue=SimpleNamespace(regions={"placement": ("r",)}))

    def api(self, service: str) -> OneService:
        assert service in ("placement", "compute")
        return self

    def get(self, path: str, **query: str) -> dict[str, Any]:
        if path == "/resource_providers":
            tree = [{"name": "n-1", "uuid": "root"}] if query.get("name", "n-1") == "n-1" else []
            below = [{"name": name, "uuid": name} for name in (*self.devices, "n-1_numa")] if "in_tree" in query else []
            return {"resource_providers": [*tree, *below]}
        name = path.split("/")[2]
        if name not in self.devices:
            return {"traits": []}
        reserved, used, once = self.devices[name]
        inventory = {"total": 1, "reserved": reserved, "max_unit": 1}
        return {
            "traits": [MANAGED, *([ONE_TIME_USE] if once else [])],
            "inventories": {"CUSTOM_GPU": inventory},
            "resource_provider_generation": 7,
            "usages": {"CUSTOM_GPU": used},
        }

    def put(self, path: str, body: dict[str, Any]) -> None:
        self.puts.append((path, body))

    def items(self, *_: str, **query: object) -> list[dict[str, Any]]:
        assert query["host"] == "n-1"
        return [{"metadata": {"interlock": marker(owner, "x")}} for owner in self.servers]


FREE, USED, KEPT, AGAIN = (0, 0, True), (1, 1, True), (1, 0, True), (0, 0, False)


def told(cloud: OneService, alias: str = ALIAS) -> list[str]:
    """The faults of a plan with one server on the node."""
    flavor = Flavor(
        name="whole", vcpus=1, ram_mib=1, disk_gib=1, extra_specs={"pci_passthrough:alias": alias} if alias else {}
    )
    server = Server(name="s", project="p", flavor="whole", image="i", host="n-1", ports=())
    resources: dict[str, Resource] = {"whole": flavor, "s": server}
    admission = Admission(
        stack="lyon-acme", cloud="c", owner=OURS, site_owner=THEIRS, plan_hash="p", proof_hash="p", site_folder="/",
        resources=tuple(Admitted(name=name, kind=item.KIND, spec=item.canonical()) for name, item in resources.items()),
    )  # fmt: skip
    return [fault.message for fault in passed_devices(cast("Cloud", cloud), admission)]


@pytest.mark.parametrize(
    "cloud",
    [OneService(FREE, FREE, FREE), OneService(USED, USED, USED, servers=(OURS,))],
    ids=["free", "ours has them already"],
)
def test_nothing_is_in_the_way(cloud: OneService) -> None:
    assert told(cloud) == []


@pytest.mark.parametrize(
    ("cloud", "words"),
    [
        (OneService(), "Placement has no PCI device of n-1"),
        (OneService(FREE, FREE), "Placement has 2 PCI devices of n-1, and the flavour asks for 3"),
        (OneService(FREE, FREE, FREE, FREE), "has 4 PCI devices of n-1, and the flavour asks for 3: the node is not"),
        (OneService(FREE, FREE, AGAIN), "n-1_0000:12:00.0 of n-1 is not for one use"),
        (OneService(USED, USED, FREE, servers=(THEIRS,)), "in use by a server that is not this stack's"),
        (OneService(USED, USED, USED), "in use by a server that is not this stack's"),
        (OneService(KEPT, KEPT, FREE), "n-1_0000:10:00.0, n-1_0000:11:00.0 of n-1 are kept back after"),
    ],
)
def test_what_is_in_the_way_is_told(cloud: OneService, words: str) -> None:
    (said,) = told(cloud)
    assert words in said


def test_a_cloud_that_lists_no_placement() -> None:
    cloud = OneService(FREE, FREE, FREE)
    cloud.login.catalogue.regions.clear()
    assert "has no Placement" in told(cloud)[0]
    assert told(cloud, alias="") == []


def test_devices_that_are_kept_back_are_given_back_as_they_were_read() -> None:
    cloud = OneService(KEPT, FREE, AGAIN)
    assert give_back(cast("Cloud", cloud), "n-1") == ("n-1_0000:10:00.0",)
    path = "/resource_providers/n-1_0000:10:00.0/inventories/CUSTOM_GPU"
    body = {"total": 1, "reserved": 0, "max_unit": 1, "resource_provider_generation": 7}
    assert cloud.puts == [(path, body)]


def test_none_is_given_back_while_one_is_in_use() -> None:
    cloud = OneService(KEPT, USED, KEPT)
    with pytest.raises(Failure, match=r"n-1_0000:11:00\.0 is in use"):
        give_back(cast("Cloud", cloud), "n-1")
    assert cloud.puts == []
