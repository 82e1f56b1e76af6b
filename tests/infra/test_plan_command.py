"""`interlock plan`: its tree as approved, its JSON form, its changes, and what it notes."""

from __future__ import annotations

import json
import subprocess
from functools import cache
from pathlib import Path

import pytest

from infra.cli import colour
from infra.program.gate import Gate
from infra.program.refusal import note
from infra.reports import plan_tree
from infra.reports.plan_changes import changes_text
from infra.reports.plan_cost import cost_text, defaults_text
from interlock.model.tenant.request import Budget, Default
from interlock.object_storage import Capability, Storage, Support
from interlock.planning import Planned
from interlock.planning.costs import cost_of
from interlock.planning.differences import changes_between
from interlock.resources import (
    KINDS,
    Bucket,
    BucketLifecycle,
    CorsRule,
    Expiry,
    FloatingIp,
    ObjectLock,
    Port,
    Resource,
    Trunk,
    TrunkSubPort,
)
from tests.builders.pod64 import pod64, priced
from tests.infra.conftest import Interlock, Lyon
from tests.infra.wiring_worlds import wiring_texts
from tests.planning.golden import plans

#: `python -m tests.infra.approved_texts` writes these again.
APPROVED = Path(__file__).parent / "approved"
DEFAULTS = (
    Default(path="vpods.train.poplar.flavor", value="poplar.half", origin="the site"),
    Default(path="buckets.data.versioning", value="true", origin="interlock"),
    Default(path="separate", value="vpods", origin="interlock"),
)


@cache
def approved_texts() -> dict[str, str]:
    """Every text that people read of a plan or of its wiring, by the name of its file."""
    found = {f"tree-{name}": plan_tree.tree(plan, DEFAULTS) for name, plan in plans().items()}
    some = priced(ipu_machine="2.50", poplar_vcpu="0.01", poplar_ram_gib="0.002", volume_gib="0.08")
    budget = Budget(per_month="9000", currency="EUR")
    found["cost-some-unknown"] = cost_text(cost_of(pod64(prices=some), plans()["acme"], budget))
    found["cost-unknown"] = cost_text(cost_of(pod64(), plans()["acme"], budget))
    found["cost-gone"] = cost_text(cost_of(pod64(), plans()["gone"]))
    found["defaults"] = defaults_text(DEFAULTS)
    found["note"] = note(plans()["data"], proved=True)
    altered = json.loads(json.dumps(plans()["acme"].canonical()))
    for item in altered["resources"]:
        if item["name"] == "acme-train-storage":
            item["spec"]["segmentation_id"] = 2500
        if item["name"] == "acme-train-poplar-0-data":
            item["spec"]["size_gib"] = 40
    found["changes-gone"] = changes_text("HEAD", changes_between(plans()["data"].canonical(), plans()["gone"]))
    found["changes"] = changes_text("before.json", changes_between(altered, plans()["acme"]))
    return found | wiring_texts()


@pytest.mark.parametrize("name", approved_texts())
def test_the_text_is_the_approved_one(name: str) -> None:
    assert approved_texts()[name] + "\n" == (APPROVED / f"{name}.txt").read_text(encoding="utf-8")


def test_no_approved_text_is_left_over() -> None:
    assert {path.stem for path in APPROVED.iterdir()} == set(approved_texts())


def test_every_resource_has_one_line() -> None:
    for plan in plans().values():
        lines = plan_tree.tree(plan).splitlines()
        assert len(lines) == 1 + len(plan.components) + len(plan.resources)


def test_every_kind_has_words_or_nothing_to_tell() -> None:
    silent = {"ServiceUser", "S3Credential", "Keypair", "AddressScope", "VolumeType", "PartitionKey", "NvlinkPartition"}
    # Claims follow from a proof and stand in no plan.
    assert set(plan_tree.WRITTEN) | set(plan_tree.WORDS) | silent | {"Claims"} == set(KINDS)
    for kind, fields in plan_tree.WORDS.items():
        assert {field for field, _ in fields} <= set(KINDS[kind].model_fields)


def line_of(resource: Resource) -> list[str]:
    """What the line of this resource tells."""
    return [text for _, text in plan_tree.details_of(Planned(name="x", component="c", resource=resource))]


def test_what_a_port_may_send_from_and_what_leads_to_it_is_told() -> None:
    pairs = ("10.9.0.0/16", "0.0.0.0/0")
    port = Port(name="p", project="t", network="n", subnet="s", address="10.0.0.9", allowed_address_pairs=pairs)
    assert line_of(port) == ["10.0.0.9", "normal", "may send from 10.9.0.0/16", "may send from 0.0.0.0/0"]
    trunk = Trunk(name="x", project="t", port="p", sub_ports=(TrunkSubPort(port="q", vlan=7),))
    assert line_of(trunk) == ["on p", "q with tag 7"]
    floating = FloatingIp(project="t", external_network="site:Network/external", address="203.0.113.9", port="p")
    assert line_of(floating) == ["203.0.113.9", "to p"]


def test_the_line_of_a_bucket_tells_what_is_asked_of_its_storage() -> None:
    plain = Bucket(name="b", project="t", credential="k", versioning=False)
    assert line_of(plain) == ["versioning no", "on delete keep"]
    asked = plain.model_copy(
        update={
            "storage": "versity",
            "address": "https://s3.example",
            "versioning": True,
            "cors": (CorsRule(origins=("https://lab.example",), methods=("GET", "PUT")),),
            "object_lock": ObjectLock(mode="compliance", days=1),
        }
    )
    assert line_of(asked) == [
        "on versity at https://s3.example",
        "versioning yes",
        "pages of https://lab.example may GET PUT",
        "locked for 1 day (compliance)",
        "on delete keep",
    ]


def test_the_line_of_a_bucket_tells_every_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Storage("moto", "", "moto", dict.fromkeys(Capability, Support.KEPT))
    monkeypatch.setattr("infra.reports.plan_buckets.object_storage", lambda _: kept)
    rules = BucketLifecycle(
        expire=(Expiry(prefix="tmp/", days=7), Expiry(prefix="", days=365)), noncurrent_days=30, abort_multipart_days=1
    )
    asked = Bucket(
        name="b", project="t", credential="k", lifecycle=rules, encryption=True, public_access_block=True,
        cors=(CorsRule(origins=("*",), methods=("GET",)),),
    )  # fmt: skip
    doubt = " (kept by it; nobody saw the effect)"
    said = (
        "tmp/ expires after 7 days", "everything expires after 365 days", "old versions go after 30 days",
        "unfinished uploads go after 1 day", "pages of anybody may GET", "encrypted", "never open to everybody",
    )  # fmt: skip
    assert line_of(asked) == ["versioning yes", *(f"{text}{doubt}" for text in said), "on delete keep"]


def test_colour_changes_nothing_but_colour() -> None:
    painted = plan_tree.tree(plans()["data"], DEFAULTS, colour=True)
    for style in (colour.BOLD, colour.DIM, colour.YELLOW):
        assert f"\033[{style}m" in painted
        painted = painted.replace(f"\033[{style}m", "")
    assert painted.replace("\033[0m", "") == plan_tree.tree(plans()["data"], DEFAULTS)


@pytest.mark.parametrize(("terminal", "no_color", "wanted"), [(True, "", True), (True, "1", False), (False, "", False)])
def test_colour_only_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, terminal: bool, no_color: str, wanted: bool
) -> None:
    monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.setattr("sys.stdout.isatty", lambda: terminal)
    assert colour.wanted() is wanted


def test_a_tenants_plan_is_a_tree_with_its_cost(lyon: Lyon, interlock: Interlock) -> None:
    done = interlock("plan", "acme")
    assert done.code == 0, done.err
    assert done.out.startswith("lyon-acme: ")
    assert "acme-train-poplar-1  PoplarServer" in done.out
    assert "cost per month:" in done.out
    assert "\033" not in done.out
    assert done.err == ""


def test_the_operators_plan_costs_nothing(lyon: Lyon, interlock: Interlock) -> None:
    done = interlock("plan")
    assert done.code == 0
    assert done.out.startswith("lyon-site: ")
    assert "cost per month" not in done.out


def test_json_is_one_object_and_its_plan_can_be_compared_with(lyon: Lyon, interlock: Interlock, tmp_path: Path) -> None:
    done = interlock("plan", "acme", "--format", "json")
    document = json.loads(done.out)
    assert set(document) == {
        "version", "plan", "defaults", "cost", "changes", "not_makeable", "out_of_service", "replaced", "devices",
        "ways_in", "mounts", "former_keys", "clusters", "scheduler", "nodes", "rolls", "resizes", "paid",
        "keys_by_hand", "unmounted", "waiting",
    }  # fmt: skip
    assert document["plan"] == json.loads(json.dumps(Gate.open("lyon").plan("acme").canonical()))
    assert (document["changes"], document["not_makeable"]) == (None, [])
    assert {line["item"] for line in document["cost"]["lines"]} >= {"ipu-machine", "controller", "bucket"}
    (mount,) = document["mounts"]["train"]
    assert (mount["share"], mount["mount_point"]) == ("acme-datasets", "/mnt/datasets")
    assert "10.48.0.2:EXPORT_PATH /mnt/datasets nfs rw," in interlock("plan", "acme").out
    assert json.loads(interlock("plan", "globex", "--format", "json").out)["mounts"] == {}
    kept = tmp_path / "kept.json"
    kept.write_text(done.out)
    assert f"changes against {kept}: none" in interlock("plan", "acme", "--against", str(kept)).out


def test_changes_against_a_file_have_their_effect(lyon: Lyon, interlock: Interlock, tmp_path: Path) -> None:
    kept = tmp_path / "kept.json"
    kept.write_text(interlock("plan", "acme", "-f", "json").out)
    lyon.replace("tenants/acme.yaml", "volume: 100GiB", "volume: 50GiB")
    interlock("lock", "acme")
    document = json.loads(interlock("plan", "acme", "-f", "json", "--against", str(kept)).out)
    forbidden = [item for item in document["changes"] if item["action"] == "forbidden"]
    assert [item["name"] for item in forbidden] == ["acme-train-poplar-0-data", "acme-train-poplar-1-data"]
    assert forbidden[0]["fields"] == [
        {
            "field": "size_gib", "before": 100, "after": 50, "effect": "forbidden",
            "reason": "a volume can grow, not shrink", "follows": "",
        }
    ]  # fmt: skip


def git(lyon: Lyon, *arguments: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    command = ["git", "-C", str(lyon.stacks.parent), *identity, *arguments]
    subprocess.run(command, check=True, capture_output=True)


@pytest.fixture
def committed(lyon: Lyon) -> Lyon:
    """The site in a repository of its own, one commit deep."""
    git(lyon, "init", "--initial-branch", "main")
    git(lyon, "add", "stacks")
    git(lyon, "commit", "-m", "first")
    return lyon


def test_changes_against_a_revision(committed: Lyon, interlock: Interlock) -> None:
    committed.replace("tenants/acme.yaml", "servers: 2", "servers: 1")
    interlock("lock", "acme")
    done = interlock("plan", "acme", "--against", "HEAD")
    assert done.code == 0, done.err
    _, _, told = done.out.partition("changes against HEAD: ")
    assert "  - acme-train-poplar-1  Server\n" in told
    assert "  ~ acme-quota  Quota\n" in told
    assert "+" not in told


def test_a_tenant_that_was_not_there_is_all_new(committed: Lyon, interlock: Interlock) -> None:
    first = committed.file("tenants/globex.yaml")
    text = first.read_text()
    first.unlink()
    committed.file("tenants/globex.lock.json").unlink()
    git(committed, "commit", "-am", "without globex")
    first.write_text(text)
    interlock("lock", "globex")
    document = json.loads(interlock("plan", "globex", "-f", "json", "-a", "HEAD").out)
    assert {item["action"] for item in document["changes"]} == {"create"}


@pytest.mark.parametrize(
    ("content", "said"),
    [("{", "cannot be read as JSON"), ("[]", "holds no plan"), ('{"plan": {}}', "holds no plan")],
)
def test_a_file_that_holds_no_plan_is_2(
    lyon: Lyon, interlock: Interlock, tmp_path: Path, content: str, said: str
) -> None:
    kept = tmp_path / "kept.json"
    kept.write_text(content)
    done = interlock("plan", "acme", "--against", str(kept))
    assert done.code == 2
    assert said in done.err
    assert done.out == ""


@pytest.mark.parametrize("revision", ["nowhere", "--output=x"])
def test_an_unknown_revision_is_2(committed: Lyon, interlock: Interlock, revision: str) -> None:
    done = interlock("plan", "acme", f"--against={revision}")
    assert done.code == 2
    assert "git has no such revision" in done.err


def test_a_revision_that_cannot_be_planned_says_why(committed: Lyon, interlock: Interlock) -> None:
    committed.replace("tenants/acme.yaml", "servers: 2", "servers: 1")
    git(committed, "commit", "-am", "without a lock")
    interlock("lock", "acme")
    done = interlock("plan", "acme", "--against", "HEAD")
    assert done.code == 2
    assert "HEAD cannot be planned" in done.err
    assert "stacks/lyon/tenants/acme.yaml" in done.err
    assert "run `interlock lock acme`" in done.err


def test_an_old_lock_that_holds_what_was_asked_for_is_planned(committed: Lyon, interlock: Interlock) -> None:
    """As one that an earlier version of interlock wrote, which hashed the site in another way."""
    committed.replace("site.yaml", "cloud: sandbox", "cloud: other")
    git(committed, "commit", "-am", "without new locks")
    interlock("lock")
    done = interlock("plan", "acme", "--against", "HEAD")
    assert done.code == 0, done.err
    assert "changes against HEAD: none" in done.out


def test_an_unknown_tenant_is_2(lyon: Lyon, interlock: Interlock) -> None:
    done = interlock("plan", "acne")
    assert done.code == 2
    assert "did you mean `acme`?" in done.err


def test_the_end_of_a_stack_as_text_and_as_json(interlock: Interlock, lyon: Lyon) -> None:
    shown = interlock("plan", "acme", "--destroy", "--site", str(lyon.folder))
    assert shown.code == 0
    assert "destroy lyon-acme: " in shown.out
    assert "  - acme-checkpoints  Bucket: erased with all that is in it" in shown.out
    told = json.loads(interlock("plan", "acme", "--destroy", "--site", str(lyon.folder), "-f", "json").out)
    assert set(told) == {"version", "stack", "refused", "steps", "left", "released"}
    assert told["steps"][-1][0]["name"] == "acme-project"


def test_a_stack_whose_data_are_kept_ends_with_one(interlock: Interlock, lyon: Lyon) -> None:
    request = lyon.folder / "tenants" / "acme.yaml"
    request.write_text(request.read_text().replace("on_delete: erase", "on_delete: keep"))
    assert interlock("lock", "acme", "--site", str(lyon.folder)).code == 0
    shown = interlock("plan", "acme", "--destroy", "--site", str(lyon.folder))
    assert shown.code == 1
    assert "refused before anything is deleted" in shown.out
    assert "buckets.checkpoints.on_delete: Bucket acme-checkpoints: it holds data" in shown.out


@pytest.mark.parametrize("arguments", [("--destroy",), ("acme", "--destroy", "--against", "HEAD")])
def test_an_end_of_no_tenant_or_one_that_is_compared_is_wrong_usage(
    interlock: Interlock, lyon: Lyon, arguments: tuple[str, ...]
) -> None:
    shown = interlock("plan", *arguments, "--site", str(lyon.folder))
    assert shown.code == 2
    assert shown.out == ""
