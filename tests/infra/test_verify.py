"""`interlock check --certificate` and `interlock verify`: a certificate made by one and checked by the other."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from interlock.model.lock.record import Footprint
from interlock.planning import Plan
from interlock.resources import digest_of
from policies import judging
from policies.edges.shape import GraphFragment
from policies.footprints.neighbours import Neighbours
from tests.certificate.altering import sealed
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
    assert done.out.startswith("sound: lyon-acme is proved, as of 20")


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
    [
        (b"{", "not JSON"),
        (b"[]", "not a JSON object"),
        (b"{}", "not a certificate"),
        (b'{"format": 1, "format": 1}', "the key format stands twice"),
        (b'{"format": NaN}', "NaN is no number"),
        (b'{"format": 4, "date": "2026-02-31"}', "missing, or not known: boundary"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"\\ud800": 1}', "surrogate"),
        (b"\xff", "no UTF-8"),
        (b'{"\\u001b[31m": 1}', "[31m"),
        (None, "No such file"),
    ],
)
def test_what_is_no_certificate_is_2(interlock: Interlock, tmp_path: Path, text: bytes | None, words: str) -> None:
    file = tmp_path / "file.json"
    if text is not None:
        file.write_bytes(text)
    done = interlock("verify", str(file))
    assert done.code == 2
    assert done.out == ""
    assert words in done.err
    assert done.err.startswith(f"{file}: ")
    assert done.err.count("\n") == 1
    assert done.err.rstrip("\n").isprintable()


def test_a_certificate_of_a_stack_that_the_site_has_not_is_one_line(acme: Path, interlock: Interlock) -> None:
    _forged(acme, lambda found: found["judgement"].update(stack="lyon-nobody"))
    done = interlock("verify", str(acme), "--site", "lyon")
    assert (done.code, done.out) == (2, "")
    assert done.err == "the site has no stack lyon-nobody: name the tenant, or another --site\n"


@pytest.mark.parametrize("command", [(), ("acme", "--site", "lyon")])
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda found: found.update(date="2026-02-31"), "it.date: not of its form"),
        (
            lambda found: found["statement"]["ground"]["gateways"].append(["X:n@R:a:r", "ghost"]),
            "statement.ground: ghost is no declaration",
        ),
    ],
)
def test_what_is_nearly_a_certificate_is_one_line(
    acme: Path, interlock: Interlock, command: tuple[str, ...], change: Callable[[dict[str, Any]], None], words: str
) -> None:
    """With `--site` as without it."""
    _forged(acme, change)
    done = interlock("verify", str(acme), *command)
    assert (done.code, done.out) == (2, "")
    told = "not a certificate as `interlock check --certificate` writes it"
    assert done.err == f"{acme}: {told}: {words}\n"


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

    def listening(
        plan: Plan, own: judging.Read, others: Neighbours, applied: Footprint | GraphFragment | None
    ) -> judging.Seen:
        looked.append(plan.stack)
        return beside(plan, own, others, applied)

    monkeypatch.setattr(judging, "_beside_neighbours", listening)
    certificate = ("--certificate", str(tmp_path / "{stack}.json"))
    interlock(command, *([finding] if command == "explain" else certificate))
    assert looked == ["lyon-site", "lyon-acme", "lyon-globex"][: 2 if command == "explain" else 3]


def test_beside_the_site_it_says_what_is_confirmed_and_what_is_not(acme: Path, interlock: Interlock) -> None:
    alone = interlock("verify", str(acme))
    assert alone.code == 0
    assert "not checked:\n    whether these are the facts of the site, the plan and the locks" in alone.out
    done = interlock("verify", str(acme), "acme", "--site", "lyon")
    assert done.code == 0, done.out + done.err
    assert "confirmed from site, plans and locks: 60 of 60 edges" in done.out
    assert "25 of 25 grants" in done.out
    (granted,) = (line for line in done.out.splitlines() if line.startswith("    the answers of "))
    assert "CAP-02" in granted
    assert "EXPO-01" not in granted
    for words in ("the versions of boundary nodes", "what is applied", "the titles of rules"):
        assert f"    {words}" in done.out
    assert "the planner, the provider, and what is really there" in done.out
    told = json.loads(interlock("verify", str(acme), "--site", "lyon", "--format", "json").out)
    assert told["sound"]
    assert (
        told["not_checked"][-1] == "how the site file is expanded, the planner, the provider, and what is really there"
    )


def test_all_stacks_at_once(lyon: Lyon, interlock: Interlock, tmp_path: Path) -> None:
    files = str(tmp_path / "{stack}.json")
    assert interlock("check", "--certificate", files).code == 0
    done = interlock("verify", files, "--site", "lyon")
    assert done.code == 0, done.out
    assert [line.split()[1] for line in done.out.splitlines() if line.startswith("sound")] == [
        "lyon-site", "lyon-acme", "lyon-globex"
    ]  # fmt: skip
    (tmp_path / "lyon-acme.json").write_text((tmp_path / "lyon-globex.json").read_text())
    assert "it is about lyon-globex, not lyon-acme" in interlock("verify", files, "--site", "lyon").out


def _forged(file: Path, change: Callable[[dict[str, Any]], None]) -> None:
    found = json.loads(file.read_text())
    change(found)
    file.write_text(json.dumps(sealed(found)))


def _of_other_locks(found: dict[str, Any]) -> None:
    found["judgement"]["footprints"] = digest_of([])


def _of_another_plan(found: dict[str, Any]) -> None:
    found["judgement"]["plan_hash"] = digest_of("another")


def _of_another_site(found: dict[str, Any]) -> None:
    found["judgement"]["site"] = "paris"


def _applied(found: dict[str, Any]) -> None:
    found["judgement"]["applied_state"] = "looked at: all of it is harmless"


def _not_asked(found: dict[str, Any]) -> None:
    results = found["judgement"]["results"]
    (warning,) = (item for item in results if item["rule"] == "TOP-04")
    results.remove(warning)


def _makeable(found: dict[str, Any]) -> None:
    found["judgement"]["without_actuator"] = []


def _unversioned(found: dict[str, Any]) -> None:
    found["boundary"].popitem()


def _waived(found: dict[str, Any]) -> None:
    """A waiver of its own, with a finding that it lets pass."""
    waiver = {"rule": "ISO-07", "owner": "anne", "reason": "known", "expires": "2999-01-01", "state": "used"}
    found["judgement"]["waivers"] = [waiver | {"findings": 1, "hint": ""}]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_of_other_locks, "it has looked at other locks than those of the site"),
        (_of_another_plan, "it is about another plan than that of lyon-acme"),
        (_of_another_site, "it is about site paris, not lyon"),
        (_applied, "it says in no words known here what is applied"),
        (_not_asked, "it was not asked about TOP-04"),
        (_makeable, "of what nothing can make yet the plan has "),
        (_unversioned, "it has no version of some boundary node, or one too many"),
        (_waived, "nobody states the waiver of ISO-07 that it names"),
    ],
)
def test_a_judgement_of_something_else(
    acme: Path, interlock: Interlock, change: Callable[[dict[str, Any]], None], words: str
) -> None:
    _forged(acme, change)
    assert interlock("verify", str(acme)).code == 0, "alone it is sound"
    done = interlock("verify", str(acme), "--site", "lyon")
    assert done.code == 1
    assert words in done.out


def test_a_site_that_changed_since_is_told(acme: Path, lyon: Lyon, interlock: Interlock) -> None:
    lyon.replace("site.yaml", "iommu: true", "iommu: false")
    assert interlock("lock").code == 0
    done = interlock("verify", str(acme), "--site", "lyon")
    assert done.code == 1
    assert "assumptions.A5.iommu is True in it, and False in the site" in done.out
    assert "is removed by guards, and none can do that" in done.out


def test_waivers_go_by_the_day_that_is_given(acme: Path, interlock: Interlock) -> None:
    before = interlock("verify", str(acme), "--as-of", "2020-01-01")
    assert before.code == 1
    assert "after 2020-01-01" in before.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("acme",), "needs the site"),
        (("--as-of", "soon"), "is no date"),
        (("nobody", "--site", "lyon"), "no stack nobody"),
        (("--site", "nowhere"), "nowhere"),
    ],
)
def test_what_cannot_be_asked_is_2(acme: Path, interlock: Interlock, words: tuple[str, ...], said: str) -> None:
    done = interlock("verify", str(acme), *words)
    assert done.code == 2, done.out
    assert said in done.err
