"""What a killed run claimed, with the real engine: the next `up` goes on over it, and `interlock settle` lets it go."""

from __future__ import annotations

import pytest
from openstack.connection import Connection

from infra.program.gate import Gate
from interlock.store.ledger import Ledger
from interlock.store.places import open_store
from interlock.store.records import FootprintRecord, StackRecord
from tests.e2e.killing import up_and_kill
from tests.e2e.project import Project, changes
from tests.support.cloud.journal import Trap

GLOBEX, MORE_SERVERS = "lyon/tenants/globex.yaml", ("servers: 1", "servers: 2")
ACME, MORE_BUCKETS = "lyon/tenants/acme.yaml", ("buckets:\n", "buckets:\n  logs: {}\n")
SMALLER, QUARTER = ("flavor: poplar.half", "flavor: poplar.quarter"), "site:Flavor/poplar.quarter"


def test_an_up_after_a_killed_one_of_another_request_lets_go_of_both_footprints(applied: Project, trap: Trap) -> None:
    applied.edit(GLOBEX, *MORE_SERVERS)
    applied.must(applied.interlock("lock", "globex"))
    # By its first request the claims are taken, and nothing is made.
    up_and_kill(applied, trap, "lyon-globex", 1, "before")
    applied.must(applied.interlock("unlock", "lyon-globex"))
    applied.edit(GLOBEX, *reversed(MORE_SERVERS))
    applied.must(applied.interlock("lock", "globex"))
    refused = applied.interlock("settle", "globex")
    assert (refused.code, "Claims globex-claims is still to be deleted" in refused.err) == (1, True), refused.text
    applied.must(applied.plain_up("lyon-globex"))
    settled = applied.must(applied.interlock("settle", "globex"))
    assert "globex/research: " in settled.out
    assert "nothing to settle" in applied.must(applied.interlock("settle", "globex")).err
    assert set(changes(applied.must(applied.plain_up("lyon-globex")))) <= {"replaced", "unchanged"}


@pytest.fixture
def ledger(applied: Project, monkeypatch: pytest.MonkeyPatch) -> Ledger:
    """The claims store, as commands of this project find it."""
    for name in ("INTERLOCK_STACKS", "OS_CLIENT_CONFIG_FILE", "PULUMI_BACKEND_URL"):
        monkeypatch.setenv(name, applied.environment[name])
    return Ledger(open_store("", "lyon"))


@pytest.fixture
def left(applied: Project, ledger: Ledger) -> FootprintRecord:
    """Claimed by a run that died before its state held the claims, and whose request was then edited back."""
    applied.edit(ACME, *MORE_BUCKETS)
    applied.edit(ACME, *SMALLER)
    applied.must(applied.interlock("lock", "acme"))
    gate, record = Gate.open("lyon").with_applied(), ledger.stack("lyon-acme")
    taking = gate.taking(gate.prove("acme"))
    assert record is not None
    assert taking is not None
    return ledger.take(taking, record.lineage).entries[-1]


def test_what_only_the_store_knows_goes_once_engine_and_cloud_agree(
    applied: Project, cloud: Connection, ledger: Ledger, left: FootprintRecord
) -> None:
    applied.edit(ACME, *reversed(MORE_BUCKETS))
    applied.edit(ACME, *reversed(SMALLER))
    applied.must(applied.interlock("lock", "acme"))
    router = cloud.network.find_router("acme-router", ignore_missing=False)
    cloud.network.update_router(router, name="by-hand")
    refused = applied.interlock("settle", "acme")
    assert refused.code == 1, refused.text
    assert "`pulumi preview --refresh --expect-no-changes` finds something" in refused.err
    assert left in _entries(ledger)
    cloud.network.update_router(router, name="acme-router")
    # Of the operator's objects the store still counts one more than the plan uses. The engine's state knows nothing of
    # that: the provider asks for new claims, and the end of the old ones drops it. What was claimed besides stays.
    assert QUARTER in _uses(ledger)
    assert applied.interlock("settle", "acme").code == 1
    up = changes(applied.must(applied.plain_up("lyon-acme")))
    assert (set(up), up["replaced"]) == ({"replaced", "unchanged"}, 1)
    assert QUARTER not in _uses(ledger)
    assert left in _entries(ledger)
    settled = applied.must(applied.interlock("settle", "acme"))
    assert f"footprint {left.digest} of an interrupted run" in settled.out
    assert left not in _entries(ledger)
    # What an earlier test gave up is settled with it: then the claims are others.
    assert set(changes(applied.must(applied.plain_up("lyon-acme")))) <= {"replaced", "unchanged"}
    # Claims that are replaced by every run would pass all of the above.
    applied.unchanged("lyon-acme")


def _entries(ledger: Ledger) -> tuple[FootprintRecord, ...]:
    return _record(ledger).entries


def _uses(ledger: Ledger) -> set[str]:
    return {use.reference for use in _record(ledger).uses or ()}


def _record(ledger: Ledger) -> StackRecord:
    record = ledger.stack("lyon-acme")
    assert record is not None
    return record
