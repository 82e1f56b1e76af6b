"""Fences: the claims of a stack, by the provider's own operations on a store in a folder; no cloud is asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest

from interlock.model.lock.record import Footprint
from interlock.provider.admitted import AdmissionGate
from interlock.provider.claims import ClaimsLifecycle
from interlock.provider.errors import Failure
from interlock.provider.pools import ThreadPools
from interlock.provider.preview_token import PreviewTokens
from interlock.provider.state import Declared
from interlock.resources import Admission, Admitted, Claims, Network
from interlock.store.ledger import Ledger
from interlock.store.places import open_store
from interlock.store.records import FootprintRecord, Taking
from interlock.vocabulary.owners import OwnerId

T = TypeVar("T")

VLAN, OTHER = "seg:L:t1:100", "seg:L:t1:200"


def footprint(*identities: str) -> Footprint:
    return Footprint(classes=(), labels={}, exclusive=tuple(sorted(identities)))


@dataclass
class Stack:
    """One stack as the engine drives it: what it was proved to take, and what its state holds."""

    store: str
    tenant: str
    scratch: Path
    serial: int = 1
    nodes: tuple[str, ...] = ()
    known: dict[str, tuple[str, ...]] = field(default_factory=dict)
    #: Id and outputs of the claims in the engine's state.
    held: tuple[str, dict[str, Any]] | None = None

    @property
    def name(self) -> str:
        return f"lyon-{self.tenant}"

    @property
    def ledger(self) -> Ledger:
        return Ledger(open_store(self.store, "lyon"))

    def taking(self, *identities: str) -> Taking:
        entry = FootprintRecord(footprint=footprint(*identities), nodes=self.nodes)
        own = self.ledger.stack(self.name)
        applied = tuple(item.digest for item in own.entries) if own else ()
        return Taking(
            stack=self.name, tenant=self.tenant, owner=OwnerId(f"owner-of-{self.tenant}"),
            serial=self.serial, entry=entry,
            met=self.nodes, known={**self.known, self.name: applied},
        )  # fmt: skip

    def spec(self, taking: Taking) -> Claims:
        return Claims(store=self.store, footprint=taking.entry.digest, identities=taking.entry.footprint.exclusive)

    def process(
        self, *identities: str, more: tuple[Admitted, ...] = (), asked: frozenset[str] | set[str] = frozenset()
    ) -> ClaimsLifecycle:
        """A provider process that the proof of these identities was handed to, in an update after its preview.

        `more`: what else the proof holds, of which the engine has `asked`.
        """
        taking = self.taking(*identities)
        admitted = Admitted(name=f"{self.tenant}-claims", kind="Claims", spec=self.spec(taking).canonical())
        admission = Admission(
            stack=self.name, cloud="sandbox", owner=taking.owner, site_owner=OwnerId("site"), plan_hash="plan",
            proof_hash=taking.entry.digest, site_folder="/site", resources=(admitted, *more),
            claims=taking.model_dump(mode="json"),
        )  # fmt: skip
        gate, notes = AdmissionGate(), PreviewTokens(self.scratch / self.tenant)
        assert gate.admit(admission, notes, preview=True) == []
        assert gate.admit(admission, notes, preview=False) == []
        return ClaimsLifecycle(gate, ThreadPools(), asked=asked)

    def item(self, *identities: str) -> Declared:
        taking = self.taking(*identities)
        return Declared("Claims", f"{self.tenant}-claims", self.spec(taking), taking.owner, {})

    def up(self, *identities: str, objects: bool = True) -> None:
        """Claims, then objects if there are any, then what is replaced goes."""
        process, before = self.process(*identities), self.held
        if before is not None:
            run(process.known(*before))
            if before[1]["footprint"] == self.taking(*identities).entry.digest:
                run(process.require())
                return
        self.held = run(process.create(self.item(*identities), preview=False))
        if objects:
            run(process.require())
        if before is not None:
            run(process.delete(self.item(*identities), *before, self.name))

    def destroy(self) -> None:
        assert self.held is not None
        run(self.process().delete(self.item(), *self.held, self.name))
        self.held = None


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


@pytest.fixture
def stack(tmp_path: Path) -> Callable[..., Stack]:
    """Makes stacks of one site on one store."""
    url = (tmp_path / "claims").as_uri()

    def make(tenant: str, **more: Any) -> Stack:
        return Stack(url, tenant, tmp_path / "preview_tokens", **more)

    return make


Make = Callable[..., Stack]


def test_two_stacks_with_one_identity(stack: Make) -> None:
    acme, globex = stack("acme"), stack("globex")
    acme.up(VLAN)
    with pytest.raises(Failure, match=f"{VLAN}.*lyon-acme") as refused:
        globex.up(VLAN, OTHER)
    assert "next:" in str(refused.value)
    # Nothing of the loser is left: what it would have taken besides is free.
    assert globex.ledger.stack("lyon-globex") is None
    stack("initech").up(OTHER)
    acme.destroy()
    globex.up(VLAN)


def test_a_preview_says_what_is_taken_and_writes_nothing(stack: Make) -> None:
    acme, globex = stack("acme"), stack("globex")
    acme.up(VLAN)
    process = globex.process(VLAN)
    (fault,) = run(process.obstacles())
    assert VLAN in fault
    assert "lyon-acme" in fault
    ident, values = run(process.create(globex.item(VLAN), preview=True))
    assert ident == ""
    assert values["identities"] == [VLAN]
    assert [record.stack for record in acme.ledger.stacks()] == ["lyon-acme"]


def test_old_and_new_count_until_the_old_is_gone(stack: Make) -> None:
    acme, globex = stack("acme"), stack("globex")
    acme.up(VLAN)
    process, before = acme.process(OTHER), acme.held
    assert before is not None
    run(process.known(*before))
    after = run(process.create(acme.item(OTHER), preview=False))
    for identity in (VLAN, OTHER):
        with pytest.raises(Failure):
            globex.up(identity)
    run(process.delete(acme.item(OTHER), *before, acme.name))
    assert after[1]["lineage"] == before[1]["lineage"]
    globex.up(VLAN)
    with pytest.raises(Failure):
        globex.up(VLAN, OTHER)


def test_nothing_is_made_without_the_claims(stack: Make) -> None:
    """What --target does: the claims are left out, and something else is to be changed."""
    acme = stack("acme")
    with pytest.raises(Failure, match="claims of lyon-acme are not in the store") as refused:
        run(acme.process(VLAN).require())
    assert "--target" in refused.value.hint
    acme.up(VLAN)
    run(acme.process(VLAN).require())
    with pytest.raises(Failure, match="claims of lyon-acme are not in the store"):
        run(acme.process(VLAN, OTHER).require())


def test_the_old_footprint_stays_claimed_while_something_is_left_as_it_was(stack: Make) -> None:
    """What --target does, with the claims among the targets."""
    acme, globex, asked = stack("acme"), stack("globex"), {"acme-data"}
    acme.up(VLAN)
    before = acme.held
    assert before is not None
    network = Network(name="n", network_type="vlan", physical_network="fabric100g", segmentation_id=2101)
    more = tuple(Admitted(name=name, kind="Network", spec=network.canonical()) for name in ("acme-data", "acme-rest"))
    process = acme.process(OTHER, more=more, asked=asked)
    run(process.known(*before))
    run(process.create(acme.item(OTHER), preview=False))
    with pytest.raises(Failure, match="stays claimed: with --target, acme-rest may still be as it says") as refused:
        run(process.delete(acme.item(OTHER), *before, acme.name))
    assert "on the whole stack" in refused.value.hint
    with pytest.raises(Failure):
        globex.up(VLAN)
    asked.add("acme-rest")
    run(process.delete(acme.item(OTHER), *before, acme.name))
    globex.up(VLAN)


def test_an_up_after_a_killed_one_lets_go_of_two_footprints_at_once(stack: Make) -> None:
    """The state holds the one from before the kill as still to be deleted, and the engine deletes side by side."""
    acme = stack("acme", nodes=tuple(f"L:t1:{number}" for number in range(40)))
    acme.up(VLAN)
    first = acme.held
    process = acme.process(VLAN, OTHER)
    assert first is not None
    run(process.known(*first))
    killed = run(process.create(acme.item(VLAN, OTHER), preview=False))
    process = acme.process(OTHER)
    run(process.known(*killed))
    run(process.create(acme.item(OTHER), preview=False))

    async def both() -> None:
        async with asyncio.TaskGroup() as tasks:
            for old in (first, killed):
                tasks.create_task(process.delete(acme.item(OTHER), *old, acme.name))

    run(both())
    record = acme.ledger.stack("lyon-acme")
    assert record is not None
    assert [entry.footprint.exclusive for entry in record.entries] == [(OTHER,)]


def test_what_is_wanted_is_not_let_go_though_the_state_holds_it_twice(stack: Make) -> None:
    """A killed run claimed something else, the request was edited back, and the old claims are still to be deleted."""
    acme, globex = stack("acme"), stack("globex")
    acme.up(VLAN)
    first = acme.held
    assert first is not None
    process = acme.process(VLAN, OTHER)
    run(process.known(*first))
    killed = run(process.create(acme.item(VLAN, OTHER), preview=False))
    process = acme.process(VLAN)
    run(process.known(*killed))
    acme.held = run(process.create(acme.item(VLAN), preview=False))
    assert acme.held[0] == first[0]
    for old in (killed, first):
        assert run(process.delete(acme.item(VLAN), *old, acme.name)) == ""
    with pytest.raises(Failure, match="lyon-acme"):
        globex.up(VLAN)
    globex.up(OTHER)
    acme.up(VLAN)
    acme.destroy()
    stack("initech").up(VLAN)


def test_claims_are_not_recreated(stack: Make) -> None:
    """With `--replace` the engine asks for no difference first, and so nobody says which state this is."""
    acme, globex = stack("acme"), stack("globex")
    acme.up(VLAN)
    with pytest.raises(Failure, match="applied from another state: this one has none of its claims"):
        run(acme.process(VLAN).create(acme.item(VLAN), preview=False))
    with pytest.raises(Failure, match="lyon-acme"):
        globex.up(VLAN)
    acme.up(VLAN)


def test_a_state_that_was_lost_is_refused_once_something_was_made(stack: Make) -> None:
    acme = stack("acme")
    acme.up(VLAN, objects=False)
    acme.held = None
    # Killed between the claims and the state: nothing else exists, so the next run goes on.
    acme.up(VLAN)
    acme.held = None
    with pytest.raises(Failure, match="applied from another state") as refused:
        acme.up(VLAN)
    assert "interlock recover acme" in refused.value.hint


def test_a_second_state_of_the_same_stack_is_refused(stack: Make) -> None:
    acme, copy = stack("acme"), stack("acme")
    acme.up(VLAN)
    with pytest.raises(Failure, match="applied from another state"):
        copy.up(VLAN)
    copy.held = ("lyon-acme@" + acme.taking(VLAN).entry.digest, acme.held[1] | {"lineage": "f" * 32})  # type: ignore[index]
    with pytest.raises(Failure, match="applied from another state"):
        copy.up(VLAN)


def test_an_old_state_that_was_put_back_is_refused(stack: Make) -> None:
    acme = stack("acme")
    acme.up(VLAN)
    old = acme.held
    acme.up(OTHER)
    acme.held = old
    with pytest.raises(Failure, match="older") as refused:
        acme.up(VLAN)
    assert "interlock recover acme" in refused.value.hint


def test_an_older_commit_is_refused(stack: Make) -> None:
    acme = stack("acme", serial=4)
    acme.up(VLAN)
    acme.serial = 3
    with pytest.raises(Failure, match="serial 3"):
        acme.up(VLAN, OTHER)


def test_a_proof_beside_an_older_state_of_another_is_refused_at_the_node(stack: Make) -> None:
    node = "L:t1:100"
    acme, globex = stack("acme", nodes=(node,)), stack("globex", nodes=(node,))
    acme.up(VLAN)
    with pytest.raises(Failure, match="lyon-acme"):
        globex.up(OTHER)
    globex.known = {"lyon-acme": (acme.taking(VLAN).entry.digest,)}
    globex.up(OTHER)
    # Whoever meets neither of them is not disturbed by what he does not know.
    stack("initech", nodes=("L:t2:7",)).up("seg:L:t2:7")


def test_read_tells_whether_the_store_still_has_it(stack: Make) -> None:
    acme = stack("acme")
    acme.up(VLAN)
    assert acme.held is not None
    ident, values = acme.held
    process = acme.process(VLAN)
    inputs, outputs = run(process.read(acme.item(VLAN), ident, values)) or ({}, {})
    assert inputs["identities"] == [VLAN]
    assert outputs["lineage"] == values["lineage"]
    acme.destroy()
    assert run(acme.process(VLAN).read(acme.item(VLAN), ident, values)) is None


def test_a_store_that_cannot_be_read_stops_everything(stack: Make, tmp_path: Path) -> None:
    acme = stack("acme")
    process, item = acme.process(VLAN), acme.item(VLAN)
    (tmp_path / "claims").write_text("a file where the folder should be")
    with pytest.raises(Failure) as failed:
        run(process.create(item, preview=False))
    assert str(tmp_path) in str(failed.value)
