"""What tenants use of the operator's stack, where records are older than this was recorded; a store in memory."""

from __future__ import annotations

import pytest

from interlock.store import site_objects
from interlock.store.ledger import Ledger, Outdated
from interlock.store.records import StackRecord
from interlock.store.shelves import RecordFolder
from tests.store.memory import MemoryStore
from tests.store.world import entry, taking

ACME, SITE, OLD = "lyon-acme", "lyon-site", "site:Image/old"


def test_a_stack_that_an_older_version_applied_may_use_what_nobody_recorded_either() -> None:
    """The operator's first `up` with this version takes away what the file has no more: it was never on offer."""
    ledger = Ledger(MemoryStore())
    ledger.take(taking(ACME, entry(["a"]), ledger), None)
    records = RecordFolder(ledger.store, "stacks", StackRecord)
    found = records.get(ACME)
    assert found is not None
    older = records.put(ACME, found.record.model_copy(update={"uses": None}), found.version)
    ledger.take(taking(SITE, entry(["s"]), ledger, tenant=None), None)
    with pytest.raises(Outdated, match=f"{OLD} is used by {ACME}") as refused:
        site_objects.require_unused(OLD, SITE, ledger.stacks())
    assert "put it back into the site file" in refused.value.hint
    # Its next `up` records that it uses nothing of it.
    records.put(ACME, found.record, older)
    site_objects.require_unused(OLD, SITE, ledger.stacks())
