"""What `interlock settle` makes of what switches say of released ports and VLANs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from infra.stack.handing_over import Demand, Handover, entry_of
from infra.stack.read_back import ReadBack, read_back
from interlock.model.evidence.steps import SeenStep, steps_of
from interlock.model.site.inventory import EvidenceTerms, Site, Switch, SwitchPortConfig
from interlock.switches.errors import SwitchUnread
from interlock.switches.observed import ObservedPort, ObservedSwitch
from interlock.vocabulary import nodes
from tests.builders.pod64 import pod64

NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)
NAMES = ("Ethernet{}/1", "Ethernet{}")
QUIET = ObservedPort("Ethernet1/1", admin_up=True, mode="access", access_vlan=4000)


def site() -> Site:
    """Its ToR is known by name, and rests ports in VLAN 4000."""
    plain = pod64(evidence=EvidenceTerms(max_age_h=24))
    switches = tuple(
        item.model_copy(update={"port_names": NAMES, "quarantine_vlan": 4000}) if item.name == "tor-1" else item
        for item in plain.switches
    )
    return plain.model_copy(update={"switches": switches})


SITE = site()
SERIAL = SITE.switch["tor-1"].serial
PORT = str(nodes.HeldSwitchPort(SERIAL, 1))
VLAN = str(nodes.HeldSegment(str(nodes.VlanNode(str(nodes.SwitchBridge(SERIAL)), 1000))))
MACHINE = str(nodes.HeldMachine(SITE.machines[0].serial))


def demand(identity: str) -> Demand:
    return Demand(identity, entry_of(SITE, identity), NOON - timedelta(hours=1), steps_of(identity))


def said_of(identity: str, *ports: ObservedPort, known: Collection[str] = ("tor-1",), where: Site = SITE) -> ReadBack:
    def ask(names: Collection[str]) -> Mapping[str, ObservedSwitch | SwitchUnread]:
        assert list(names) == ["tor-1"]
        return {"tor-1": ObservedSwitch("tor-1", SERIAL, None, None, {port.name: port for port in ports}, at=NOON)}

    return read_back(where, [demand(identity)], "acme", ask, known)


@pytest.mark.parametrize(
    ("identity", "ports", "still", "unwired"),
    [
        (PORT, (QUIET,), "", True),
        (PORT, (replace(QUIET, admin_up=False, access_vlan=1000),), "", True),
        (PORT, (replace(QUIET, access_vlan=1000),), "Ethernet1/1 is up, access, VLAN 1000", False),
        (PORT, (replace(QUIET, mode="trunk", native_vlan=0, allowed=((1, 4094),)),), "is up, trunk, VLAN none", False),
        # What is not said is neither in the way nor seen.
        (PORT, (), "", False),
        (PORT, (replace(QUIET, access_vlan=None),), "", False),
        (PORT, (replace(QUIET, admin_up=None),), "", False),
        (VLAN, (QUIET,), "", True),
        (VLAN, (QUIET, replace(QUIET, name="Ethernet2/1", access_vlan=1000)), "Ethernet2/1 is in VLAN 1000", False),
        (VLAN, (replace(QUIET, mode="trunk", native_vlan=1000, allowed=((1, 4094),)),), "is in VLAN 1000", False),
        # A trunk of a hypervisor carries the whole pool with tags, whoever has the VLAN.
        (VLAN, (QUIET, ObservedPort("Ethernet17/1", True, None, "trunk", None, 0, ((1000, 2999),))), "", True),
        (VLAN, (QUIET, replace(QUIET, name="Ethernet2/1", access_vlan=None)), "", False),
        (VLAN, (replace(QUIET, admin_up=False, access_vlan=1000), replace(QUIET, name="Ethernet2/1")), "", True),
        (VLAN, (), "", False),
    ],
)
def test_what_a_switch_says(identity: str, ports: tuple[ObservedPort, ...], still: str, unwired: bool) -> None:
    found = said_of(identity, *ports)
    assert [still in sentence for sentence in found.still_set] == ([True] if still else [])
    assert [(one.identity, one.step, one.at) for one in found.seen] == (
        [(identity, SeenStep.UNWIRED, NOON)] if unwired else []
    )


def filled(*listed: tuple[int, int]) -> Site:
    """Neutron fills port 25 of the ToR, whose list states these."""
    tor = SITE.switch["tor-1"]
    trunk = SwitchPortConfig(port=25, mode="trunk", tagged=listed, filled_by="neutron")
    ports = (*(port for port in tor.ports if port.port != 25), trunk)
    changed = Switch(**{**dict(tor), "ports": ports})
    fields = {name: getattr(SITE, name) for name in Site.model_fields}
    return Site(**{**fields, "switches": (changed, SITE.switch["mgmt-1"])})


TRUNK = ObservedPort("Ethernet25/1", True, None, "trunk", None, 0, ((20, 20),))


@pytest.mark.parametrize(
    ("listed", "port", "still", "unwired"),
    [
        ((), TRUNK, "", True),
        ((), replace(TRUNK, allowed=((20, 20), (900, 1100))), "Ethernet25/1 still carries VLAN 1000", False),
        # What the site file lists there itself is nobody's left-over.
        (((1000, 1099),), replace(TRUNK, allowed=((1000, 1099),)), "", True),
        ((), replace(TRUNK, admin_up=False, allowed=((1000, 1000),)), "", True),
        ((), replace(TRUNK, mode="access", access_vlan=4000, allowed=((1, 4094),)), "", True),
        # What is not said is no sighting.
        ((), replace(TRUNK, allowed=None), "", False),
        ((), replace(TRUNK, mode=None, access_vlan=None), "", False),
        ((), replace(TRUNK, name="Ethernet26/1"), "", False),
    ],
)
def test_a_released_vlan_on_a_trunk_that_neutron_fills(
    listed: tuple[tuple[int, int], ...], port: ObservedPort, still: str, unwired: bool
) -> None:
    found = said_of(VLAN, QUIET, port, where=filled(*listed))
    assert [still in sentence for sentence in found.still_set] == ([True] if still else [])
    assert bool(found.seen) == unwired


def test_a_reading_ends_the_claim_on_a_port_and_not_on_a_machine() -> None:
    seen = said_of(PORT, QUIET).seen
    handover = Handover(SITE, "acme", (demand(PORT),), seen, NOON + timedelta(minutes=1))
    assert handover.lacking() == ()
    assert Handover(SITE, "acme", (demand(PORT),), (), NOON).lacking() != ()
    later = replace(demand(PORT), since=NOON + timedelta(seconds=30))
    assert Handover(SITE, "acme", (later,), seen, NOON + timedelta(minutes=1)).lacking() != ()


def test_a_switch_that_cannot_be_asked_or_read_says_nothing() -> None:
    assert said_of(PORT, known=()) == ReadBack()
    unread = read_back(
        SITE, [demand(PORT)], "acme", lambda names: {name: SwitchUnread(name, "down", "") for name in names}, ("tor-1",)
    )
    assert unread == ReadBack()
