"""`interlock audit` of a real cloud after real applies: silent where all is as it was proved, exact where it is not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

from openstack.connection import Connection

from tests.e2e.project import Project
from tests.support.cloud.journal import Journal


@contextmanager
def _by_hand(cloud: Connection) -> Iterator[None]:
    """A segment of a vPOD is opened, a port of ours put on another, and an id taken that only locks give out."""
    network = cloud.network.find_network("acme-train-ipu-data", ignore_missing=False)
    right = cloud.network.create_rbac_policy(
        object_type="network", object_id=network.id, action="access_as_shared", target_tenant="*"
    )
    taken = cloud.network.create_network(
        name="by-hand",
        provider_network_type="vlan",
        provider_physical_network="fabric100g",
        provider_segmentation_id=1099,
    )
    control = cloud.network.find_network("acme-train-control", ignore_missing=False)
    port = cloud.network.create_port(network_id=control.id, name="by-hand-port")
    yield
    cloud.network.delete_port(port)
    cloud.network.delete_network(taken)
    cloud.network.delete_rbac_policy(right)


def test_what_was_applied_has_not_drifted_and_what_somebody_did_is_told(
    applied: Project, cloud: Connection, journal: Journal
) -> None:
    since = journal.now()
    clean = applied.must(applied.interlock("audit"))
    assert "lyon-acme: 49 of 49 objects are as planned, and so its certificate holds" in clean.out
    assert "lyon: no drift" in clean.out
    assert since.ours() == []

    with _by_hand(cloud):
        told = applied.interlock("audit")
        document = json.loads(applied.interlock("audit", "--format", "json").out)
    assert told.code == 1
    assert "shared is true, planned false" in told.out
    assert "ISO-01 violated" in told.out
    assert "its segment, fabric100g 1099, is of the pool ipu_data" in told.out
    assert document["verdict"] == "drift"
    assert [resource["name"] for resource in document["unmanaged"]] == ["by-hand", "by-hand-port"]
    (acme,) = (stack for stack in document["stacks"] if stack["stack"] == "lyon-acme")
    assert {"ISO-01", "L3-02"} <= {finding["rule"] for finding in acme["live"]["findings"]}
    assert applied.interlock("audit").code == 0
