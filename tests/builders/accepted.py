"""Evidence that GPU nodes are accepted, as an operator's runner writes it, and a site whose DGX H100 it is enough for.

cleaned: unwired ── power-cycled ── wiped ── then accepted: firmware-attested ── diagnosed ── bandwidth ── fabric
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from interlock.hardware.gpu.acceptance import DIAGNOSTIC_TESTS
from interlock.model.evidence.reading import EvidenceRead, read_evidence
from interlock.model.evidence.values import moment_text
from interlock.model.site.inventory import EvidenceTerms, Site
from interlock.model.site.terms_of_acceptance import AcceptanceTerms
from tests.builders.gpu_sites import RAILS, gpu_site, guid_of, node_name

NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)
SINCE = NOON - timedelta(days=2)
#: When the first step was seen; each of the others comes an hour after the one before it.
FIRST = NOON - timedelta(hours=10)
CLEANED = ("unwired", "power-cycled", "wiped")
ACCEPTED = ("firmware-attested", "diagnosed", "bandwidth-measured", "fabric-checked")
VERSIONS: dict[str, tuple[str, ...]] = {
    "hca": ("28.39.3560", "28.39.3004"), "gpu": ("96.00.89.00.01",), "nvswitch": ("96.10.55.00.01",),
}  # fmt: skip


def terms(**changes: Any) -> AcceptanceTerms:
    """What an operator states of DGX H100: the firmware versions; all else is as in the catalogue."""
    return AcceptanceTerms(node_type="dgx-h100", firmware=VERSIONS).model_copy(update=changes)


def accepting_site(*stated: AcceptanceTerms, **changes: Any) -> Site:
    """One unit of two DGX H100. Evidence of a day counts."""
    evidence = EvidenceTerms(max_age_h=24, acceptance=stated or (terms(),))
    return gpu_site(1, 2, evidence=evidence, **changes)


def figures(number: int = 1) -> dict[str, dict[str, Any]]:
    """Step -> what was measured of node `number`: just enough for a DGX H100."""
    port = {"width": 4, "speed": 400, "symbol_errors": 0, "link_downed": 0}
    return {
        "firmware-attested": {
            "firmware": {
                "hca": {"devices": 10, "versions": [VERSIONS["hca"][0]]},
                "gpu": {"devices": 8, "versions": [*VERSIONS["gpu"]]},
                "nvswitch": {"devices": 4, "versions": [*VERSIONS["nvswitch"]]},
            }
        },
        "diagnosed": {"diagnostics": {"level": 3, "gpus": 8, "tests": dict.fromkeys(DIAGNOSTIC_TESTS.value, "pass")}},
        "bandwidth-measured": {"all_reduce": {"gpus": 8, "message": 16 << 30, "busbw": 460.0, "wrong": 0}},
        "fabric-checked": {
            "fabric": {
                "cleared": moment_text(FIRST + timedelta(hours=4)),
                "ports": {f"compute{rail}": {"guid": guid_of(1, number, rail), **port} for rail in range(1, RAILS + 1)},
            }
        },
    }


def entries(number: int = 1) -> list[dict[str, Any]]:
    """Every step of node `number` of the unit, an hour after each other."""
    name = node_name(1, number)
    return [
        {
            "host": name, "serial": f"SN-{name}", "step": step, "at": moment_text(FIRST + timedelta(hours=hour)),
            "by": "runner-1", **figures(number).get(step, {}),
        }
        for hour, step in enumerate((*CLEANED, *ACCEPTED))
    ]  # fmt: skip


def read(
    folder: Path, site: Site, seen: Iterable[Mapping[str, Any]], name: str = "acceptance-1.json", by: str = "acme"
) -> EvidenceRead:
    """What the site reads from a file with these entries, written as JSON as a runner does."""
    (folder / "evidence").mkdir(exist_ok=True)
    document = {"site": site.name, "released_by": by, "seen": [dict(one) for one in seen]}
    (folder / "evidence" / name).write_text(json.dumps(document, indent=1))
    return read_evidence(folder, folder, site)
