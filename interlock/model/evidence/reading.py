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
from .measured import MEASURED_KEY, Measured
from .steps import SeenStep, evidenced

#: Folder of a site with its evidence.
FOLDER = "evidence"
#: What a runner that writes JSON calls a file: `evidence/acceptance-<anything>.json`, of the same form.
ACCEPTANCE_FILES = "acceptance-*.json"
#: Behind the name of a file: its signature, as `ssh-keygen -Y sign` calls it.
SIGNATURE = ".sig"
#: Most bytes of a signature that are read: one of the longest keys has 2,000.
_LONGEST_SIGNATURE = 1 << 16


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
    #: The file that it stands in; empty where it stands in none.
    file: str = ""
    #: True for what a switch or Ironic said in this very run: nobody has to sign that.
    asked_now: bool = False
    #: Of a step of acceptance: the figures.
    measured: Measured | None = None


@dataclass(frozen=True)
class EvidenceText:
    """One file, byte for byte as its entries were read from it, and what was beside it."""

    name: str
    data: bytes
    #: The site that it says it is about; empty: none.
    site: str
    #: None: there is none, or nobody has to sign.
    signature: bytes | None


@dataclass(frozen=True)
class EvidenceRead:
    """All evidence of one site, and everything that is wrong with the files."""

    seen: tuple[Sighting, ...] = ()
    texts: tuple[EvidenceText, ...] = ()
    faults: tuple[InputError, ...] = ()


def read_evidence(folder: Path, base: Path, site: Site) -> EvidenceRead:
    """Every entry below the site's folder; goes on after a fault, so that all are told at once."""
    seen, texts, faults = list[Sighting](), list[EvidenceText](), list[InputError]()
    written = (folder / FOLDER).glob("*.y*ml"), (folder / FOLDER).glob(ACCEPTANCE_FILES)
    for file in sorted(path for paths in written for path in paths):
        try:
            source = Source.read(file, file.relative_to(base).as_posix())
            form, found = _read(source, site)
            seen += found
            signature = _signature(file) if site.evidence.signers is not None else None
            texts.append(EvidenceText(source.name, source.data, form.site or "", signature))
        except InputErrors as error:
            faults += error.errors
    return EvidenceRead(tuple(seen), tuple(texts), tuple(faults))


def _signature(file: Path) -> bytes | None:
    """What stands beside a file of evidence; what is too long to be a signature is cut, and so none."""
    try:
        with file.with_name(file.name + SIGNATURE).open("rb") as stream:
            return stream.read(_LONGEST_SIGNATURE)
    except OSError:
        return None


def _read(source: Source, site: Site) -> tuple[EvidenceFile, list[Sighting]]:
    if source.file.suffix not in (".yaml", ".json"):
        message, hint = f"evidence ends in `.yaml`, not `{source.file.suffix}`", f"call it {source.file.stem}.yaml"
        raise InputErrors([InputError(Code.NAME, source.name, message, hint)])
    form = well_formed(EvidenceFile, source)
    if form.file is None:
        raise InputErrors(form.errors)
    faults = Faults.of(form)
    if form.file.site not in (None, site.name):
        message = f"it is evidence of the site `{form.file.site}`, and this is `{site.name}`"
        faults.add(Code.EVIDENCE_OF_ANOTHER_SITE, ("site",), message, "put it into the folder of its own site")
    seen = [
        found for index, entry in enumerate(form.file.seen) for found in _entry(form.file, index, entry, site, faults)
    ]
    faults.raise_if_any()
    return form.file, seen


def _entry(file: EvidenceFile, index: int, entry: SeenFile, site: Site, faults: Faults) -> Iterator[Sighting]:
    path = ("seen", index)
    subject = _subject(entry, index, faults)
    identity = None if subject is None else _identity(subject, entry, index, site, faults)
    if identity is None:
        return
    step = SeenStep(entry.step)
    possible = evidenced(identity, accepted=_may_be_gpu_node(entry, site))
    if step not in possible:
        known = ", ".join(possible)
        faults.add(Code.CONTRADICTION, (*path, "step"), f"`{subject}` is never `{step}`", f"its steps: {known}")
        return
    if not _has_its_figures(entry, step, index, faults):
        return
    name = entry.machine or entry.host or entry.switch or ""
    position = faults.source.position(path)
    figures = getattr(entry, MEASURED_KEY[step]).measured() if step in MEASURED_KEY else None
    yield Sighting(
        identity, name, file.released_by, step, entry.at, entry.by, position, faults.source.name, measured=figures
    )


def _may_be_gpu_node(entry: SeenFile, site: Site) -> bool:
    """True for a host that is one, and for one that stands nowhere on a site that has some: it may have been one."""
    if entry.host is None or not any(host.role == "gpu" for host in site.hosts):
        return False
    name = site.host_of.get(entry.serial or "")
    return name is None or site.host[name].role == "gpu"


def _has_its_figures(entry: SeenFile, step: SeenStep, index: int, faults: Faults) -> bool:
    """Whether a step of acceptance has what was measured, and no step has figures of another."""
    good = True
    for of, key in MEASURED_KEY.items():
        stated = getattr(entry, key) is not None
        if of is step and not stated:
            message, hint = f"`{key}` is missing", f"`{step}` needs it: what was measured, and not that it was enough"
            faults.add(Code.MISSING_KEY, ("seen", index), message, hint)
            good = False
        elif of is not step and stated:
            faults.add(Code.CONTRADICTION, ("seen", index, key), f"`{step}` has no `{key}`", f"it is of `{of}`")
            good = False
    return good


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
