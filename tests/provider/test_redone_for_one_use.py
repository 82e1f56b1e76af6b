"""A server with devices for one use is not replaced on its host: the next one would wait for them."""

from __future__ import annotations

from typing import Any

import pytest

from interlock.provider.admitted import AdmissionGate
from interlock.provider.errors import Failure, Trouble
from interlock.provider.passed_devices import MANAGED, check_redone
from interlock.provider.state import declared
from interlock.resources import Server
from tests.builders.placement import DoubleDevice, PlacementDouble

IDENT, HOST = "5e12", "dgx-1"


def redone(host: str | None = HOST, kind: str = "Server", **changes: Any) -> None:
    """`changes`: of the one device that the server has besides what every server has of its host."""
    regions = changes.pop("regions", ("placement",))
    devices = {"dgx-1_0": DoubleDevice(**changes), "numa": DoubleDevice(("HW_NUMA_ROOT",), reserved=0)}
    cloud: Any = PlacementDouble({HOST: devices}, {IDENT: ("numa", "dgx-1_0")}, regions)
    spec = Server(name="n", project="p", flavor="site:Flavor/g", image="site:Image/i", host=HOST, ports=())
    values = spec.canonical() | {"owner": "0" * 32}
    if kind == "Keypair":
        values = {"name": "n", "public_key": "ssh-ed25519 AAAA", "owner": "0" * 32}
    check_redone(cloud, declared(kind, "acme-train-node-0", values), IDENT, host, ("image",))


def test_on_its_host_it_is_refused_with_the_way_that_works() -> None:
    with pytest.raises(Failure, match=r"is not replaced on dgx-1, for image: its devices, as dgx-1_0, are") as refused:
        redone()
    assert refused.value.trouble is Trouble.REFUSED
    assert "say `state: released` for its cluster" in str(refused.value)


@pytest.mark.parametrize(
    "changes",
    [
        {"host": "dgx-2"},
        {"host": None},
        {"kind": "Keypair"},
        {"regions": ("compute",)},
        {"traits": (MANAGED,)},
        {"reserved": 0},
    ],
    ids=["on another host", "planned no more", "no server", "no Placement", "for more than one use", "never ran"],
)
def test_elsewhere_or_without_such_devices_it_is(changes: dict[str, Any]) -> None:
    redone(**changes)


def test_without_a_proof_nothing_is_planned_on_any_host() -> None:
    assert AdmissionGate().planned_host("acme-train-node-0") is None
