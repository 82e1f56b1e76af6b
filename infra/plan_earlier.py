"""A plan as it was: from a file that `interlock plan --format json` wrote, or from a revision of git."""

from __future__ import annotations

import io
import json
import subprocess
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from infra.gate import Gate, NotPlanned
from infra.places import stacks
from interlock.model.load import InputErrors, load_workspace


class NoEarlierPlan(Exception):
    """What `--against` names is no plan: neither a file with one nor a revision that can be planned."""


def earlier_plan(against: str, site: str, tenant: str | None) -> Mapping[str, Any] | None:
    """The canonical plan of a stack at `against`; None if the tenant was not there. Raises `NoEarlierPlan`."""
    if Path(against).is_file():
        return _from_file(Path(against))
    with tempfile.TemporaryDirectory(prefix="interlock-plan-") as folder:
        _unpack(against, Path(folder))
        return _planned(against, Path(folder), site, tenant)


def _from_file(file: Path) -> Mapping[str, Any]:
    """The plan alone, or the whole document in which it is `plan`."""
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise NoEarlierPlan(f"{file} cannot be read as JSON: {error}") from None
    plan = document.get("plan", document) if isinstance(document, dict) else None
    if not isinstance(plan, dict) or not isinstance(plan.get("resources"), list):
        raise NoEarlierPlan(f"{file} holds no plan: write one with `interlock plan TENANT --format json`")
    found: Mapping[str, Any] = plan
    return found


def _unpack(revision: str, folder: Path) -> None:
    """All sites as they were, since a site is loaded with its whole fleet."""
    command = ["git", "-C", str(stacks()), "archive", "--format=zip", "--end-of-options", revision]
    try:
        done = subprocess.run(command, check=False, capture_output=True)
    except OSError as error:
        raise NoEarlierPlan(f"no file {revision}, and git cannot be run: {error}") from None
    if done.returncode:
        words = done.stderr.decode(errors="replace").strip().splitlines()
        raise NoEarlierPlan(f"no file {revision}, and git has no such revision: {words[-1] if words else ''}")
    with zipfile.ZipFile(io.BytesIO(done.stdout)) as archive:
        archive.extractall(folder)


def _planned(revision: str, folder: Path, site: str, tenant: str | None) -> Mapping[str, Any] | None:
    try:
        gate = Gate(load_workspace(folder, site))
        if tenant is not None and tenant not in gate.workspace.tenants:
            return None
        return gate.plan(tenant).canonical()
    except (InputErrors, NotPlanned) as error:
        raise NoEarlierPlan(f"{revision} cannot be planned:\n{error}") from None
