"""How tenants leave: data is kept unless the request says otherwise, the site goes last, and nothing stays behind."""

from __future__ import annotations

from openstack.connection import Connection

from tests.e2e.identity import identity
from tests.e2e.listing import listing
from tests.e2e.project import Project


def test_a_site_with_tenants_is_not_destroyed(applied: Project, cloud: Connection) -> None:
    refused = applied.pulumi("destroy", "lyon-site", "--yes")
    assert refused.code != 0
    assert "tenants still use the site: acme" in refused.text
    assert "destroy the tenants' stacks first" in refused.text
    assert cloud.network.find_network("external") is not None
    applied.must(applied.up("lyon-site"))


def test_data_is_kept_and_named_and_everything_goes_once_the_request_says_erase(
    applied: Project, cloud: Connection
) -> None:
    applied.edit("lyon/tenants/acme.yaml", "on_delete: erase", "on_delete: keep")
    applied.must(applied.interlock("lock", "acme"))
    applied.must(applied.up("lyon-acme"))
    # Without `--ignore-protect` the engine's preview refuses (test_kept_data); without the other it stops at the
    # provider's first refusal, and the other is told the next time.
    kept = applied.pulumi("destroy", "lyon-acme", "--yes", "--ignore-protect", "--continue-on-error")
    assert kept.code != 0
    for name in ("acme-train-poplar-0-data", "acme-checkpoints"):
        assert f"{name} (" in kept.text, kept.text
    assert "set `on_delete: erase`" in kept.text
    assert listing(cloud, "acme")["volumes"].total() == 2

    applied.edit("lyon/tenants/acme.yaml", "on_delete: keep", "on_delete: erase")
    applied.must(applied.interlock("lock", "acme"))
    applied.must(applied.up("lyon-acme"))
    applied.must(applied.pulumi("destroy", "lyon-acme", "--yes"))
    assert _left(cloud, "acme") == {}


def test_the_last_tenant_leaves_and_then_the_site(applied: Project, cloud: Connection) -> None:
    applied.must(applied.pulumi("destroy", "lyon-globex", "--yes"))
    assert _left(cloud, "globex") == {}
    applied.must(applied.pulumi("destroy", "lyon-site", "--yes"))
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
