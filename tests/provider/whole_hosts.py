"""One node, and a tenant whose plan has a host of it: for tests of whole hosts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from interlock.provider.clouds import Cloud
from tests.sandbox.switch_sessions import Client
from tests.support.cloud.nodes import Enrolled, enrolled
from tests.support.engine.process import Process
from tests.support.engine.stack import Stack
from tests.support.world import whole
from tests.support.world.small import SITE_OWNER, World

NODE, NUMBER, DATA, SERVICE = "whole-1", 13, 2140, 3001
HOST = f"mia-{NODE}"
OWNER = "313a00"
LEGS = whole.legs(NUMBER, DATA)


@pytest.fixture(scope="module")
def node(world: World, operator: Cloud) -> Iterator[Enrolled]:
    """A node that nobody has."""
    with enrolled(operator, NODE, SERVICE, *LEGS) as found:
        yield found


@pytest.fixture(scope="module")
def mia(world: World, node: Enrolled) -> Iterator[Stack]:
    """A tenant's networks and ports; the host itself is made by the tests."""
    process = Process()
    found = Stack(process, "lyon-mia", OWNER, {}, SITE_OWNER, world.site.folder)
    found.declare(whole.networks("mia", DATA) | whole.host("mia", NODE, NUMBER, DATA))
    assert found.admit(preview=False) == []
    for name in found.resources:
        if name != HOST:
            found.create(name)
    yield found
    found.delete_all()
    process.close()


def vlans(switches: dict[str, Client]) -> list[int]:
    """Of the host's two switch ports."""
    return [switches[leg.switch].vlan_of(str(leg.port_name))[1] for leg in LEGS]


def attached(node: Enrolled) -> dict[str, str]:
    """Switch port -> the Neutron port that is attached to the interface behind it."""
    found = ((raw["local_link_connection"], raw["internal_info"]) for raw in node.ports())
    return {f"{link['switch_info']} {link['port_id']}": info.get("tenant_vif_port_id", "") for link, info in found}


def allocations(cloud: Cloud, node: Enrolled) -> list[dict[str, Any]]:
    """All that ask for this node, whoever's and however they ended."""
    found = cloud.api("baremetal").items("/allocations", "allocations")
    return [item for item in found if node.id in (item["candidate_nodes"] or ()) or item["node_uuid"] == node.id]


def mended(node: Enrolled) -> None:
    """As an operator does whose node was not cleaned."""
    node.switch()
    node.patch(maintenance=False)
    if node.raw()["provision_state"] == "clean failed":
        node.becomes("manageable", after="manage")
        node.becomes("available", after="provide")
