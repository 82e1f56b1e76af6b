"""Keystone: projects, roles, service users, assignments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from interlock.provider.clouds import Cloud
from interlock.provider.errors import Failure, Trouble, refused
from interlock.provider.markers import join, split
from interlock.resources import Project, Resource, Role, RoleAssignment, ServiceUser
from interlock.vocabulary.pair_ids import RoleAssignmentId

from .base import Actuator, Observed, Target


def _marked(cloud: Cloud, collection: str, mark: str, **params: Any) -> list[str]:
    """Ids of the Keystone objects whose description ends with exactly this marker."""
    found = cloud.api("identity").items(f"/{collection}", collection, **params)
    return [str(item["id"]) for item in found if split(item.get("description"))[1] == mark]


class ProjectActuator(Actuator[Project]):
    """Projects, in one domain, enabled."""

    KIND: ClassVar[type[Resource]] = Project
    SERVICE: ClassVar[str] = "identity"

    def search(self, cloud: Cloud, mark: str, project: str) -> Sequence[str]:
        return _marked(cloud, "projects", mark)

    def create(self, cloud: Cloud, target: Target[Project]) -> str:
        body = {
            "name": target.spec.name,
            "domain_id": cloud.domain(target.spec.domain),
            "description": join(target.spec.description, target.marker),
            "enabled": True,
        }
        return str(cloud.api("identity").post("/projects", {"project": body})["project"]["id"])

    def read(self, cloud: Cloud, ident: str, target: Target[Project] | None = None) -> Observed | None:
        found = cloud.api("identity").find(f"/projects/{ident}")
        if found is None:
            return None
        raw = found["project"]
        text, mark = split(raw["description"])
        fields = {"name": raw["name"], "description": text}
        if target is not None:
            same = raw["domain_id"] == cloud.domain(target.spec.domain)
            fields["domain"] = target.spec.domain if same else raw["domain_id"]
        return Observed(ident, mark, fields)

    def update(self, cloud: Cloud, target: Target[Project], seen: Observed, changed: frozenset[str]) -> None:
        body = {"name": target.spec.name, "description": join(target.spec.description, target.marker)}
        cloud.api("identity").patch(f"/projects/{seen.id}", {"project": body})

    def delete(self, cloud: Cloud, ident: str, target: Target[Project]) -> None:
        left = _left_in(cloud, ident)
        if left:
            raise refused(
                f"project {target.spec.name} ({ident}) still holds {'; and '.join(left)}",
                "remove these objects, then run the command again",
            )
        # Every project has a security group `default` that Neutron makes and never removes.
        network = cloud.api("network")
        for group in list(network.items("/security-groups", "security_groups", project_id=ident)):
            network.delete(f"/security-groups/{group['id']}")
        cloud.api("identity").delete(f"/projects/{ident}")


def _left_in(cloud: Cloud, project: str) -> list[str]:
    """What still lies in a project, by where it comes from; as `kind name`, at most ten of a kind."""
    named = {
        "objects that this stack did not create": _foreign_in(cloud, project),
        "data that were kept": _copies_in(cloud, project),
    }
    return [f"{whose}: {', '.join(names)}" for whose, names in named.items() if names]


def _copies_in(cloud: Cloud, project: str) -> list[str]:
    """Backups, whoever made them: once their project is gone nobody restores them."""
    # With the operator's own token: its role in the project may be gone already.
    found = cloud.api("block-storage").get("/backups/detail", all_tenants=1, project_id=project, limit=10)["backups"]
    return [f"backup {item['name'] or ''} ({item['id']}) of volume {item['volume_id']}" for item in found]


def _foreign_in(cloud: Cloud, project: str) -> list[str]:
    network = cloud.api("network")
    servers = cloud.api("compute").get("/servers", all_tenants=1, project_id=project, limit=10)["servers"]
    volumes = cloud.api("block-storage").get("/volumes", all_tenants=1, project_id=project, limit=10)["volumes"]
    found = {
        "server": servers,
        "volume": volumes,
        "share": _shares_in(cloud, project),
        "network": network.get("/networks", project_id=project, limit=10)["networks"],
        "router": network.get("/routers", project_id=project, limit=10)["routers"],
        "port": network.get("/ports", project_id=project, limit=10)["ports"],
        "floating IP": network.get("/floatingips", project_id=project, limit=10)["floatingips"],
    }
    # Ours are deleted before their project; Neutron makes `default`.
    groups = network.get("/security-groups", project_id=project, limit=10)["security_groups"]
    found["security group"] = [group for group in groups if group["name"] != "default"]
    return [f"{kind} {item.get('name') or item['id']}" for kind, items in found.items() for item in items]


def _shares_in(cloud: Cloud, project: str) -> list[dict[str, Any]]:
    if not cloud.has("shared-file-system"):
        return []
    api = cloud.api("shared-file-system")
    return list(api.get("/shares", all_tenants=1, project_id=project, limit=10)["shares"])


class RoleActuator(Actuator[Role]):
    """Roles, which are names that the policies of services know or do not know."""

    KIND: ClassVar[type[Resource]] = Role
    SERVICE: ClassVar[str] = "identity"

    def search(self, cloud: Cloud, mark: str, project: str) -> Sequence[str]:
        return _marked(cloud, "roles", mark)

    def create(self, cloud: Cloud, target: Target[Role]) -> str:
        body = {"name": target.spec.name, "description": join(target.spec.description, target.marker)}
        return str(cloud.api("identity").post("/roles", {"role": body})["role"]["id"])

    def read(self, cloud: Cloud, ident: str, target: Target[Role] | None = None) -> Observed | None:
        found = cloud.api("identity").find(f"/roles/{ident}")
        if found is None:
            return None
        text, mark = split(found["role"].get("description"))
        return Observed(ident, mark, {"name": found["role"]["name"], "description": text})

    def update(self, cloud: Cloud, target: Target[Role], seen: Observed, changed: frozenset[str]) -> None:
        body = {"description": join(target.spec.description, target.marker)}
        cloud.api("identity").patch(f"/roles/{seen.id}", {"role": body})

    def delete(self, cloud: Cloud, ident: str, target: Target[Role]) -> None:
        cloud.api("identity").delete(f"/roles/{ident}")


class ServiceUserActuator(Actuator[ServiceUser]):
    """Users without a password: nobody can log in as one."""

    KIND: ClassVar[type[Resource]] = ServiceUser
    SERVICE: ClassVar[str] = "identity"

    def search(self, cloud: Cloud, mark: str, project: str) -> Sequence[str]:
        return _marked(cloud, "users", mark)

    def find(self, cloud: Cloud, target: Target[ServiceUser]) -> Sequence[str]:
        return _marked(cloud, "users", target.marker, domain_id=cloud.domain(target.spec.domain))

    def create(self, cloud: Cloud, target: Target[ServiceUser]) -> str:
        body = {
            "name": target.spec.name,
            "domain_id": cloud.domain(target.spec.domain),
            "description": target.marker,
            "default_project_id": target.one("project"),
            "enabled": True,
        }
        return str(cloud.api("identity").post("/users", {"user": body})["user"]["id"])

    def read(self, cloud: Cloud, ident: str, target: Target[ServiceUser] | None = None) -> Observed | None:
        found = cloud.api("identity").find(f"/users/{ident}")
        if found is None:
            return None
        raw = found["user"]
        references = {"project": raw.get("default_project_id")}
        return Observed(ident, split(raw.get("description"))[1], {"name": raw["name"]}, references)

    def update(self, cloud: Cloud, target: Target[ServiceUser], seen: Observed, changed: frozenset[str]) -> None:
        cloud.api("identity").patch(f"/users/{seen.id}", {"user": {"description": target.marker}})

    def delete(self, cloud: Cloud, ident: str, target: Target[ServiceUser]) -> None:
        cloud.api("identity").delete(f"/users/{ident}")


class RoleAssignmentActuator(Actuator[RoleAssignment]):
    """A role of a user on a project. The id is `project/user/role`; there is nothing else to it."""

    KIND: ClassVar[type[Resource]] = RoleAssignment
    SERVICE: ClassVar[str] = "identity"

    def find(self, cloud: Cloud, target: Target[RoleAssignment]) -> Sequence[str]:
        ident = self._id(target)
        return [ident] if self.read(cloud, ident) is not None else []

    def create(self, cloud: Cloud, target: Target[RoleAssignment]) -> str:
        cloud.api("identity").put(self._path(self._id(target)))
        return self._id(target)

    def read(self, cloud: Cloud, ident: str, target: Target[RoleAssignment] | None = None) -> Observed | None:
        try:
            cloud.api("identity").request("HEAD", self._path(ident))
        except Failure as failure:
            if failure.trouble is Trouble.NOT_FOUND:
                return None
            raise
        given = RoleAssignmentId.parse(ident)
        return Observed(ident, "", references={"project": given.project, "user": given.user, "role": given.role})

    def delete(self, cloud: Cloud, ident: str, target: Target[RoleAssignment]) -> None:
        cloud.api("identity").delete(self._path(ident))

    @staticmethod
    def _id(target: Target[RoleAssignment]) -> str:
        return str(RoleAssignmentId(target.one("project"), target.one("user"), target.one("role")))

    @staticmethod
    def _path(ident: str) -> str:
        given = RoleAssignmentId.parse(ident)
        return f"/projects/{given.project}/users/{given.user}/roles/{given.role}"
