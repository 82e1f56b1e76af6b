"""Values as people write them in files: sizes with units, ranges, lists of names, addresses, ssh keys."""

from __future__ import annotations

import ipaddress
import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from interlock.vocabulary.key_strength import objection_to
from interlock.vocabulary.ssh_keys import body_of

from .errors import Code, fault

Range = tuple[int, int]

_KIB = {"KiB": 1, "MiB": 1024, "GiB": 1024**2, "TiB": 1024**3}
_SIZE = re.compile(r"([0-9]+)\s*([A-Za-z]*)")
_RANGE = re.compile(r"([0-9]+)(?:-([0-9]+))?")
_BRACKETS = re.compile(r"([^\[\]]*)\[([0-9]+)-([0-9]+)\]([^\[\]]*)")
_KEY_TYPES = ("ssh-ed25519", "ssh-rsa", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521")
#: Longest expansion of `name-[01-16]` and the like.
_MOST = 4096
#: Sizes are 32-bit integers in the databases of Cinder and Manila, and disks of flavours in that of Nova.
MOST_GIB = 2**31 - 1
#: The same of memory, which Nova counts in MiB.
MOST_MEMORY_GIB = MOST_GIB // 1024
#: Services count in 32 bits; no count of a site comes near, and what is larger only fills the memory.
MOST_NUMBER = 2**31 - 1
NO_IPV6 = "IPv6 is not supported here yet: networks, pools and filters are IPv4"
#: Python refuses to read longer numbers. Nothing that is numbered has as many digits.
_MOST_DIGITS = 4000
#: Longest list that ranges may expand to: a short text could fill the memory otherwise.
_MOST_IN_ALL = 65_536


#: Hint where a text is wanted and YAML made something else of it.
QUOTE_IT = "put it in quotes: to YAML bare digits are a number, and yes, no, on and off are true and false"


def shown(value: Any) -> str:
    """A value as a message shows it, short."""
    if value is None:
        return "empty"
    if isinstance(value, dict | list):
        return "a mapping" if isinstance(value, dict) else "a list"
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f"`{text if len(text) <= 60 else text[:57] + '…'}`".replace("\n", " ")


def gib(value: Any) -> int:
    """Whole GiB of a volume or a share from `100GiB`, `2TiB`, `4096MiB`."""
    return _gib(value, MOST_GIB, "Cinder and Manila count up to that")


def disk_gib(value: Any) -> int:
    """The same of the root disk of a flavour."""
    return _gib(value, MOST_GIB, "Nova counts disks up to that")


def memory_gib(value: Any) -> int:
    """The same of memory."""
    return _gib(value, MOST_MEMORY_GIB, f"Nova counts memory in MiB, up to {MOST_GIB}")


def _gib(value: Any, most: int, why: str) -> int:
    match = _SIZE.fullmatch(value) if isinstance(value, str) else None
    if match is None and not isinstance(value, int | float):
        raise fault(Code.UNIT, f"{shown(value)} is no size", "write a number and a unit, as in 100GiB")
    number, unit = match.groups() if match else (str(value), "")
    if unit not in _KIB:
        raise fault(Code.UNIT, *_unit_fault(number, unit))
    kib = whole(number) * _KIB[unit]
    if kib % _KIB["GiB"]:
        raise fault(Code.UNIT, f"`{value}` is no whole number of GiB", "sizes are given out in GiB")
    if kib // _KIB["GiB"] > most:
        raise fault(Code.VALUE, f"{shown(value)} is more than {most}GiB", why)
    return kib // _KIB["GiB"]


def _unit_fault(number: str, unit: str) -> tuple[str, str]:
    if not unit:
        return f"`{number}` has no unit", f"write {number}GiB, or another of {', '.join(_KIB)}"
    meant = next((known for known in _KIB if known[0].lower() == unit[0].lower()), "GiB")
    return f"`{number}{unit}`: {unit} is not a unit here", f"units are powers of 1024: write {number}{meant}"


def whole(digits: str) -> int:
    """The number of these digits; of more than Python reads one that is larger than all that it does read."""
    return int(digits) if len(digits) <= _MOST_DIGITS else 10**_MOST_DIGITS


def ranges(value: Any) -> tuple[Range, ...]:
    """Inclusive ranges from `7`, `1000-1999`, `110-149,160` or a list of these."""
    items = value if isinstance(value, list) else [value]
    return tuple(_range(part) for item in items for part in str(item).split(","))


def _range(text: str) -> Range:
    match = _RANGE.fullmatch(text.strip())
    if match is None:
        raise fault(Code.VALUE, f"{shown(text)} is no range", "write 1000-1999, or a single number")
    first, last = whole(match[1]), whole(match[2] or match[1])
    if max(first, last) > MOST_NUMBER:
        raise fault(Code.VALUE, f"{shown(text)}: no id is above {MOST_NUMBER}")
    if first > last:
        raise fault(Code.VALUE, f"`{text}` runs backwards", f"write {last}-{first}")
    return first, last


def vlan_ranges(value: Any) -> tuple[Range, ...]:
    """Ranges of VLAN ids, 1 to 4094."""
    found = ranges(value)
    for first, last in found:
        if first < 1 or last > 4094:
            message = f"`{_range_text(first, last)}`: VLAN ids are 1 to 4094"
            raise fault(Code.VALUE, message, "0 and 4095 are reserved by 802.1Q")
    return found


def vni_ranges(value: Any) -> tuple[Range, ...]:
    """Ranges of VXLAN ids, 1 to 16777215."""
    found = ranges(value)
    for first, last in found:
        if first < 1 or last >= 1 << 24:
            raise fault(Code.VALUE, f"`{_range_text(first, last)}`: VXLAN ids are 1 to 16777215")
    return found


def _range_text(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"


def single_ids(value: Any) -> tuple[int, ...]:
    """VLAN ids one by one, sorted, from ranges."""
    return tuple(sorted({item for first, last in vlan_ranges(value) for item in range(first, last + 1)}))


def names(value: Any) -> list[str]:
    """Texts from `ipum-[01-16]`, or from a list of texts and such ranges."""
    items = value if isinstance(value, list) else [value]
    if not all(isinstance(item, str) and item for item in items):
        raise fault(Code.WRONG_TYPE, f"{shown(value)} is no list of names", "write name-[01-16] or [name-a, name-b]")
    found = list[str]()
    for item in items:
        found += _expanded(item)
        if len(found) > _MOST_IN_ALL:
            raise fault(Code.VALUE, f"more than {_MOST_IN_ALL} names in one list", "no site has as many")
    return found


def _expanded(text: str) -> list[str]:
    match = _BRACKETS.fullmatch(text)
    if match is None:
        return [text]
    before, first, last, after = match.groups()
    lowest, highest = whole(first), whole(last)
    if lowest > highest:
        raise fault(Code.VALUE, f"{shown(text)} is no range of names", "write the lower number first")
    if highest - lowest >= _MOST:
        raise fault(Code.VALUE, f"{shown(text)} is a range of more than {_MOST} names", "write several smaller ones")
    return [f"{before}{number:0{len(first)}d}{after}" for number in range(lowest, highest + 1)]


def prefix(value: Any) -> str:
    """An IPv4 prefix in canonical form."""
    try:
        return str(ipaddress.IPv4Network(value if isinstance(value, str) else "", strict=True))
    except ValueError:
        raise fault(Code.VALUE, f"{shown(value)} is no IPv4 prefix", _prefix_hint(value)) from None


def _is_ipv6(value: Any) -> bool:
    try:
        return ipaddress.ip_interface(str(value)).version == 6
    except ValueError:
        return False


def _prefix_hint(value: Any) -> str:
    try:
        return f"write {ipaddress.IPv4Network(str(value), strict=False)}"
    except ValueError:
        return NO_IPV6 if _is_ipv6(value) else "write one as in 198.51.100.0/24"


def address(value: Any) -> str:
    """An IPv4 address."""
    try:
        return str(ipaddress.IPv4Address(value if isinstance(value, str) else ""))
    except ValueError:
        hint = NO_IPV6 if _is_ipv6(value) else "write one as in 203.0.113.1"
        raise fault(Code.VALUE, f"{shown(value)} is no IPv4 address", hint) from None


def address_pool(value: Any) -> tuple[str, str]:
    """(first, last) from `203.0.113.10-203.0.113.250`."""
    first, dash, last = str(value).partition("-")
    if not dash:
        raise fault(Code.VALUE, f"{shown(value)} is no range of addresses", "write first-last")
    pool = address(first.strip()), address(last.strip())
    if ipaddress.IPv4Address(pool[0]) > ipaddress.IPv4Address(pool[1]):
        raise fault(Code.VALUE, f"`{value}` runs backwards", f"write {pool[1]}-{pool[0]}")
    return pool


def public_key(value: Any) -> str:
    """An OpenSSH public key, checked as far as its outer frame goes."""
    text = _not_private(value)
    parts = text.split(maxsplit=2)
    is_key = len(parts) > 1 and parts[0] in _KEY_TYPES and body_of(parts[0], parts[1]) is not None
    if not text.isprintable() or not is_key:
        raise _no_key(value)
    return text


def certified_key(value: Any) -> str:
    """A public key that certificates are about, or are signed with: whole, strong, also one in hardware (`sk-`)."""
    text = _not_private(value)
    kind, word, *_ = (*text.split(maxsplit=2), "", "")
    objection = objection_to(kind, word) if text.isprintable() else ""
    if objection:
        hint = "give the .pub line of a key that is strong: `ssh-keygen -t ed25519` makes one"
        raise fault(Code.VALUE, f"{shown(value)} is {objection}", hint)
    if objection is not None:
        raise _no_key(value)
    return text


def _not_private(value: Any) -> str:
    text = value.strip() if isinstance(value, str) else ""
    if "PRIVATE KEY" in text:
        hint = "take it out of the file and of git's history, make a new pair, and give the .pub file's line"
        raise fault(Code.VALUE, "this is a PRIVATE key", hint)
    return text


def _no_key(value: Any) -> PydanticCustomError:
    return fault(Code.VALUE, f"{shown(value)} is no ssh public key", "give the one line of a file like id_ed25519.pub")


def _text(pattern: str, example: str) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "pattern": pattern, "examples": [example]})


def _range_schema(example: str) -> WithJsonSchema:
    one = {"anyOf": [{"type": "integer"}, {"type": "string", "pattern": r"^[0-9, -]+$"}]}
    return WithJsonSchema({"anyOf": [*one["anyOf"], {"type": "array", "items": one}], "examples": [example]})


Count = Annotated[int, Field(ge=0, le=MOST_NUMBER)]
Positive = Annotated[int, Field(ge=1, le=MOST_NUMBER)]
Vlan = Annotated[int, Field(ge=1, le=4094)]
Vni = Annotated[int, Field(ge=1, lt=1 << 24)]
_SIZE_TEXT = _text("^[0-9]+ *[KMGT]iB$", "100GiB")
GiB = Annotated[int, BeforeValidator(gib), _SIZE_TEXT]
DiskGiB = Annotated[int, BeforeValidator(disk_gib), _SIZE_TEXT]
MemoryGiB = Annotated[int, BeforeValidator(memory_gib), _SIZE_TEXT]
VlanRanges = Annotated[tuple[Range, ...], BeforeValidator(vlan_ranges), _range_schema("1000-1999")]
VniRanges = Annotated[tuple[Range, ...], BeforeValidator(vni_ranges), _range_schema("10000-14999")]
VlanIds = Annotated[tuple[int, ...], BeforeValidator(single_ids), _range_schema("1")]
Prefix = Annotated[str, BeforeValidator(prefix), _text(r"^[0-9.]+/[0-9]+$", "198.51.100.0/24")]
Address = Annotated[str, BeforeValidator(address), _text(r"^[0-9.]+$", "203.0.113.1")]
AddressPool = Annotated[tuple[str, str], BeforeValidator(address_pool), _text("-", "203.0.113.10-203.0.113.250")]
_KEY_TEXT = _text("^(ssh|ecdsa)-", "ssh-ed25519 AAAA… anne@example")
PublicKey = Annotated[str, BeforeValidator(public_key), _KEY_TEXT]
#: May be left out, and is a key where it is there: `ssh_public_key:` with nothing behind it is no key.
MaybePublicKey = Annotated[str | None, BeforeValidator(public_key), _KEY_TEXT]
_CERTIFIED = _text("^(sk-)?(ssh|ecdsa)-", "ssh-ed25519 AAAA… anne@example")
CertifiedKey = Annotated[str, BeforeValidator(certified_key), _CERTIFIED]
MaybeCertifiedKey = Annotated[str | None, BeforeValidator(certified_key), _CERTIFIED]
