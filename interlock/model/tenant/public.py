"""Servers that are reached from outside: which have a floating IP, and from which prefixes."""

from __future__ import annotations

from interlock.model.site.bastion_checks import meet
from interlock.model.text.errors import Code
from interlock.model.text.source import KEY

from .file import PublicFile
from .reading import Path, RequestReading
from .request import PublicServers

_PUBLIC = ("access", "public")


def read_public(reading: RequestReading) -> tuple[PublicServers, ...]:
    """One entry for each vPOD that is named, in the order of the file; without those that are at fault."""
    if "public" not in reading.file.access.model_fields_set:
        reading.note(_PUBLIC, None)
    found = (_read(reading, vpod, file) for vpod, file in reading.file.access.public.items())
    return tuple(entry for entry in found if entry is not None)


def _read(reading: RequestReading, vpod: str, file: PublicFile) -> PublicServers | None:
    path: Path = (*_PUBLIC, vpod)
    if not reading.vpod_name((*path, KEY), vpod):
        return None
    _check_kind(reading, path, vpod)
    sources = _sources(reading, path, file)
    return PublicServers(vpod=vpod, servers=_servers(reading, path, vpod, file), ssh_from=sources)


def _check_kind(reading: RequestReading, path: Path, vpod: str) -> None:
    """A whole host has no filter in front of it: from outside it would be open to everybody, at every port."""
    if reading.file.vpods[vpod].poplar.kind == "bare-metal" and not reading.faults.lost("vpods", vpod, "poplar"):
        message = f"the servers of `{vpod}` are whole hosts, and nothing filters what comes to one"
        hint = "make servers of another vPOD public and go on from there, or say `kind: vm`"
        reading.faults.add(Code.CONTRADICTION, (*path, KEY), message, hint)


def _servers(reading: RequestReading, path: Path, vpod: str, file: PublicFile) -> tuple[int, ...]:
    count, below = reading.file.vpods[vpod].poplar.servers, (*path, "servers")
    if file.servers is None:
        if "servers" not in file.model_fields_set:
            reading.note(below, "all")
        return tuple(range(count))
    if not file.servers:
        hint = "leave `servers:` out for all, or the vPOD out for none"
        reading.faults.add(Code.VALUE, below, "no server", hint)
    has = f"servers 0 to {count - 1}" if count > 1 else "server 0 alone"
    unsure = reading.faults.lost("vpods", vpod, "poplar", "servers")
    for place, index in enumerate(file.servers):
        if index >= count and not unsure:
            reading.faults.add(Code.NO_SUCH, (*below, place), f"server {index}: `{vpod}` has {has}")
    reading.each_once(below, [str(index) for index in file.servers])
    return tuple(sorted(file.servers))


def _sources(reading: RequestReading, path: Path, file: PublicFile) -> tuple[str, ...]:
    """The prefixes, and a fault for none at all and for those that other tenants' packets come from."""
    access, stated = reading.file.access, file.ssh_from is not None
    below: Path = (*path, "ssh_from") if stated else ("access", "ssh_from")
    sources = tuple(access.ssh_from if file.ssh_from is None else file.ssh_from)
    if not stated:
        reading.note((*path, "ssh_from"), sources, "the tenant" if access.ssh_from else "interlock")
    else:
        reading.each_once(below, sources)
    if not sources and not reading.offered.bastion and not reading.faults.lost(*below):
        hint = "state `ssh_from:`, as in [198.51.100.0/24]"
        reading.faults.add(Code.MISSING_KEY, (*path, KEY), "public servers that are reached from nowhere", hint)
    for index, prefix in enumerate(sources):
        if meet(prefix, reading.offered.external_pool):
            message = f"`{prefix}` holds addresses of the site's external pool, which other tenants' packets come from"
            reading.faults.add(Code.CONTRADICTION, (*below, index), message, "state the prefixes of your own people")
    return sources
