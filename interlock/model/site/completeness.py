"""Which tables of a site are complete, device by device: only there does an absent record say that there is nothing.

Of what the cloud holds likewise: rights by kind of object, members and logins by domain, networks by physical network.

Everywhere else what no record tells of may be there (docs/design/semantics.md §8).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from interlock.model.evidence.values import Age, age_text
from interlock.model.tenant.values import Day
from interlock.model.text.names import DeviceNames, DisplayName, DisplayNames
from interlock.model.text.validation import FileModel
from interlock.resources import Frozen

Table = Literal[
    "switch_ports", "cables", "routing", "external_attachments", "attachments",
    "rights", "members", "logins", "scopes", "networks",
]  # fmt: skip

#: Every table, in the order of the documentation.
TABLES: tuple[Table, ...] = get_args(Table)
#: Those that are about switches; `attachments` is about everything else that hangs on a cable.
SWITCH_TABLES: tuple[Table, ...] = ("switch_ports", "cables", "routing", "external_attachments")
#: Those that are about what the cloud holds, and what each can be complete of.
CLOUD_TABLES: dict[Table, str] = {
    "rights": "a kind of object with rights",
    "members": "the Keystone domain",
    "logins": "the Keystone domain",
    "scopes": "the external network",
    "networks": "a physical network with switches, or `vxlan`",
}
#: Kinds of objects on which Neutron gives rights that join anybody.
KINDS_WITH_RIGHTS = ("Network", "AddressScope", "SubnetPool")
#: Stands for the overlays among the physical networks.
OVERLAYS = "vxlan"


class Completeness(Frozen):
    """One declaration: of these devices everything that belongs into the table is in the file."""

    table: Table
    devices: tuple[str, ...]
    #: ISO date of the day on which somebody looked.
    seen: str
    by: str


class CompletenessFile(FileModel):
    """Somebody looked, and everything is listed."""

    of: DeviceNames = Field(description="the devices that were looked at: names, or ranges such as `ipum-[01-16]`")
    seen: Day = Field(description="the day on which somebody looked")
    by: DisplayName = Field(description="who looked, and answers for it")


class CloudCompletenessFile(CompletenessFile):
    """Somebody asked the cloud, and everything that it holds is in files."""

    of: DisplayNames = Field(description="what was looked at, names or ranges; what it can be is said with each table")


class _OrOne:
    """One declaration alone is short for a list of one."""

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        found = handler(core)
        return {"anyOf": [found["items"], found]}


def _several(value: Any) -> Any:
    return [value] if isinstance(value, dict) else value


Declarations = Annotated[list[CompletenessFile], BeforeValidator(_several), _OrOne()]
CloudDeclarations = Annotated[list[CloudCompletenessFile], BeforeValidator(_several), _OrOne()]


class CompleteFile(FileModel):
    """`complete:` of a site file. A device that is in no list of a table may have more than the file says."""

    max_age: Age | None = Field(
        default=None, description="how old a declaration may be to count; without it, of any age"
    )
    switch_ports: Declarations = Field(
        default_factory=list, description="switches: a port without a line is disabled; elsewhere it is unknown"
    )
    cables: Declarations = Field(default_factory=list, description="switches: every cable at them is in the file")
    routing: Declarations = Field(
        default_factory=list, description="switches: every address, VRF and VTEP of them is in the file"
    )
    external_attachments: Declarations = Field(
        default_factory=list, description="switches: the external network is on none of them, but as the file says"
    )
    attachments: Declarations = Field(
        default_factory=list,
        description="hosts, machines and other devices: every interface of them that is attached to anything is in "
        "the file, under `cables` and, for hosts, `interfaces`",
    )

    rights: CloudDeclarations = Field(
        default_factory=list,
        description="kinds of objects (Network, AddressScope, SubnetPool): nobody has a right to one but as plans say",
    )
    members: CloudDeclarations = Field(
        default_factory=list, description="Keystone domains: nobody has a role in a project there but as plans say"
    )
    logins: CloudDeclarations = Field(
        default_factory=list, description="Keystone domains: no server there has an ssh key but as plans say"
    )
    scopes: CloudDeclarations = Field(
        default_factory=list,
        description="external networks: every subnet of them, and every address scope and subnet pool that these are "
        "in, is in a plan",
    )
    networks: CloudDeclarations = Field(
        default_factory=list,
        description="physical networks, and `vxlan` for overlays: every network of the cloud there is in a plan",
    )

    def declared(self) -> Iterator[tuple[Table, int, CompletenessFile]]:
        """(table, place in its list, declaration)."""
        for table in TABLES:
            for index, item in enumerate(getattr(self, table)):
                yield table, index, item

    def devices(self, table: Table) -> frozenset[str]:
        """The devices of which a table is complete."""
        return frozenset(name for found, _, item in self.declared() if found == table for name in item.of)


def too_old(declared: Completeness, max_age_h: int | None, today: date) -> bool:
    """True if the day is over on which a declaration would still count."""
    return max_age_h is not None and today > date.fromisoformat(declared.seen) + timedelta(hours=max_age_h)


def completeness_of(file: CompleteFile) -> tuple[Completeness, ...]:
    """In the order of the tables."""
    return tuple(
        Completeness(table=table, devices=tuple(item.of), seen=str(item.seen), by=item.by)
        for table, _, item in file.declared()
    )


def complete_section(declared: Iterable[Completeness], max_age_h: int | None) -> dict[str, Any]:
    """As the file has it."""
    found: dict[str, Any] = {} if max_age_h is None else {"max_age": age_text(max_age_h)}
    for item in declared:
        found.setdefault(item.table, []).append({"of": list(item.devices), "seen": item.seen, "by": item.by})
    return found
