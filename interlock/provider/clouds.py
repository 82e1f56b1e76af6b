"""One cloud: found in clouds.yaml the standard way, logged in at the first real call, sessions shared.

Which token does what, as tried: the operator's own token (role admin in its own project) may create Keystone
and Neutron objects for any project, read every server and volume, and create, list and delete EC2 credentials
of any user. Nova and Cinder take the project of a new object from the token, so there the token is scoped to
the project that is to own it, in which the operator therefore needs the role admin (pinning a server to a
host is refused to a member).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from keystoneauth1 import exceptions as trouble
from keystoneauth1 import loading
from keystoneauth1.adapter import Adapter

from interlock import __version__
from interlock.deferred_imports import defer
from interlock.vocabulary import CloudFingerprint
from interlock.vocabulary.owners import OwnerId

from .calls import MISREAD, Api, never_left, no_login
from .errors import Failure, Trouble
from .fabrics import Fabrics
from .redaction import REDACTOR, quote_no_files
from .regions import Catalogue
from .retry import RetryPolicy, Tried, persist
from .switch_readings import SwitchReadings
from .turns import ClaimsPlace, StackHolding
from .vipu import Controllers

#: Service type -> (API version, microversion). Nova: 2.74 pins by `host`, 2.55 flavours have descriptions,
#: 2.61 shows their extra specs; Cinder 3.42 grows attached volumes;
#: Manila 2.74 changes access to a share in any state, 2.50 changes types, 2.45 shows one access rule;
#: Ironic 1.67 attaches a port at a named one of the node, 1.65 lends nodes, 1.60 owns allocations;
#: Placement 1.14 has providers below others.
VERSIONS: dict[str, tuple[str, str | None]] = {
    "identity": ("3", None),
    "network": ("2", None),
    "compute": ("2.1", "2.79"),
    "image": ("2", None),
    "block-storage": ("3", "3.59"),
    "shared-file-system": ("2", "2.74"),
    "object-store": ("1", None),
    "baremetal": ("1", "1.67"),
    "key-manager": ("1", None),
    "placement": ("1", "1.14"),
}

_SCOPE = (
    "project_name",
    "project_id",
    "project_domain_name",
    "project_domain_id",
    "system_scope",
    "domain_id",
)

#: What the SDK raises of an entry that it does not understand: keys of another kind of login, texts for numbers.
_NOT_UNDERSTOOD = (TypeError, ValueError, AttributeError)
#: Kinds of login with a password; the first is what stands for none.
_WITH_PASSWORD = ("password", "v3password")
#: Kinds of login that Keystone is not asked for: there is no token, so no catalogue, and nobody knows who it is.
_WITHOUT_KEYSTONE = ("none", "noauth", "admin_token", "http_basic")

OWN_PASSWORD = "use an entry of clouds.yaml with the administrator's user and password"


def _nowhere() -> ClaimsPlace | None:
    return None


def bound_login(cloud: str, bound: str) -> str:
    """What is wrong with a login whose tokens are for one project only."""
    return (
        f"cloud {cloud!r} logs in with {bound}, whose tokens are for one project only: servers, "
        "volumes and buckets are made with tokens of the tenants' projects"
    )


@dataclass(frozen=True)
class Login:
    """Who the credential is, and on which cloud."""

    fingerprint: CloudFingerprint
    user: str
    project: str
    roles: tuple[str, ...]
    #: What binds its tokens to one project for good: an application credential, a trust; empty: nothing.
    bound: str = ""
    catalogue: Catalogue = field(default=Catalogue({}))


class Cloud:
    """An entry of clouds.yaml. Making one costs nothing and does no I/O.

    `site_region`: the region that the site file states; empty if it leaves that to clouds.yaml and the catalogue.
    """

    def __init__(self, name: str, retry_policy: RetryPolicy | None = None, site_region: str = "") -> None:
        self.name = name
        self.site_region = site_region
        self.retry_policy = retry_policy or RetryPolicy()
        self._lock = threading.RLock()
        self._apis: dict[tuple[str, str | None], Api] = {}
        self._plugins: dict[str, Any] = {}
        #: Facts that do not change while one process lives: ids behind references, markers of ids.
        self.resolved: dict[tuple[str, str, str], str] = {}
        self.markers: dict[tuple[str, str], str] = {}
        #: What switches say themselves; None for a cloud that is known from lists only.
        self.switches: SwitchReadings | None = SwitchReadings()
        #: Fabric managers of the site's InfiniBand subnets.
        self.fabrics = Fabrics(self.retry_policy)
        #: V-IPU controllers of vPODs.
        self.controllers = Controllers(self.retry_policy)
        #: Exclusive identities of earlier footprints of the stack at work, as the claims store has them. It blocks, and
        #: may raise `Failure`.
        self.held_before: Callable[[], frozenset[str]] = frozenset
        #: Those of them that its present footprint has not.
        self.held_no_more: Callable[[], frozenset[str]] = frozenset
        #: What the stack of a state holds at that place. It blocks, and may raise `Failure`.
        self.held_by_state: Callable[[ClaimsPlace], StackHolding] = lambda _: StackHolding()
        #: Where the stack at work claims; None where no program says so.
        self.claims_place: Callable[[], ClaimsPlace | None] = _nowhere
        #: Of (kind, name, stack): whose stacks are known not to use an object of the operator's. It blocks, and may
        #: raise `Failure`.
        self.without_use: Callable[[str, str, str], frozenset[OwnerId]] = lambda *_: frozenset()

    @cached_property
    def _region(self) -> Any:
        # Imported here, since Configure must be cheap; and without the services, of which nothing is used.
        defer("openstack")
        from openstack import exceptions
        from openstack.config import OpenStackConfig

        quote_no_files()
        try:
            known = OpenStackConfig(app_name="interlock", app_version=__version__)
            region = known.get_one(cloud=self.name)
            if self.site_region and self.site_region != region.region_name:
                region = self._in_site_region(known, str(region.region_name or ""))
        except (exceptions.ConfigException, trouble.ClientException, *_NOT_UNDERSTOOD) as error:
            raise self._unusable(str(error)) from error
        login = region.config.get("auth") or {}
        REDACTOR.add_login(login)
        kind = region.config.get("auth_type")
        if kind in _WITHOUT_KEYSTONE:
            raise self._unusable(f"its `auth_type` is {kind}, which is no login at Keystone", OWN_PASSWORD)
        if kind in _WITH_PASSWORD and not login.get("password"):
            raise self._unusable("its `auth` has no password")
        return region

    def _unusable(self, why: str, hint: str = "") -> Failure:
        return Failure(
            Trouble.UNREACHABLE,
            f"there is no usable cloud {self.name!r}: {why}",
            hint
            or "add it to clouds.yaml, and see that the file is valid YAML (a password may need quotes); or name "
            "another file in OS_CLIENT_CONFIG_FILE",
        )

    def _in_site_region(self, known: Any, stated: str) -> Any:
        """The entry in the region of the site file. Raises `Failure` if clouds.yaml has it in another one."""
        from openstack import exceptions

        try:
            return known.get_one(cloud=self.name, region_name=self.site_region)
        except exceptions.ConfigException as error:
            raise Failure(
                Trouble.REFUSED,
                f"the site is in region {self.site_region}, and cloud {self.name!r} in clouds.yaml is set to {stated}",
                "correct `region:` in site.yaml or `region_name` in clouds.yaml; an entry for several regions lists "
                "them under `regions:`",
            ) from error

    @cached_property
    def _session(self) -> Any:
        region = self._region
        try:
            session = region.get_session()
        except _NOT_UNDERSTOOD as error:
            raise self._unusable(str(error)) from error
        # For logins, too: a service that never answers would hold an apply for ever.
        session.timeout = session.timeout or self.retry_policy.budget.answer
        return session

    @cached_property
    def login(self) -> Login:
        """Logs in (once). Raises `Failure` if the cloud cannot be reached or refuses."""
        with self._lock:
            found = persist(self.retry_policy, self._log_in)
            assert found is not None  # persist raises where there is none
            return found

    @property
    def region(self) -> str:
        """Name of the region as stated; empty if neither the site file nor clouds.yaml names one."""
        return str(self._region.region_name or "")

    def api(self, service: str, project: str | None = None) -> Api:
        """A service, with the operator's own token or one scoped to the project with this uuid."""
        with self._lock:
            key = (service, project)
            if key not in self._apis:
                self._apis[key] = Api(
                    self._adapter(service, project), service, self.retry_policy, self._where(service, project)
                )
            return self._apis[key]

    def has(self, service: str) -> bool:
        """True if the catalogue has the service; for those that a cloud may be without."""
        return service in self.login.catalogue.regions

    def endpoint(self, service: str, project: str | None = None) -> str:
        """The address of a service in the catalogue; empty if it has none."""

        def attempt() -> Tried[str]:
            try:
                return Tried(str(self._adapter(service, project).get_endpoint() or ""))
            except (trouble.ClientException, *MISREAD) as error:
                return no_login(self._where(service, project), error)

        return persist(self.retry_policy, attempt) or ""

    def _where(self, service: str, project: str | None) -> str:
        """A service in messages about connections; a token of another project may be refused for itself."""
        scope = f" with a token of project {project}" if project else ""
        return f"cloud {self.name!r}: service {service}{scope}"

    def domain(self, name: str) -> str:
        """The id of a Keystone domain given by name or id."""
        return self.once("Domain", "", name, lambda: self._domain(name))

    def once(self, kind: str, scope: str, name: str, look: Any) -> str:
        """The id behind a name, looked up at most once per process."""
        key = (kind, scope, name)
        if key not in self.resolved:
            self.resolved[key] = look()
        return self.resolved[key]

    def _domain(self, name: str) -> str:
        found = list(self.api("identity").items("/domains", "domains", name=name))
        # Keystone's first domain has the id `default` and the name `Default`; people write either.
        return str(found[0]["id"]) if found else name

    def _log_in(self) -> Tried[Login]:
        try:
            return Tried(self._login(self._session.auth.get_access(self._session)))
        except (trouble.ClientException, *MISREAD) as error:
            # A token whose catalogue cannot be read would be kept until it expires.
            self._session.auth.invalidate()
            tried = no_login(self._where("identity", None), error)
            # Nobody listens there: most likely a wrong address, for which nobody should wait.
            return replace(tried, again=tried.again and not never_left(error))

    def _adapter(self, service: str, project: str | None) -> Adapter:
        version, microversion = VERSIONS[service]
        return Adapter(
            session=self._session,
            auth=self._plugin(project),
            service_type=service,
            interface=self._region.get_interface(service),
            region_name=self._region_for(service),
            version=None if service == "object-store" else version,
            default_microversion=microversion,
        )

    def _region_for(self, service: str) -> str | None:
        # What is stated is known before anybody logs in; identity may be in one region for all of them.
        if self.region and service != "identity":
            return self.region
        login = self.login
        return login.catalogue.region_for(service, login.fingerprint.region, stated=bool(self.region))

    def _plugin(self, project: str | None) -> Any:
        if project is None or project == self.login.project:
            return self._session.auth
        if self.login.bound:
            raise Failure(Trouble.REFUSED, bound_login(self.name, self.login.bound), OWN_PASSWORD)
        if project not in self._plugins:
            # The same credential with another scope.
            options = {key: value for key, value in self._region.config["auth"].items() if key not in _SCOPE}
            loader: Any = loading.get_plugin_loader(self._region.config["auth_type"])
            self._plugins[project] = loader.load_from_options(**options, project_id=project)
        return self._plugins[project]

    def _login(self, access: Any) -> Login:
        entries = access.service_catalog.catalog
        if not entries and not access.project_id:
            raise Failure(
                Trouble.REFUSED,
                f"cloud {self.name!r} logs in without a project, so it is told of no service",
                "name the operator's project in that entry of clouds.yaml (`project_name`, `project_domain_name`)",
            )
        services = {entry["type"]: entry["id"] for entry in entries}
        catalogue = Catalogue.of(entries)
        return Login(
            fingerprint=CloudFingerprint(str(services["identity"]), catalogue.chosen(self.name, self.region)),
            user=str(access.user_id),
            project=str(access.project_id or ""),
            roles=tuple(access.role_names),
            bound=_bound(access),
            catalogue=catalogue,
        )


def _bound(access: Any) -> str:
    if getattr(access, "application_credential_id", None):
        return "an application credential"
    return "a trust" if access.trust_scoped else ""
