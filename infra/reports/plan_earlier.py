"""A plan as it was: from a file that `interlock plan --format json` wrote, or from a revision of git."""

from __future__ import annotations

import io
import json
import subprocess
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infra.program.gate import Gate, NotPlanned
from infra.program.places import stacks
from interlock.model.load import InputErrors, load_workspace
from interlock.planning import Plan, plan_site, plan_tenant
from interlock.planning.devices import serials_of
from interlock.vocabulary import InterlockError
from interlock.vocabulary.errors import ErrorKind


class NoEarlierPlan(InterlockError):
    """What `--against` names is no plan: neither a file with one nor a revision that can be planned."""

    kind = ErrorKind.INPUT


@dataclass(frozen=True)
class Earlier:
    """What a plan is compared with."""

    #: The canonical plan; None if the tenant was not there.
    plan: Mapping[str, Any] | None
    #: Name -> serial of the machines and hosts that the site had; empty: a file does not say.
    devices: Mapping[str, str]


def earlier_plan(against: str, site: str, tenant: str | None) -> Earlier:
    """The plan of a stack at `against`. Raises `NoEarlierPlan`."""
    if Path(against).is_file():
        return _from_file(Path(against))
    with tempfile.TemporaryDirectory(prefix="interlock-plan-") as folder:
        # Called as in the repository, so that messages name its files.
        there = Path(folder) / "stacks"
        _unpack(against, there)
        return _planned(against, there, site, tenant)


def _from_file(file: Path) -> Earlier:
    """The plan alone, or the whole document in which it is `plan`."""
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise NoEarlierPlan(f"{file} cannot be read as JSON: {error}") from None
    plan = document.get("plan", document) if isinstance(document, dict) else None
    if not isinstance(plan, dict) or not isinstance(plan.get("resources"), list):
        raise NoEarlierPlan(f"{file} holds no plan: write one with `interlock plan TENANT --format json`")
    devices = document.get("devices")
    return Earlier(plan, devices if isinstance(devices, dict) else {})


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


def _planned(revision: str, folder: Path, site: str, tenant: str | None) -> Earlier:
    try:
        gate = Gate(load_workspace(folder, site))
        plan = None if _is_absent(gate, tenant) else _as_it_was(gate, tenant).canonical()
        return Earlier(plan, serials_of(gate.workspace.site))
    except (InputErrors, NotPlanned) as error:
        raise NoEarlierPlan(f"{revision} cannot be planned:\n{error}") from None


def _is_absent(gate: Gate, tenant: str | None) -> bool:
    """True if there was nothing to plan from: no lock yet, or no such tenant."""
    workspace = gate.workspace
    if workspace.site_lock is None:
        return True
    return tenant is not None and (tenant not in workspace.tenants or tenant not in workspace.locks)


def _as_it_was(gate: Gate, tenant: str | None) -> Plan:
    """The plan that the lock of then gives, fresh or not: an older version counted its hashes otherwise."""
    workspace = gate.workspace
    assert workspace.site_lock is not None
    with gate.placed(tenant):
        if tenant is None:
            return plan_site(workspace.site, workspace.site_lock)
        request, lock = workspace.tenants[tenant], workspace.locks[tenant]
        return plan_tenant(workspace.site, workspace.site_lock, request, lock)
