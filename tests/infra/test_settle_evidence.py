"""`interlock settle` hands out nothing that nobody saw unwired and cleaned, and evidence counts only for what it is of.

what is released ── its steps, in their order ── each: of this release, this serial, after the last use, young enough
"""

from __future__ import annotations

import json
import typing
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from infra.commands import settle as command
from infra.stack.handing_over import Handover, demands
from infra.stack.settling import LookedAt
from interlock.model.evidence.reading import Sighting
from interlock.model.evidence.steps import SANITISING, STEPS, SeenStep, steps_of
from interlock.model.lock.files import dump_lock, load_lock
from interlock.model.lock.record import Footprint, Lock, Released
from interlock.model.site.inventory import EvidenceTerms, InfinibandSubnet, Site
from interlock.planning.claims import CLAIMS, CLUSTER_CLAIMS
from interlock.store.ledger import Ledger
from interlock.store.places import open_store
from interlock.store.records import FootprintRecord, StackRecord
from interlock.vocabulary import nodes
from interlock.vocabulary.owners import OwnerId
from tests.builders.paper import LOGIN
from tests.builders.pod64 import bare_metal_pod64
from tests.infra.conftest import Interlock, Lyon
from tests.infra.evidence import now, of_machine, write, written
from tests.policies.workspace import assumptions

NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)
SINCE = NOON - timedelta(days=2)
D, U, C, W, T = tuple(SeenStep)[:5]


def site_of(max_age_h: int | None = 24, **guards: bool | None) -> Site:
    """Whole Poplar hosts, and evidence of a day counts."""
    return bare_metal_pod64(
        assumptions=assumptions(**guards),
        evidence=EvidenceTerms(max_age_h=max_age_h),
        infiniband=(InfinibandSubnet(name="compute", prefix="fe80000000000001"),),
    )


def gave_up(claim: str, value: str, since: datetime | None = SINCE) -> Released:
    return Released(vpod="train", claim=claim, value=value, since=since.isoformat() if since else "")


def seen_of(identity: str, *, released_by: str = "acme", hours: float = 3) -> tuple[Sighting, ...]:
    """Every step of the identity, the first so many hours ago, the others a minute after each other."""
    first = NOON - timedelta(hours=hours)
    return tuple(
        Sighting(identity, "", released_by, step, first + timedelta(minutes=number), "Anne", f"e.yaml:{number}:5")
        for number, step in enumerate(steps_of(identity))
    )


def handing_over(
    *released: Released, site: Site | None = None, seen: tuple[Sighting, ...] = (), **more: Any
) -> Handover:
    site = site or site_of()
    wanted = demands(site, released, more.get("freed", ()), more.get("kept", ()), more.get("let_go"))
    return Handover(site, "acme", wanted, seen, NOON)


def steps_lacking(found: Handover) -> list[SeenStep]:
    return [one.step for one in found.lacking()]


# What each kind of claim needs: nothing that a lock can release is left out.

READ_BACK = (U,)
DEVICE = (U, C, W)
MACHINE = (D, U, C, W, T)
#: Claim -> a value of it, how many identities it is, and the steps of each.
RELEASED: dict[str, tuple[str, int, tuple[SeenStep, ...]]] = {
    "machines": ("ipum-03", 1, MACHINE),
    "hosts": ("poplar-1", 1, DEVICE),
    "ipu_data_vlan": ("fabric100g:1001", 1, READ_BACK),
    "storage_vlan": ("fabric100g:2001", 1, READ_BACK),
    "management_vlan": ("mgmt1g:111", 1, READ_BACK),
    "control_vlan": ("fabric100g:1002", 1, READ_BACK),
    "control_vni": ("10007", 1, READ_BACK),
    "storage_vip": ("10.48.0.9", 1, READ_BACK),
    # Room on a hypervisor: the cloud is asked whether the server is gone.
    "controller_host": ("infra-1", 0, ()),
    "heads": ("infra-1", 0, ()),
    # Addresses lie on their segment alone, and go with it.
    "ipu_data_subnet": ("10.32.0.0/24", 0, ()),
    "storage_subnet": ("10.48.0.0/24", 0, ()),
    "control_subnet": ("10.64.0.0/24", 0, ()),
    "management_subnet": ("10.80.0.0/26", 0, ()),
    "cluster_vlan": ("mgmt1g:1500", 1, READ_BACK),
    "cluster_subnet": ("10.60.0.0/24", 0, ()),
    "roce_vlan": ("fabric100g:2500", 1, READ_BACK),
    "roce_subnet": ("10.61.0.0/24", 0, ()),
    "partition_keys": ("compute:0x0001", 1, READ_BACK),
}


def test_every_claim_of_a_lock_is_known() -> None:
    assert set(RELEASED) == {*CLAIMS, *CLUSTER_CLAIMS}


@pytest.mark.parametrize("claim", RELEASED)
def test_what_each_claim_needs(claim: str) -> None:
    value, count, steps = RELEASED[claim]
    bare = handing_over(gave_up(claim, value))
    assert len(bare.demands) == count
    assert [one.step for one in bare.lacking()] == list(steps) * count
    seen = tuple(one for demand in bare.demands for one in seen_of(demand.identity))
    assert replace(bare, seen=seen).lacking() == ()
    for gone in seen:
        left = replace(bare, seen=tuple(one for one in seen if one is not gone))
        assert gone.step in steps_lacking(left)


def test_a_hosts_share_on_a_hypervisor_is_room() -> None:
    assert handing_over(gave_up("hosts", "infra-1")).demands == ()


def test_a_vlan_of_which_nobody_knows_the_network_is_read_back_on_every_switch() -> None:
    lost = handing_over(gave_up("ipu_data_vlan", "1001"))
    assert {one.entry["switch"] for one in lost.demands} == {item.name for item in site_of().switches}


#: An exclusive identity of each kind that a footprint can hold, beside those of claims.
IDENTITIES: dict[type[Any], str] = {
    nodes.HeldMachine: str(nodes.HeldMachine("M2000-03")),
    nodes.HeldHost: str(nodes.HeldHost("R6525-1")),
    nodes.HeldSwitchPort: str(nodes.HeldSwitchPort("T-1", 7)),
    nodes.HeldSegment: str(nodes.HeldSegment("L:T-1:1001")),
    nodes.ShareAddressNode: str(nodes.ShareAddressNode("sandbox", "10.48.0.9")),
    nodes.PartitionKeyNode: str(nodes.PartitionKeyNode("fe80000000000000", 5)),
    nodes.InfinibandPortNode: str(nodes.InfinibandPortNode("a0a0a0a0a0a0a0a0")),
    nodes.NvlinkPartitionNode: str(nodes.NvlinkPartitionNode("nv-1", 2)),
    nodes.GpuNode: str(nodes.GpuNode("nv-1", "gpu-3")),
    nodes.MacAddress: str(nodes.MacAddress("0c:42:a1:00:00:07")),
    nodes.HeldLoginKey: str(nodes.HeldLoginKey("SHA256:abc")),
}
#: Kinds of which no evidence is asked: one goes with its machine, the other is looked for on the cloud.
WITHOUT_EVIDENCE = (nodes.MacAddress, nodes.HeldLoginKey)


def test_the_table_has_every_kind_that_one_owner_holds_alone() -> None:
    assert set(STEPS) == set(IDENTITIES)
    assert all(STEPS[kind].steps for kind in STEPS if kind not in WITHOUT_EVIDENCE)
    # A kind of identity that is added later needs everything until the table says otherwise.
    assert steps_of("something:new") == DEVICE
    assert {nodes.HeldMachine, nodes.HeldHost, nodes.HeldSwitchPort, nodes.HeldSegment} <= set(
        typing.get_args(nodes.Node)
    )


@pytest.mark.parametrize("kind", IDENTITIES, ids=lambda kind: str(kind.__name__))
def test_what_leaves_the_store_alone_needs_the_same(kind: type[Any]) -> None:
    """The footprint of a killed run is in no list of what is released."""
    identity = IDENTITIES[kind]
    found = handing_over(freed=(identity,), let_go=SINCE)
    assert steps_lacking(found) == list(STEPS[kind].steps)
    assert replace(found, seen=seen_of(identity)).lacking() == ()
    assert all(str(one) and one.line() for one in found.lacking())


@pytest.mark.parametrize(("claim", "name"), [("machines", "ipum-99"), ("hosts", "poplar-99")])
def test_a_device_that_left_the_site_is_not_forgotten(claim: str, name: str) -> None:
    """It may come back under any name, as its former holder left it."""
    seen = tuple(replace(one, name=name) for one in seen_of(machine()))
    found = handing_over(gave_up(claim, name), seen=seen).lacking()
    assert [one.step for one in found] == list(MACHINE if claim == "machines" else DEVICE)
    assert all("list it until it is settled" in str(one) for one in found)


def test_what_the_tenant_has_all_the_same_needs_none() -> None:
    identity = IDENTITIES[nodes.HeldSegment]
    assert handing_over(freed=(identity,), kept=(identity,), let_go=SINCE).demands == ()


# What does not count.

RACK = gave_up("machines", "ipum-03")


def machine() -> str:
    return handing_over(RACK).demands[0].identity


NOT_COUNTED: dict[str, tuple[Callable[[Sighting], Sighting], str]] = {
    "another serial": (
        lambda one: replace(one, identity=str(nodes.HeldMachine("M2000-99")), name="ipum-03"), "is about another serial"
    ),
    "another tenant's release": (lambda one: replace(one, released_by="globex"), "is of what globex released"),
    "before it was released": (
        lambda one: replace(one, at=SINCE - timedelta(seconds=1)), "is older than the last use, 2026-11-21T12:00:00Z"
    ),
    "older than the site allows": (lambda one: replace(one, at=NOON - timedelta(hours=24, seconds=1)), "older than 1d"),
    "of a time to come": (lambda one: replace(one, at=NOON + timedelta(seconds=1)), "is of a time to come"),
}  # fmt: skip


@pytest.mark.parametrize("case", NOT_COUNTED)
@pytest.mark.parametrize("step", MACHINE)
def test_what_does_not_count(case: str, step: SeenStep) -> None:
    change, why = NOT_COUNTED[case]
    seen = tuple(change(one) if one.step == step else one for one in seen_of(machine()))
    found = handing_over(RACK, seen=seen).lacking()
    assert step in [one.step for one in found]
    (told,) = [one for one in found if one.step == step]
    assert any(why in reason for reason in told.because)


def test_steps_out_of_order_do_not_count() -> None:
    """Wiped on a live port, or wiped before the former holder's code was gone: it may be back."""
    gone, unwired, cycled, wiped, tested = seen_of(machine())
    early = replace(wiped, at=unwired.at - timedelta(minutes=1))
    found = handing_over(RACK, seen=(gone, unwired, cycled, early, tested)).lacking()
    assert [one.step for one in found] == [W]
    assert "comes before it was power-cycled" in found[0].because[0]
    # A second wipe, after all of it, is enough.
    assert handing_over(RACK, seen=(gone, unwired, cycled, early, wiped, tested)).lacking() == ()


def test_the_last_use_is_that_of_what_was_applied() -> None:
    """The lock gave it up first; until the `up` the tenant could use it."""
    seen = seen_of(machine(), hours=3)
    assert handing_over(RACK, seen=seen, let_go=NOON - timedelta(hours=4)).lacking() == ()
    assert steps_lacking(handing_over(RACK, seen=seen, let_go=NOON - timedelta(hours=2))) == list(MACHINE)


def test_two_releases_of_one_vlan_count_from_the_later_one() -> None:
    later = gave_up("ipu_data_vlan", "fabric100g:1001", NOON - timedelta(hours=2))
    first = gave_up("storage_vlan", "fabric100g:1001")
    (demand,) = handing_over(first).demands
    seen = seen_of(demand.identity, hours=3)
    assert handing_over(first, seen=seen).lacking() == ()
    assert steps_lacking(handing_over(first, later, seen=seen)) == [U]
    # One of which nobody recorded when may be the latest.
    unknown = gave_up("storage_vlan", "fabric100g:1001", None)
    assert steps_lacking(handing_over(later, unknown, seen=seen_of(demand.identity, hours=1))) == [U]


def test_a_release_of_which_nobody_recorded_when_is_not_provable() -> None:
    found = handing_over(gave_up("machines", "ipum-03", None), seen=seen_of(machine())).lacking()
    assert [one.step for one in found] == list(MACHINE)
    assert "`interlock lock` does" in found[0].because[0]


# What the site states.


@pytest.mark.parametrize("erases", [True, False, None])
def test_a9_decides_what_cleaning_is_worth(erases: bool | None) -> None:
    """Every step was seen; only A9 says whether they clean."""
    site = site_of(steps_erase=erases)
    found = handing_over(RACK, site=site, seen=seen_of(machine())).lacking()
    assert {one.step for one in found} == (set() if erases else SANITISING)
    assert {fact for one in found for fact in one.refuted} == (
        {"assumptions.A9.steps_erase"} if erases is False else set()
    )
    named = {fact for one in found for fact in one.missing}
    assert named == ({"assumptions.A9.steps_erase"} if erases is None else set())


@pytest.mark.parametrize("restored", [True, False, None])
def test_a_whole_host_is_clean_with_its_firmware_only(restored: bool | None) -> None:
    """A wipe of its disks says nothing of BIOS, BMC and adapters (A23); machines have none that a tenant writes."""
    fact, site = "assumptions.A23.firmware_restored", site_of(firmware_restored=restored)
    host = gave_up("hosts", "poplar-1")
    (demand,) = handing_over(host).demands
    found = handing_over(host, site=site, seen=seen_of(demand.identity)).lacking()
    assert {one.step for one in found} == (set() if restored else SANITISING)
    assert {name for one in found for name in one.refuted} == ({fact} if restored is False else set())
    assert {name for one in found for name in one.missing} == ({fact} if restored is None else set())
    assert handing_over(RACK, site=site, seen=seen_of(machine())).lacking() == ()


@pytest.mark.parametrize("erases", [True, False, None])
def test_a_read_back_does_not_rest_on_a9(erases: bool | None) -> None:
    vlan = gave_up("ipu_data_vlan", "fabric100g:1001")
    (demand,) = handing_over(vlan).demands
    assert handing_over(vlan, site=site_of(steps_erase=erases), seen=seen_of(demand.identity)).lacking() == ()


def test_a9_left_out_is_a9_unknown() -> None:
    site = bare_metal_pod64(assumptions=(), evidence=EvidenceTerms(max_age_h=24))
    found = handing_over(RACK, site=site, seen=seen_of(machine())).lacking()
    assert {fact for one in found for fact in one.missing} == {"assumptions.A9.steps_erase"}


def test_without_a_limit_of_age_none_counts() -> None:
    found = handing_over(RACK, site=site_of(max_age_h=None), seen=seen_of(machine())).lacking()
    assert {one.missing for one in found} == {("evidence.max_age",)}


def test_what_was_cleaned_is_remembered() -> None:
    """Machines and hosts rest on A9 from then on; what was only read back does not."""
    vlan = gave_up("ipu_data_vlan", "fabric100g:1001")
    found = handing_over(RACK, vlan)
    seen = tuple(one for demand in found.demands for one in seen_of(demand.identity))
    (cleaned,) = replace(found, seen=seen).cleaned()
    assert (cleaned.identity, cleaned.at, cleaned.by) == (machine(), "2026-11-23T09:03:00Z", "Anne")


# The command.


def quiet_cloud(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing was ever applied, and the cloud is empty."""
    (tmp_path / "clouds.yaml").write_text("clouds: {sandbox: {}}\n")
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(tmp_path / "clouds.yaml"))
    monkeypatch.setattr(command, "Cloud", lambda _, **of_site: SimpleNamespace(login=LOGIN))
    monkeypatch.setattr(command, "census", lambda _: [])
    monkeypatch.setattr(command, "_deployment", lambda _: None)


@pytest.fixture
def smaller(lyon: Lyon, interlock: Interlock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lyon:
    """acme has given ipum-03 and ipum-04 up."""
    quiet_cloud(monkeypatch, tmp_path)
    lyon.replace("tenants/acme.yaml", "machines: 4", "machines: 2")
    assert interlock("lock", "acme").code == 0
    return lyon


def lock_of(lyon: Lyon) -> Lock:
    return load_lock(lyon.file("tenants/acme.lock.json"), "acme.lock.json", Lock)


def test_without_evidence_it_is_refused_and_told_what_to_write(smaller: Lyon, interlock: Interlock) -> None:
    before = smaller.locks()
    refused = interlock("settle", "acme")
    assert refused.code == 3
    for name in ("ipum-03", "ipum-04"):
        serial = name.replace("ipum", "PLACEHOLDER-M2000")
        for step in MACHINE:
            assert f"machine {name} (serial {serial}): nobody is known to have seen it {step}\n" in refused.err
            assert f"  - {{machine: {name}, serial: {serial}, step: {step}, at: <when>, by: <who>}}" in refused.err
    assert "stacks/lyon/evidence/acme.yaml" in refused.err
    assert smaller.locks() == before
    found = json.loads(interlock("settle", "acme", "--dry-run", "--format", "json").out)
    assert found["exit_code"] == 3
    assert [(one["about"]["machine"], one["step"]) for one in found["evidence"]] == [
        (name, step) for name in ("ipum-03", "ipum-04") for step in MACHINE
    ]
    written(smaller, "ipum-03")
    assert "ipum-03" not in interlock("settle", "acme").err
    assert smaller.locks() == before


def test_with_evidence_it_is_settled_and_the_lock_remembers(smaller: Lyon, interlock: Interlock) -> None:
    written(smaller, "ipum-03", "ipum-04")
    done = interlock("settle", "acme")
    assert done.code == 0, done.err
    lock = lock_of(smaller)
    assert lock.released == ()
    assert [(one.identity, one.by) for one in lock.settled] == [
        (f"machine:PLACEHOLDER-M2000-{number}", "Anne") for number in ("03", "04")
    ]
    assert interlock("lock", "acme").code == 0
    assert lock_of(smaller) == lock


@pytest.mark.parametrize(
    ("stated", "code", "said"),
    [
        ("steps_erase: false", 1, "`wiped` counts for nothing: assumptions.A9.steps_erase is false"),
        ("steps_erase: unknown", 3, "assumptions.A9.steps_erase is not stated"),
    ],
)
def test_with_a9_false_or_unknown_it_is_refused(
    smaller: Lyon, interlock: Interlock, stated: str, code: int, said: str
) -> None:
    smaller.replace("site.yaml", "steps_erase: true", stated)
    assert interlock("lock").code == 0
    written(smaller, "ipum-03", "ipum-04")
    refused = interlock("settle", "acme")
    assert (refused.code, said in refused.err) == (code, True), refused.err


def test_evidence_of_an_earlier_release_says_nothing_of_a_later_one(smaller: Lyon, interlock: Interlock) -> None:
    """Given up, taken again and given up again: what was seen in between is of the first time."""
    lock, long_ago = lock_of(smaller), "2026-01-01T00:00:00Z"
    old = tuple(one.model_copy(update={"since": long_ago}) for one in lock.released)
    dump_lock(lock.model_copy(update={"released": old}), smaller.file("tenants/acme.lock.json"))
    entries = [entry | {"at": now(hours=1)} for name in ("ipum-03", "ipum-04") for entry in of_machine(name)]
    write(smaller, entries)
    assert interlock("settle", "acme", "--dry-run").code == 0
    request = smaller.file("tenants/acme.yaml")
    text = request.read_text()
    pins = "pins: {train: {machines: [ipum-01, ipum-02, ipum-03, ipum-04]}}\n"
    request.write_text(text.replace("machines: 2", "machines: 4") + pins)
    done = interlock("lock", "acme", "--move")
    assert done.code == 0, done.err
    request.write_text(text)
    assert interlock("lock", "acme", "--move").code == 0
    refused = interlock("settle", "acme")
    assert refused.code == 3
    assert "is older than the last use" in refused.err


def test_the_store_says_when_what_was_applied_was_let_go(smaller: Lyon) -> None:
    """A footprint is dropped at the end of the `up`: until then everything was in use."""
    ledger = Ledger(open_store("", "lyon"))
    assert ledger.stacks() == ()
    entry = FootprintRecord(footprint=Footprint(classes=(), labels={}, exclusive=()), nodes=())
    record = StackRecord(
        stack="lyon-acme", tenant="acme", owner=OwnerId("x"), lineage="1", serial=1, confirmed=True,
        entries=(entry,), changed="2026-11-23T11:00:00Z", written_by="",
    )  # fmt: skip
    gate = smaller.gate()
    looked = LookedAt(gate.plan("acme"), gate.workspace.locks["acme"], None, record, ())
    assert looked.let_go == datetime(2026, 11, 23, 11, tzinfo=UTC)
    unsaid = replace(looked, record=record.model_copy(update={"changed": ""}))
    state = {"manifest": {"time": "2026-11-23T12:30:00.123456789+01:00"}, "resources": []}
    with_state = replace(unsaid, deployment=state).let_go
    assert with_state is not None
    assert with_state.replace(microsecond=0) == datetime(2026, 11, 23, 11, 30, tzinfo=UTC)
    assert replace(looked, record=None).let_go is None
    # In use, and nobody knows until when: nothing that was seen is younger.
    before = datetime.now(UTC)
    for unclear in (unsaid, replace(unsaid, deployment={"resources": []})):
        assert (unclear.let_go or NOON) >= before
