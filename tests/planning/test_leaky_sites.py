"""The leaky examples are requests like any other: they load, get locks and plans; the gate refuses them."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from interlock.model.load import load_workspace
from interlock.model.lock.record import Lock
from interlock.planning import Plan, plan_tenant
from tests.builders.leaky import LEAKS, ROOT, Leak, mended
from tests.builders.pod64 import locked, site_locked

every_leak = pytest.mark.parametrize("leak", LEAKS, ids=[leak.case for leak in LEAKS])


def plans(stacks: Path, case: str) -> Mapping[str, Plan]:
    workspace = load_workspace(stacks, f"leaky/{case}")
    site, locks = workspace.site, list[Lock]()
    for _, tenant in sorted(workspace.tenants.items()):
        locks.append(locked(site, tenant, locks))
    site_lock = site_locked(site)
    return {lock.id: plan_tenant(site, site_lock, workspace.tenants[lock.id], lock) for lock in locks}


def test_the_table_lists_every_folder() -> None:
    folders = {path.name for path in (ROOT / "stacks" / "leaky").iterdir()}
    assert folders == {leak.case for leak in LEAKS}


@every_leak
def test_it_plans_as_it_is_and_mended(leak: Leak, tmp_path: Path) -> None:
    stacks = tmp_path / "stacks"
    shutil.copytree(leak.folder, stacks / "leaky" / leak.case)
    leaking = plans(stacks, leak.case)
    assert leaking[leak.tenant].stack == leak.stack
    file = stacks / "leaky" / leak.case / leak.file
    file.write_text(mended(file.read_text(encoding="utf-8")), encoding="utf-8")
    assert plans(stacks, leak.case)[leak.tenant].hash != leaking[leak.tenant].hash


@every_leak
def test_nothing_but_one_line_leaks(leak: Leak) -> None:
    files = [path for path in leak.folder.rglob("*.yaml") if "# LEAK" in path.read_text(encoding="utf-8")]
    assert files == [leak.folder / leak.file]
    assert leak.bad_line
