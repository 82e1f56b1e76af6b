"""Who may do what: Keystone projects, roles, users, keys, and the quotas of the services."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from .base import IN_PLACE, REPLACE, Refers, Resource, forbidden


class Project(Resource):
    """A Keystone project; the boundary of what a tenant may see and call."""

    KIND: ClassVar[str] = "Project"

    name: Annotated[str, forbidden("everything else of the tenant is in the project, and its id says who the owner is")]
    domain: Annotated[str, forbidden("Keystone cannot move a project between domains")] = "default"
    description: Annotated[str, IN_PLACE] = ""


class Role(Resource):
    """A Keystone role. `s3_service` is one that object storage accepts and no other policy knows."""

    KIND: ClassVar[str] = "Role"

    name: Annotated[str, REPLACE]
    description: Annotated[str, IN_PLACE] = ""


class ServiceUser(Resource):
    """A Keystone user that no person logs in as: it only carries S3 credentials. It gets no known password."""

    KIND: ClassVar[str] = "ServiceUser"

    name: Annotated[str, REPLACE]
    domain: Annotated[str, REPLACE] = "default"
    project: Annotated[str, Refers(("Project",)), REPLACE]


class RoleAssignment(Resource):
    """A role of one user on one project. `cloud:User/@operator` is the user who runs the apply."""

    KIND: ClassVar[str] = "RoleAssignment"

    project: Annotated[str, Refers(("Project",)), REPLACE]
    user: Annotated[str, Refers(("User", "ServiceUser")), REPLACE]
    role: Annotated[str, Refers(("Role",)), REPLACE]


class S3Credential(Resource):
    """An access key and secret (a Keystone EC2 credential) of a service user in one project.

    The secret is an output, marked secret; a credential that a crash left behind is revoked, not adopted. A user has
    one for each `number`: while a key is rotated there are two.

    `opens`: what its secret half is for. munge's key is one as well, of a user without a role: Keystone keeps, revokes
    and shows it as the others, and it opens nothing of OpenStack's.
    """

    KIND: ClassVar[str] = "S3Credential"

    project: Annotated[str, Refers(("Project",)), REPLACE]
    user: Annotated[str, Refers(("ServiceUser",)), REPLACE]
    number: Annotated[int, REPLACE] = 1
    opens: Annotated[Literal["s3", "munge"], REPLACE] = "s3"

    YOUNGER: ClassVar[Mapping[str, Any]] = {"number": 1, "opens": "s3"}


class StoredCredential(Resource):
    """A credential that is kept where data is, or handed to a server: whoever reads the place holds the credential.

    Only the way to a virtual server can be made: it waits in the operator's key manager until that server fetches it,
    once. A whole host gets it of such servers, `by`, in band: it is planned and proved, and nothing else makes it.
    """

    KIND: ClassVar[str] = "StoredCredential"

    project: Annotated[str, Refers(("Project",)), REPLACE]
    credential: Annotated[str, Refers(("S3Credential", "VipuUser")), REPLACE]
    place: Annotated[str, Refers(("Bucket", "Share", "Volume", "Server", "BareMetalServer")), REPLACE]
    #: The name under which a server fetches it; empty: the place is no server.
    item: Annotated[str, REPLACE] = ""
    #: The servers of which a whole host gets it.
    by: Annotated[tuple[str, ...], Refers(("Server",)), REPLACE] = ()

    YOUNGER: ClassVar[Mapping[str, Any]] = {"by": []}

    @property
    def is_declared(self) -> bool:
        """Nothing writes credentials into storage, or into whole hosts."""
        return self.HAS_ACTUATOR and bool(self.item) and not self.by

    @property
    def comes_with_another(self) -> bool:
        """True of a whole host's: who gives it on has it by a resource of its own."""
        return bool(self.by)


class Keypair(Resource):
    """A public ssh key, kept at Nova under the operator's user (keypairs belong to users, not projects)."""

    KIND: ClassVar[str] = "Keypair"

    name: Annotated[str, REPLACE]
    public_key: Annotated[str, REPLACE]


class Quota(Resource):
    """Limits of one project at Nova, Neutron and Cinder. -1 is unlimited. Sizes: MiB of RAM, GiB of volumes."""

    KIND: ClassVar[str] = "Quota"

    project: Annotated[str, Refers(("Project",)), REPLACE]
    instances: Annotated[int, IN_PLACE]
    cores: Annotated[int, IN_PLACE]
    ram_mib: Annotated[int, IN_PLACE]
    networks: Annotated[int, IN_PLACE]
    subnets: Annotated[int, IN_PLACE]
    ports: Annotated[int, IN_PLACE]
    routers: Annotated[int, IN_PLACE]
    security_groups: Annotated[int, IN_PLACE]
    security_group_rules: Annotated[int, IN_PLACE]
    floating_ips: Annotated[int, IN_PLACE] = 0
    volumes: Annotated[int, IN_PLACE]
    volume_gib: Annotated[int, IN_PLACE]


class ShareQuota(Resource):
    """Limits of one project at Manila. Sizes: GiB. Only tenants with shares have one: a cloud may have no Manila."""

    KIND: ClassVar[str] = "ShareQuota"

    project: Annotated[str, Refers(("Project",)), REPLACE]
    shares: Annotated[int, IN_PLACE]
    share_gib: Annotated[int, IN_PLACE]
