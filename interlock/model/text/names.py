"""Names that end up in names on the cloud, in shells and in generated files: narrow on purpose (L3-15)."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

from interlock.vocabulary.owners import RESERVED_OWNERS

from .errors import Code, fault
from .values import QUOTE_IT, names, shown

#: What no tenant may be called: `any` is everybody in an audience, and tenant id `site` would make the stack
#: `<site>-site`, which is the operator's own.
RESERVED_TENANTS = frozenset({"site", "any"}) | RESERVED_OWNERS
#: Last parts of the tenant's own plan names: a vPOD or bucket of that name would take them.
RESERVED_PARTS = ("project", "operator", "quota", "share-quota", "key", "router", "member")

#: What a part of a vPOD begins with, after the vPOD's name and a dash.
PARTS_OF_A_VPOD = (
    "ipu", "storage", "control", "controller", "management", "poplar", "s3", "rnic", "mgmt", "allocation", "partition"
)  # fmt: skip
#: The same of a GPU cluster.
PARTS_OF_A_CLUSTER = ("node", "head", "cluster", "partition", "s3")

_TENANT = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_SITE = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_DEVICE = re.compile(r"[a-z0-9]+([.-][a-z0-9]+)*")
_SERIAL = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")
_INTERFACE = re.compile(r"[a-z0-9]+([._-][a-z0-9]+)*")
_NETWORK = re.compile(r"[A-Za-z0-9]+([._-][A-Za-z0-9]+)*")
_PORTS = re.compile(r"[0-9]+-[0-9]+")
_MOST_ACCOUNT = 32
#: As useradd(8) takes them, without capitals and the dollar of Samba's machines.
_ACCOUNT = re.compile(rf"[a-z_][a-z0-9_-]{{0,{_MOST_ACCOUNT - 1}}}")
_USER = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._@-]*[A-Za-z0-9])?")

#: A vPOD's name stands in host names (63 characters) between the tenant's id and `-poplar-12`.
MOST_TENANT, MOST_PART, MOST_OTHER = 20, 20, 63


def tenant_name(value: Any) -> str:
    """The id of a tenant: lower-case letters, digits, single dashes, at most 20."""
    text = _checked(value, _TENANT, MOST_TENANT, "lower-case letters, digits and single dashes, a letter first")
    if text in RESERVED_TENANTS:
        raise fault(Code.NAME, f"`{text}` is reserved", "it stands for another owner than a tenant; take another name")
    return text


def part_name(value: Any) -> str:
    """The name of a vPOD or a bucket inside its tenant."""
    text = _checked(value, _TENANT, MOST_PART, "lower-case letters, digits and single dashes, a letter first")
    if text in RESERVED_PARTS or text.startswith("member-"):
        hint = f"the tenant's own objects are called {', '.join(RESERVED_PARTS)}: take another name"
        raise fault(Code.NAME, f"`{text}` is reserved", hint)
    return text


def account_name(value: Any) -> str:
    """An account on a Linux host. No dash in front, which ssh would take for an option."""
    if not isinstance(value, str) or not _ACCOUNT.fullmatch(value):
        hint = f"use lower-case letters, digits, dashes and underscores, at most {_MOST_ACCOUNT}"
        raise fault(Code.NAME, f"{shown(value)} is no account", hint)
    return value


def site_name(value: Any) -> str:
    """The name of a site. No dash: a stack is `<site>-<tenant>`, and both must be read back from it."""
    return _checked(value, _SITE, MOST_TENANT, "lower-case letters, digits and single underscores, no dash")


def device_name(value: Any) -> str:
    """A machine, host, switch, rack, flavour, image or network of the site."""
    return _checked(value, _DEVICE, MOST_OTHER, "lower-case letters, digits, single dashes and dots")


def device_names(value: Any) -> list[str]:
    """Names of devices, also as `ipum-[01-16]`."""
    return [device_name(item) for item in names(value)]


def pinned_names(value: Any) -> tuple[str, ...]:
    """Names of devices that a request pins; already expanded where a full form is read again."""
    return value if isinstance(value, tuple) else tuple(device_names(value))


def serials(value: Any) -> list[str]:
    """Serial numbers, also as `LYN-M2000-[01-16]`."""
    return [serial(item) for item in names(value)]


def serial(value: Any) -> str:
    """A serial number. Bare digits must be quoted, or YAML would make a number of them."""
    return _checked(value, _SERIAL, MOST_OTHER, "letters, digits, dots, dashes and underscores")


def interface(value: Any) -> str:
    """A network interface of a host."""
    return _checked(value, _INTERFACE, MOST_OTHER, "lower-case letters, digits, dots, dashes and underscores")


def interfaces(value: Any) -> list[str]:
    """Interfaces of one device: names, also as `eno[1-2]`, or ports of a switch as `17`, `25-32`."""
    items = value if isinstance(value, list) else [value]
    return [interface(name) for item in items for name in _interfaces(item)]


def _interfaces(item: Any) -> list[str]:
    if type(item) is int:
        return [str(item)]
    return names(f"[{item}]" if isinstance(item, str) and _PORTS.fullmatch(item) else item)


def network_name(value: Any) -> str:
    """A physical network: a word of Neutron's configuration, where capitals and underscores are usual."""
    return _checked(value, _NETWORK, MOST_OTHER, "letters, digits, single dashes, dots and underscores")


def network_names(value: Any) -> list[str]:
    """Physical networks, also as `fabric-[01-99]`."""
    return [network_name(item) for item in names(value)]


def user_name(value: Any) -> str:
    """A Keystone user."""
    return _checked(value, _USER, MOST_OTHER, "letters, digits and . _ @ - inside")


def display_name(value: Any) -> str:
    """A name for people: one line of at most 80 characters, without control characters."""
    if not isinstance(value, str):
        raise fault(Code.WRONG_TYPE, f"{shown(value)} is not a text", QUOTE_IT)
    if not value.strip() or len(value) > 80 or not value.isprintable():
        raise fault(Code.NAME, f"{shown(value)} is no name to show", "one line of 1 to 80 characters")
    return value


def display_names(value: Any) -> list[str]:
    """Names of anything that the cloud holds, also as `fabric-[01-16]`."""
    return [display_name(item) for item in names(value)]


def _checked(value: Any, pattern: re.Pattern[str], most: int, words: str) -> str:
    if not isinstance(value, str):
        raise fault(Code.WRONG_TYPE, f"{shown(value)} is not a text", QUOTE_IT)
    if len(value) > most:
        raise fault(Code.NAME, f"`{value}` has {len(value)} characters", f"at most {most} are possible here")
    if not pattern.fullmatch(value):
        alone = "one name stands here, and a range is several: " if "[" in value else ""
        raise fault(Code.NAME, f"`{value}` is no name here", f"{alone}use {words}")
    return value


def _schema(pattern: re.Pattern[str], most: int) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "pattern": f"^{pattern.pattern}$", "maxLength": most})


_LIST = WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]})
_NUMBER_OR_TEXT = {"type": ["string", "integer"]}
_PLUGS = WithJsonSchema({"anyOf": [_NUMBER_OR_TEXT, {"type": "array", "items": _NUMBER_OR_TEXT}]})

DeviceNames = Annotated[list[str], BeforeValidator(device_names), _LIST]
DisplayNames = Annotated[list[str], BeforeValidator(display_names), _LIST]
PinnedNames = Annotated[tuple[str, ...], BeforeValidator(pinned_names), _LIST]
Serials = Annotated[list[str], BeforeValidator(serials), _LIST]
PartName = Annotated[str, BeforeValidator(part_name), _schema(_TENANT, MOST_PART)]
SiteName = Annotated[str, BeforeValidator(site_name), _schema(_SITE, MOST_TENANT)]
DeviceName = Annotated[str, BeforeValidator(device_name), _schema(_DEVICE, MOST_OTHER)]
Serial = Annotated[str, BeforeValidator(serial), _schema(_SERIAL, MOST_OTHER)]
Interface = Annotated[str, BeforeValidator(interface), _schema(_INTERFACE, MOST_OTHER)]
Interfaces = Annotated[list[str], BeforeValidator(interfaces), _PLUGS]
NetworkName = Annotated[str, BeforeValidator(network_name), _schema(_NETWORK, MOST_OTHER)]
NetworkNames = Annotated[list[str], BeforeValidator(network_names), _LIST]
DisplayName = Annotated[
    str,
    BeforeValidator(display_name),
    WithJsonSchema({"type": "string", "minLength": 1, "maxLength": 80}),
]
UserName = Annotated[str, BeforeValidator(user_name), _schema(_USER, MOST_OTHER)]
AccountName = Annotated[
    str,
    BeforeValidator(account_name),
    WithJsonSchema({"type": "string", "pattern": f"^{_ACCOUNT.pattern}$", "examples": ["ubuntu"]}),
]
