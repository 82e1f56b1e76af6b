"""Shares, as the bare script makes and deletes them."""

from __future__ import annotations

from openstack import exceptions

from benchmarks.bare_operator import Connection, Ids, Operator, Spec


def share_quota(operator: Operator, spec: Spec, ids: Ids) -> str:
    """Limits of a project at Manila."""
    owner = ids[spec["project"]]
    # The SDK's own call asks without a version, and Manila has these limits there since 2.7.
    answer = operator.cloud.shared_file_system.put(
        f"/quota-sets/{owner}",
        json={"quota_set": {"shares": spec["shares"], "gigabytes": spec["share_gib"]}},
        microversion="2.7",
    )
    exceptions.raise_from_response(answer)
    return owner


def share(operator: Operator, spec: Spec, ids: Ids) -> str:
    """A share, asked for with a token of its project."""
    made = operator.within(ids[spec["project"]]).shared_file_system.create_share(
        name=spec["name"],
        size=spec["size_gib"],
        share_type=ids[spec["share_type"]],
        share_protocol=spec["protocol"],
        is_public=False,
    )
    return str(made.id)


def share_access(operator: Operator, spec: Spec, ids: Ids) -> str:
    """Who may mount it."""
    made = operator.cloud.shared_file_system.create_access_rule(
        ids[spec["share"]], access_type="ip", access_to=spec["prefix"], access_level=spec["level"]
    )
    return str(made.id)


def wait_for_share(cloud: Connection, ident: str, *, interval: float, wait: float) -> None:
    """Until it can be mounted."""
    found = cloud.shared_file_system.get_share(ident)
    cloud.shared_file_system.wait_for_status(found, "available", failures=["error"], interval=interval, wait=wait)


def delete_share(cloud: Connection, ident: str) -> None:
    """With its access rules."""
    found = cloud.shared_file_system.get_share(ident)
    cloud.shared_file_system.delete_share(ident)
    cloud.shared_file_system.wait_for_delete(found, interval=0.5)
