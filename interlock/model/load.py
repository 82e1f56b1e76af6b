"""A site's folder -> a `Workspace`: the site, its tenants and their locks, in frozen types.

This is the only door for files. Everything after it is pure; what it keeps of the files are positions,
for messages that come later.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from .errors import Code, InputError, InputErrors
from .faults import Faults
from .fleet import fleet_folder, load_fleet
from .lock import Lock, SiteLock
from .locks import dump_lock, load_lock
from .names import tenant_name
from .places import fact_path
from .site import Site
from .site_loading import FLEET, LoadedSite
from .source import Source, Step
from .tenant import Tenant
from .tenant_expansion import TenantExpansion
from .tenant_file import TenantFile
from .validation import in_file_order, nearest, validated

__all__ = ["Code", "InputError", "InputErrors", "Workspace", "dump_lock", "load_fleet", "load_workspace",
           "require_fresh_lock", "require_fresh_site_lock"]  # fmt: skip

LOCK = ".lock.json"
V = TypeVar("V", Lock, SiteLock)


@dataclass(frozen=True)
class Workspace:
    """A site's folder, read. `locks` may hold tenants without a file: their claims still count."""

    folder: Path
    site: Site
    site_lock: SiteLock | None
    tenants: Mapping[str, Tenant]
    locks: Mapping[str, Lock]
    loaded: LoadedSite
    #: Sources of the requests, by tenant id.
    sources: Mapping[str, Source]

    def position(self, *path: Step, tenant: str | None = None) -> str:
        """`file:line:column` in `site.yaml` or a tenant's file; of the nearest value above if absent."""
        source = self.loaded.source if tenant is None else self.sources[tenant]
        return source.position(path)

    def fact_position(self, fact: str) -> str:
        """Where a fact of the full form stands in `site.yaml`, or should: `switches.tor-1.ip_routing` …"""
        return self.position(*fact_path(self.loaded.file, fact))

    def lock_file(self, owner: str) -> Path:
        """The lock file of a tenant, or of the site (`site`)."""
        return _lock_file(self.folder, owner)

    def shown(self, file: Path) -> str:
        """The file's name in messages: relative to the folder that holds `stacks/`."""
        source = self.loaded.source
        base = source.file.parents[len(Path(source.name).parts) - 1]
        return file.relative_to(base).as_posix()


def load_workspace(stacks: Path, site: str) -> Workspace:
    """The site in a folder below `stacks`: `lyon`, `leaky/<case>`. Raises InputErrors with every fault."""
    stacks = stacks.absolute()
    folder, base = stacks / site, stacks.parent
    loaded = _site_of_fleet(stacks, folder, base)
    loading = _Loading(base)
    tenants, sources = loading.tenants(folder, loaded)
    locks = loading.locks(folder, Lock, "tenants/*.lock.json")
    site_locks = loading.locks(folder, SiteLock, "site.lock.json")
    loading.check_owners(folder, {**locks, **site_locks})
    if loading.errors:
        raise InputErrors(in_file_order(loading.errors))
    return Workspace(
        folder=folder,
        site=loaded.site,
        site_lock=site_locks.get("site"),
        tenants=MappingProxyType(tenants),
        locks=MappingProxyType(locks),
        loaded=loaded,
        sources=MappingProxyType(sources),
    )


def require_fresh_lock(workspace: Workspace, tenant: str, request_hash: str, site_hash: str) -> Lock:
    """The lock of a tenant. Raises InputErrors if there is none, or if request or site changed after it."""
    lock = workspace.locks.get(tenant)
    if lock is None:
        position = workspace.position(tenant=tenant if tenant in workspace.sources else None)
        hint = f"run `interlock lock {tenant}`"
        raise InputErrors([InputError(Code.LOCK_MISSING, position, f"`{tenant}` has no lock", hint)])
    faults = _stale(workspace, tenant, lock.site, site_hash)
    if lock.request != request_hash:
        message = f"the lock of `{tenant}` was made for another request"
        faults.add(Code.LOCK_OLDER_THAN_REQUEST, ("request",), message, f"run `interlock lock {tenant}`")
    faults.raise_if_any()
    return lock


def require_fresh_site_lock(workspace: Workspace, site_hash: str) -> SiteLock:
    """The lock of the operator's stack. Raises InputErrors if it is absent or older than the site."""
    if workspace.site_lock is None:
        hint = "run `interlock lock`"
        raise InputErrors([InputError(Code.LOCK_MISSING, workspace.position(), "the site has no lock", hint)])
    _stale(workspace, "site", workspace.site_lock.site, site_hash).raise_if_any()
    return workspace.site_lock


def _stale(workspace: Workspace, owner: str, made_for: str, site_hash: str) -> Faults:
    file = workspace.lock_file(owner)
    faults = Faults(Source.read(file, workspace.shown(file)))
    if made_for != site_hash:
        command = "interlock lock" if owner == "site" else f"interlock lock {owner}"
        message = f"the lock of `{owner}` was made for another state of the site"
        faults.add(Code.LOCK_OLDER_THAN_SITE, ("site",), message, f"run `{command}`")
    return faults


def _site_of_fleet(stacks: Path, folder: Path, base: Path) -> LoadedSite:
    """The site, loaded with its whole fleet, since a site alone cannot tell that another claims its cloud."""
    if not (folder / "site.yaml").is_file():
        known = [
            path.parent.relative_to(stacks).as_posix()
            for path in stacks.rglob("site.yaml")
            if path.parent.name != "tenants"
        ]
        position = (folder / "site.yaml").relative_to(base).as_posix()
        hint = nearest(folder.relative_to(stacks).as_posix(), known)
        raise InputErrors([InputError(Code.NO_FILE, position, "there is no such site", hint)])
    fleet = fleet_folder(folder, stacks)
    if fleet is None:
        position = (stacks / FLEET).relative_to(base).as_posix()
        hint = (
            "write `name: <any>` into it; it says that the sites below describe different clouds and switches"
        )
        raise InputErrors([InputError(Code.NO_FILE, position, "the site belongs to no fleet", hint)])
    sites = load_fleet(fleet, base)
    return next(loaded for loaded in sites if loaded.source.file.parent == folder)


class _Loading:
    """Reads the files of one site and keeps going after a fault, so that all faults are told at once."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.errors: list[InputError] = []

    def tenants(self, folder: Path, loaded: LoadedSite) -> tuple[dict[str, Tenant], dict[str, Source]]:
        """Tenants and their sources, by id."""
        tenants, sources = dict[str, Tenant](), dict[str, Source]()
        for file in sorted((folder / "tenants").glob("*.y*ml")):
            try:
                source = Source.read(file, self._shown(file))
                tenants[file.stem] = _tenant(source, loaded)
                sources[file.stem] = source
            except InputErrors as error:
                self.errors += error.errors
        self._check_joined_names(tenants, sources)
        return tenants, sources

    def locks(self, folder: Path, kind: type[V], pattern: str) -> dict[str, V]:
        """Locks by id."""
        locks = dict[str, V]()
        for file in sorted(folder.glob(pattern)):
            try:
                lock = load_lock(file, self._shown(file), kind)
                locks[lock.id] = lock
            except InputErrors as error:
                self.errors += error.errors
        return locks

    def check_owners(self, folder: Path, locks: Mapping[str, Lock | SiteLock]) -> None:
        """An owner id is minted once; two locks with one id come from a copied file."""
        seen = dict[str, str]()
        for name, lock in locks.items():
            first = seen.setdefault(lock.owner, name)
            if first != name:
                message = f"the locks of `{first}` and `{name}` have one owner id: one is a copy of the other"
                hint = f"delete the lock that was copied and run `interlock lock {name}`"
                position = self._shown(_lock_file(folder, name))
                self.errors.append(InputError(Code.LOCK_EDITED, position, message, hint))

    def _check_joined_names(self, tenants: Mapping[str, Tenant], sources: Mapping[str, Source]) -> None:
        """`acme` with a vPOD `x-y` and `acme-x` with `y` would make objects of one name."""
        seen = dict[str, str]()
        for name, tenant in tenants.items():
            sections = (("vpods", tenant.vpods), ("buckets", tenant.buckets))
            for section, part in ((section, part) for section, parts in sections for part in parts):
                first = seen.setdefault(f"{name}-{part.name}", name)
                if first != name:
                    message = f"on the cloud `{name}-{part.name}` would be a name of tenant `{first}` too"
                    path = (section, part.name, "[key]")
                    self.errors.append(sources[name].error(Code.TWICE, path, message, "take another name"))

    def _shown(self, file: Path) -> str:
        return file.relative_to(self.base).as_posix()


def _lock_file(folder: Path, owner: str) -> Path:
    return folder / f"site{LOCK}" if owner == "site" else folder / "tenants" / f"{owner}{LOCK}"


def _tenant(source: Source, loaded: LoadedSite) -> Tenant:
    identity = _identity(source, loaded.site)
    file = validated(TenantFile, source)
    return TenantExpansion(loaded.site, loaded.defaults, Faults(source)).tenant(identity, file)


def _identity(source: Source, site: Site) -> str:
    """The tenant's id, which is the name of the file."""
    stem, suffix = source.file.stem, source.file.suffix
    hint = "the name of the file is the tenant's id, and part of every name on the cloud"
    if suffix != ".yaml":
        message = f"a tenant's file ends in `.yaml`, not `{suffix}`"
        raise InputErrors([InputError(Code.NAME, source.name, message, f"call it {stem}.yaml")])
    if stem == f"{site.name}-controllers":
        raise InputErrors(
            [InputError(Code.NAME, source.name, f"`{stem}` is the project of controllers", hint)]
        )
    try:
        return tenant_name(stem)
    except ValueError as error:
        context = getattr(error, "context", None) or {"text": str(error)}
        raise InputErrors([InputError(Code.NAME, source.name, context["text"], hint)]) from None
