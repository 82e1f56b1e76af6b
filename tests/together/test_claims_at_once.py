"""Fences: sixteen processes take claims at the same moment, of one tenant, of sixteen, and in pairs."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from interlock.provider.errors import Failure
from interlock.store.ledger import Ledger
from interlock.store.places import open_store
from tests.store.world import claims, require_listed
from tests.together.applying import SITE, Apply, Outcome, take, wanted
from tests.together.processes import together

MANY = 16


def settled(url: str) -> Ledger:
    """The store afterwards: nothing in it that a record does not list."""
    store = open_store(url, SITE)
    require_listed(store)
    return Ledger(store)


def test_fence_of_two_applies_of_one_tenant_the_one_that_was_overtaken_makes_nothing(tmp_path: Path) -> None:
    """The second takes over between the claims of the first and what would be made next: nothing was confirmed yet."""
    url, vlan = (tmp_path / "claims").as_uri(), "segment:V:sandbox:vlan:7"
    first, second = Apply(url, wanted("acme", [vlan])), Apply(url, wanted("acme", [vlan]))
    asyncio.run(first.claim())
    taken = asyncio.run(second.claim())
    with pytest.raises(Failure, match=r"lyon-acme is applied from another state.*, process ") as refused:
        asyncio.run(first.go_on())
    assert "next: " in str(refused.value)
    asyncio.run(second.go_on())
    (record,) = settled(url).stacks()
    assert (record.lineage, record.confirmed) == (taken, True)


@pytest.mark.parametrize(("store", "alike"), [("folder", True), ("folder", False), ("s3", False)], indirect=["store"])
def test_fence_of_sixteen_applies_of_one_tenant_one_wins(store: str, alike: bool) -> None:
    """From states of their own; of one commit, or each with something that only its own commit has."""
    own = [("segment:V:sandbox:vlan:7",) + (() if alike else (f"machine:{number}",)) for number in range(MANY)]
    outcomes: list[Outcome] = together(take, *((store, "acme", identities, ("dev:1",)) for identities in own))
    won = [number for number, outcome in enumerate(outcomes) if outcome.won]
    assert len(won) == 1, outcomes
    ledger = settled(store)
    (record,) = ledger.stacks()
    # The store is the winner's, whole, and holds nothing that a loser alone wanted.
    assert record.lineage == outcomes[won[0]].lineage
    assert record.confirmed
    assert set(claims(ledger.store)) == set(own[won[0]])
    for outcome in outcomes:
        if not outcome.won:
            assert "lyon-acme" in outcome.words, outcome
            assert ", process " in outcome.words, f"who holds it is not named: {outcome.words}"
            assert "next: " in outcome.words, outcome


def test_fence_sixteen_tenants_that_do_not_meet_all_win(url: str) -> None:
    vlans = [f"segment:V:sandbox:vlan:{number}" for number in range(MANY)]
    applies = [(url, f"t{number}", (vlan,), (f"dev:{number}",)) for number, vlan in enumerate(vlans)]
    outcomes: list[Outcome] = together(take, *applies)
    assert [outcome.words for outcome in outcomes] == [""] * MANY
    ledger = settled(url)
    held = {record.stack: record.lineage for record in ledger.stacks()}
    assert held == {f"lyon-t{number}": outcome.lineage for number, outcome in enumerate(outcomes)}
    assert len(claims(ledger.store)) == MANY


def test_fence_of_each_pair_with_one_vlan_one_wins(url: str) -> None:
    """Each has something of its own besides, which the loser leaves free."""
    shared = [f"segment:V:sandbox:vlan:{number // 2}" for number in range(MANY)]
    outcomes: list[Outcome] = together(
        take, *((url, f"t{number}", (shared[number], f"machine:{number}")) for number in range(MANY))
    )
    ledger = settled(url)
    held = {identity: claim.stack for identity, claim in claims(ledger.store).items()}
    winners = [number for number, outcome in enumerate(outcomes) if outcome.won]
    assert sorted(number // 2 for number in winners) == list(range(MANY // 2)), outcomes
    for number in winners:
        loser = number ^ 1
        words = outcomes[loser].words
        assert f"{shared[number]} is held by stack lyon-t{number}" in words, words
        assert "next: " in words, words
        assert held.pop(shared[number]) == held.pop(f"machine:{number}") == f"lyon-t{number}"
    assert held == {}
    assert {record.stack for record in ledger.stacks()} == {f"lyon-t{number}" for number in winners}
