"""`evidence/fabrics-*.json` of a site -> what guards of A6 rest on; and writing such a file."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from interlock.model.site.inventory import Site
from interlock.model.site.networks import InfinibandSubnet
from interlock.model.site.rests import RENEW_FABRICS, DeviceSeen
from interlock.model.text.errors import Code, InputError
from interlock.model.text.source import Source
from interlock.model.text.validation import nearest

from .fabric_file import FabricEvidenceFile
from .reading import FOLDER
from .resting import resting_on
from .sealed_files import SealedForm, Wrong, read_sealed, write_sealed
from .values import moment_text

_GUID = re.compile("[0-9a-f]{16}")
#: What an appliance on InfiniBand is declared as; a port of `monitoring` may be the subnet manager's.
_APPLIANCES = ("storage-appliance", "object-store")
_PREFIX, _SUFFIX = "fabrics-", ".json"


@dataclass(frozen=True)
class FabricEvidenceRead:
    """The files of one site, by subnet, and everything that is wrong with them."""

    files: Mapping[str, FabricEvidenceFile]
    faults: tuple[InputError, ...] = ()


def fabric_file_of(infiniband: str) -> str:
    """The file of a subnet, relative to the site's folder."""
    return Path(FOLDER, f"{_PREFIX}{infiniband}{_SUFFIX}").as_posix()


def read_fabric_evidence(folder: Path, base: Path, site: Site, now: datetime.datetime) -> FabricEvidenceRead:
    """Every file of a subnet below the site's folder; goes on after a fault, so that all are told at once."""
    subnets = {item.name for item in site.infiniband}

    def wrong(found: FabricEvidenceFile, source: Source) -> Wrong | None:
        name = found.infiniband
        if source.file.name != Path(fabric_file_of(name)).name:
            words = f"it is evidence of `{name}`, and its name says another subnet"
            return Code.CONTRADICTION, "infiniband", words, f"call it {Path(fabric_file_of(name)).name}"
        if name not in subnets:
            hint = f"delete the file if that subnet is gone; {nearest(name, subnets)}"
            return Code.NO_SUCH, "infiniband", f"`{name}` is not an InfiniBand subnet of this site", hint
        return None

    form = SealedForm(FabricEvidenceFile, f"{_PREFIX}*{_SUFFIX}", RENEW_FABRICS, wrong)
    files, faults = read_sealed(form, folder, base, site.name, now)
    return FabricEvidenceRead({file.infiniband: file for file in files}, faults)


def with_fabrics(site: Site, files: Mapping[str, FabricEvidenceFile]) -> Site:
    """The site with what guards of A6 rest on; itself where none rests on evidence."""
    if not any(item.evidence for item in site.assumptions if item.id == "A6"):
        return site

    def seen(guard: str) -> tuple[DeviceSeen, ...]:
        return tuple(map(partial(_seen, site, files, guard), site.infiniband))

    return resting_on(site, "A6", seen)


def limited_guids(site: Site, infiniband: str) -> frozenset[str | None]:
    """GUIDs that are no full members of a subnet's default partition: ports of nodes, and of its storage appliance.

    None among them: that of some port is not stated. `sharing` says which tenants may meet an appliance, in partitions
    that it is put into; in the default one it would meet every port of the subnet, whoever has it.
    """
    storage = site.infiniband_subnet[infiniband].storage
    appliance = storage.appliance if storage is not None else ()
    ports = (port.guid for node in site.gpu_nodes for port in node.ports if port.infiniband == infiniband)
    return frozenset((*ports, *appliance, *_shared_appliances(site)))


def _shared_appliances(site: Site) -> Iterator[str]:
    """Those of `sharing` that are named by GUID; the entry does not say on which subnet."""
    for item in site.sharing:
        if item.kind in _APPLIANCES and _GUID.fullmatch(item.node.lower()):
            yield item.node.lower()


def _seen(site: Site, files: Mapping[str, FabricEvidenceFile], guard: str, subnet: InfinibandSubnet) -> DeviceSeen:
    name, file = subnet.name, files.get(subnet.name)
    if file is None:
        return DeviceSeen(device=name)
    guids, wrong = limited_guids(site, name), ""
    said = file.said(guard, guids)
    if file.prefix != subnet.prefix:
        wrong = f"the evidence of {name} is of the subnet {file.prefix}, and the site has {subnet.prefix}"
    elif said is None and file.said(guard, guids - {None}) is not None:
        wrong = (
            f"the evidence of {name} does not say it: a full member may be a port whose GUID the site does not state"
        )
    elif said is None:
        wrong = f"the evidence of {name} does not say it: its UFM, release {file.release}, did not"
    return DeviceSeen(
        device=name,
        file=fabric_file_of(name),
        read=moment_text(file.read),
        by=file.by,
        configuration=file.digest,
        wrong=wrong,
        holds=said is not False,
    )


def write_fabric_evidence(folder: Path, evidence: FabricEvidenceFile) -> Path:
    """Write the file of a subnet, in place of the one that there may be."""
    return write_sealed(folder / fabric_file_of(evidence.infiniband), evidence)
