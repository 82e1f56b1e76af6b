"""Neutron: segment ids, provider networks and roles."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.sandbox.cloud import ALLOWED, Cloud, Tenant, outcome

SELF_MADE = (
    {"network_type": "vxlan", "minimum": 30000, "maximum": 39999},
    {"network_type": "vlan", "physical_network": "fabric100g", "minimum": 3500, "maximum": 3999},
)


@pytest.fixture(scope="module")
def ranges(cloud: Cloud) -> Iterator[None]:
    """The operator's ranges for self-made networks; made when the operator's stack has not."""
    network = cloud.admin.network
    known = {(one.network_type, one.minimum) for one in network.network_segment_ranges()}
    made = [
        network.create_network_segment_range(name=f"self-{cloud.tag}", shared=True, **words)
        for words in SELF_MADE
        if (words["network_type"], words["minimum"]) not in known
    ]
    yield
    for one in made:
        network.delete_network_segment_range(one)


@pytest.mark.usefixtures("ranges")
def test_default_ranges_hold_no_id_of_an_operators_pool(cloud: Cloud) -> None:
    defaults = [one for one in cloud.admin.network.network_segment_ranges() if one.default]
    assert {(one.network_type, one.physical_network or "", one.minimum, one.maximum) for one in defaults} == {
        ("vlan", "external", 4090, 4090),
        ("vlan", "fabric100g", 4090, 4090),
        ("vlan", "mgmt1g", 4090, 4090),
        ("vxlan", "", 1_000_000, 1_000_000),
    }


@pytest.mark.usefixtures("ranges")
def test_a_network_of_a_member_gets_an_id_of_the_operators_range(cloud: Cloud, tenant: Tenant) -> None:
    member = cloud.as_role(tenant, "member")
    made = [member.network.create_network(name=f"self-{number}") for number in range(3)]
    seen = [cloud.admin.network.get_network(one.id) for one in made]
    for one in made:
        member.network.delete_network(one)
    assert {one.provider_network_type for one in seen} == {"vxlan"}
    assert all(30000 <= one.provider_segmentation_id <= 39999 for one in seen)


@pytest.mark.usefixtures("ranges")
def test_the_admin_may_name_an_id_outside_every_range(cloud: Cloud) -> None:
    network = cloud.admin.network
    for words in (
        {"provider_network_type": "vlan", "provider_physical_network": "mgmt1g", "provider_segmentation_id": 198},
        {"provider_network_type": "vxlan", "provider_segmentation_id": 10_000},
    ):
        made = network.create_network(name=f"named-{cloud.tag}", **words)
        network.delete_network(made)
        assert made.provider_segmentation_id == words["provider_segmentation_id"]


@pytest.mark.usefixtures("ranges")
def test_without_an_id_the_operators_range_is_used(cloud: Cloud) -> None:
    network = cloud.admin.network
    made = network.create_network(
        name=f"any-{cloud.tag}", provider_network_type="vlan", provider_physical_network="fabric100g"
    )
    network.delete_network(made)
    assert 3500 <= made.provider_segmentation_id <= 3999


def test_a_vlan_id_can_be_used_once(cloud: Cloud) -> None:
    words = {"provider_network_type": "vlan", "provider_physical_network": "fabric100g"}
    with cloud.vlan(4001):
        again = outcome(lambda: cloud.admin.network.create_network(provider_segmentation_id=4001, **words))
    assert again == 409


def test_an_unknown_physical_network_is_refused(cloud: Cloud) -> None:
    words: dict[str, Any] = {"provider_network_type": "vlan", "provider_segmentation_id": 4002}
    refused = outcome(lambda: cloud.admin.network.create_network(provider_physical_network="nowhere", **words))
    assert refused == 400


def creations(client: Any, own: str, shared: str) -> dict[str, int | str]:
    """What a role may make, as the outcome of trying."""
    network = client.network
    fixed = {"fixed_ips": [{"ip_address": "10.20.9.9"}]}
    return {
        "network": outcome(lambda: network.create_network(name="x")),
        "router": outcome(lambda: network.create_router(name="x")),
        "security group": outcome(lambda: network.create_security_group(name="x")),
        "port on own network": outcome(lambda: network.create_port(network_id=own)),
        "direct port on a shared VLAN": outcome(
            lambda: network.create_port(network_id=shared, binding_vnic_type="direct")
        ),
        "address on a shared VLAN": outcome(lambda: network.create_port(network_id=shared, **fixed)),
        "subnet on a shared VLAN": outcome(
            lambda: network.create_subnet(network_id=shared, ip_version=4, cidr="10.77.0.0/24")
        ),
        "provider network": outcome(
            lambda: network.create_network(provider_network_type="vlan", provider_physical_network="fabric100g")
        ),
        "share with all": outcome(
            lambda: network.create_rbac_policy(
                object_type="network", object_id=own, action="access_as_shared", target_tenant="*"
            )
        ),
        "segment range": outcome(
            lambda: network.create_network_segment_range(
                name="x", network_type="vxlan", minimum=50000, maximum=50001, shared=True
            )
        ),
    }


def clear(cloud: Cloud, tenant: Tenant) -> None:
    """Remove a tenant's ports, networks and routers; a segment range in use could not be removed."""
    network = cloud.admin.network
    for port in network.ports(project_id=tenant.id):
        network.delete_port(port)
    for one in network.networks(project_id=tenant.id):
        network.delete_network(one)
    for router in network.routers(project_id=tenant.id):
        network.delete_router(router)


MEMBER_MAY = {"network", "router", "security group", "port on own network", "direct port on a shared VLAN"}


def test_a_reader_makes_nothing_and_a_member_only_its_own(cloud: Cloud, tenant: Tenant) -> None:
    own = cloud.admin.network.create_network(name=f"own-{cloud.tag}", project_id=tenant.id)
    with cloud.vlan(4003) as shared:
        cloud.admin.network.create_rbac_policy(
            object_type="network", object_id=shared.id, action="access_as_shared", target_tenant=tenant.id
        )
        reader = creations(cloud.as_role(tenant, "reader"), own.id, shared.id)
        writer = cloud.login(cloud.user("writer", tenant, "member").name, tenant.id)
        member = creations(writer, own.id, shared.id)
    clear(cloud, tenant)
    assert set(reader.values()) == {403}, reader
    assert {what for what, answer in member.items() if answer == ALLOWED} == MEMBER_MAY, member
    assert {answer for what, answer in member.items() if what not in MEMBER_MAY} == {403}, member
