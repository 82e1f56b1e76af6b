"""Sixteen tenants at once on one cloud, with one store: each gets what is its own, once, and goes without a trace."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from interlock.provider.census import census
from interlock.provider.clouds import Cloud
from interlock.store.ledger import Ledger
from interlock.store.places import open_store
from tests.conftest import Sandbox
from tests.support.engine.process import Recorded
from tests.together.applying import SITE
from tests.together.processes import together
from tests.together.stacks import destroy, up

MANY = 16


def objects(cloud: Cloud) -> Counter[tuple[str, str, str]]:
    """(owner, plan name, id) of everything that these tenants have."""
    found = (item for item in census(cloud) if item.owner.startswith("owner-of-w"))
    return Counter((item.owner, item.name, item.id) for item in found)


def refusals(sandbox: Sandbox, since: int) -> list[str]:
    """Changes that a service refused us, so that they had to be tried again."""
    lines = (sandbox.dir / "requests.jsonl").read_text().splitlines()[since:]
    entries = [json.loads(line) for line in lines]
    ours = [entry for entry in entries if "interlock" in entry["user_agent"]]
    return [json.dumps(entry) for entry in ours if entry["status"] >= 400]


def test_sixteen_tenants_that_do_not_meet_do_not_disturb_each_other(sandbox: Sandbox, url: str, tmp_path: Path) -> None:
    cloud, since = Cloud(sandbox.cloud), len((sandbox.dir / "requests.jsonl").read_text().splitlines())
    states: list[dict[str, Recorded]] = together(up, *((url, str(tmp_path), number) for number in range(MANY)))
    assert {type(state) for state in states} == {dict}, states
    held = Counter(
        (f"owner-of-w{number}", name, recorded.id)
        for number, state in enumerate(states)
        for name, recorded in state.items()
        if not name.endswith("-claims")
    )
    assert len(held) == MANY * 3
    assert objects(cloud) == held
    records = Ledger(open_store(url, SITE)).stacks()
    assert {record.stack for record in records if record.confirmed} == {f"lyon-w{number}" for number in range(MANY)}
    left = together(destroy, *((url, str(tmp_path), number, state) for number, state in enumerate(states)))
    assert left == [[]] * MANY
    assert objects(cloud) == Counter()
    assert Ledger(open_store(url, SITE)).stacks() == ()
    assert refusals(sandbox, since) == []
