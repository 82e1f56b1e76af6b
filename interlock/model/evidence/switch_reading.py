"""`evidence/switches-*.json` of a site -> what guards rest on; and writing such a file.

A file that is wrong in itself (edited, of another site, of a time that is yet to come) is an error. One that is right
and says nothing of the site as it is now counts for nothing, and what rests on it is unknown.
"""

from __future__ import annotations

import datetime
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from interlock.model.site.inventory import Cable, Host, Machine, Site, Switch, SwitchPortConfig
from interlock.model.site.rests import RENEW, DeviceSeen
from interlock.resources import digest_of

from .resting import resting_on
from .sealed_files import SealedFilesRead, SealedForm, SiteOfFiles, read_sealed
from .switch_file import SwitchEvidenceFile
from .values import moment_text

_FORM = SealedForm(SwitchEvidenceFile, "switches-", "switch", kind="switch", one="a switch", renew=RENEW)


def read_switch_evidence(
    folder: Path, base: Path, site: Site, now: datetime.datetime
) -> SealedFilesRead[SwitchEvidenceFile]:
    """Every file of a switch below the site's folder, by switch."""
    return read_sealed(_FORM, folder, base, SiteOfFiles(site.name, site.switch, now))


def with_switches(site: Site, files: Mapping[str, SwitchEvidenceFile]) -> Site:
    """The site with what guards of A1 rest on; itself where none rests on evidence."""
    if not any(item.evidence for item in site.assumptions if item.id == "A1"):
        return site
    stated = StatedOfSwitches(site)
    seen = tuple(_seen(stated, switch, files.get(switch.name)) for switch in site.switches)
    return resting_on(site, "A1", lambda _: seen)


def _seen(stated: StatedOfSwitches, switch: Switch, file: SwitchEvidenceFile | None) -> DeviceSeen:
    if file is None:
        return DeviceSeen(device=switch.name)
    return DeviceSeen(
        device=switch.name,
        file=_FORM.file_of(switch.name),
        read=moment_text(file.read),
        by=file.by,
        configuration=file.configuration,
        wrong=_wrong(stated, switch, file),
    )


def _wrong(stated: StatedOfSwitches, switch: Switch, file: SwitchEvidenceFile) -> str:
    """Why a sound file says nothing of this switch as the site has it."""
    if file.serial is not None and file.serial != switch.serial:
        return f"the evidence of {switch.name} is of serial {file.serial}, and the site has {switch.serial}"
    if file.configuration != stated.digest(switch):
        return f"the evidence of {switch.name} is about another configuration than that of the site file"
    return ""


class StatedOfSwitches:
    """What the site file states of each switch and a reading of it is compared with."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self._named: dict[str, Machine | Host] = {**site.machine, **site.host}
        self._cables: defaultdict[str, list[Cable]] = defaultdict(list)
        for cable in site.cables:
            for device in {cable.a.device, cable.b.device}:
                self._cables[device].append(cable)

    def digest(self, switch: Switch) -> str:
        """`sha256:` of all of it (docs/reference/evidence-file.md).

        That is: the switch itself; its cables and bundles; the MAC addresses of machines and hosts at the far ends of
        the cables; the VLANs that no tenant is given, in which unused ports may rest.
        """
        cables = self._cables[switch.name]
        ends = {end.device for item in cables for end in (item.a, item.b)} & self._named.keys()
        return digest_of(
            {
                "switch": _plain(switch) | {"ports": [_of_port(item) for item in switch.ports]},
                "cables": [_plain(item) for item in cables],
                "lags": [_plain(item) for item in self.site.lags if item.device == switch.name],
                "macs": {name: dict(self._named[name].macs) for name in sorted(ends)},
                "reserved_vlans": list(self.site.pools.reserved_vlans),
            }
        )


def _plain(part: Any) -> Any:
    return part.model_dump(mode="json")


def _of_port(port: SwitchPortConfig) -> Any:
    """Without what came later and is not stated, so that evidence of before stays evidence."""
    found = _plain(port)
    return found if port.filled_by else {key: value for key, value in found.items() if key != "filled_by"}


def write_switch_evidence(folder: Path, evidence: SwitchEvidenceFile) -> Path:
    """Write the file of a switch, in place of the one that there may be."""
    return _FORM.write(folder, evidence)
