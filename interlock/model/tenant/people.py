"""Certificates of a request: its authority, and who gets them. A key is one person's, and one tenant's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from interlock.model.text.errors import Code, InputError
from interlock.model.text.source import Source, Step
from interlock.vocabulary.ssh_keys import fingerprints

from .people_file import ACCOUNTS, KeyHolderFile
from .reading import Path, RequestReading
from .request import KeyHolder, Tenant

_NO_LOGIN = "whoever logs in with it could sign certificates: make a pair for the authority alone"
_ONE_EACH = "whoever has it logs in as both: make a pair for each, `ssh-keygen -t ed25519`"


def read_people(reading: RequestReading) -> tuple[KeyHolder, ...]:
    """Who gets certificates, in the order of the file."""
    file, path = reading.file.access, ("access", "people")
    if file.people and file.ca is None and not reading.faults.lost("access", "ca"):
        hint = "add `ca:`; `interlock access ca TENANT` makes one and prints the line"
        reading.faults.add(Code.MISSING_KEY, path, "`people:` without `ca:`: nothing can sign their certificates", hint)
    reading.each_once(("access", "accounts"), file.accounts or ())
    _check_names(reading, path)
    _check_keys(reading, path)
    return tuple(_holder(reading, (*path, index), item) for index, item in enumerate(file.people))


def _holder(reading: RequestReading, path: Path, file: KeyHolderFile) -> KeyHolder:
    faults, known = reading.faults, tuple(reading.file.access.accounts or ACCOUNTS)
    for index, account in enumerate(file.accounts or ()):
        message = f"`{account}` is no account of this tenant's servers"
        faults.need_name((*path, "accounts", index), account, known, message, of=("access", "accounts"))
    reading.each_once((*path, "accounts"), file.accounts or ())
    if file.since and file.until and file.until < file.since:
        hint = f"the last day is included: write {file.since} or later"
        faults.add(Code.VALUE, (*path, "until"), f"`{file.until}` is before `since: {file.since}`", hint)
    return KeyHolder(
        name=file.name, keys=tuple(file.keys), since=file.since, until=file.until,
        accounts=tuple(file.accounts or known),
        vpods=None if file.vpods is None else reading.vpod_names((*path, "vpods"), file.vpods),
        clusters=None if file.clusters is None else reading.cluster_names((*path, "clusters"), file.clusters),
    )  # fmt: skip


def _check_names(reading: RequestReading, path: Path) -> None:
    seen = set[str]()
    for index, item in enumerate(reading.file.access.people):
        if item.name in seen:
            reading.faults.add(Code.TWICE, (*path, index, "name"), f"`{item.name}` is there twice")
        seen.add(item.name)


def _check_keys(reading: RequestReading, path: Path) -> None:
    """A key is somebody's alone, and no certificate authority's; the common key of all is nobody's."""
    access, owners = reading.file.access, dict[str, str]()
    for line, whose in ((access.ssh_public_key, "`ssh_public_key`"), (access.ca, "`ca`")):
        for found in fingerprints(line or ""):
            if owners.setdefault(found, whose) != whose:
                reading.faults.add(Code.TWICE, ("access", "ca"), f"this key is that of {owners[found]} too", _NO_LOGIN)
    for number, item in enumerate(access.people):
        for index, line in enumerate(item.keys):
            for found in fingerprints(line):
                whose = owners.setdefault(found, f"`{item.name}`")
                place = (*path, number, "keys", index)
                if whose != f"`{item.name}`":
                    hint = _NO_LOGIN if whose == "`ca`" else _ONE_EACH
                    reading.faults.add(Code.TWICE, place, f"this key is that of {whose} too", hint)
                elif found in {other for line in item.keys[:index] for other in fingerprints(line)}:
                    reading.faults.add(Code.TWICE, place, "this key is there twice", "take one of them out")


def shared_keys(tenants: Mapping[str, Tenant], sources: Mapping[str, Source]) -> Iterator[InputError]:
    """A fault for each key of somebody's that another tenant has too.

    Keys and authorities that servers carry are left to the proof (SEC-05), which sees them on the cloud.
    """
    first = dict[str, str]()
    for name, tenant in tenants.items():
        for line in (tenant.access.ssh_public_key, tenant.access.ca):
            first |= {found: name for found in fingerprints(line or "") if found not in first}
    for name, tenant in tenants.items():
        for number, item in enumerate(tenant.access.people):
            for index, line in enumerate(item.keys):
                for found in fingerprints(line):
                    if (other := first.setdefault(found, name)) != name:
                        path: tuple[Step, ...] = ("access", "people", number, "keys", index)
                        message = f"this key of `{item.name}` is one of tenant `{other}` too"
                        yield sources[name].error(Code.TWICE, path, message, _TWO_TENANTS)


_TWO_TENANTS = "it would open the servers of both (SEC-05): a person with servers of two tenants has two keys"
