"""What the gate lets through: nothing without a proof, and with one only what it holds."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

from interlock.provider.admitted import NO_PROOF, AdmissionGate
from interlock.provider.errors import Failure
from interlock.provider.preview_token import CHANGED_SINCE, FRESH, NOT_PREVIEWED, PreviewTokens
from interlock.resources import Admission, Admitted, Bucket, Network, Resource, Server, Subnet, Volume
from interlock.vocabulary.owners import OwnerId

SERVER = Server(name="s", project="t-project", flavor="site:Flavor/a", image="site:Image/m", host="h", ports=("p",))
VOLUME = Volume(name="v", project="t-project", size_gib=10, volume_type="site:VolumeType/fast")
BUCKET = Bucket(name="b", project="t-project", credential="k")
NETWORK = Network(name="n", network_type="vlan", physical_network="fabric100g", segmentation_id=2101)


def _gate(**resources: Resource) -> AdmissionGate:
    gate = AdmissionGate()
    gate.admit(_admission(**resources), PreviewTokens(Path(tempfile.mkdtemp())), preview=True)
    return gate


def _admission(**resources: Resource) -> Admission:
    return Admission(
        stack="lyon-t",
        cloud="sandbox",
        owner=OwnerId("0a11ce"),
        site_owner=OwnerId("5172e0"),
        plan_hash="p",
        proof_hash="q",
        site_folder="/nowhere",
        resources=tuple(Admitted(name=n, kind=r.KIND, spec=r.canonical()) for n, r in resources.items()),
    )


def _inputs(resource: Resource, owner: str = "0a11ce", **ids: Any) -> dict[str, Any]:
    return resource.canonical() | {"owner": owner} | {f"id_of_{field}": value for field, value in ids.items()}


def test_without_a_proof_nothing_passes() -> None:
    assert AdmissionGate().check("Network", "n", _inputs(NETWORK), {}) == [("", NO_PROOF)]
    with pytest.raises(Failure, match="no proof was handed over"):
        _ = AdmissionGate().admission


def test_what_is_proved_passes_also_with_numbers_as_floats() -> None:
    values = _inputs(NETWORK) | {"segmentation_id": 2101.0}
    assert _gate(n=NETWORK).check("Network", "n", values, {}) == []


def test_fields_that_are_null_may_be_left_out() -> None:
    subnet = Subnet(name="s", network="n", cidr="10.0.0.0/24")
    values = {key: value for key, value in _inputs(subnet).items() if value is not None}
    assert _gate(s=subnet).check("Subnet", "s", values, {}) == []


@pytest.mark.parametrize(("kind", "name"), [("Network", "other"), ("Router", "n"), ("Subnet", "n")])
def test_another_name_or_kind_is_refused(kind: str, name: str) -> None:
    faults = _gate(n=NETWORK).check(kind, name, _inputs(NETWORK), {})
    assert faults == [("", f"the proof holds no {kind} named {name}; declare only what the plan lists")]


def test_an_altered_field_is_named() -> None:
    values = _inputs(NETWORK) | {"segmentation_id": 2102}
    assert _gate(n=NETWORK).check("Network", "n", values, {}) == [
        ("segmentation_id", "segmentation_id is not what was proved")
    ]


def test_a_field_that_the_type_does_not_take_is_refused() -> None:
    values = _inputs(NETWORK) | {"segmentation_id": 21.5}
    (fault,) = _gate(n=NETWORK).check("Network", "n", values, {})
    assert "segmentation_id" in fault[1]


def test_an_input_beside_the_type_is_refused() -> None:
    gate = _gate(n=NETWORK)
    assert gate.check("Network", "n", _inputs(NETWORK) | {"project_id": "7"}, {}) == [
        ("project_id", "project_id is no input of Network")
    ]
    assert _gate(n=NETWORK).check("Network", "n", _inputs(NETWORK) | {"segment": None}, {}) == []


def test_another_owner_is_refused() -> None:
    (fault,) = _gate(n=NETWORK).check("Network", "n", _inputs(NETWORK, owner="ebe"), {})
    assert fault[0] == "owner"


def test_ids_are_no_part_of_the_proof_and_may_be_unknown() -> None:
    from interlock.provider.codec import UNKNOWN

    gate = _gate(s=SERVER)
    assert gate.check("Server", "s", _inputs(SERVER, ports=[UNKNOWN]), {}) == []
    assert gate.check("Server", "s", _inputs(SERVER, ports=["4c0e"]), {}) == []


@pytest.mark.parametrize(
    ("kind", "resource", "field", "value", "reason"),
    [
        ("Server", SERVER, "flavor", "site:Flavor/b", "a resize moves dedicated CPUs"),
        ("Volume", VOLUME, "volume_type", "site:VolumeType/slow", "a retype moves the data"),
        ("Bucket", BUCKET, "name", "c", "buckets cannot be renamed"),
    ],
)
def test_a_forbidden_change_is_refused_with_its_reason(
    kind: str, resource: Resource, field: str, value: str, reason: str
) -> None:
    gate = _gate(x=resource)
    (fault,) = gate.check(kind, "x", _inputs(resource), _inputs(resource) | {field: value})
    assert fault[0] == field
    assert reason in fault[1]


def test_a_project_recreated_is_no_wish_of_the_plan() -> None:
    gate = _gate(v=VOLUME)
    assert gate.check("Volume", "v", _inputs(VOLUME, project="new"), _inputs(VOLUME, project="old")) == []


def test_after_one_failed_check_nothing_is_changed_any_more() -> None:
    gate = _gate(n=NETWORK)
    gate.open()
    gate.check("Network", "beside", _inputs(NETWORK), {})
    with pytest.raises(Failure, match="nothing is changed, because a check failed: Network beside"):
        gate.open()


def test_an_update_needs_a_preview_of_the_same_proof_and_each_preview_serves_once(tmp_path: Path) -> None:
    notes, admission = PreviewTokens(tmp_path), _admission(n=NETWORK)
    assert AdmissionGate().admit(admission, notes, preview=False) == [NOT_PREVIEWED]
    assert AdmissionGate().admit(admission, notes, preview=True) == []
    assert AdmissionGate().admit(admission, notes, preview=False) == []
    assert AdmissionGate().admit(admission, notes, preview=False) == [NOT_PREVIEWED]


def test_a_preview_of_another_proof_or_by_another_engine_is_none(tmp_path: Path) -> None:
    notes, admission = PreviewTokens(tmp_path), _admission(n=NETWORK)
    AdmissionGate().admit(admission.model_copy(update={"proof_hash": "another"}), notes, preview=True)
    assert AdmissionGate().admit(admission, notes, preview=False) == [CHANGED_SINCE]
    assert AdmissionGate().admit(admission, notes, preview=False) == [NOT_PREVIEWED]
    (tmp_path / f"lyon-t.{os.getppid()}.json").write_text('{"proof": "q", "engine": -1}')
    assert AdmissionGate().admit(admission, notes, preview=False) == [NOT_PREVIEWED]


def test_a_clear_look_of_the_preview_counts_for_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notes, admission = PreviewTokens(tmp_path), _admission(n=NETWORK)
    for seconds, clear in ((0, True), (FRESH, True), (FRESH + 1, False), (-1, False)):
        preview, update = AdmissionGate(), AdmissionGate()
        monkeypatch.setattr(time, "monotonic", lambda: 1000.0)
        preview.admit(admission, notes, preview=True)
        preview.found_clear()
        preview.will_create("n")
        monkeypatch.setattr(time, "monotonic", lambda seconds=seconds: 1000.0 + seconds)
        assert update.admit(admission, notes, preview=False) == []
        assert update.previewed.is_clear is clear
        assert update.previewed.creates == {"n"}
    assert not AdmissionGate().previewed.is_clear


def test_engines_of_two_backends_do_not_take_each_others_previews(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes, admission = PreviewTokens(tmp_path), _admission(n=NETWORK)
    alive = [os.getpid(), os.getppid()]
    for engine in alive:
        monkeypatch.setattr(os, "getppid", lambda engine=engine: engine)
        assert AdmissionGate().admit(admission, notes, preview=True) == []
    for engine in alive:
        monkeypatch.setattr(os, "getppid", lambda engine=engine: engine)
        assert AdmissionGate().admit(admission, notes, preview=False) == []


def test_notes_of_engines_that_ended_go_with_the_next(tmp_path: Path) -> None:
    notes, admission = PreviewTokens(tmp_path), _admission(n=NETWORK)
    with subprocess.Popen(["true"]) as ended:
        stale = tmp_path / f"lyon-t.{ended.pid}.json"
    stale.write_text("{}")
    AdmissionGate().admit(admission, notes, preview=True)
    assert not stale.exists()


def test_a_preview_in_which_something_was_refused_allows_no_update(tmp_path: Path) -> None:
    notes, admission = PreviewTokens(tmp_path), _admission(n=NETWORK)
    preview = AdmissionGate()
    preview.admit(admission, notes, preview=True)
    preview.check("Network", "beside", _inputs(NETWORK), {})
    update = AdmissionGate()
    assert update.admit(admission, notes, preview=False) == [NOT_PREVIEWED]
    with pytest.raises(Failure, match="leave out --skip-preview"):
        update.open()


def test_the_servicer_refuses_a_check_without_a_proof_and_a_create_after_a_refusal(tmp_path: Path) -> None:
    from tests.support.engine.process import Process, Refused
    from tests.support.engine.stack import Stack

    process = Process("no cloud at all")
    program = Stack(process, "lyon-t", "0a11ce", {"n": NETWORK}, "5172e0", tmp_path)
    assert program.check("n") == [("", NO_PROOF)]
    with pytest.raises(Refused, match="nothing is changed, because a check failed"):
        program.create("n")
    assert process.admit(program.admission()) == [
        "the proof is for the cloud 'sandbox', the provider is set to 'no cloud at all'"
    ]
    process.close()
