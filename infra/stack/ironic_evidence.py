"""What Ironic saw of released whole hosts: that they were cleaned, as evidence of `wiped`, and what is in the way.

A cleaning that ended after the release counts as seen by Ironic, at the time of its end. That the host was unwired
before it, and started from the operator's ramdisk, are steps of their own. Ironic is asked by the host's name, and
believed where the node states the serial of the host.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from interlock.model.evidence.reading import Sighting
from interlock.model.evidence.steps import SeenStep
from interlock.model.site.inventory import Site
from interlock.provider.cleaned_hosts import CleanedHost
from interlock.vocabulary import nodes

from .handing_over import Handover

#: Name -> serial of hosts; what Ironic says of those that it has as nodes.
AskIronic = Callable[[Mapping[str, str]], Iterable[CleanedHost]]

CLEANER = "Ironic, asked by `interlock settle`"


@dataclass(frozen=True)
class IronicSaid:
    """What follows from it."""

    #: Sentences about what still has a host.
    held: tuple[str, ...] = ()
    #: Why it counts as no wipe.
    notes: tuple[str, ...] = ()
    seen: tuple[Sighting, ...] = ()


def ironic_said(handover: Handover, ask: AskIronic) -> IronicSaid:
    """Of the whole hosts that are handed over; nobody is asked where there are none."""
    identities = dict(_hosts(handover.site, handover))
    serials = {name: handover.site.host[name].serial for name in identities}
    found = tuple(ask(serials)) if serials else ()
    return IronicSaid(
        tuple(f"ironic: {one.held}" for one in found if one.held),
        tuple(one.why_not for one in found if one.why_not),
        tuple(
            Sighting(
                identities[one.host],
                one.host,
                handover.tenant,
                SeenStep.WIPED,
                one.at,
                CLEANER,
                "Ironic",
                asked_now=True,
            )
            for one in found
            if one.at is not None
        ),
    )


def _hosts(site: Site, handover: Handover) -> Iterator[tuple[str, str]]:
    """(name, identity) of each that stands on the site."""
    for demand in handover.demands:
        match nodes.parse(demand.identity):
            case nodes.HeldHost(serial) if serial in site.host_of:
                yield site.host_of[serial], demand.identity
