"""The claims of a stack: killed at every call of their store, before it, after it, or its answer lost."""

from __future__ import annotations

from pathlib import Path
from shutil import copytree

import pytest

from interlock.store.folder import FolderStore
from tests.kills.claiming import STEPS, Stop, perform, requests
from tests.kills.report import FAULTS, Point
from tests.store.world import content, require_listed


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("step", STEPS)
def test_kill_at_every_call_of_the_store(step: str, tmp_path: Path, points: list[Point]) -> None:
    before, call, rest = STEPS[step]
    begun, whole = tmp_path / "begun", tmp_path / "whole"
    begun.mkdir()
    assert perform(begun, before) == 0
    copytree(begun, whole)
    many = requests(whole, call)
    assert perform(whole, rest) == 0
    expected = content(FolderStore(whole))
    for at in range(many):
        for fault in FAULTS:
            where, folder = f"{step}: {fault} call {at + 1} of {many}", tmp_path / f"{at}-{fault}"
            copytree(begun, folder)
            code = perform(folder, (call,), Stop(at, fault))
            assert code == (1 if fault == "lost" else -9), where
            require_listed(FolderStore(folder))
            assert perform(folder, (call, *rest)) == 0, where
            assert content(FolderStore(folder)) == expected, where
            points.append(Point("store", "Claims", step, at + 1, many, fault, "store", stopped=fault == "lost"))
