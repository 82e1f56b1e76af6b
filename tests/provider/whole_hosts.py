"""One node, and a tenant whose plan has a host of it: for tests of whole hosts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

from interlock.provider import removing
from interlock.provider.actuators import bare_metal
from interlock.provider.actuators.bare_metal_node import Node, provision
from interlock.provider.clouds import Cloud
from interlock.provider.preflight import preflight
from interlock.resources import Admission
from tests.conftest import Sandbox
from tests.sandbox.switch_sessions import Client
from tests.support.cloud.nodes import Enrolled, enrolled, release
from tests.support.engine.process import Process
from tests.support.engine.stack import Stack
from tests.support.world import whole
from tests.support.world.small import SITE_OWNER, World

NODE, NUMBER, DATA, SERVICE = "whole-1", 13, 2140, 3001
HOST = f"mia-{NODE}"
OWNER = "313a00"
LEGS = whole.legs(NUMBER, DATA)
#: Code of the preflight's faults about whole hosts.
BARE_METAL = "bare metal"


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
    with pytest.MonkeyPatch.context() as sooner:
        # The ramdisk of the stand-in is done at once.
        sooner.setattr(removing, "LONGEST_LOOK", 0.3)
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


def is_lent(node: Enrolled, program: Stack) -> bool:
    """Deployed, to this tenant, as this host."""
    raw = node.raw()
    found = (raw["provision_state"], raw["lessee"], raw["instance_uuid"])
    return found == ("active", program.state["mia-project"].id, program.state[HOST].id)


def is_back(node: Enrolled) -> bool:
    """Cleaned, nobody's, and with nothing of whoever had it."""
    raw = node.raw()
    found = (raw["provision_state"], raw["lessee"], raw["instance_uuid"], raw["instance_info"])
    return found == ("available", None, None, {}) and set(attached(node).values()) == {""}


def allocations(cloud: Cloud, node: Enrolled) -> list[dict[str, Any]]:
    """All that ask for this node, whoever's and however they ended."""
    found = cloud.api("baremetal").items("/allocations", "allocations")
    return [item for item in found if node.id in (item["candidate_nodes"] or ()) or item["node_uuid"] == node.id]


def told(program: Stack, cloud: Cloud | None = None, **admission: Any) -> list[str]:
    """What the preflight says of whole hosts where the host is to be created."""
    asked: Admission = program.admission().model_copy(update=admission)
    found = preflight(asked, cloud or Cloud("sandbox"), frozenset({HOST}))
    return [str(fault) for fault in found if fault.code == BARE_METAL]


def mended(node: Enrolled) -> None:
    """As an operator does whose node was not cleaned."""
    node.switch()
    node.patch(maintenance=False)
    if node.raw()["provision_state"] == "clean failed":
        node.becomes("manageable", after="manage")
        node.becomes("available", after="provide")


#: Moments at which the switches die: when a deployment is asked for and all is attached, or in the middle of it.
DEATHS = ("before", "within")


@contextmanager
def switches_die(sandbox: Sandbox, node: Enrolled, moment: str) -> Iterator[None]:
    """At that moment of the next deployment all switches are out of reach; at the end they are back."""

    def dying(cloud: Cloud, there: Node, target: str, **more: Any) -> None:
        if moment == "before":
            down.enter_context(whole.switches_down(sandbox))
        provision(cloud, there, target, **more)
        if moment == "within":
            # The host is on its service network, and none of its ports on a tenant's.
            node.until(lambda raw: (raw["deploy_step"] or {}).get("step") == "deploy")
            down.enter_context(whole.switches_down(sandbox))
            release(sandbox.dir)

    if moment == "within":
        node.switch(deploy="hold")
    with ExitStack() as down, pytest.MonkeyPatch.context() as patched:
        patched.setattr(bare_metal, "provision", dying)
        yield
    node.switch()
