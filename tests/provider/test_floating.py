"""Floating IPs at the embedded cloud's own Neutron: made, read back, found by their marker, and gone."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import pytest

from interlock.provider.audit.listing import listed
from interlock.provider.clouds import Cloud
from interlock.provider.errors import Failure, Trouble
from interlock.provider.preflight import preflight
from interlock.provider.public_addresses import public_address
from interlock.resources import FloatingIp, Project, Router
from interlock.vocabulary.owners import OwnerId
from tests.support.engine.process import Process
from tests.support.engine.stack import Stack
from tests.support.world.small import OWNER, SITE_OWNER, World

ENTRY = "alice-entry"


def seen(operator: Cloud, world: World) -> Any:
    """As Neutron shows it."""
    return operator.api("network").get(f"/floatingips/{world.tenant.state[ENTRY].id}")["floatingip"]


def test_an_address_of_the_pool_leads_to_the_planned_port(world: World, operator: Cloud) -> None:
    found, state = seen(operator, world), world.tenant.state
    assert found["port_id"] == state["alice-port-control"].id
    assert found["fixed_ip_address"] == "10.7.0.11"
    assert found["router_id"] == state["alice-router"].id
    assert found["project_id"] == state["alice-project"].id
    assert found["floating_network_id"] == world.site.state["external"].id
    assert found["description"] == f"interlock:{OWNER}:{ENTRY}"
    address = state[ENTRY].outputs["public_address"]
    assert found["floating_ip_address"] == address
    assert int(IPv4Address("203.0.113.10")) <= int(IPv4Address(address)) <= int(IPv4Address("203.0.113.200"))


def test_the_address_is_found_without_a_state(world: World, operator: Cloud) -> None:
    address = world.tenant.state[ENTRY].outputs["public_address"]
    assert public_address(operator, OwnerId(OWNER), "alice-project", ENTRY) == address
    assert public_address(operator, OwnerId(OWNER), "alice-project", "alice-nothing") == ""
    assert public_address(operator, OwnerId("0" * 6), "alice-project", ENTRY) == ""


@pytest.fixture
def forged(world: World, operator: Cloud) -> Iterator[str]:
    """One of another project with the marker of ours: whoever is a member there can write it."""
    body = {"floating_network_id": world.site.state["external"].id, "description": f"interlock:{OWNER}:{ENTRY}"}
    ident = operator.api("network").post("/floatingips", {"floatingip": body})["floatingip"]["id"]
    yield ident
    operator.api("network").delete(f"/floatingips/{ident}")


def test_a_marker_in_another_project_is_neither_adopted_nor_followed(
    world: World, operator: Cloud, forged: str
) -> None:
    before = world.tenant.state[ENTRY]
    assert world.tenant.create(ENTRY).id == before.id
    assert public_address(operator, OwnerId(OWNER), "alice-project", ENTRY) == before.outputs["public_address"]


def test_audit_lists_both_with_their_markers(world: World, operator: Cloud, forged: str) -> None:
    found = listed(operator).marked["FloatingIp", f"interlock:{OWNER}:{ENTRY}"]
    assert set(found) == {forged, world.tenant.state[ENTRY].id}


def test_taken_off_its_port_it_keeps_its_address_and_is_put_back(world: World, operator: Cloud) -> None:
    program, address = world.tenant, seen(operator, world)["floating_ip_address"]
    operator.api("network").put(f"/floatingips/{program.state[ENTRY].id}", {"floatingip": {"port_id": None}})
    assert program.read(ENTRY) is not None
    assert program.diff(ENTRY) == {"port": False}
    assert program.state[ENTRY].inputs["port"] == "cloud-id:"
    assert program.check(ENTRY) == []
    program.update(ENTRY)
    after = seen(operator, world)
    assert (after["floating_ip_address"], after["port_id"]) == (address, program.state["alice-port-control"].id)


def test_the_way_to_it_is_not_taken_away_before_it_is_gone(world: World, operator: Cloud) -> None:
    """Which is why it comes after the router's interface, and with the router."""
    state = world.tenant.state
    path = f"/routers/{state['alice-router'].id}/remove_router_interface"
    with pytest.raises(Failure) as raised:
        operator.api("network").put(path, {"port_id": state["alice-uplink"].id})
    assert raised.value.trouble is Trouble.IN_USE


def test_deleted_it_is_gone_and_made_again_it_leads_there_again(world: World, operator: Cloud) -> None:
    program, before = world.tenant, world.tenant.state[ENTRY].id
    program.delete(ENTRY)
    assert operator.api("network").find(f"/floatingips/{before}") is None
    assert public_address(operator, OwnerId(OWNER), "alice-project", ENTRY) == ""
    program.create(ENTRY)
    assert seen(operator, world)["port_id"] == program.state["alice-port-control"].id


@pytest.fixture
def marked_elsewhere(world: World, operator: Cloud) -> Iterator[None]:
    """Somebody has written another stack's marker into a floating IP of a project of his."""
    api, network = operator.api("network"), seen(operator, world)["floating_network_id"]
    body = {"floating_network_id": network, "description": "interlock:d0a0aa:dora-0"}
    ident = api.post("/floatingips", {"floatingip": body})["floatingip"]["id"]
    yield
    api.delete(f"/floatingips/{ident}")


def test_an_external_network_without_room_is_told_before_anything_is_made(
    marked_elsewhere: None, world: World, process: Process, folder: Path
) -> None:
    many = {
        f"dora-{number}": FloatingIp(project="dora-project", external_network="site:Network/external", port="dora-port")
        for number in range(200)
    }
    router = Router(name="dora-router", project="dora-project", external_network="site:Network/external")
    resources: Any = {"dora-project": Project(name="dora"), "dora-router": router, **many}
    program = Stack(process, "lyon-dora", "d0a0aa", resources, SITE_OWNER, folder)
    told = [fault for fault in preflight(program.admission()) if fault.code == "addresses"]
    assert len(told) == 1
    assert "the plan takes 201 for gateways and floating IPs" in told[0].message
    # All but a few: there is room.
    fewer = Stack(process, "lyon-dora", "d0a0aa", dict([*resources.items()][:12]), SITE_OWNER, folder)
    assert [fault for fault in preflight(fewer.admission()) if fault.code == "addresses"] == []


def test_what_is_there_as_ours_needs_no_second_address(world: World) -> None:
    """Before every apply the look is taken at all of the plan."""
    told = [fault for fault in preflight(world.tenant.admission()) if fault.code in ("addresses", "quota")]
    assert told == []
