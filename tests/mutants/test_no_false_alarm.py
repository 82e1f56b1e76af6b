"""Generated workspaces in which nothing is wrong, as mutants need them: each tenant's plan and the operator's prove."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

from tests.mutants.sites import workspace_of
from tests.mutants.workspaces import OPERATOR
from tests.support.forking import nothing_to_collect
from tests.support.sampling import Sampling

#: Workspaces that a process answers for at once, each about an eighth of a second.
BATCH = 20


def alarms(seeds: range) -> tuple[int, list[str]]:
    """How many plans were judged, and what stands in the way of one."""
    judged, found = 0, list[str]()
    for seed in seeds:
        space = workspace_of.__wrapped__(seed)
        for asked in (*space.tenants, OPERATOR):
            judgement = space.judged(asked=asked)
            judged += 1
            if judgement.exit_code:
                first = judgement.findings[0]
                found.append(f"workspace {seed}, {asked}: {first.rule} {first.verdict}: {first.message}")
    return judged, found


@pytest.mark.timeout(20_000)
def test_clean_workspaces_prove(sampling: Sampling) -> None:
    """No false alarm, and so the parents of all mutants are clean."""
    seeds, workers = sampling.cases("clean sites"), min(4, os.cpu_count() or 1)
    count, parts = len(seeds), [seeds[first : first + BATCH] for first in range(0, len(seeds), BATCH)]
    with nothing_to_collect(), ProcessPoolExecutor(workers, mp_context=get_context("fork")) as pool:
        results = list(pool.map(alarms, parts))
    wrong = [word for _, words in results for word in words]
    assert not wrong, "\n".join([f"{len(wrong)} of {count} workspaces", *wrong[:10]])
    assert sum(judged for judged, _ in results) >= 3 * count
