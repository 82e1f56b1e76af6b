"""A site's folder -> a `Workspace`: the site, its tenants and their locks, in frozen types.

This is the only door for files. Everything after it is pure; what it keeps of the files are positions,
for messages that come later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from interlock.model.evidence.controller_reading import read_controller_evidence, with_controllers
from interlock.model.evidence.fabric_reading import read_fabric_evidence, with_fabrics
from interlock.model.evidence.reading import FOLDER, EvidenceText, Sighting, read_evidence
from interlock.model.evidence.signers import Signers, read_signers
from interlock.model.evidence.switch_reading import read_switch_evidence, with_switches
from interlock.model.lock.files import LockReader, dump_lock, lock_file, read_locks
from interlock.model.lock.record import Allocation, Lock, SiteLock
from interlock.model.site.inventory import Site
from interlock.model.site.loading import FLEET, LoadedSite
from interlock.model.site.places import fact_path
from interlock.model.tenant.loading import read_requests
from interlock.model.tenant.request import Default, Tenant
from interlock.model.text.errors import Code, InputError, InputErrors
from interlock.model.text.faults import Faults
from interlock.model.text.source import Source, Step
from interlock.model.text.validation import in_file_order, nearest

from .fleet import fleet_folder, load_fleet

#: The audience of what is shared with all, as `any` is read.
EVERYBODY = "*"

__all__ = ["Code", "InputError", "InputErrors", "Workspace", "dump_lock", "load_fleet", "load_site_of_fleet",
           "load_workspace", "require_fresh_lock", "require_fresh_site_lock"]  # fmt: skip


#: (section of a request, key of the full form) -> the key by which its file may ask for the same in another unit.
_IN_OTHER_UNITS: dict[tuple[Step, Step], str] = {("vpods", "machines"): "ipus", ("clusters", "nodes"): "gpus"}


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
    #: Every value that a request does not state, by tenant id.
    defaults: Mapping[str, tuple[Default, ...]]
    #: What was seen done to what was released.
    evidence: tuple[Sighting, ...] = ()
    #: The files that it stands in.
    evidence_texts: tuple[EvidenceText, ...] = ()
    #: Who may sign it; None: the site names no list, and nobody has to.
    signers: Signers | None = None

    def position(self, *path: Step, tenant: str | None = None) -> str:
        """`file:line:column` in `site.yaml` or a tenant's file; of the nearest value above if absent.

        A path into a request has the keys of the full form; where the file says the same in another unit, of that key.
        """
        if tenant is None:
            return self.loaded.source.position(path)
        source = self.sources[tenant]
        # A path of three steps is a key of a vPOD or cluster: section, name, key.
        other = _IN_OTHER_UNITS.get((path[0], path[-1])) if len(path) == 3 else None
        if other and not source.has(path) and source.has((*path[:-1], other)):
            path = (*path[:-1], other)
        return source.position(path)

    def fact_position(self, fact: str) -> str:
        """Where a fact of the full form stands in `site.yaml`, or should: `switches.tor-1.ip_routing` …"""
        return self.position(*fact_path(self.loaded.file, fact))

    def lock_file(self, owner: str) -> Path:
        """The lock file of a tenant, or of the site (`site`)."""
        return lock_file(self.folder, owner)

    def shown(self, file: Path) -> str:
        """The file's name in messages: relative to the folder that holds `stacks/`."""
        source = self.loaded.source
        base = source.file.parents[len(Path(source.name).parts) - 1]
        return file.relative_to(base).as_posix()


def load_workspace(stacks: Path, site: str, locks: LockReader = read_locks) -> Workspace:
    """The site in a folder below `stacks`: `lyon`, `leaky/<case>`. Raises InputErrors with every fault.

    `locks` reads the lock files: the whole of each by default.
    """
    loaded = load_site_of_fleet(stacks, site)
    folder, base = loaded.source.file.parent, stacks.absolute().parent
    requests = read_requests(folder, base, loaded)
    found = locks(folder, base, loaded.site)
    evidence = read_evidence(folder, base, loaded.site)
    signers, of_signers = _signers(loaded, base)
    seen = _recorded_evidence(loaded)
    audiences = _unknown_audiences(loaded, {*requests.names, *found.tenants})
    if faults := [*requests.faults, *found.faults, *evidence.faults, *of_signers, *seen.faults, *audiences]:
        raise InputErrors(in_file_order(faults))
    return Workspace(
        folder=folder,
        site=seen.site,
        site_lock=found.site,
        tenants=requests.tenants,
        locks=found.tenants,
        loaded=loaded,
        sources=requests.sources,
        defaults=requests.defaults,
        evidence=evidence.seen,
        evidence_texts=evidence.texts,
        signers=signers,
    )


def _signers(loaded: LoadedSite, base: Path) -> tuple[Signers | None, tuple[InputError, ...]]:
    """The list that the site names, and everything that is wrong with it."""
    stated = loaded.site.evidence.signers
    if stated is None:
        return None, ()
    file = loaded.source.file.with_name(stated)
    place = loaded.source.position(("evidence", "signers"))
    try:
        return read_signers(file, file.relative_to(base).as_posix(), place), ()
    except InputErrors as error:
        return None, error.errors


def site_with_evidence(loaded: LoadedSite) -> Site:
    """A site with what its guards rest on, without tenants and locks. Raises InputErrors for files of evidence."""
    seen = _recorded_evidence(loaded)
    if seen.faults:
        raise InputErrors(in_file_order(list(seen.faults)))
    return seen.site


@dataclass(frozen=True)
class _Recorded:
    """A site with what its guards rest on, and everything that is wrong with the files of it."""

    site: Site
    faults: tuple[InputError, ...]


def _recorded_evidence(loaded: LoadedSite) -> _Recorded:
    source, now = loaded.source, datetime.now(UTC)
    folder, base = source.file.parent, source.file.parents[len(Path(source.name).parts) - 1]
    switches = read_switch_evidence(folder, base, loaded.site, now)
    fabrics = read_fabric_evidence(folder, base, loaded.site, now)
    controllers = read_controller_evidence(folder, base, loaded.site, now)
    site = with_fabrics(with_switches(loaded.site, switches.files), fabrics.files)
    faults = switches.faults + fabrics.faults + controllers.faults
    return _Recorded(with_controllers(site, controllers.files), faults)


def _unknown_audiences(loaded: LoadedSite, known: Set[str]) -> Iterator[InputError]:
    """Tenants that something is shared with and that have neither request nor lock: a misspelt one is kept out."""
    for name, entry in loaded.file.sharing.items():
        for index, tenant in enumerate(entry.audience):
            if tenant != EVERYBODY and tenant not in known:
                path, message = ("sharing", name, "audience", index), f"there is no tenant `{tenant}`"
                yield loaded.source.error(Code.NO_SUCH, path, message, nearest(tenant, known))


def require_fresh_lock(
    workspace: Workspace, tenant: str, request_hash: str, slice_hash: Callable[[Allocation], str]
) -> Lock:
    """The lock of a tenant. Raises InputErrors if there is none, or if request or site changed after it.

    `slice_hash` gives the hash of what an allocation uses of the site as it is now.
    """
    lock = workspace.locks.get(tenant)
    if lock is None:
        position = workspace.position(tenant=tenant if tenant in workspace.sources else None)
        hint = f"run `interlock lock {tenant}`"
        raise InputErrors([InputError(Code.LOCK_MISSING, position, f"`{tenant}` has no lock", hint)])
    faults = _stale(workspace, tenant, lock.site, slice_hash(lock.allocation))
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


def load_site_of_fleet(stacks: Path, site: str) -> LoadedSite:
    """The site in a folder below `stacks`, without tenants and locks. Raises InputErrors with every fault.

    Its whole fleet is loaded, since a site alone cannot tell that another claims its cloud.
    """
    stacks = stacks.absolute()
    folder, base = stacks / site, stacks.parent
    if not _is_below(folder, stacks) or not (folder / "site.yaml").is_file():
        raise InputErrors([_no_site(stacks, site)])
    fleet = fleet_folder(folder, stacks)
    if fleet is None:
        position = (stacks / FLEET).relative_to(base).as_posix()
        hint = "write `name: <any>` into it; it says that the sites below describe different clouds and switches"
        raise InputErrors([InputError(Code.NO_FILE, position, "the site belongs to no fleet", hint)])
    for loaded in load_fleet(fleet, base):
        if loaded.source.file.parent == folder:
            return loaded
    # The request of a tenant called `site` is no site.
    raise InputErrors([_no_site(stacks, site)])


def _is_below(folder: Path, stacks: Path) -> bool:
    return folder.is_relative_to(stacks) and ".." not in folder.relative_to(stacks).parts


def _no_site(stacks: Path, site: str) -> InputError:
    """The fault of a folder without a site; its name is told as it was given if it is not below `stacks`."""
    known = [
        path.parent.relative_to(stacks).as_posix()
        for path in stacks.rglob("site.yaml")
        if path.parent.name not in ("tenants", FOLDER)
    ]
    file = stacks / site / "site.yaml"
    position = file.relative_to(stacks.parent).as_posix() if _is_below(file, stacks) else site
    return InputError(Code.NO_FILE, position, "there is no such site", nearest(site, known))
