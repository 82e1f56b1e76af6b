"""The shipped site with a guard that rests on evidence, and its files of evidence, for tests to change."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from interlock.model.evidence.sealed_files import FORMAT, UNSEALED
from interlock.model.evidence.switch_file import SwitchEvidenceFile
from interlock.model.evidence.switch_reading import StatedOfSwitches, write_switch_evidence
from interlock.model.evidence.values import moment_text
from tests.infra.conftest import Lyon

GUARD = "assumptions.A1.configuration_matches"
TOR, MGMT = "evidence/switches-tor-1.json", "evidence/switches-mgmt-1.json"


def rest_on_evidence(site: Lyon) -> None:
    """Let the guard rest on evidence of thirty days. Locks are to be made again."""
    site.replace("site.yaml", "configuration_matches: true", "configuration_matches: {by: evidence, max_age: 30d}")


@dataclass(frozen=True)
class Files:
    """The files of evidence of the site, which tests change."""

    site: Lyon

    def read(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.site.file(name).read_text())
        return found

    def change(self, name: str, *, sealed: bool = True, **values: object) -> None:
        """Other values in a file, with the digest that belongs to them."""
        document = self.read(name) | values
        if sealed:
            file = SwitchEvidenceFile.model_validate(document | {"read": document["read"]})
            document["digest"] = file.expected_digest
        self.site.file(name).write_text(json.dumps(document))

    def age(self, name: str, **back: float) -> str:
        """Make a reading so much older; its moment."""
        read = moment_text(datetime.now(UTC) - timedelta(**back))
        self.change(name, read=read)
        return read

    def write(self, **back: float) -> None:
        """Evidence of both switches as the site is now, so much older than now, without asking anybody."""
        site, read = self.site.gate().workspace.site, datetime.now(UTC) - timedelta(**back)
        for switch in site.switches:
            evidence = SwitchEvidenceFile(
                format=FORMAT, site=site.name, switch=switch.name, serial=switch.serial, system_mac=switch.mac,
                model=None, read=read.replace(microsecond=0), by="the tests", plans={}, ports=1, unheard=0,
                configuration=StatedOfSwitches(site).digest(switch), result="as stated", digest=UNSEALED,
            )  # fmt: skip
            write_switch_evidence(self.site.folder, evidence.sealed())
