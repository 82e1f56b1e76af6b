"""`evidence/fabrics-*.json` of a site -> what guards of A6 rest on; and writing such a file."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from interlock.model.site.inventory import Site
from interlock.model.site.networks import InfinibandSubnet
from interlock.model.site.rests import RENEW_FABRICS, DeviceSeen

from .fabric_file import FabricEvidenceFile
from .resting import resting_on
from .sealed_files import SealedFilesRead, SealedForm, SiteOfFiles, read_sealed
from .values import moment_text

_GUID = re.compile("[0-9a-f]{16}")
#: What an appliance on InfiniBand is declared as; a port of `monitoring` may be the subnet manager's.
_APPLIANCES = ("storage-appliance", "object-store")


_FORM = SealedForm(
    FabricEvidenceFile, "fabrics-", "infiniband", kind="subnet", one="an InfiniBand subnet", renew=RENEW_FABRICS
)


def read_fabric_evidence(
    folder: Path, base: Path, site: Site, now: datetime.datetime
) -> SealedFilesRead[FabricEvidenceFile]:
    """Every file of a subnet below the site's folder, by subnet."""
    return read_sealed(_FORM, folder, base, SiteOfFiles(site.name, site.infiniband_subnet, now))


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
        file=_FORM.file_of(name),
        read=moment_text(file.read),
        by=file.by,
        configuration=file.digest,
        wrong=wrong,
        holds=said is not False,
    )


def write_fabric_evidence(folder: Path, evidence: FabricEvidenceFile) -> Path:
    """Write the file of a subnet, in place of the one that there may be."""
    return _FORM.write(folder, evidence)
