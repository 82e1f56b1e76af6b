"""Ironic's word on released whole hosts in `interlock settle`: a cleaning of after the release is a wipe."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from infra.stack.handing_over import Handover, demands
from infra.stack.ironic_evidence import IronicSaid, ironic_said
from interlock.model.evidence.reading import Sighting
from interlock.model.evidence.steps import SeenStep
from interlock.model.lock.record import Released
from interlock.model.site.inventory import EvidenceTerms
from interlock.provider.cleaned_hosts import CleanedHost, said_of
from interlock.vocabulary import nodes
from tests.builders.pod64 import bare_metal_pod64
from tests.policies.workspace import assumptions

NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)
SITE = bare_metal_pod64(assumptions=assumptions(), evidence=EvidenceTerms(max_age_h=24))
SERIAL = SITE.host["poplar-1"].serial
HOST = str(nodes.HeldHost(SERIAL))
#: A node that was cleaned at noon, as Ironic shows it (1.67).
NODE: dict[str, Any] = {
    "provision_state": "available", "provision_updated_at": "2026-11-23T12:00:00+00:00", "maintenance": False,
    "maintenance_reason": None, "last_error": None, "instance_uuid": None, "allocation_uuid": None, "lessee": None,
    "automated_clean": None, "extra": {"serial": SERIAL},
}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, CleanedHost("poplar-1", at=NOON)),
        ({"automated_clean": True}, CleanedHost("poplar-1", at=NOON)),
        ({"instance_uuid": "i"}, CleanedHost("poplar-1", held="Ironic says that poplar-1 has an instance")),
        ({"lessee": "p"}, CleanedHost("poplar-1", held="Ironic says that poplar-1 is lent to a lessee")),
        (
            {"provision_state": "clean wait"},
            CleanedHost("poplar-1", why_not="Ironic says that poplar-1 is clean wait: its cleaning has not ended"),
        ),
        (
            {"provision_state": "clean failed", "maintenance": True, "last_error": "disk"},
            CleanedHost("poplar-1", why_not="Ironic says that poplar-1 is clean failed, not available (disk)"),
        ),
        ({"maintenance": True}, CleanedHost("poplar-1", why_not="Ironic says that poplar-1 is in maintenance")),
        ({"last_error": "BMC"}, CleanedHost("poplar-1", why_not="Ironic says that poplar-1 had an error: BMC")),
        (
            {"automated_clean": False},
            CleanedHost(
                "poplar-1",
                why_not="Ironic says that poplar-1 is not cleaned by itself: its `automated_clean` is false",
            ),
        ),
        (
            {"provision_updated_at": None},
            CleanedHost("poplar-1", why_not="Ironic says that poplar-1 has no time at which its state changed"),
        ),
    ],
)
def test_what_a_node_says(changes: dict[str, Any], expected: CleanedHost) -> None:
    assert said_of("poplar-1", SERIAL, NODE | changes) == expected


@pytest.mark.parametrize(
    ("extra", "which"),
    [
        ({"serial": "OTHER"}, "device OTHER"),
        ({}, "no device that it names (`extra` has no `serial`)"),
        (None, "no device that it names (`extra` has no `serial`)"),
    ],
)
def test_a_node_of_another_device_says_nothing(extra: dict[str, str] | None, which: str) -> None:
    """It has the host's name: which of the two was cleaned, and which is lent, nobody knows."""
    for held in (None, "i"):
        found = said_of("poplar-1", SERIAL, NODE | {"extra": extra, "instance_uuid": held})
        why = f"Ironic says that poplar-1 is {which}, not {SERIAL}: which one was cleaned?"
        assert found == CleanedHost("poplar-1", why_not=why)


def handover(*released: Released, seen: tuple[Sighting, ...] = ()) -> Handover:
    return Handover(SITE, "acme", demands(SITE, released, (), (), None), seen, NOON + timedelta(hours=1))


def gave_up(claim: str, value: str, hours: float = 2, serial: str = "") -> Released:
    since = (NOON - timedelta(hours=hours)).isoformat()
    return Released(vpod="train", claim=claim, value=value, since=since, serial=serial)


def asked(found: Handover, **changes: Any) -> IronicSaid:
    def ask(hosts: Mapping[str, str]) -> list[CleanedHost]:
        return [said_of(name, serial, NODE | changes) for name, serial in hosts.items()]

    return ironic_said(found, ask)


def seen(step: SeenStep, minutes: float) -> Sighting:
    return Sighting(HOST, "poplar-1", "acme", step, NOON + timedelta(minutes=minutes), "Anne", "e.yaml:1:1")


def test_a_cleaning_of_after_release_unwiring_and_power_cycle_is_a_wipe() -> None:
    before = (seen(SeenStep.UNWIRED, -20), seen(SeenStep.POWER_CYCLED, -10))
    found = handover(gave_up("hosts", "poplar-1"), seen=before)
    assert [one.step for one in found.lacking()] == [SeenStep.WIPED]
    said = asked(found)
    assert (said.held, said.notes) == ((), ())
    full = handover(gave_up("hosts", "poplar-1"), seen=(*before, *said.seen))
    assert full.lacking() == ()
    (note,) = full.cleaned()
    assert (note.identity, note.by) == (HOST, "Ironic, asked by `interlock settle`")


@pytest.mark.parametrize(
    ("hours", "cycled", "why"),
    [(-0.5, -10, "is older than the last use"), (2, 5, "comes before it was power-cycled")],
)
def test_a_cleaning_of_before_is_none(hours: float, cycled: float, why: str) -> None:
    entry = gave_up("hosts", "poplar-1", hours)
    steps = (seen(SeenStep.UNWIRED, cycled), seen(SeenStep.POWER_CYCLED, cycled))
    lacking = handover(entry, seen=(*steps, *asked(handover(entry)).seen)).lacking()
    (wiped,) = [one for one in lacking if one.step is SeenStep.WIPED]
    assert why in wiped.because[0]


def test_what_is_lent_is_in_the_way_and_what_failed_is_told() -> None:
    found = handover(gave_up("hosts", "poplar-1"))
    assert asked(found, lessee="p").held == ("ironic: Ironic says that poplar-1 is lent to a lessee",)
    failed = asked(found, provision_state="clean failed")
    assert (failed.held, failed.seen) == ((), ())
    assert failed.notes == ("Ironic says that poplar-1 is clean failed, not available",)


def test_nobody_is_asked_about_machines_and_of_what_another_host_replaced() -> None:
    """A node is known by name: what stands there now is another one."""

    def unasked(names: Mapping[str, str]) -> list[CleanedHost]:
        raise AssertionError(list(names))

    for entry in (gave_up("machines", "ipum-03"), gave_up("hosts", "poplar-1", serial="R-OLD")):
        assert ironic_said(handover(entry), unasked) == IronicSaid()
