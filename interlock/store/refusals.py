"""Why the store refuses: each says what stands in the way, whose it is, and what to do next."""

from __future__ import annotations

from collections.abc import Mapping

from interlock.vocabulary import CloudFingerprint, InterlockError
from interlock.vocabulary.owners import OwnerId

from .records import ClaimRecord, NodeRecord, StackRecord, Taking


class Refused(InterlockError):
    """The store does not allow it. The hint says what to do next."""

    LEAD = "next"


class IdentityTaken(Refused):
    """Somebody else holds it, or is about to."""


class Outdated(Refused):
    """What was committed or proved is older than what is applied: pull, and run again."""


class Foreign(Refused):
    """The stack is not the caller's: another owner id, another state than the one that it was applied from, or
    another cloud."""


def in_flight(stack: str, record: StackRecord | None) -> IdentityTaken:
    """Two that change one stack's record met, and the other was first."""
    who = f": {record.written_by}" if record else ", and has removed its record"
    return IdentityTaken(f"another run of stack {stack} is in flight{who}", "wait until it has ended, then run again")


def require_owner(record: StackRecord, owner: OwnerId) -> None:
    """Raises `Foreign` if two owners use one stack name."""
    if record.owner != owner:
        raise Foreign(
            f"stack {record.stack} is another's: the store has it under owner id {record.owner}, the lock says {owner}",
            "commit and pull one lock for this stack: its owner id is minted once, and objects carry it",
        )


def require_stack(taking: Taking, record: StackRecord) -> None:
    """Raises `Foreign` or `Outdated` if the stack itself is further than the caller knows."""
    require_owner(record, taking.owner)
    if taking.serial < record.serial:
        raise Outdated(
            f"stack {taking.stack}: an older commit: lock serial {taking.serial}, applied {record.serial} "
            f"(by {record.written_by})",
            "`git pull`, then run again",
        )
    # What another run of this stack has claimed since is as unproved as what a stranger has.
    known = {*taking.known.get(taking.stack, ()), taking.entry.digest}
    if any(entry.digest not in known for entry in record.entries):
        raise _older_proof(taking, f"the stack itself ({record.written_by})")


def require_persons(record: StackRecord, persons: Mapping[str, str]) -> None:
    """Raises `Foreign` if a name that the stack gave a right is another user's now."""
    for name, present in sorted(persons.items()):
        recorded = record.persons.get(name, present)
        if recorded != present:
            what, hint = another_person(name, recorded, present)
            raise Foreign(f"stack {record.stack}: {what}", hint)


def another_person(name: str, recorded: str, present: str) -> tuple[str, str]:
    """What to say of a user who is not the one that got a right, and what to do."""
    what = f"user {name} is another than the one that got the right: its id was {recorded}, and is {present} now"
    hint = f"ask who that is; take {name} out of `members` and run `pulumi up`: to name {name} again means the new one"
    return what, hint


def require_state(record: StackRecord, lineage: str | None) -> None:
    """Raises `Foreign` if the stack is applied, and not from the state that holds this lineage."""
    if lineage:
        require_lineage(record, lineage)
    elif record.confirmed and not record.recovered:
        raise other_state(record, "this one has none of its claims")


def require_lineage(record: StackRecord, lineage: str) -> None:
    """Raises `Foreign` if the state in use holds another lineage than the store."""
    if record.lineage != lineage:
        raise other_state(record, "the lineage of this one is not the store's")


def require_ours(taking: Taking, claim: ClaimRecord) -> None:
    """Raises `IdentityTaken` if an exclusive identity has another owner."""
    if (claim.stack, claim.owner) == (taking.stack, taking.owner):
        return
    if claim.stack == taking.stack:
        raise IdentityTaken(
            f"{claim.identity} is held by another stack of the name {claim.stack}, with owner id {claim.owner}",
            "commit and pull one lock for this tenant: its owner id is minted once",
        )
    raise IdentityTaken(
        f"{claim.identity} is held by stack {claim.stack}",
        "`git pull` and `interlock lock` choose another; once that stack does not use it, `interlock settle` frees it",
    )


def require_known(taking: Taking, node: NodeRecord) -> None:
    """Raises `Outdated` if somebody has something at the node that the proof did not take into account."""
    for stack, digests in sorted(node.holders.items()):
        if stack != taking.stack and not set(digests) <= set(taking.known.get(stack, ())):
            raise _older_proof(taking, f"{stack} at {node.node}")


def _older_proof(taking: Taking, beside: str) -> Outdated:
    return Outdated(
        f"stack {taking.stack}: the proof was made beside an older state of {beside}",
        "`git pull`, then run again: the proof is recreated",
    )


def other_state(record: StackRecord, state: str) -> Foreign:
    """The state in use is not the one that the stack was applied from."""
    return Foreign(
        f"stack {record.stack} is applied from another state: {state} (last written by {record.written_by})",
        f"use the backend that holds that state; if it is lost: `interlock recover {record.tenant or 'site'}`",
    )


def other_cloud(store: str, recorded: CloudFingerprint, present: CloudFingerprint) -> Foreign:
    """The store holds claims on another cloud, or in another region of this one."""
    if recorded.identity_service != present.identity_service:
        hint = (
            "point the cloud's entry of clouds.yaml to the cloud of these claims, or name another store in `claims:`; "
            "if that cloud is gone for good, and its stacks with it, remove the store"
        )
    else:
        hint = (
            f"correct `region_name` in clouds.yaml; a site that is in region {present.region} states `region: "
            f"{present.region}` in site.yaml, and its claims then lie apart"
        )
    return Foreign(f"the claims in {store} are about cloud {recorded.words}; the one in use is {present.words}", hint)


def other_region(recorded: CloudFingerprint, present: CloudFingerprint) -> Foreign:
    """Nothing was ever applied in the region that the site states, and something in another."""
    return Foreign(
        f"nothing of this site was ever applied in cloud {present.words}; its claims are about cloud {recorded.words}",
        "correct `region:` in site.yaml; or run `pulumi up` first, if the site is to be in this region as well",
    )


def no_region(store: str) -> Foreign:
    """The cloud has several regions, and the claims are older than the record of theirs."""
    return Foreign(
        f"the claims in {store} do not say in which region they are, and the cloud has several",
        "run `pulumi up` of a stack of this site: it records the region",
    )


def unknown_stack(stack: str) -> Foreign:
    """The store has no record."""
    return Foreign(
        f"the claims store has no record of stack {stack}",
        "check `claims:` and `region:` in site.yaml; if that is the right store, `pulumi up` writes the claims again",
    )
