"""Pulumi component resources: a proof, declared.

Everything here takes a `Proof`, never a bare plan, so nothing can be registered that was not proved.
`declare` is the one entry; the components are public so that a program can read their typed outputs.
"""

from .clusters import GpuCluster, GpuClusterHead, GpuClusterNode
from .data import TenantBucket, TenantShare, TenantVolume
from .declaration import Declaration
from .sites import SiteObjects
from .stack import declare
from .tenants import TenantProject
from .vpods import BareMetalPoplarServer, PoplarServer, VipuController, VirtualPod

__all__ = [
    "BareMetalPoplarServer",
    "Declaration",
    "GpuCluster",
    "GpuClusterHead",
    "GpuClusterNode",
    "PoplarServer",
    "SiteObjects",
    "TenantBucket",
    "TenantProject",
    "TenantShare",
    "TenantVolume",
    "VipuController",
    "VirtualPod",
    "declare",
]
