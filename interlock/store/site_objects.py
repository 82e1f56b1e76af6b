"""Objects of the operator's stack that tenants use: who uses what, and that nothing goes which somebody has.

A tenant's stack records what it uses before it changes anything, then looks at what the operator is taking away; the
operator's stack records what it takes away, then looks at what tenants use. Each writes before it looks, so of two at
once at least one sees the other. What is no longer used is dropped with the old claims, after the last deletion.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from interlock.resources import KINDS, Admitted, Effect, Resource
from interlock.vocabulary import Reference, StackName

from .changes import by
from .objects import Changed
from .records import SiteUse, StackRecord, Taking
from .refusals import Outdated, in_flight, require_lineage
from .shelves import RecordFolder

#: Kinds of which tenants' plans name objects, and those on which these stand.
OFFERED = frozenset(
    {"AddressScope", "Flavor", "Image", "Network", "Project", "Role", "ShareType", "Subnet", "SubnetPool", "VolumeType"}
)


def reference_to(item: Admitted) -> str:
    """How tenants' plans name an object of the operator's."""
    return Reference.site(item.kind, item.name)


def recreated_for(before: Admitted, after: Admitted) -> tuple[str, ...]:
    """The fields for which an object of the operator's cannot stay the one that it is; sorted."""
    kind = KINDS[before.kind]
    return tuple(
        field
        for field, value in sorted(after.spec.items())
        if before.spec.get(field) != value
        and kind.change_of(field, before.spec.get(field), value).effect in (Effect.REPLACE, Effect.FORBIDDEN)
    )


def leaving(before: Iterable[Admitted], after: Iterable[Admitted]) -> tuple[str, ...]:
    """References to what is offered before and is not, or not the same, after; sorted."""
    wanted = {reference_to(item): item for item in after}
    found = {reference_to(item): item for item in before}
    return tuple(
        sorted(name for name, item in found.items() if name not in wanted or recreated_for(item, wanted[name]))
    )


def needed(references: Iterable[str], offers: Iterable[Admitted]) -> frozenset[str]:
    """The references, with all that the objects stand on: a subnet of a network, its pool, the pool's scope."""
    offered = tuple(offers)
    found: set[str] = set()
    left = set(references)
    while left:
        found |= left
        left = {name for item in offered if reference_to(item) in left for name in _beneath(item, offered)} - found
    return frozenset(found)


def users(records: Iterable[StackRecord], offers: Iterable[Admitted]) -> dict[str, tuple[str, ...]]:
    """Reference -> the tenants' stacks that use it or what stands on it, sorted.

    A stack of which nobody recorded what it uses may use all that is offered.
    """
    offered = tuple(offers)
    everything = [reference_to(item) for item in offered]
    found: dict[str, set[str]] = {}
    for record in records:
        if record.tenant is None:
            continue
        named = everything if record.uses is None else needed((use.reference for use in record.uses), offered)
        for name in named:
            found.setdefault(name, set()).add(record.stack)
    return {name: tuple(sorted(stacks)) for name, stacks in sorted(found.items())}


def recorded(taking: Taking, before: StackRecord | None) -> dict[str, object]:
    """The fields of a stack's record once it takes this: old and new together, until the old claims are dropped."""
    uses: tuple[SiteUse, ...] | None = taking.uses
    if before is not None:
        old = before.uses
        uses = None if old is None else tuple(dict.fromkeys((*old, *taking.uses)))
    offers = {reference_to(item): item for item in (*(before.offers if before else ()), *taking.offers)}
    gone = leaving(before.offers if before else (), taking.offers)
    return {"uses": uses, "offers": tuple(offers.values()), "leaving": gone}


def require(taking: Taking, before: StackRecord | None, stacks: RecordFolder[StackRecord]) -> None:
    """Raises `Outdated` if the taking uses what the operator takes away, or takes away what somebody uses."""
    if taking.tenant is None:
        gone = leaving(before.offers if before else (), taking.offers)
        if gone:
            _require_unused(taking.stack, gone, tuple(stacks), before.offers if before else ())
        return
    if not taking.uses:
        return
    found = stacks.get(str(StackName.parse(taking.stack).of_site))
    if found is None:
        return
    wanted = needed((use.reference for use in taking.uses), found.record.offers)
    if going := sorted(wanted.intersection(found.record.leaving)):
        raise Outdated(
            f"stack {taking.stack} uses {', '.join(going)}, which {found.record.stack} takes away or recreates "
            f"({found.record.written_by})",
            f"wait until `pulumi up` of {found.record.stack} has ended well, then run again; if that changes nothing, "
            "run it with `--replace` for its claims",
        )


def require_unused(reference: str, stack: str, records: tuple[StackRecord, ...]) -> None:
    """The last look before the operator's stack deletes one object. Raises `Outdated` if a tenant's stack uses it."""
    offers = next((record.offers for record in records if record.stack == stack), ())
    _require_unused(stack, (reference,), records, offers)


def counted_more(taking: Taking, record: StackRecord) -> bool:
    """True if more counts as used, offered or leaving than the taking says: of a run that did not end well, which a
    state need not know of."""
    old = record.uses is None or not {*record.uses} <= {*taking.uses}
    wanted = {reference_to(item): item for item in taking.offers}
    return old or bool(record.leaving) or any(wanted.get(reference_to(item)) != item for item in record.offers)


def settle(stacks: RecordFolder[StackRecord], taking: Taking, lineage: str) -> None:
    """All that the plan does not have is gone: what it does not use is not used, what it does not offer not offered."""
    found = stacks.get(taking.stack)
    if found is None:
        return
    require_lineage(found.record, lineage)
    wanted = found.record.model_copy(update={"uses": taking.uses, "offers": taking.offers, "leaving": ()})
    if wanted != found.record:
        try:
            stacks.put(taking.stack, by(wanted), found.version)
        except Changed:
            raise in_flight(taking.stack, found.record) from None


def _require_unused(
    stack: str, gone: Iterable[str], records: tuple[StackRecord, ...], offers: Iterable[Admitted]
) -> None:
    offered = tuple(offers)
    known, having = {reference_to(item) for item in offered}, users(records, offered)
    # Before the operator's first `up` with this version nobody recorded what is offered: it may be anything.
    unrecorded = {record.stack for record in records if record.tenant is not None and record.uses is None}
    used = [(name, stacks) for name in gone if (stacks := sorted({*having.get(name, ()), *unrecorded}))]
    if used:
        words = "; ".join(f"{name} is used by {', '.join(stacks)}" for name, stacks in used)
        raise Outdated(
            f"stack {stack}: {words}",
            "run again: what is used is kept; `interlock rollout` prints the order"
            if known.issuperset(name for name, _ in used)
            else "put it back into the site file until `pulumi up` of these stacks has recorded what they use",
        )


def _beneath(item: Admitted, offered: Iterable[Admitted]) -> Iterator[str]:
    """What of the operator's plan an object stands on; a network also on its subnets: without, it gives nothing."""
    spec: Resource = KINDS[item.kind].model_validate(item.spec)
    kinds = spec.reference_fields()
    named = {(kind, reference) for field, reference in spec.references() for kind in kinds[field].kinds}
    for other in offered:
        is_subnet = other.kind == "Subnet" and item.kind == "Network" and other.spec["network"] == item.name
        if is_subnet or (other.kind, other.name) in named:
            yield reference_to(other)
