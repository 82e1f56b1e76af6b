"""What `existing:` of a site file may name: how the service writes ids of that kind, and what the site states of it.

One table for the checks of the file, for the comparison with the cloud and for the docs. Each field of a kind is
either stated and compared, or listed with the reason why it is not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from .base import Resource
from .compute import Aggregate, Flavor, Image
from .identity import Project, Role
from .network import AddressScope, Network, SegmentRange, Subnet, SubnetPool
from .storage import ShareType, VolumeType


class IdForm(StrEnum):
    """How a service writes an id."""

    #: With dashes, or Keystone's 32 hexadecimal digits.
    UUID = "a uuid"
    NUMBER = "a whole number"
    #: Nova takes any text for a flavour's id.
    TEXT = "a flavor's id"

    def fits(self, ident: str) -> bool:
        """True if an id of this form can be written so."""
        return _PATTERNS[self].fullmatch(ident) is not None


_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32}"

_PATTERNS: Mapping[IdForm, re.Pattern[str]] = {
    IdForm.UUID: re.compile(_UUID),
    IdForm.NUMBER: re.compile(r"[1-9][0-9]{0,17}"),
    IdForm.TEXT: re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,254}"),
}


@dataclass(frozen=True)
class ExistingKind:
    """What a site file states of an existing object of one kind."""

    kind: type[Resource]
    #: Compared as a whole.
    fields: tuple[str, ...]
    #: Of these maps the object may have more keys than are stated.
    at_least: tuple[str, ...] = ()
    #: Field -> why it is not compared.
    left_out: Mapping[str, str] = field(default_factory=dict)
    ids: IdForm = IdForm.UUID


_OWN_NAME = "no file states it: only an object that the stack itself makes is named so"
_NO_FILE = "no file states it"
_PROJECT = "the operator may have made it in any project that is no tenant's, which is looked at by itself"

#: Every kind that can be named. Others have no id of their own and are found by what they join (role assignments,
#: quotas, flavor access).
STATED: Mapping[str, ExistingKind] = {
    stated.kind.KIND: stated
    for stated in (
        ExistingKind(Project, ("domain",), left_out={"name": _OWN_NAME, "description": _NO_FILE}),
        ExistingKind(Role, ("name",), left_out={"description": _NO_FILE}),
        ExistingKind(
            SegmentRange, ("network_type", "physical_network", "minimum", "maximum"), left_out={"name": _OWN_NAME}
        ),
        ExistingKind(AddressScope, ("name", "ip_version", "shared")),
        ExistingKind(
            SubnetPool, ("address_scope", "prefixes", "shared"),
            left_out={"name": _OWN_NAME, "default_prefix_length": "every subnet of ours names its prefix"},
        ),
        ExistingKind(
            Network,
            ("name", "network_type", "physical_network", "segmentation_id", "external", "shared", "port_security"),
            left_out={"project": _PROJECT, "mtu": _NO_FILE},
        ),
        ExistingKind(
            Subnet, ("network", "cidr", "gateway", "dhcp", "pools", "subnet_pool"),
            left_out={"name": _OWN_NAME, "project": _PROJECT, "dns": _NO_FILE},
        ),
        ExistingKind(Flavor, ("name", "vcpus", "ram_mib", "disk_gib", "extra_specs", "public"), ids=IdForm.TEXT),
        ExistingKind(
            Image, ("name", "sha512", "disk_format", "visibility"),
            left_out={"file": "it is where the data would be taken from; what was taken is its sha512"},
        ),
        ExistingKind(
            Aggregate, ("hosts",), at_least=("metadata",), left_out={"name": _OWN_NAME}, ids=IdForm.NUMBER
        ),
        ExistingKind(
            VolumeType, ("name", "encryption"),
            left_out={
                "description": _NO_FILE, "extra_specs": _NO_FILE,
                "public": "who else may use it is the operator's to say on the cloud",
            },
        ),
        ExistingKind(ShareType, ("name",), at_least=("extra_specs",)),
    )
}  # fmt: skip
