"""Servers that are reached from outside: which have a floating IP, and from which prefixes. Of clusters, the heads."""

from __future__ import annotations

from interlock.model.site.bastion_checks import meet
from interlock.model.text.errors import Code
from interlock.model.text.source import KEY

from .file import PublicFile
from .reading import Path, RequestReading
from .request import PublicServers

_PUBLIC = ("access", "public")


def read_public(reading: RequestReading) -> tuple[PublicServers, ...]:
    """One entry for each vPOD or cluster that is named, in the order of the file; without those that are at fault."""
    if "public" not in reading.file.access.model_fields_set:
        reading.note(_PUBLIC, None)
    found = (_read(reading, vpod, file) for vpod, file in reading.file.access.public.items())
    return tuple(entry for entry in found if entry is not None)


def _read(reading: RequestReading, vpod: str, file: PublicFile) -> PublicServers | None:
    path: Path = (*_PUBLIC, vpod)
    if vpod in reading.file.clusters:
        count = _heads(reading, path, vpod)
    elif reading.vpod_name((*path, KEY), vpod):
        _check_kind(reading, path, vpod)
        count = reading.file.vpods[vpod].poplar.servers
    else:
        return None
    sources = _sources(reading, path, file)
    if not count:
        return None
    return PublicServers(vpod=vpod, servers=_servers(reading, path, count, file), ssh_from=sources)


def _heads(reading: RequestReading, path: Path, cluster: str) -> int:
    """Heads of a cluster; a fault if it has none: a node is a whole host, and no filter stands in front of it."""
    heads = reading.file.clusters[cluster].heads
    if heads is None and not reading.faults.lost("clusters", cluster, "heads"):
        hint = "add `heads:` to it, and go on to its nodes from there"
        message = f"`{cluster}` has no heads, and nothing filters what comes to a node, which is a whole host"
        reading.faults.add(Code.CONTRADICTION, (*path, KEY), message, hint)
    return 0 if heads is None else heads.count


def _check_kind(reading: RequestReading, path: Path, vpod: str) -> None:
    """A whole host has no filter in front of it: from outside it would be open to everybody, at every port."""
    if reading.file.vpods[vpod].poplar.kind == "bare-metal" and not reading.faults.lost("vpods", vpod, "poplar"):
        message = f"the servers of `{vpod}` are whole hosts, and nothing filters what comes to one"
        hint = "make servers of another vPOD public and go on from there, or say `kind: vm`"
        reading.faults.add(Code.CONTRADICTION, (*path, KEY), message, hint)


def _servers(reading: RequestReading, path: Path, count: int, file: PublicFile) -> tuple[int, ...]:
    name, below = str(path[-1]), (*path, "servers")
    if file.servers is None:
        if "servers" not in file.model_fields_set:
            reading.note(below, "all")
        return tuple(range(count))
    if not file.servers:
        what = "cluster" if name in reading.file.clusters else "vPOD"
        hint = f"leave `servers:` out for all, or the {what} out for none"
        reading.faults.add(Code.VALUE, below, "no server", hint)
    has = f"servers 0 to {count - 1}" if count > 1 else "server 0 alone"
    counts = (("vpods", name, "poplar", "servers"), ("clusters", name, "heads"))
    unsure = any(reading.faults.lost(*lost) for lost in counts)
    for place, index in enumerate(file.servers):
        if index >= count and not unsure:
            reading.faults.add(Code.NO_SUCH, (*below, place), f"server {index}: `{name}` has {has}")
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
