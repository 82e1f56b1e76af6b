"""Hashes that locks and plans record of their inputs."""

from __future__ import annotations

from interlock.model.site import Site
from interlock.model.tenant import Tenant
from interlock.resources import digest_of


def site_hash(site: Site) -> str:
    """`sha256:` of the whole site in full form."""
    return digest_of(site.model_dump(mode="json"))


def request_hash(tenant: Tenant) -> str:
    """`sha256:` of a request in full form."""
    return digest_of(tenant.model_dump(mode="json"))
