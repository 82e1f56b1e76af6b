"""vPODs that a tenant releases and may have again: what names one is read and checked, and means nothing meanwhile."""

from __future__ import annotations

from collections.abc import Collection

from .request import Access, Tenant


def set_aside(tenant: Tenant, released: Collection[str]) -> Tenant:
    """The request with these vPODs apart: what else of it is about them waits until they return."""
    if not released:
        return tenant
    volumes = [
        one.model_copy(update={"vpod": None, "server": None}) if one.vpod in released else one for one in tenant.volumes
    ]
    shares = [one.model_copy(update={"vpods": _without(one.vpods, released)}) for one in tenant.shares]
    return tenant.model_copy(
        update={
            "access": _access(tenant.access, released),
            "vpods": tuple(one for one in tenant.vpods if one.name not in released),
            "released": tuple(one for one in tenant.vpods if one.name in released),
            "order": tuple(one.name for one in tenant.vpods),
            "volumes": tuple(volumes),
            "shares": tuple(shares),
        }
    )


def _access(access: Access, released: Collection[str]) -> Access:
    """Who is let in to a vPOD that is released alone is let in nowhere meanwhile, and not everywhere."""
    people = [
        one if one.vpods is None else one.model_copy(update={"vpods": _without(one.vpods, released)})
        for one in access.people
    ]
    public = [one for one in access.public if one.vpod not in released]
    return access.model_copy(update={"people": tuple(people), "public": tuple(public)})


def _without(names: Collection[str], released: Collection[str]) -> tuple[str, ...]:
    return tuple(name for name in names if name not in released)
