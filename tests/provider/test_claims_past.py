"""What the provider records of a stack's past, by its own operations on a store in a folder; no cloud is asked."""

from __future__ import annotations

import pytest

from interlock.provider.errors import Failure
from interlock.resources import Admitted
from interlock.store.history import GivenObject, History, HistoryRecord
from interlock.store.objects import StoreFailed
from interlock.vocabulary.owners import OwnerId
from tests.provider.test_claims import OTHER, VLAN, Make, run, stack  # noqa: F401

VOLUME = Admitted(name="acme-scratch", kind="Volume", spec={"on_delete": "keep"})


def past(make: Make) -> HistoryRecord:
    found = History(make("acme").ledger.store).of("lyon-acme", OwnerId("owner-of-acme"))
    assert found is not None
    return found


def test_objects_are_recorded_before_the_first_is_made_and_the_end_with_the_last_claims(stack: Make) -> None:  # noqa: F811
    acme = stack("acme")
    acme.up(VLAN, objects=False)
    assert History(acme.ledger.store).all_of("lyon-acme") == ()  # nothing was to be made so far
    process = acme.process(VLAN, more=(VOLUME,))
    assert acme.held is not None
    run(process.known(*acme.held))
    run(process.require())
    (stay,) = past(stack).stays
    assert stay.objects == (GivenObject(kind="Volume", name="acme-scratch", on_delete="keep"),)
    assert (list(stay.identities), stay.left) == ([VLAN], "")

    acme.up(OTHER)
    (stay,) = past(stack).stays
    # What was replaced is no end, and what was given before stays on record.
    assert (list(stay.identities), stay.left, len(stay.objects)) == ([VLAN, OTHER], "", 1)

    acme.destroy()
    (stay,) = past(stack).stays
    assert stay.left >= stay.since > ""
    assert acme.ledger.stack("lyon-acme") is None

    acme.up(VLAN)
    first, second = past(stack).stays
    assert (first.left, second.left, second.objects) == (stay.left, "", ())


def test_another_state_writes_no_end(stack: Make) -> None:  # noqa: F811
    acme = stack("acme")
    acme.up(VLAN)
    assert acme.held is not None
    ident, values = acme.held
    with pytest.raises(Failure):
        run(acme.process().delete(acme.item(), ident, {**values, "lineage": "of another state"}, acme.name))
    assert past(stack).stays[-1].left == ""


def test_a_past_in_anothers_place_is_refused(stack: Make) -> None:  # noqa: F811
    """Copied to a new owner's key, a long past would be a report of what that one never had, or hide what it had."""
    acme = stack("acme")
    acme.up(VLAN)
    store = acme.ledger.store
    ((key, stored),) = store.items("history/")
    store.put_new("history/lyon-acme@stranger", stored.body)
    history = History(store)
    with pytest.raises(StoreFailed, match=f"history/lyon-acme@stranger: the record in this place is that of {key}"):
        history.of("lyon-acme", OwnerId("stranger"))
    with pytest.raises(StoreFailed, match="remove it from where it does not belong"):
        history.all_of("lyon-acme")
    assert past(stack).owner == OwnerId("owner-of-acme")


def test_a_past_that_begins_after_the_first_objects_does_not_say_since_when(stack: Make) -> None:  # noqa: F811
    """A version that kept no past made them, so what it lists is not all: no report of it may be complete."""
    acme = stack("acme")
    acme.up(VLAN)
    store = acme.ledger.store
    ((key, stored),) = store.items("history/")
    store.remove(key, stored.version)
    acme.up(OTHER)
    (stay,) = past(stack).stays
    assert (stay.since, list(stay.identities)) == ("", [OTHER])
    # Once it is gone, another begins with nothing.
    acme.destroy()
    acme.up(VLAN)
    assert past(stack).stays[-1].since > ""
