"""Pulumi component resources: a proof, declared.

Everything here takes a `Proof`, never a bare plan, so nothing can be registered that was not proved.
`declare` is the one entry; the components are public so that a program can read their typed outputs.
"""

from .buckets import TenantBucket
from .declaration import Declaration
from .sites import SiteObjects
from .stack import declare
from .tenants import TenantProject
from .vpods import PoplarServer, VipuController, VirtualPod

__all__ = [
    "Declaration",
    "PoplarServer",
    "SiteObjects",
    "TenantBucket",
    "TenantProject",
    "VipuController",
    "VirtualPod",
    "declare",
]
