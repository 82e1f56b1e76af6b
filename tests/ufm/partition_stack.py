"""One partition as an `up` makes it: the provider's lifecycle in this process, its state, and runs that are killed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from interlock.provider.admitted import AdmissionGate
from interlock.provider.audit.asked import Asked
from interlock.provider.audit.partitions import partitions
from interlock.provider.audit.standing import Standing
from interlock.provider.clouds import Cloud, Login
from interlock.provider.fabrics import Fabrics
from interlock.provider.lifecycle import Lifecycle, Partial
from interlock.provider.pools import ThreadPools
from interlock.provider.preflight.faults import Fault
from interlock.provider.preflight.partitions import fabric_managers, free_partitions
from interlock.provider.preview_token import PreviewTokens
from interlock.provider.state import Declared
from interlock.provider.turns import ClaimsPlace, StackHolding
from interlock.resources import Admission, Admitted, PartitionKey, PartitionMember
from interlock.retry import RetryPolicy
from interlock.ufm.loading import FabricAccess, FabricsRead
from interlock.vocabulary import CloudFingerprint
from interlock.vocabulary.owners import OwnerId
from tests.store.world import entry
from tests.ufm.conftest import AT_ONCE, GUIDS
from tests.ufm.double import PREFIX, Double, access

NAME, STACK, OWNER = "acme-key", "lyon-acme", OwnerId("0ac3e0")
KEY = 0x0005
IDENT = "ib-1/0x0005"


def partition(full: tuple[int, ...], limited: tuple[int, ...] = (), **fields: Any) -> PartitionKey:
    """The planned partition, its members by their numbers among `GUIDS`."""
    members = [PartitionMember(guid=GUIDS[number], membership="full") for number in full]
    members += [PartitionMember(guid=GUIDS[number], membership="limited") for number in limited]
    return PartitionKey.model_validate({"infiniband": "ib-1", "key": KEY, "members": tuple(members)} | fields)


def table(spec: PartitionKey) -> dict[str, str]:
    """GUID -> membership, as UFM is to have it."""
    return {member.guid: member.membership for member in spec.members}


def identities(*numbers: int, prefix: str = PREFIX) -> frozenset[str]:
    """What a stack claims that has the key, and these ports in it."""
    return frozenset({f"K:{prefix}:0x0005", *(f"guid:{GUIDS[number]}" for number in numbers)})


def paper_cloud(way: FabricAccess, folder: Path, retry_policy: RetryPolicy = AT_ONCE) -> Cloud:
    """A cloud that nobody logs in to, with a UFM that is there."""
    cloud = Cloud("paper", retry_policy)
    cloud.__dict__["login"] = Login(CloudFingerprint("keystone", ""), "u", "p", ())
    cloud.fabrics = Fabrics(retry_policy, lambda: FabricsRead(folder / "fabrics.yaml", {way.infiniband: way}))
    return cloud


@dataclass
class PartitionStack:
    """A stack of one partition. Each operation is a provider process of its own."""

    double: Double
    folder: Path
    #: Id and outputs; None: the state does not hold it.
    state: tuple[str, dict[str, Any]] | None = None
    inputs: dict[str, Any] = field(default_factory=dict)
    #: Identities of earlier footprints, as the claims store has them.
    held: frozenset[str] = frozenset()
    #: Those of the present one, of other clusters too.
    has: frozenset[str] = frozenset()
    #: Where it claims, with a proof; and all that it holds there by its state.
    place: ClaimsPlace | None = None
    holds: StackHolding = field(default_factory=StackHolding)
    retry_policy: RetryPolicy = AT_ONCE
    #: Name of the resource in its plan.
    name: str = NAME

    def way(self) -> FabricAccess:
        """How the UFM is asked."""
        return access(self.double, self.folder)

    def audited(self, spec: PartitionKey) -> Standing:
        """How an audit finds it."""
        planned = Asked(STACK, Admitted(name=self.name, kind=spec.KIND, spec=spec.canonical()), "")
        ((_, found),) = partitions(self._cloud(), [planned])
        return found

    def up(self, spec: PartitionKey) -> None:
        """Create or update. Raises `Failure`; what a failed run hands over is in the state, as the engine keeps it."""
        life, item = self._life(spec), _declared(spec, self.name)
        try:
            if self.state is None:
                self.state = asyncio.run(life.create(item, preview=False))
            else:
                ident, olds = self.state
                self.state = (ident, asyncio.run(life.update(item, ident, olds, preview=False)))
        except Partial as partial:
            self.state = (partial.ident, partial.values)
            raise partial.failure from partial
        self.inputs = item.inputs()

    def refresh(self) -> dict[str, Any] | None:
        """The specification as it is seen; the state then has it. None: it is gone, and so from the state."""
        assert self.state is not None
        ident, olds = self.state
        life = self._life(None)
        found = asyncio.run(life.read(_recorded(olds, self.name), ident, olds))
        if found is None:
            self.state = None
            return None
        self.state = (ident, found[1])
        return found[0]

    def destroy(self) -> None:
        """As `pulumi destroy`: no program runs, so there is no proof."""
        assert self.state is not None
        ident, olds = self.state
        asyncio.run(self._life(None).delete(_recorded(olds, self.name), ident, olds, STACK))
        self.state = None

    def killed(self, spec: PartitionKey | None, at: int, cut: Any) -> bool:
        """A run (None: a destroy) that dies at a changing request; nothing of it gets into the state.

        False if it has not that many.
        """
        before, self.double.changes = self.state, 0
        self.double.cut_at, self.double.cut = at, cut
        try:
            self.destroy() if spec is None else self.up(spec)
        except Exception:
            if not self.double.is_dead:
                raise
        reached = self.double.is_dead
        self.double.is_dead, self.double.cut_at = False, 0
        if reached:
            self.state = before
        return reached

    def preflight(self, spec: PartitionKey, claims: frozenset[str] | None = None) -> list[Fault]:
        """What stands in the way of creating it. `claims`: identities that its footprint claims."""
        cloud = self._cloud()
        claimed = None if claims is None else {"entry": entry(claims).model_dump(mode="json")}
        admission = _admission(spec, self.folder, self.name).model_copy(update={"claims": claimed})
        return [*fabric_managers(cloud, admission), *free_partitions(cloud, admission)]

    def _cloud(self) -> Cloud:
        cloud = paper_cloud(self.way(), self.folder, self.retry_policy)
        cloud.held_before = lambda: self.held
        cloud.held_no_more = lambda: self.held - self.has
        cloud.held_by_state = lambda place: self.holds if place == self.place else StackHolding()
        return cloud

    def _life(self, spec: PartitionKey | None) -> Lifecycle:
        gate = AdmissionGate()
        if spec is not None:
            gate.admit(_admission(spec, self.folder, self.name), PreviewTokens(self.folder), preview=True)
        cloud = self._cloud()
        if self.place is not None:
            cloud.claims_place = lambda: self.place if gate.has_proof else None
        return Lifecycle(cloud, gate, ThreadPools())


def _admission(spec: PartitionKey, folder: Path, name: str) -> Admission:
    return Admission(
        stack=STACK, cloud="paper", owner=OWNER, site_owner=OwnerId("5172e0"), plan_hash="plan", proof_hash="proof",
        site_folder=str(folder), resources=(Admitted(name=name, kind=spec.KIND, spec=spec.canonical()),),
    )  # fmt: skip


def _declared(spec: PartitionKey, name: str) -> Declared:
    return Declared(spec.KIND, name, spec, OWNER, {})


def _recorded(olds: Mapping[str, Any], name: str) -> Declared:
    fields = {name: olds[name] for name in PartitionKey.model_fields}
    return _declared(PartitionKey.model_validate(fields), name)
