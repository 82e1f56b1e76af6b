"""What would stop an `up` of a proved stack, looked at by commands that change nothing: the claims store, the cloud."""

from __future__ import annotations

from collections.abc import Iterator

from infra.program.break_glass import ChangedByHand, require_closed
from infra.program.foreign_partitions import of_foreign_partitions
from infra.program.gate import Gate
from infra.program.recorded import of_the_claims
from interlock.provider.clouds import Cloud
from interlock.provider.preflight import Fault, NotLookedAt, preflight
from interlock.store.ledger import Ledger
from interlock.store.objects import StoreFailed
from interlock.store.places import open_store
from interlock.store.refusals import Refused


def obstacles(gate: Gate, tenant: str | None, cloud: Cloud) -> Iterator[Fault]:
    """As a preview finds them. `NotLookedAt` where a service did not answer. The gate has looked at the store.

    The cloud in use is also held against the cloud, region and users that the claims record. What is to be created is
    not known without a state, so names and segments in use are not looked at. Raises `NotProved`, and `StoreFailed` if
    the store cannot be read.
    """
    proof, site = gate.prove(tenant), gate.workspace.site
    yield from by_hand(gate, tenant)
    taken = gate.taking(proof)
    if taken is not None:
        try:
            Ledger(open_store(site.claims, site.name, site.region)).check(taken)
        except Refused as error:
            yield Fault("claims", error.what, error.hint)
    admission = gate.admission(proof)
    found = list(preflight(admission, cloud, frozenset()))
    if not any(map(has_no_cloud, found)):
        found += [*of_the_claims(site, admission, cloud), *of_foreign_partitions(gate, admission, cloud)]
    # Several looks may meet the same fault, such as a service that is not there.
    yield from {str(fault): fault for fault in found}.values()


def by_hand(gate: Gate, tenant: str | None) -> list[Fault]:
    """That somebody changes objects of the stack by hand, which an `up` waits for."""
    try:
        require_closed(gate, tenant)
    except ChangedByHand as error:
        return [Fault("break-glass", error.what, error.hint)]
    except StoreFailed as error:
        return [Fault("claims", error.what, error.hint)]
    return []


def has_no_cloud(fault: Fault) -> bool:
    """True if the cloud as a whole does not answer: another stack need not be asked about."""
    return isinstance(fault, NotLookedAt) and fault.code == "cloud"
