"""What a run told the store and not its state, as it was killed: the next `up` takes the claims anew and drops it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from interlock.provider.diffing import Difference, compare
from interlock.resources import Admitted, Claims, digest_of
from interlock.store.records import SiteUse, StackRecord, Taking
from tests.provider.test_claims import VLAN, Stack, run

OLD = SiteUse(kind="Server", name="acme-poplar-0", field="image", reference="site:Image/old")
NEW = OLD.model_copy(update={"reference": "site:Image/new"})
SLOW = Admitted(name="slow", kind="VolumeType", spec={"name": "slow"})


@dataclass
class UsingStack(Stack):
    """A stack with objects of the operator's: those that its plan uses, or, of the operator's own, that it offers."""

    uses: tuple[SiteUse, ...] = ()
    offers: tuple[Admitted, ...] = ()

    def taking(self, *identities: str) -> Taking:
        tenant = None if self.tenant == "site" else self.tenant
        changes = {"uses": self.uses, "offers": self.offers, "tenant": tenant}
        return super().taking(*identities).model_copy(update=changes)

    def spec(self, taking: Taking) -> Claims:
        objects = digest_of([item.model_dump(mode="json") for item in (*taking.uses, *taking.offers)])
        return super().spec(taking).model_copy(update={"objects": objects})

    def difference(self) -> Difference:
        """What the engine is told of the claims in its state."""
        assert self.held is not None
        ident, olds = self.held
        item = self.item(VLAN)
        news = item.inputs()
        return compare("Claims", item.name, olds, news, anew=run(self.process(VLAN).known(ident, olds)))

    def killed(self) -> None:
        """Its claims are in the store, and the engine did not live to write that down."""
        assert self.held is not None
        process = self.process(VLAN)
        run(process.known(*self.held))
        run(process.create(self.item(VLAN), preview=False))

    def replaced(self) -> None:
        """As the engine does it: new claims, then everything else, then the old ones go."""
        assert self.held is not None
        process, before = self.process(VLAN), self.held
        run(process.known(*before))
        self.held = run(process.create(self.item(VLAN), preview=False))
        run(process.require())
        run(process.delete(self.item(VLAN), *before, self.name))

    def record(self) -> StackRecord:
        """As the store has it now."""
        found = self.ledger.stack(self.name)
        assert found is not None
        return found


def made(tmp_path: Path, tenant: str, **objects: Any) -> UsingStack:
    return UsingStack((tmp_path / "claims").as_uri(), tenant, tmp_path / "preview_tokens", **objects)


def test_what_a_killed_run_was_to_use_counts_until_the_next_up(tmp_path: Path) -> None:
    acme = made(tmp_path, "acme", uses=(OLD,))
    acme.up(VLAN)
    assert acme.difference().changed == {}
    acme.uses = (NEW,)
    assert acme.difference().replaces == ["objects"]
    acme.killed()
    acme.uses = (OLD,)
    assert acme.record().uses == (OLD, NEW)
    # The request was edited back: to the engine's state nothing differs.
    assert acme.difference().replaces == ["objects"]
    acme.replaced()
    assert acme.record().uses == (OLD,)
    assert acme.difference().changed == {}


@pytest.mark.parametrize("killed", [(), (SLOW, SLOW.model_copy(update={"name": "slower"}))])
def test_so_does_what_the_operators_run_was_to_take_away_or_to_make(
    tmp_path: Path, killed: tuple[Admitted, ...]
) -> None:
    site = made(tmp_path, "site", offers=(SLOW,))
    site.up(VLAN)
    site.offers = killed
    site.killed()
    site.offers = (SLOW,)
    assert site.difference().replaces == ["objects"]
    site.replaced()
    assert (site.record().offers, site.record().leaving) == ((SLOW,), ())
    assert site.difference().changed == {}


def test_a_recovered_stack_had_objects_before(tmp_path: Path) -> None:
    """Its state begins with nothing. What it made before nobody recorded, so its past does not begin now."""
    acme = made(tmp_path, "acme", uses=(OLD,))
    acme.up(VLAN)
    store = acme.ledger.store
    ((key, stored),) = store.items("history/")
    store.remove(key, stored.version)
    acme.ledger.recover(acme.name, acme.record().owner)
    assert (acme.record().confirmed, acme.record().recovered) == (True, True)
    acme.held = None
    acme.up(VLAN)
    assert not acme.record().recovered
    ((_, written),) = store.items("history/")
    assert b'"since":""' in written.body
