"""JSON Schema of the files that people write, for editors; the loader checks more than a schema can say."""

from __future__ import annotations

from typing import Any

from .site_file import SiteFile
from .tenant_file import TenantFile

_DIALECT = {"$schema": "https://json-schema.org/draft/2020-12/schema"}


def tenant_schema() -> dict[str, Any]:
    """Schema of `tenants/<id>.yaml`."""
    return _DIALECT | TenantFile.model_json_schema()


def site_schema() -> dict[str, Any]:
    """Schema of `site.yaml`."""
    return _DIALECT | SiteFile.model_json_schema()
