"""Stacks for tests of the ledger, and what must hold of a store whatever happened."""

from __future__ import annotations

from collections.abc import Iterable

from interlock.model.lock.record import Footprint
from interlock.store.ledger import Ledger
from interlock.store.objects import ObjectStore, Stored
from interlock.store.records import ClaimRecord, FootprintRecord, NodeRecord, StackRecord, Taking
from interlock.vocabulary.owners import OwnerId


def there(store: ObjectStore, key: str) -> Stored:
    """What is stored under this key; it must be there."""
    found = store.get(key)
    assert found is not None, key
    return found


def entry(identities: Iterable[str], nodes: Iterable[str] = (), mark: str = "") -> FootprintRecord:
    """An entry with these identities and nodes; `mark` tells apart what is otherwise alike."""
    names = tuple(sorted(nodes))
    footprint = Footprint(classes=(names,), labels={}, exclusive=tuple(sorted(identities)), grants=(mark,))
    return FootprintRecord(footprint=footprint, nodes=names)


def taking(stack: str, wanted: FootprintRecord, ledger: Ledger | None = None, **changes: object) -> Taking:
    """What a stack wants whose proof knew everything in the ledger at this moment."""
    stacks = ledger.stacks() if ledger else ()
    plain = Taking(
        stack=stack, tenant=stack, owner=OwnerId(f"owner-{stack}"), serial=1, entry=wanted, met=wanted.nodes,
        known={record.stack: tuple(item.digest for item in record.entries) for record in stacks},
    )  # fmt: skip
    return plain.model_copy(update=changes)


def content(store: ObjectStore) -> dict[str, object]:
    """Everything there is, without what differs from run to run: lineages, times and who wrote."""
    found: dict[str, object] = {}
    for key, stored in store.items("stacks/"):
        record = StackRecord.model_validate_json(stored.body)
        found[key] = record.model_copy(update={"lineage": "", "changed": "", "written_by": ""})
    for key, stored in (*store.items("claims/"), *store.items("nodes/")):
        found[key] = stored.body
    return found


def claims(store: ObjectStore) -> dict[str, ClaimRecord]:
    """Identity -> its claim."""
    read = (ClaimRecord.model_validate_json(stored.body) for _, stored in store.items("claims/"))
    return {claim.identity: claim for claim in read}


def nodes(store: ObjectStore) -> dict[str, NodeRecord]:
    """Name -> the node's record."""
    read = (NodeRecord.model_validate_json(stored.body) for _, stored in store.items("nodes/"))
    return {node.node: node for node in read}


def require_marked(store: ObjectStore, stack: str, applied: FootprintRecord) -> None:
    """An entry that may be applied is in the stack's record, its claims and its nodes."""
    record = Ledger(store).stack(stack)
    assert record is not None
    assert applied in record.entries
    held = claims(store)
    for identity in applied.held:
        assert (held[identity].stack, held[identity].owner) == (stack, record.owner)
    marked = nodes(store)
    for node in applied.nodes:
        assert applied.digest in marked[node].holders[stack]


def require_listed(store: ObjectStore) -> None:
    """Nothing is held or marked that the record of its stack does not list: whatever is left can be found."""
    records = {record.stack: record for record in Ledger(store).stacks()}
    for identity, claim in claims(store).items():
        assert any(identity in item.held for item in records[claim.stack].entries), f"{identity} is nobody's"
    for node in nodes(store).values():
        assert node.holders, node.node
        for stack, digests in node.holders.items():
            assert set(digests) <= {item.digest for item in records[stack].entries}, node.node
