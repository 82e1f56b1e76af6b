"""`evidence/*.yaml` of a site -> what was seen, by exclusive identity."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from interlock.model.site.inventory import Site
from interlock.model.text.errors import Code, InputError, InputErrors
from interlock.model.text.faults import Faults
from interlock.model.text.source import Source
from interlock.model.text.validation import well_formed
from interlock.vocabulary import nodes

from .file import SUBJECTS, EvidenceFile, SeenFile
from .steps import SeenStep, evidenced

#: Folder of a site with its evidence.
FOLDER = "evidence"


@dataclass(frozen=True)
class Sighting:
    """A step that somebody saw done, on one identity, after one tenant had it."""

    identity: str
    #: Name by which the entry calls a device, empty for all else: another serial under it is another device.
    name: str
    released_by: str
    step: SeenStep
    at: datetime.datetime
    by: str
    #: `file:line:column` of the entry.
    position: str


@dataclass(frozen=True)
class EvidenceRead:
    """All evidence of one site, and everything that is wrong with the files."""

    seen: tuple[Sighting, ...] = ()
    faults: tuple[InputError, ...] = ()


def read_evidence(folder: Path, base: Path, site: Site) -> EvidenceRead:
    """Every entry below the site's folder; goes on after a fault, so that all are told at once."""
    seen, faults = list[Sighting](), list[InputError]()
    for file in sorted((folder / FOLDER).glob("*.y*ml")):
        try:
            seen += _read(Source.read(file, file.relative_to(base).as_posix()), site)
        except InputErrors as error:
            faults += error.errors
    return EvidenceRead(tuple(seen), tuple(faults))


def _read(source: Source, site: Site) -> list[Sighting]:
    if source.file.suffix != ".yaml":
        message, hint = f"evidence ends in `.yaml`, not `{source.file.suffix}`", f"call it {source.file.stem}.yaml"
        raise InputErrors([InputError(Code.NAME, source.name, message, hint)])
    form = well_formed(EvidenceFile, source)
    if form.file is None:
        raise InputErrors(form.errors)
    faults = Faults.of(form)
    seen = [
        found for index, entry in enumerate(form.file.seen) for found in _entry(form.file, index, entry, site, faults)
    ]
    faults.raise_if_any()
    return seen


def _entry(file: EvidenceFile, index: int, entry: SeenFile, site: Site, faults: Faults) -> Iterator[Sighting]:
    path = ("seen", index)
    subject = _subject(entry, index, faults)
    identity = None if subject is None else _identity(subject, entry, index, site, faults)
    if identity is None:
        return
    step = SeenStep(entry.step)
    if step not in evidenced(identity):
        known = ", ".join(evidenced(identity))
        faults.add(Code.CONTRADICTION, (*path, "step"), f"`{subject}` is never `{step}`", f"its steps: {known}")
        return
    name = entry.machine or entry.host or entry.switch or ""
    position = faults.source.position(path)
    yield Sighting(identity, name, file.released_by, step, entry.at, entry.by, position)


def _subject(entry: SeenFile, index: int, faults: Faults) -> str | None:
    """The one key that says what an entry is about."""
    found = [name for name in SUBJECTS if getattr(entry, name) is not None]
    if len(found) != 1:
        message = f"an entry is about one thing, this one about {' and '.join(found) or 'none'}"
        faults.add(Code.CONTRADICTION, ("seen", index), message, f"one of: {', '.join(SUBJECTS)}")
        return None
    (subject,) = found
    others = {name for names in SUBJECTS.values() for name in names}
    for name in sorted(others):
        stated, wanted = getattr(entry, name) is not None, name in SUBJECTS[subject]
        if wanted and not stated:
            faults.add(Code.MISSING_KEY, ("seen", index), f"`{name}` is missing", f"`{subject}` needs it")
        elif stated and not wanted:
            faults.add(Code.CONTRADICTION, ("seen", index, name), f"`{subject}` has no `{name}`", "take it out")
    return subject


def _identity(subject: str, entry: SeenFile, index: int, site: Site, faults: Faults) -> str | None:
    """The exclusive identity; None where a part of it is missing."""
    if any(getattr(entry, name) is None for name in SUBJECTS[subject]):
        return None
    if subject == "partition_key":
        return _partition_key(entry, index, site, faults)
    if subject in ("vni", "storage_vip"):
        return _on_cloud(entry, site.cloud)
    return str(_NODES[subject](entry))


#: Subjects whose identity is in the entry itself. Each is asked only where its keys are there.
_NODES: dict[str, Callable[[SeenFile], nodes.Node]] = {
    "machine": lambda entry: nodes.HeldMachine(entry.serial or ""),
    "host": lambda entry: nodes.HeldHost(entry.serial or ""),
    "switch_port": lambda entry: nodes.HeldSwitchPort(entry.serial or "", entry.switch_port or 0),
    "vlan": lambda entry: nodes.HeldSegment(
        str(nodes.VlanNode(str(nodes.SwitchBridge(entry.serial or "")), entry.vlan or 0))
    ),
    "guid": lambda entry: nodes.InfinibandPortNode((entry.guid or "").lower()),
    "nvlink_partition": lambda entry: nodes.NvlinkPartitionNode(entry.domain or "", entry.nvlink_partition or 0),
    "gpu": lambda entry: nodes.GpuNode(entry.domain or "", entry.gpu or ""),
}


def _on_cloud(entry: SeenFile, cloud: str) -> str:
    if entry.vni is not None:
        return str(nodes.HeldSegment(str(nodes.OverlayNode(cloud, "vxlan", entry.vni))))
    return str(nodes.ShareAddressNode(cloud, entry.storage_vip or ""))


def _partition_key(entry: SeenFile, index: int, site: Site, faults: Faults) -> str | None:
    prefixes = {item.name: item.prefix for item in site.infiniband}
    name = entry.infiniband or ""
    faults.need(("seen", index, "infiniband"), "an InfiniBand subnet", name, prefixes)
    if name not in prefixes:
        return None
    return str(nodes.PartitionKeyNode(prefixes[name], entry.partition_key or 0))
