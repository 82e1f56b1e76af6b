"""`evidence/controllers-*.json` of a site -> what was read of its V-IPU controllers; and writing such a file."""

from __future__ import annotations

import datetime
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from interlock.model.site.controller_readings import RENEW_CONTROLLERS, ControllerSeen
from interlock.model.site.inventory import Site

from .controller_file import ControllerEvidenceFile
from .sealed_files import SealedFilesRead, SealedForm, SiteOfFiles, read_sealed
from .values import moment_text

_FORM = SealedForm(
    ControllerEvidenceFile, "controllers-", "controller", kind="controller", one="a V-IPU controller",
    renew=RENEW_CONTROLLERS,
)  # fmt: skip


class _Anything(Collection[str]):
    """Every name: controllers are of plans, and a file of one that is gone says nothing of any other."""

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def read_controller_evidence(
    folder: Path, base: Path, site: Site, now: datetime.datetime
) -> SealedFilesRead[ControllerEvidenceFile]:
    """Every file of a controller below the site's folder, by controller."""
    return read_sealed(_FORM, folder, base, SiteOfFiles(site.name, _Anything(), now))


def with_controllers(site: Site, files: Mapping[str, ControllerEvidenceFile]) -> Site:
    """The site with what was read of controllers; itself where nothing was."""
    if not files:
        return site
    return site.with_parts(controllers_read=tuple(_seen(file) for _, file in sorted(files.items())))


def _seen(file: ControllerEvidenceFile) -> ControllerSeen:
    backup = file.backup
    state = None if backup is None else backup.state
    return ControllerSeen(
        name=file.controller,
        tenant=file.tenant,
        file=_FORM.file_of(file.controller),
        read=moment_text(file.read),
        by=file.by,
        release=file.release,
        agents={item.agent: item.release for item in file.agents},
        keys_asked=file.keys_asked,
        certificates=file.certificates,
        forwarding_off=file.forwarding_off.model_dump(),
        backup_read=backup is not None,
        backup_state="" if state is None else moment_text(state),
        backup_certificates=backup is not None and backup.certificates,
        admin_port=None if file.admin_api is None else file.admin_api.port,
        admin_addresses=() if file.admin_api is None else tuple(file.admin_api.addresses),
        user_data_clean=file.user_data_clean,
    )


def write_controller_evidence(folder: Path, evidence: ControllerEvidenceFile) -> Path:
    """Write the file of a controller, in place of the one that there may be."""
    return _FORM.write(folder, evidence)
