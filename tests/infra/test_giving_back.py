"""Devices of GPU nodes below a hypervisor in settling: which nodes, what is in the way, and what nobody reads."""

from __future__ import annotations

import json
from typing import Any

import pytest

from infra.stack import giving_back
from infra.stack.giving_back import given_back, in_use, passed_nodes
from infra.stack.handing_over import Handover, demands
from infra.stack.read_back import read_back
from infra.verifying.deriving import derived_from
from interlock.model.evidence.values import moment_text
from interlock.model.lock.record import Footprint, Lock, Released
from interlock.model.site.inventory import Site
from interlock.provider.passed_devices import ProvidedDevice
from policies.edges.residue import still_held
from policies.facts import identities as ids
from policies.facts.site import SiteFacts
from tests.builders.accepted import NOON, SINCE
from tests.builders.gpu_sites import guid_of, node_name
from tests.builders.pod64 import locked
from tests.builders.virtual_nodes import VIRTUAL, virtual_site, virtual_tenant

SITE = virtual_site()
METAL = node_name(1, 1)


def given_up(*names: str) -> tuple[Released, ...]:
    return tuple(Released(vpod="train", claim="hosts", value=name, since=moment_text(SINCE)) for name in names)


def handover(*names: str, site: Site = SITE) -> Handover:
    return Handover(site, "acme", demands(site, given_up(*names), (), (), None), (), NOON)


def device(name: str, used: int = 0) -> ProvidedDevice:
    return ProvidedDevice("u", name, "CUSTOM_GPU", {"total": 1, "reserved": 1}, 1, used, one_time_use=True)


def test_only_nodes_below_hypervisors_have_devices_to_give_back() -> None:
    assert passed_nodes(handover(METAL, *VIRTUAL)) == VIRTUAL
    assert passed_nodes(handover(METAL)) == ()


def test_a_device_that_is_in_use_is_in_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {VIRTUAL[0]: (device("a", 1), device("b", 1), device("c")), VIRTUAL[1]: (device("d"),)}
    monkeypatch.setattr(giving_back, "devices_of", lambda _, host: found[host])
    monkeypatch.setattr(giving_back, "give_back", lambda _, host: tuple(item.name for item in found[host]))
    cloud: Any = object()
    assert in_use(cloud, VIRTUAL) == (f"placement: 2 devices of {VIRTUAL[0]} are in use, as a",)
    assert given_back(cloud, VIRTUAL[1:]) == (f"{VIRTUAL[1]}: 1 devices are given back to Nova",)


def test_its_trunk_is_the_operators_and_no_sign_of_the_former_holder() -> None:
    """It stays up with the VLANs of all clusters, so it is not read; of a bare-metal node the ports have to rest."""

    def ask(names: Any) -> dict[str, Any]:
        asked.extend(names)
        return {}

    asked: list[str] = []
    read_back(SITE, handover(VIRTUAL[0]).demands, "acme", ask, ["inband-1"])
    assert asked == []
    read_back(SITE, handover(METAL).demands, "acme", ask, ["inband-1"])
    assert asked == ["inband-1"]


def test_it_wants_the_steps_of_any_gpu_node() -> None:
    (virtual,), (metal,) = handover(VIRTUAL[0]).demands, handover(METAL).demands
    assert virtual.steps == metal.steps
    assert len(virtual.steps) == 7


def test_what_was_given_up_is_held_in_both_derivations() -> None:
    (entry,) = given_up(VIRTUAL[0])
    serial = SITE.host[VIRTUAL[0]].serial
    nodes = {ids.part(serial, ids.PASSED_ON), *(ids.infiniband_port(guid_of(2, 3, rail)) for rail in range(1, 9))}
    held = set(still_held(SiteFacts(SITE), entry))
    assert held == {(node, ids.host_identity(serial)) for node in nodes}
    lock = locked(SITE, virtual_tenant())
    none = lock.allocation.model_copy(update={"clusters": {}})
    left = Lock(
        **dict(lock)
        | {"allocation": none, "released": (entry,), "footprint": Footprint(classes=(), labels={}, exclusive=())}
    )
    ground, _ = derived_from(json.loads(SITE.model_dump_json()), {}, [json.loads(left.model_dump_json())])
    assert {node for node in nodes if ground.labels.get(node) == {"acme"}} == nodes
    assert ground.exclusive[ids.host_identity(serial)] == {"acme"}
