"""`tenants/*.yaml` of a site -> its requests, each with its source and its defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from interlock.model.site.inventory import Site
from interlock.model.site.loading import LoadedSite
from interlock.model.text.errors import Code, InputError, InputErrors
from interlock.model.text.names import tenant_name
from interlock.model.text.source import KEY, Source

from .expansion import read_tenant
from .names import names_on_the_cloud
from .people import shared_keys
from .reading import Offered
from .request import Default, Tenant


@dataclass(frozen=True)
class Requests:
    """The requests of one site, by tenant id, and everything that is wrong with their files."""

    tenants: Mapping[str, Tenant]
    sources: Mapping[str, Source]
    defaults: Mapping[str, tuple[Default, ...]]
    faults: tuple[InputError, ...] = ()
    #: Of every request, also of one that is at fault.
    names: frozenset[str] = frozenset()


def read_requests(folder: Path, base: Path, loaded: LoadedSite) -> Requests:
    """Every request of the site in `folder`; goes on after a fault, so that all are told at once."""
    offered = Offered.of(loaded.site, loaded.defaults)
    tenants, sources = dict[str, Tenant](), dict[str, Source]()
    defaults, faults = dict[str, tuple[Default, ...]](), list[InputError]()
    files = sorted((folder / "tenants").glob("*.y*ml"))
    for file in files:
        try:
            source = Source.read(file, file.relative_to(base).as_posix())
            identity = _identity(source, loaded.site)
            tenants[identity], defaults[identity] = read_tenant(identity, source, offered)
            sources[identity] = source
        except InputErrors as error:
            faults += error.errors
    faults += _joined_names(tenants, sources)
    faults += shared_keys(tenants, sources)
    return Requests(
        MappingProxyType(tenants), MappingProxyType(sources), MappingProxyType(defaults), tuple(faults),
        frozenset(file.stem for file in files),
    )  # fmt: skip


def _joined_names(tenants: Mapping[str, Tenant], sources: Mapping[str, Source]) -> list[InputError]:
    """`acme` with a vPOD `x-y` and `acme-x` with `y` would make objects of one name."""
    seen, faults = dict[str, str](), list[InputError]()
    for name, tenant in tenants.items():
        for section, part in names_on_the_cloud(tenant):
            first = seen.setdefault(f"{name}-{part}", name)
            if first != name:
                message = f"on the cloud `{name}-{part}` would be a name of tenant `{first}` too"
                path = (section, part, KEY)
                faults.append(sources[name].error(Code.TWICE, path, message, "take another name"))
    return faults


def _identity(source: Source, site: Site) -> str:
    """The tenant's id, which is the name of the file."""
    stem, suffix = source.file.stem, source.file.suffix
    hint = "the name of the file is the tenant's id, and part of every name on the cloud"
    if suffix != ".yaml":
        message = f"a tenant's file ends in `.yaml`, not `{suffix}`"
        raise InputErrors([InputError(Code.NAME, source.name, message, f"call it {stem}.yaml")])
    if stem == f"{site.name}-controllers":
        message = f"`{stem}` is the project of controllers"
        raise InputErrors([InputError(Code.NAME, source.name, message, hint)])
    try:
        return tenant_name(stem)
    except ValueError as error:
        context = getattr(error, "context", None) or {"text": str(error)}
        raise InputErrors([InputError(Code.NAME, source.name, context["text"], hint)]) from None
