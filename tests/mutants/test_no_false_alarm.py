"""Generated workspaces in which nothing is wrong, as mutants need them: each tenant's plan and the operator's prove."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from tests.mutants.sites import workspace_of
from tests.mutants.workspaces import OPERATOR

#: Of a short run and of a long one. A workspace takes about a quarter of a second of one core.
SHORT, LONG = 120, 1000


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


def test_mutants_have_clean_parents(long: bool) -> None:
    count, workers = LONG if long else SHORT, min(4, os.cpu_count() or 1)
    parts = [range(first, count, workers) for first in range(workers)]
    with ProcessPoolExecutor(workers, mp_context=get_context("fork")) as pool:
        results = list(pool.map(alarms, parts))
    assert [word for _, words in results for word in words] == []
    assert sum(judged for judged, _ in results) >= 3 * count
