"""Keystone: a changed role counts at once, on whichever thread the next request runs."""

from __future__ import annotations

from typing import Any

from tests.sandbox.cloud import Cloud, Tenant

IMPLIED = {
    "reader": {"reader"},
    "member": {"reader", "member"},
    "admin": {"reader", "member", "manager", "admin"},
}
ALLOWED_KEY = {"reader": 403, "member": 403, "admin": 201}


def roles_now(client: Any) -> set[str]:
    """The roles that Keystone puts into a new token."""
    return set(client.session.auth.get_access(client.session).role_names)


def test_a_changed_role_counts_at_once(cloud: Cloud, tenant: Tenant) -> None:
    identity = cloud.admin.identity
    project = identity.get_project(tenant.id)
    words = {"password": "secret", "domain_id": "default"}
    subject = identity.create_user(name=f"subject-{cloud.tag}", **words)
    seen, expected = [], []
    for number in range(3):
        user = identity.create_user(name=f"changing-{number}-{cloud.tag}", **words)
        for role in ("reader", "admin", "member", "reader", "admin"):
            identity.assign_project_role_to_user(project, user, cloud.role(role))
            client = cloud.login(user.name, tenant.id)
            made = cloud.ec2(client.session, subject.id, tenant).status_code
            seen.append((role, roles_now(client), made))
            expected.append((role, IMPLIED[role], ALLOWED_KEY[role]))
            identity.unassign_project_role_from_user(project, user, cloud.role(role))
    assert seen == expected
