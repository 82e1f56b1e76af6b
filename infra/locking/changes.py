"""Changes made by a run of `interlock lock`: claims given, kept and released, and what is recreated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from infra.locking.making import Made
from infra.locking.places import WORDS, WORDS_OF_CLUSTERS
from infra.locking.ways_out import WayOut
from interlock.model.lock.record import ClusterAllocation
from interlock.planning.claims import PartAllocation, claimed_values
from interlock.planning.cluster_errors import ITS_NODE, recreated_of_cluster
from interlock.planning.draft import RECREATES_SERVERS
from interlock.planning.former_keys import kept_open
from interlock.planning.head_hosts import RECREATES_HEADS
from interlock.planning.out_of_service import HeldOutOfService
from interlock.planning.resizes import Resize

#: Names of data that the warning lists before it only counts.
SHOWN = 4

#: Of a machine with another serial: the rest of its label was not copied.
KEPT_ADDRESS = (
    "has another serial, and its RNIC the MAC address of the unit before: write those of the new one "
    "(`macs: {bmc, gw, rnic}`), for nothing answers the new unit by the old ones"
)
#: Claim -> what other hosts cost a vPOD. What other machines do, a resize says.
_RECREATED = {"hosts": RECREATES_SERVERS, "controller_host": "its controller"}

Claims = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class PartChange:
    """One vPOD or cluster: its claims as (field, value), and what on the cloud is recreated for it."""

    #: `vpod` or `cluster`.
    kind: str
    name: str
    given: Claims
    kept: Claims
    given_up: Claims
    recreated: tuple[str, ...]
    #: What becomes of a vPOD that was there before; None: nothing.
    resize: Resize | None = None

    def document(self) -> dict[str, Any]:
        """The JSON form."""
        parts = {"given": self.given, "kept": self.kept, "given_up": self.given_up}
        claims = {name: [{"claim": claim, "value": value} for claim, value in part] for name, part in parts.items()}
        resize = {"resize": self.resize and self.resize.model_dump(mode="json")} if self.kind == "vpod" else {}
        return {self.kind: self.name, **claims, "recreated": list(self.recreated), **resize}


def vpod_changes(made: Made) -> tuple[PartChange, ...]:
    """Every vPOD of the old or the new lock, by name."""
    found = _changes("vpod", made.old.allocation.vpods if made.old else {}, made.new.allocation.vpods)
    resizes = {item.name: item for item in made.resizes}
    return tuple(_resized(part, resizes.get(part.name)) for part in found)


def _resized(part: PartChange, resize: Resize | None) -> PartChange:
    recreated = tuple(item.name for item in resize.replaced) if resize else ()
    return replace(part, recreated=recreated, resize=resize)


def cluster_changes(made: Made) -> tuple[PartChange, ...]:
    """Every cluster of the old or the new lock, by name."""
    return _changes("cluster", made.old.allocation.clusters if made.old else {}, made.new.allocation.clusters)


def _changes(
    kind: str, before: Mapping[str, PartAllocation], after: Mapping[str, PartAllocation]
) -> tuple[PartChange, ...]:
    return tuple(_part(kind, name, before.get(name), after.get(name)) for name in sorted({*before, *after}))


def _part(kind: str, name: str, before: PartAllocation | None, after: PartAllocation | None) -> PartChange:
    old, new = (Counter(claimed_values(part)) if part else Counter[tuple[str, str]]() for part in (before, after))
    recreated: Iterable[str] = ()
    if isinstance(before, ClusterAllocation) and isinstance(after, ClusterAllocation):
        recreated = recreated_of_cluster(before, after)
    return PartChange(
        kind=kind,
        name=name,
        given=tuple((new - old).elements()),
        kept=tuple((new & old).elements()),
        given_up=tuple((old - new).elements()),
        recreated=tuple(recreated),
    )


def document(made: Made) -> dict[str, Any]:
    """The JSON form of one lock."""
    return {
        "id": made.name,
        "changed": made.is_changed,
        "serial": made.new.serial,
        "released": len(made.new.released),
        "kept_data": list(made.kept_data),
        "out_of_service": [asdict(item) for item in made.out_of_service],
        "paid": [item.document() for item in made.paid],
        "ways_out": [_way_out(item) for item in made.ways_out],
        "returns": [item.document() for item in made.returns],
        "replaced": [asdict(item) for item in made.replacements],
        "kept_addresses": list(made.kept_addresses),
        "leaving": [asdict(item) for item in made.leaving],
        "ports": [asdict(item) for item in made.ports],
        "former_keys": [item.model_dump(mode="json") for item in made.new.former_keys],
        "vpods": [change.document() for change in vpod_changes(made)],
        "clusters": [change.document() | _span(made, change.name) for change in cluster_changes(made)],
    }


def lines(made: Made) -> Iterator[str]:
    """One line for the lock; for each vPOD whose claims changed, what it is given, keeps and gives up.

    Data with `on_delete: keep` are warned of: whoever wants to destroy the stack learns it before trying. So is what
    failed or is in maintenance and stays where it is, and a device that stands where another stood, changed or not.
    """
    yield f"{made.name}: {'written' if made.is_changed else 'unchanged'}, serial {made.new.serial}"
    if made.kept_data:
        names = ", ".join(made.kept_data[:SHOWN])
        more = f" and {len(made.kept_data) - SHOWN} more" if len(made.kept_data) > SHOWN else ""
        yield f"  warning: `pulumi destroy` refuses to take {names}{more}, as long as `on_delete: keep` is applied"
    yield from (f"  {item.vpod} is {item}" for item in made.paid)
    yield from (f"  {'warning: ' if item.why_not else ''}{item.name} {item}" for item in made.returns)
    yield from (_kept_out_of_service(item, made) for item in made.out_of_service)
    for vpod in dict.fromkeys(item.vpod for item in made.ways_out):
        broken = _broken(made, vpod)
        yield f"  warning: {vpod} {broken}, and its proof fails (TOP-28); the ways out, and what each does:"
        yield from (f"    {line}" for item in made.ways_out if item.vpod == vpod for line in item.lines())
    yield from (f"  warning: {item.vpod}: {item}" for item in made.replacements)
    yield from (f"  warning: {name} {KEPT_ADDRESS}" for name in made.kept_addresses)
    yield from (f"  {item.cluster}: {item}" for item in made.ports)
    if not made.is_changed:
        return
    before = made.old.former_keys if made.old else ()
    yield from (f"  warning: {kept_open(made.name, key)}" for key in made.new.former_keys if key not in before)
    spans = {span.cluster: span for span in made.spans}
    for change in (*vpod_changes(made), *cluster_changes(made)):
        name, words = change.name, WORDS_OF_CLUSTERS if change.kind == "cluster" else WORDS
        if change.given:
            yield f"  {name} is given {in_words(change.given, words)}"
        if change.given_up:
            yield f"  {name} gives up {in_words(change.given_up, words)}; nobody gets them before they are settled"
        if change.kept and (change.given or change.given_up):
            yield f"  {name} keeps {in_words(change.kept, words)}"
        if name in spans and (change.given or change.given_up):
            yield f"  {name} is {spans[name]}"
        if change.resize is not None:
            yield f"  {name} {change.resize.head()}"
            yield from (f"  warning: {name}: {line}" for line in change.resize.lines())
        else:
            yield from (f"  warning: {name}: recreated: {what}" for what in change.recreated)
        yield from (f"  warning: {name}: {item}" for item in made.leaving if item.cluster == name)


def _span(made: Made, name: str) -> dict[str, Any]:
    """How far apart the nodes of a cluster are; null for one that is gone."""
    return {"span": next((asdict(span) for span in made.spans if span.cluster == name), None)}


def _way_out(item: WayOut) -> dict[str, Any]:
    return {**vars(item), "resize": item.resize and item.resize.model_dump(mode="json")}


def _broken(made: Made, vpod: str) -> str:
    """What failed machines make of a vPOD, as TOP-28 says it."""
    machines = made.new.allocation.vpods[vpod].machines
    of_it = (item for item in made.out_of_service if (item.vpod, item.claim) == (vpod, "machines"))
    failed = {item.device for item in of_it if item.state == "failed"}
    return "is in pieces" if {*machines} - failed else f"has no machine left: all {len(machines)} have failed"


def _kept_out_of_service(item: HeldOutOfService, made: Made) -> str:
    is_node = item.vpod in made.new.allocation.clusters
    if is_node and item.claim == "hosts":
        return (
            f"  warning: {item.vpod} keeps {item.kind} {item.device}, which {item.why}: mend it and take its `state` "
            f"out of the site file, or name it under `clusters.{item.vpod}.without` and lock again, which gives the "
            f"cluster another and recreates {ITS_NODE}"
        )
    part, recreated = ("cluster", RECREATES_HEADS) if is_node else ("vPOD", _RECREATED.get(item.claim))
    costs = f"which recreates {recreated}" if recreated else "which says what that recreates"
    return (
        f"  warning: {item.vpod} keeps {item.kind} {item.device}, which {item.why}: mend it and take its `state` out "
        f"of the site file, or give the {part} others by `pins.{item.vpod}.{item.claim}` and lock again, {costs}"
    )


def in_words(claims: Sequence[tuple[str, str]], words: Mapping[str, str] = WORDS) -> str:
    """Claims by kind: `IPU-Machine ipum-01, ipum-02; ipu-data VLAN fabric:1000`."""
    kinds: dict[str, list[str]] = {}
    for claim, value in claims:
        kinds.setdefault(claim, []).append(value)
    return "; ".join(f"{words[claim]} {', '.join(values)}" for claim, values in kinds.items())
