"""What of a host's pinned CPUs and pages is left, as Nova lists the servers there: a simulator answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import pytest

from interlock.provider.clouds import Cloud
from interlock.provider.markers import marker
from interlock.provider.preflight.host_room import pinned_room
from interlock.resources import Admission, Admitted, Flavor, Resource, Server
from interlock.vocabulary.owners import OwnerId

OURS, THEIRS = OwnerId("a" * 32), OwnerId("b" * 32)
PINNED = {"hw:cpu_policy": "dedicated", "hw:mem_page_size": "1GB"}


class Answering:
    """Nova with these servers on each host that is asked for."""

    def __init__(self, *servers: dict[str, Any]) -> None:
        self.servers = servers
        self.asked: list[object] = []

    def api(self, service: str) -> Answering:
        assert service == "compute"
        return self

    def items(self, path: str, collection: str, **query: object) -> Iterator[dict[str, Any]]:
        assert (path, collection, query["all_tenants"]) == ("/servers/detail", "servers", 1)
        self.asked.append(query["host"])
        yield from self.servers


def standing(owner: OwnerId | None, extra_specs: dict[str, str] | None = None) -> dict[str, Any]:
    """A server of 112 CPUs and 232 GiB."""
    mark = {} if owner is None else {"interlock": marker(owner, "x")}
    specs = PINNED if extra_specs is None else extra_specs
    return {"metadata": mark, "flavor": {"vcpus": 112, "ram": 232 * 1024, "extra_specs": specs}}


def told(*servers: dict[str, Any], cpus: int = 224, pages: int = 464, specs: dict[str, str] | None = None) -> list[str]:
    """The faults of a plan with one such server."""
    flavor = Flavor(
        name="half", vcpus=112, ram_mib=232 * 1024, disk_gib=1, extra_specs=PINNED if specs is None else specs
    )
    server = Server(name="s", project="p", flavor="half", image="i", host="h-1", ports=())
    resources: dict[str, Resource] = {"half": flavor, "s": server}
    admission = Admission(
        stack="lyon-acme", cloud="c", owner=OURS, site_owner=THEIRS, plan_hash="p", proof_hash="p", site_folder="/",
        resources=tuple(Admitted(name=name, kind=item.KIND, spec=item.canonical()) for name, item in resources.items()),
        dedicated_cpus={"h-1": cpus}, huge_pages={"h-1": pages},
    )  # fmt: skip
    return [fault.message for fault in pinned_room(cast("Cloud", Answering(*servers)), admission)]


@pytest.mark.parametrize(
    "servers",
    [(), (standing(THEIRS),), (standing(THEIRS), standing(OURS)), (standing(None, {}), standing(THEIRS))],
    ids=["nobody", "one more half", "ours is counted once", "one that pins nothing"],
)
def test_there_is_room(servers: tuple[dict[str, Any], ...]) -> None:
    assert told(*servers) == []


def test_there_is_none() -> None:
    """Also beside servers that nobody marked."""
    assert told(standing(THEIRS), standing(None)) == [
        "host h-1 has 224 dedicated CPUs: 224 are used by others, the plan needs 112",
        "host h-1 has 464 pages of 1 GiB: 464 are used by others, the plan needs 232",
    ]
    assert told(cpus=111) == ["host h-1 has 111 dedicated CPUs: 0 are used by others, the plan needs 112"]
    assert told(pages=231) == ["host h-1 has 231 pages of 1 GiB: 0 are used by others, the plan needs 232"]


def test_a_plan_that_pins_nothing_asks_nothing() -> None:
    assert told(standing(THEIRS), standing(THEIRS), cpus=0, pages=0, specs={}) == []
