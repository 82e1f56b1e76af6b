"""`interlock check --certificate` and `interlock verify`: a certificate made by one and checked by the other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from interlock.model.lock.record import Footprint
from interlock.planning import Plan
from policies import judging
from policies.edges.shape import GraphFragment
from policies.footprints.neighbours import Neighbours
from tests.infra.conftest import Interlock, Lyon


@pytest.fixture
def acme(lyon: Lyon, interlock: Interlock, tmp_path: Path) -> Path:
    """The certificate of one tenant."""
    file = tmp_path / "acme.json"
    done = interlock("check", "acme", "--certificate", str(file))
    assert done.code == 0, done.err
    assert f"certificate of lyon-acme: {file}" in done.err
    return file


def test_what_check_writes_is_sound(acme: Path, interlock: Interlock) -> None:
    done = interlock("verify", str(acme))
    assert done.code == 0, done.out + done.err
    assert done.out.startswith("sound: lyon-acme is proved\n")


def test_it_is_about_this_plan_these_locks_and_this_proof(
    acme: Path, lyon: Lyon, interlock: Interlock, tmp_path: Path
) -> None:
    plan, lock = tmp_path / "plan.json", lyon.folder / "tenants" / "globex.lock.json"
    plan.write_text(interlock("plan", "acme", "--format", "json").out)
    proof = interlock("verify", str(acme)).out.split()[-1]
    done = interlock("verify", str(acme), "--plan", str(plan), "--lock", str(lock), "--proof", proof)
    assert done.code == 0, done.out


def test_about_something_else_is_1(acme: Path, lyon: Lyon, interlock: Interlock, tmp_path: Path) -> None:
    plan, lock = tmp_path / "plan.json", lyon.folder / "tenants" / "acme.lock.json"
    plan.write_text(interlock("plan", "globex", "--format", "json").out)
    done = interlock("verify", str(acme), "--plan", str(plan), "--lock", str(lock), "--proof", "sha256:another")
    assert done.code == 1
    assert [line.split()[:3] for line in done.out.splitlines()] == [
        ["it", "is", "about"], ["it", "is", "about"], ["it", "has", "not"]
    ]  # fmt: skip


def test_a_plan_from_which_one_role_was_taken_is_another(acme: Path, interlock: Interlock, tmp_path: Path) -> None:
    """Read as a plan, it has a network that nobody may judge; a file of before has no role and no vPOD at all."""
    plan, document = tmp_path / "plan.json", json.loads(interlock("plan", "acme", "--format", "json").out)
    resources = document.get("plan", document)["resources"]
    (storage,) = (item for item in resources if item["name"] == "acme-train-storage")
    del storage["role"]
    plan.write_text(json.dumps(document))
    assert interlock("verify", str(acme), "--plan", str(plan)).code == 1
    for item in resources:
        item.pop("role", None)
        del item["vpod"]
    plan.write_text(json.dumps(document))
    assert interlock("verify", str(acme), "--plan", str(plan)).code == 0


def test_altered_is_1(acme: Path, interlock: Interlock) -> None:
    found = json.loads(acme.read_text())
    found["statement"]["facts"].pop("E9")
    acme.write_text(json.dumps(found))
    done = interlock("verify", str(acme))
    assert done.code == 1
    assert "the facts are not those that the judgement rests on" in done.out


@pytest.mark.parametrize(
    ("text", "words"),
    [("{", "not JSON"), ("[]", "not a JSON object"), ("{}", "not a certificate"), (None, "No such file")],
)
def test_what_is_no_certificate_is_2(interlock: Interlock, tmp_path: Path, text: str | None, words: str) -> None:
    file = tmp_path / "file.json"
    if text is not None:
        file.write_text(text)
    done = interlock("verify", str(file))
    assert done.code == 2
    assert words in done.err
    assert str(file) in done.err


def test_one_file_is_for_one_stack(lyon: Lyon, interlock: Interlock, tmp_path: Path) -> None:
    done = interlock("check", "--certificate", str(tmp_path / "all.json"))
    assert done.code == 2
    assert "{stack}" in done.err
    assert not list(tmp_path.glob("*.json"))
    assert interlock("check", "--certificate", str(tmp_path / "{stack}.json")).code == 0
    assert sorted(file.name for file in tmp_path.glob("*.json")) == [
        "lyon-acme.json", "lyon-globex.json", "lyon-site.json"
    ]  # fmt: skip
    for file in tmp_path.glob("*.json"):
        assert interlock("verify", str(file)).code == 0, file


def test_of_what_is_not_proved_a_certificate_says_why(lyon: Lyon, interlock: Interlock, tmp_path: Path) -> None:
    lyon.replace("site.yaml", "iommu: true", "iommu: false")
    assert interlock("lock").code == 0
    file = tmp_path / "acme.json"
    assert interlock("check", "acme", "--certificate", str(file)).code == 1
    done = interlock("verify", str(file))
    assert done.code == 1
    assert "is violated" in done.out


@pytest.mark.parametrize("command", ["check", "explain"])
def test_a_model_is_made_once_for_each_stack(
    lyon: Lyon, interlock: Interlock, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, command: str
) -> None:
    """What asks more of a judgement goes on with the model that it was made of."""
    lyon.replace("site.yaml", "iommu: true", "iommu: false")
    assert interlock("lock").code == 0
    told = interlock("check", "acme", "--format", "json")
    finding = next(item["id"] for item in json.loads(told.out)["stacks"][0]["findings"] if item["rule"] == "ISO-02")
    looked: list[str] = []
    beside = judging._beside_neighbours

    def listening(plan: Plan, others: Neighbours, applied: Footprint | GraphFragment | None) -> judging.Seen:
        looked.append(plan.stack)
        return beside(plan, others, applied)

    monkeypatch.setattr(judging, "_beside_neighbours", listening)
    certificate = ("--certificate", str(tmp_path / "{stack}.json"))
    interlock(command, *([finding] if command == "explain" else certificate))
    assert looked == ["lyon-site", "lyon-acme", "lyon-globex"][: 2 if command == "explain" else 3]
