"""What `interlock settle` takes from Ironic, asked of the embedded cloud's: is a whole host clean, and since when."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from interlock.provider.cleaned_hosts import CleanedHost, cleaned_hosts
from interlock.provider.clouds import Cloud as Driven
from tests.sandbox.cloud import Cloud, Tenant, until
from tests.support.cloud import nodes
from tests.support.cloud.nodes import fault, settled
from tests.support.world.declared import RESOURCE_CLASS

SERVICE = 3001
SERIAL = "R-1"


@pytest.fixture(scope="module")
def node(cloud: Cloud, tenant: Tenant) -> Iterator[str]:
    """`poplar-2`, enrolled under a name of this run, and available."""
    network = cloud.admin.network
    made = network.create_network(
        name=f"service-{cloud.tag}", provider_network_type="vlan", provider_physical_network="mgmt1g",
        provider_segmentation_id=SERVICE,
    )  # fmt: skip
    network.create_subnet(network_id=made.id, ip_version=4, cidr="10.91.0.0/28", name=f"service-{cloud.tag}")
    first = next(leg for leg in nodes.legs_of("poplar-2") if leg.interface == "eno1")
    owner = cloud.admin.current_project_id
    described = nodes.described(f"poplar-2-{cloud.tag}", (first,), made.id, owner=owner)
    described["extra"] = {"serial": SERIAL}
    nodes.rest_in_quarantine(cloud.running.dir, described)
    uuid = nodes.enrol(cloud.admin, described)
    yield uuid
    nodes.withdraw(cloud.admin, uuid)
    network.delete_network(made)


@pytest.fixture
def driven(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> Driven:
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(cloud.running.dir / "clouds.yaml"))
    return Driven("sandbox")


def said(driven: Driven, node: str) -> CleanedHost:
    (found,) = cleaned_hosts(driven, {node: SERIAL, "no-such-host": SERIAL})
    return found


def test_a_host_is_clean_from_when_its_last_cleaning_ended(cloud: Cloud, node: str, driven: Driven) -> None:
    bare = cloud.admin.baremetal
    first = said(driven, node).at
    assert first is not None
    assert abs(datetime.now(UTC) - first) < timedelta(minutes=10)
    bare.set_node_provision_state(node, "manage")
    settled(cloud.admin, node, "manageable")
    assert said(driven, node).why_not == f"Ironic says that {node} is manageable, not available"
    bare.set_node_provision_state(node, "provide")
    settled(cloud.admin, node, "available")
    again = said(driven, node).at
    assert again is not None
    assert again > first


def test_what_is_claimed_is_held(cloud: Cloud, node: str, driven: Driven) -> None:
    bare = cloud.admin.baremetal
    claim = bare.create_allocation(resource_class=RESOURCE_CLASS, candidate_nodes=[node])
    try:
        bare.wait_for_allocation(claim, timeout=60)
        found = said(driven, node)
        assert (found.at, found.held) == (None, f"Ironic says that {node} has an instance and has an allocation")
    finally:
        bare.delete_allocation(claim)
    assert said(driven, node).at is not None


def test_a_host_in_maintenance_is_not_known_to_be_clean(cloud: Cloud, node: str, driven: Driven) -> None:
    bare = cloud.admin.baremetal
    bare.set_node_maintenance(node, "fan")
    assert said(driven, node).why_not == f"Ironic says that {node} is in maintenance (fan)"
    bare.unset_node_maintenance(node)
    assert said(driven, node).at is not None


def test_a_cleaning_that_failed_says_why(cloud: Cloud, node: str, driven: Driven) -> None:
    bare = cloud.admin.baremetal
    fault(cloud.admin, node, clean="fail")
    bare.set_node_provision_state(node, "manage")
    settled(cloud.admin, node, "manageable")
    bare.set_node_provision_state(node, "provide")
    until(lambda: bare.get_node(node).provision_state == "clean failed")
    why = said(driven, node).why_not
    assert why.startswith(f"Ironic says that {node} is clean failed, not available (")
    fault(cloud.admin, node)
    bare.set_node_provision_state(node, "manage")
    settled(cloud.admin, node, "manageable")
    bare.unset_node_maintenance(node)
    bare.set_node_provision_state(node, "provide")
    settled(cloud.admin, node, "available")
    assert said(driven, node).at is not None
