"""Seeds Keystone through its own API: service users, people, roles and the service catalogue.

The roles beyond Keystone's own are those that the services need. Roles of an operator's
design, such as one that only Swift knows, are the operator's to make. The administrator has
`service`, too: Neutron gives what a port is cabled to (`binding:profile`) to that role only.
"""

from typing import Any

import openstack

from sandbox.launcher.catalogue import ENDPOINTS, PASSWORD, PEOPLE, REGION, SERVICE_USERS
from sandbox.services import process

ROLES = ("service", "ResellerAdmin", "member", "reader")
INTERFACES = ("public", "internal", "admin")


def connect(url: str) -> Any:
    """As the administrator. Without clouds.yaml, whose one cloud the SDK would merge into these words."""
    return openstack.connect(
        auth_url=url,
        username="admin",
        password=PASSWORD,
        project_name="admin",
        user_domain_name="Default",
        project_domain_name="Default",
        region_name=REGION,
        load_yaml_config=False,
        load_envvars=False,
    )


def seed_roles(identity: Any) -> dict[str, Any]:
    """The roles by name."""
    known = {role.name: role for role in identity.roles()}
    return known | {name: identity.create_role(name=name) for name in ROLES if name not in known}


def seed_users(identity: Any, roles: dict[str, Any]) -> None:
    """Service users with their roles; people without any."""
    project = identity.create_project(name="service", domain_id="default")
    for name in SERVICE_USERS:
        user = identity.create_user(name=name, password=PASSWORD, domain_id="default", default_project_id=project.id)
        for role in ("admin", "service"):
            identity.assign_project_role_to_user(project, user, roles[role])
    for name in PEOPLE:
        identity.create_user(name=name, password=PASSWORD, domain_id="default")
    own, administrator = identity.find_project("admin"), identity.find_user("admin")
    for name in ("ResellerAdmin", "service"):
        identity.assign_project_role_to_user(own, administrator, roles[name])


def seed_catalogue(identity: Any, ports: dict[str, int]) -> None:
    """Services and endpoints; Keystone's own came with its bootstrap."""
    known = {service.type for service in identity.services()}
    for endpoint in ENDPOINTS:
        if endpoint.type in known:
            continue
        service = identity.create_service(name=endpoint.service, type=endpoint.type)
        for interface in INTERFACES:
            identity.create_endpoint(
                service_id=service.id, interface=interface, url=endpoint.url(ports), region_id=REGION
            )


def main() -> None:
    """Seed the Keystone of this instance, whose database is empty."""
    instance = process.here()
    identity = connect(instance.url("keystone") + "/v3").identity
    seed_users(identity, seed_roles(identity))
    seed_catalogue(identity, instance.ports)
    process.say("seeded")


if __name__ == "__main__":
    main()
