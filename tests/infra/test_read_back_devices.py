"""What switches say of released machines and whole hosts: unwired if all their ports rest, and kept as evidence.

machine ── rnic ── tor-1      all at rest: unwired, at the time of the first reading ── evidence/acme-read.yaml
        └─ BMC and gateway ── mgmt-1                    power cycle, wipe, self-test: of later
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
import yaml

from infra.stack.handing_over import Demand, Handover, entry_of
from infra.stack.read_back import ReadBack, read_back
from infra.stack.recorded_evidence import to_record
from infra.switches import survey
from interlock.model.evidence.reading import Sighting
from interlock.model.evidence.steps import SeenStep, steps_of
from interlock.model.site.completeness import Completeness
from interlock.model.site.inventory import EvidenceTerms, Site
from interlock.model.site.ironic import Ironic, ServiceNetworks
from interlock.switches.errors import SwitchUnread
from interlock.switches.observed import ObservedPort, ObservedSwitch
from interlock.vocabulary import nodes
from tests.builders.pod64 import bare_metal_pod64, pod64
from tests.infra.conftest import Interlock, Lyon
from tests.infra.evidence import now, of_machine, write
from tests.infra.test_settle_evidence import smaller  # noqa: F401
from tests.policies.workspace import assumptions

NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)
TOR, MANAGEMENT = "Ethernet{}", "Et{}"
D, U, C, W, T = tuple(SeenStep)[:5]


def site_of(base: Callable[..., Site], names: Collection[str]) -> Site:
    """Switches that are known by the names of their ports, and devices of which all cables are listed."""
    plain = base(
        evidence=EvidenceTerms(max_age_h=24),
        assumptions=assumptions(),
        complete=(Completeness(table="attachments", devices=tuple(names), seen="2026-11-20", by="Anne"),),
    )
    switches = tuple(
        item.model_copy(
            update={"port_names": (TOR if item.name == "tor-1" else MANAGEMENT,) * 2, "quarantine_vlan": 4000}
        )
        for item in plain.switches
    )
    return plain.model_copy(update={"switches": switches})


SITE = site_of(pod64, ["ipum-03"])
METAL = site_of(bare_metal_pod64, ["poplar-1"])
SERVICE = ServiceNetworks(physical_network="mgmt1g", vlans=((3201, 3204),), subnets=("10.90.0.0/24", 26))
CLEANED = METAL.model_copy(update={"ironic": Ironic(conductor_group="lent", networks=(SERVICE,))})
MACHINE = str(nodes.HeldMachine(SITE.machine["ipum-03"].serial))
HOST = str(nodes.HeldHost(METAL.host["poplar-1"].serial))


def demand(site: Site, identity: str) -> Demand:
    return Demand(identity, entry_of(site, identity), NOON - timedelta(hours=5), steps_of(identity))


def port(name: str, vlan: int = 4000, **more: object) -> ObservedPort:
    return replace(ObservedPort(name, admin_up=True, mode="access", access_vlan=vlan), **more)  # type: ignore[arg-type]


def asked(
    site: Site, identity: str, said: Mapping[str, Collection[ObservedPort]], services: Mapping[str, str] | None = None
) -> ReadBack:
    """`said`: switch -> its ports; mgmt-1 was read a minute before the others."""

    def ask(names: Collection[str]) -> Mapping[str, ObservedSwitch | SwitchUnread]:
        return {
            name: ObservedSwitch(
                name, site.switch[name].serial, None, None, {one.name: one for one in said[name]},
                at=NOON - timedelta(minutes=name == "mgmt-1"),
            )
            if name in said
            else SwitchUnread(name, "down", "")
            for name in names
        }  # fmt: skip

    return read_back(site, [demand(site, identity)], "acme", ask, ("tor-1", "mgmt-1"), services or {})


AT_REST = {"tor-1": (port("Ethernet3", admin_up=False),), "mgmt-1": (port("Et3"),)}


def test_all_ports_at_rest_is_unwired_at_the_time_of_the_first_reading() -> None:
    found = asked(SITE, MACHINE, AT_REST)
    (one,) = found.seen
    assert (one.identity, one.step, one.at) == (MACHINE, U, NOON - timedelta(minutes=1))
    assert one.position == "switch mgmt-1, tor-1"
    assert found.still_set == ()


@pytest.mark.parametrize(
    ("said", "still"),
    [
        (AT_REST | {"tor-1": (port("Ethernet3", 1000),)}, "tor-1 says that Ethernet3 is up, access, VLAN 1000"),
        (AT_REST | {"mgmt-1": (port("Et3", 110),)}, "mgmt-1 says that Et3 is up, access, VLAN 110"),
        # A VLAN of nobody is no rest of a machine's either: only that of quarantine is.
        (AT_REST | {"mgmt-1": (port("Et3", 20),)}, "mgmt-1 says that Et3 is up, access, VLAN 20"),
        # What is not said is neither in the way nor seen.
        ({"tor-1": AT_REST["tor-1"]}, ""),
        (AT_REST | {"mgmt-1": ()}, ""),
        (AT_REST | {"mgmt-1": (port("Et3", admin_up=None),)}, ""),
    ],
)
def test_one_port_that_is_not_known_to_rest_is_enough(said: dict[str, Collection[ObservedPort]], still: str) -> None:
    found = asked(SITE, MACHINE, said)
    assert found.seen == ()
    assert [still in sentence for sentence in found.still_set] == ([True] if still else [])


def test_a_device_of_which_a_plug_may_be_anywhere_is_not_known() -> None:
    """Its second RNIC port has no cable in the file, and nobody declared that all of them are there."""
    unknown = site_of(pod64, ["ipum-04"])
    assert asked(unknown, MACHINE, AT_REST) == ReadBack()


def test_what_another_device_replaced_is_on_no_port() -> None:
    """Its port is the new one's by now: that says nothing of the old one."""
    gone = str(nodes.HeldMachine("M-OLD"))
    assert asked(SITE, gone, AT_REST) == ReadBack()


def test_a_whole_host_rests_on_its_service_network_and_on_no_other_vlan() -> None:
    """Ironic cleans it there. Of a VLAN of nobody's nobody knows whose it was. The operator's own plugs stay."""
    names = {end.interface for plug in ("ens161f0", "ens161f1") if (end := METAL.far_end("poplar-1", plug))}
    legs = [port(f"Ethernet{name}", admin_up=False) for name in sorted(names)]
    (control,) = (end.interface for end in (METAL.far_end("poplar-1", "eno1"),) if end)
    resting = {"tor-1": legs, "mgmt-1": [port(f"Et{control}", 3201)]}
    assert [one.step for one in asked(CLEANED, HOST, resting).seen] == [U]
    for vlan in (900, 3001, 3202):
        (still,) = asked(CLEANED, HOST, resting | {"mgmt-1": [port(f"Et{control}", vlan)]}).still_set
        assert f"VLAN {vlan}" in still
    (still,) = asked(METAL, HOST, resting).still_set
    assert "VLAN 3201" in still, "no Ironic, no service network"
    # Which VLAN that is the operator's lock says.
    recorded = {"poplar-1": "mgmt1g:3202"}
    (still,) = asked(CLEANED, HOST, resting, recorded).still_set
    assert "VLAN 3201" in still
    there = asked(CLEANED, HOST, resting | {"mgmt-1": [port(f"Et{control}", 3202)]}, recorded)
    assert [one.step for one in there.seen] == [U]


# The order of the steps.


def seen(step: SeenStep, minutes: float) -> Sighting:
    return Sighting(MACHINE, "ipum-03", "acme", step, NOON + timedelta(minutes=minutes), "Anne", "e.yaml:1:1")


def handover(*sightings: Sighting) -> Handover:
    return Handover(SITE, "acme", (demand(SITE, MACHINE),), sightings, NOON + timedelta(hours=1))


def test_a_reading_counts_before_the_power_cycle_and_not_after_it() -> None:
    (reading,) = asked(SITE, MACHINE, AT_REST).seen
    rest = (seen(D, -10), seen(C, 5), seen(W, 6), seen(T, 7))
    assert handover(reading, *rest).lacking() == ()
    early = handover(reading, seen(D, -10), seen(C, -5), seen(W, 6), seen(T, 7)).lacking()
    assert [one.step for one in early] == [C]
    assert "comes before it was unwired" in early[0].because[0]


def test_it_is_recorded_once_it_is_the_step_that_comes_next() -> None:
    (reading,) = asked(SITE, MACHINE, AT_REST).seen
    assert to_record(handover(), [reading]) == ()
    assert to_record(handover(seen(D, -10)), [reading]) == (reading,)
    # A person's evidence is the other way.
    assert to_record(handover(seen(D, -10), seen(U, -8)), [reading]) == ()


# The command.


def reading_of(lyon: Lyon, monkeypatch: pytest.MonkeyPatch, vlan: int = 4000) -> None:
    """Both switches of lyon say that every port is in this VLAN."""
    site = lyon.gate().workspace.site

    def said(gate: object, found: Handover) -> ReadBack:
        def ask(names: Collection[str]) -> Mapping[str, ObservedSwitch | SwitchUnread]:
            return {name: observed(site, name, vlan) for name in names}

        return read_back(site, found.demands, found.tenant, ask, tuple(site.switch))

    monkeypatch.setattr(survey, "read_back_of", said)


def observed(site: Site, name: str, vlan: int) -> ObservedSwitch:
    switch = site.switch[name]
    names = [switch.port_name(number) or "" for number in range(1, switch.port_count + 1)]
    ports = {one: ObservedPort(one, admin_up=True, mode="access", access_vlan=vlan) for one in names}
    return ObservedSwitch(name, switch.serial, None, None, ports, at=datetime.now(UTC))


def machines(*steps: str, **changes: object) -> list[dict[str, object]]:
    return [entry for name in ("ipum-03", "ipum-04") for entry in of_machine(name, **changes) if entry["step"] in steps]


def test_settle_keeps_the_reading_and_the_power_cycle_comes_after_it(
    smaller: Lyon,  # noqa: F811
    interlock: Interlock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reading_of(smaller, monkeypatch)
    file, locks = smaller.file("evidence/acme-read.yaml"), smaller.locks()
    refused = interlock("settle", "acme")
    assert (refused.code, file.exists()) == (3, False), refused.err
    gone = machines("deregistered")
    write(smaller, gone)
    assert interlock("settle", "acme", "--dry-run").code == 3
    assert not file.exists()
    refused = interlock("settle", "acme")
    assert refused.code == 3
    assert "what was unwired was recorded in stacks/lyon/evidence/acme-read.yaml" in refused.err
    assert "step: unwired" not in refused.err
    assert smaller.locks() == locks
    found = yaml.safe_load(file.read_text())
    assert [(one["machine"], one["step"], one["by"]) for one in found["seen"]] == [
        (name, "unwired", "interlock settle, switch mgmt-1, tor-1") for name in ("ipum-03", "ipum-04")
    ]
    text = file.read_text()
    refused = interlock("settle", "acme")
    assert file.read_text() == text, "the first reading is kept: a later one would leave less time"
    rest = ("power-cycled", "wiped", "self-tested")
    # Power-cycled before it was unwired: its former holder's code may have come back.
    write(smaller, gone + machines(*rest, at=now(hours=1)))
    refused = interlock("settle", "acme")
    assert refused.code == 3
    assert "is older than the last use" in refused.err
    write(smaller, gone + machines(*rest, at=later(text)))
    time.sleep(1)  # until the second of the reading is over
    done = interlock("settle", "acme")
    assert done.code == 0, done.err


def later(text: str) -> str:
    """The time of the reading itself, which is rounded up: what was seen in that second counts."""
    times = [one["at"] for one in yaml.safe_load(text)["seen"]]
    return str(max(times))


def test_a_port_that_is_still_set_is_in_the_way(
    smaller: Lyon,  # noqa: F811
    interlock: Interlock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reading_of(smaller, monkeypatch, vlan=1000)
    write(smaller, machines("deregistered"))
    refused = interlock("settle", "acme")
    assert refused.code == 1
    assert "switch: machine ipum-03 (serial PLACEHOLDER-M2000-03): tor-1 says that" in refused.err
    assert not smaller.file("evidence/acme-read.yaml").exists()
