"""How tenants leave: data is kept unless the request says otherwise, the site goes last, and nothing stays behind."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from openstack.connection import Connection

from tests.e2e.identity import identity
from tests.e2e.listing import listing
from tests.e2e.project import Project
from tests.e2e.standing import Standing


@pytest.fixture(scope="module")
def leaving(stands: Standing, applied: Project) -> Iterator[Project]:
    """Site and tenants, which are applied again for whatever file comes after this one."""
    yield applied
    stands.applied.clear()


def test_a_site_with_tenants_is_not_destroyed(leaving: Project, cloud: Connection) -> None:
    refused = leaving.pulumi("destroy", "lyon-site", "--yes")
    assert refused.code != 0
    assert "tenants still use the site: acme" in refused.text
    assert "destroy the tenants' stacks first" in refused.text
    assert cloud.network.find_network("external") is not None
    leaving.must(leaving.plain_up("lyon-site"))


def test_data_is_kept_and_named_and_everything_goes_once_the_request_says_erase(
    leaving: Project, cloud: Connection
) -> None:
    leaving.edit("lyon/tenants/acme.yaml", "on_delete: erase", "on_delete: keep")
    leaving.must(leaving.interlock("lock", "acme"))
    leaving.must(leaving.plain_up("lyon-acme"))
    # Without `--ignore-protect` the engine's preview refuses (test_kept_data); without the other it stops at the
    # provider's first refusal, and the other is told the next time.
    kept = leaving.pulumi("destroy", "lyon-acme", "--yes", "--ignore-protect", "--continue-on-error")
    assert kept.code != 0
    for name in ("acme-train-poplar-0-data", "acme-checkpoints"):
        assert f"{name} (" in kept.text, kept.text
    assert "set `on_delete: erase`" in kept.text
    assert listing(cloud, "acme")["volumes"].total() == 2

    leaving.edit("lyon/tenants/acme.yaml", "on_delete: keep", "on_delete: erase")
    leaving.must(leaving.interlock("lock", "acme"))
    leaving.must(leaving.plain_up("lyon-acme"))
    leaving.must(leaving.pulumi("destroy", "lyon-acme", "--yes"))
    assert _left(cloud, "acme") == {}


def test_the_last_tenant_leaves_and_then_the_site(leaving: Project, cloud: Connection) -> None:
    leaving.must(leaving.pulumi("destroy", "lyon-globex", "--yes"))
    assert _left(cloud, "globex") == {}
    leaving.must(leaving.pulumi("destroy", "lyon-site", "--yes"))
    found = {
        identity(cloud).find_project("lyon-controllers"),
        cloud.network.find_network("external"),
        cloud.compute.find_flavor("poplar.half"),
        cloud.compute.find_aggregate("poplar-hosts"),
        cloud.block_storage.find_type("fast"),
        cloud.identity.find_role("s3_service"),
    }
    assert found == {None}
    assert [item for item in cloud.network.network_segment_ranges() if not item.default] == []


def _left(cloud: Connection, tenant: str) -> dict[str, dict[str, int]]:
    return {what: dict(names) for what, names in listing(cloud, tenant).items() if names}
