"""`interlock break-glass close` on a cloud on paper: each difference judged, and what has to become of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

import infra.audit.comparison  # noqa: F401 - its modules derive from the `Cloud` that a test replaces
import interlock.provider.clouds as interlock_clouds
from infra.break_glass.differences import Judging
from infra.program import looking
from infra.program.break_glass import VARIABLE, break_glass_of, require_closed
from infra.switches import survey
from infra.switches.survey import Survey, Surveyed
from interlock.provider.markers import marker
from interlock.store.break_glass import BreakGlass
from interlock.store.ledger import Ledger
from interlock.switches.findings import FindingKind, SwitchFinding
from interlock.switches.observed import ObservedSwitch
from tests.builders.paper import Paper, ident
from tests.builders.paper_cloud import PaperCloud
from tests.infra.conftest import Ended, Interlock, Lyon
from tests.infra.signing import lists_signers
from tests.infra.test_break_glass import an_opening

ACME, GLOBEX = "lyon-acme", "lyon-globex"
POPLAR = "acme-train-poplar-0"
#: What a person says of V-IPU, which no audit reads.
LOOKED = ("--looked", "vipu-admin list user: both are there")

Night = Callable[[Paper], None]


@pytest.fixture
def paper(lyon: Lyon, store: Ledger, interlock: Interlock, monkeypatch: pytest.MonkeyPatch) -> Paper:
    """Everything as it was planned, and an entry is open."""
    gate = lyon.gate()
    found = Paper.of(gate.plan(tenant) for tenant in gate.stacks())
    monkeypatch.setattr(interlock_clouds, "Cloud", lambda _, **of_site: PaperCloud(found))
    monkeypatch.setattr(survey, "survey_of_audit", lambda gate, *_: Survey(gate.workspace.site.name, {}, {}))
    assert interlock("break-glass", "open", "acme", "--reason", "INC-1207").code == 0
    return found


def closed(interlock: Interlock, *arguments: str) -> Ended:
    return interlock("break-glass", "close", "acme", *arguments)


def judged(interlock: Interlock, *arguments: str) -> dict[str, dict[str, Any]]:
    done = closed(interlock, "--dry-run", *LOOKED, "--json", *arguments)
    assert done.out, done.err
    found = {item["object"]: item for item in json.loads(done.out)["differences"]}
    assert done.code == (1 if found else 0), done.err
    return found


def is_open(lyon: Lyon) -> bool:
    return bool(break_glass_of(lyon.gate()).of(ACME).open_entries)


def gone(paper: Paper, kind: str, name: str) -> None:
    paper.lists[kind] = [item for item in paper.lists[kind] if item["id"] != ident(ACME, name)]


def no_port(paper: Paper) -> None:
    server = ident(ACME, POPLAR)
    port = paper.one("Port", ident(ACME, f"{POPLAR}-storage"))
    assert port["device_id"] == server
    port["device_id"] = ""


def stopped(paper: Paper) -> None:
    paper.one("Server", ident(ACME, POPLAR))["status"] = "SHUTOFF"


def router_off(paper: Paper) -> None:
    paper.one("Router", ident(ACME, "acme-router"))["admin_state_up"] = False


def no_disk(paper: Paper) -> None:
    paper.one("Volume", ident(ACME, f"{POPLAR}-data"))["attachments"] = []


def no_key(paper: Paper) -> None:
    (key,) = [item for item in paper.lists["S3Credential"] if item["user_id"] == ident(ACME, "acme-train-s3")]
    paper.lists["S3Credential"].remove(key)


def no_member(paper: Paper) -> None:
    (right,) = [item for item in paper.lists["RoleAssignment"] if item["user"]["id"] == "alice"]
    paper.lists["RoleAssignment"].remove(right)


def no_ingress(paper: Paper) -> None:
    group = paper.one("SecurityGroup", ident(ACME, "acme-train-poplar-ssh"))
    rules = group["security_group_rules"]
    group["security_group_rules"] = [rule for rule in rules if rule["direction"] == "egress"]


def no_share(paper: Paper) -> None:
    paper.share_access.clear()


#: What acts leave -> the differences that are left; the second: what a request can say.
ACTS: dict[str, tuple[Night, set[str], str]] = {
    "detach-port": (no_port, {f"Server {POPLAR}"}, ""),
    "stop-server": (stopped, {f"Server {POPLAR}"}, ""),
    "stop-router": (router_off, {"Router acme-router"}, ""),
    "detach-volume": (no_disk, {f"VolumeAttachment {POPLAR}-attachment"}, ""),
    "revoke-s3-key": (no_key, {"S3Credential acme-train-s3-key", "Bucket acme-checkpoints"}, ""),
    "take-role": (no_member, {"RoleAssignment acme-member-alice"}, ""),
    "close-ingress": (no_ingress, {"SecurityGroup acme-train-poplar-ssh"}, "ssh_from"),
    "close-share": (no_share, {"ShareAccess acme-datasets-access-train"}, "shares.datasets"),
}


@pytest.mark.parametrize("act", ACTS)
def test_no_act_leaves_a_leak_and_each_is_closed_once_it_is_named(
    lyon: Lyon, interlock: Interlock, paper: Paper, act: str
) -> None:
    night, objects, taken_over = ACTS[act]
    assert judged(interlock) == {}
    night(paper)
    found = judged(interlock)
    assert objects >= found.keys() > set()
    assert {item["verdict"] for item in found.values()} == {"take over or undo" if taken_over else "undo"}
    told = [words for item in found.values() for words in item["findings"]]
    assert [words for words in told if not words.startswith("SEC-12: vPOD acme-train has no S3 account")] == []
    assert all(taken_over in item["take_over"] for item in found.values())
    assert closed(interlock, *LOOKED).code == 1
    assert is_open(lyon)
    named = [word for name in found for word in ("--undo", name)]
    done = closed(interlock, *LOOKED, *named)
    assert done.code == 0, done.out + done.err
    assert not is_open(lyon)
    require_closed(lyon.gate(), "acme")
    (entry,) = break_glass_of(lyon.gate()).of(ACME).entries
    assert entry.closing is not None
    assert {item.object for item in entry.closing.left} == found.keys()
    assert entry.closing.looked == LOOKED[1]


def test_what_is_put_back_by_hand_needs_no_name(lyon: Lyon, interlock: Interlock, paper: Paper) -> None:
    stopped(paper)
    assert closed(interlock, *LOOKED).code == 1
    paper.one("Server", ident(ACME, POPLAR))["status"] = "ACTIVE"
    assert closed(interlock, *LOOKED).code == 0
    assert not is_open(lyon)
    assert closed(interlock).code == 0
    assert interlock("break-glass", "list", "--closed").code == 0


def test_what_the_request_says_by_now_is_no_difference(lyon: Lyon, interlock: Interlock, paper: Paper) -> None:
    paper.one("Volume", ident(ACME, f"{POPLAR}-data"))["size"] = 200
    paper.one("Volume", ident(ACME, "acme-train-poplar-1-data"))["size"] = 200
    found = judged(interlock)
    volume = found[f"Volume {POPLAR}-data"]
    assert volume["verdict"] == "take over or undo"
    assert "`vpods.train.poplar.volume.size` so that size_gib is 200" in volume["take_over"]
    lyon.replace("tenants/acme.yaml", "volume: 100GiB", "volume: 200GiB")
    assert interlock("lock", "acme").code == 0
    # The quota of a larger volume is larger, and nobody has set it yet.
    assert judged(interlock).keys() == {"Quota acme-quota"}
    done = closed(interlock, *LOOKED, "--undo", "Quota acme-quota")
    assert done.code == 0, done.out


def shared(paper: Paper) -> None:
    network = ident(ACME, "acme-train-ipu-data")
    paper.one("Network", network)["shared"] = True
    right = {"id": "right", "object_type": "network", "object_id": network, "target_tenant": "*"}
    paper.lists["RbacPolicy"].append(right | {"action": "access_as_shared"})


def anothers_port(paper: Paper) -> None:
    """Somebody put a port of globex on acme's network, and called it that."""
    port = dict(paper.one("Port", ident(GLOBEX, "globex-research-poplar-0-control")))
    port |= {"id": "x", "description": "", "network_id": ident(ACME, "acme-train-control"), "device_id": ""}
    port["fixed_ips"] = [{"subnet_id": ident(ACME, "acme-train-control-subnet"), "ip_address": "10.64.0.77"}]
    paper.lists["Port"].append(port)


@pytest.mark.parametrize("night", [shared, anothers_port], ids=lambda night: night.__name__)
def test_a_leak_is_never_closed_whatever_is_named(lyon: Lyon, interlock: Interlock, paper: Paper, night: Night) -> None:
    night(paper)
    stopped(paper)
    found = judged(interlock)
    leaks = {name for name, item in found.items() if item["verdict"] == "leak"}
    assert leaks
    assert f"Server {POPLAR}" not in leaks
    assert all(found[name]["findings"] for name in leaks)
    # It is never closed while it is there, so nothing may be told to wait for that.
    assert not any("once this is closed" in found[name]["undo"] for name in leaks)
    assert night is not shared or any(VARIABLE in found[name]["undo"] for name in leaks)
    done = closed(interlock, *LOOKED, "--undo", "all")
    assert done.code == 1
    assert "  undo now: " in done.out
    assert is_open(lyon)


def test_a_leak_that_takes_several_differences_is_each_of_theirs(
    lyon: Lyon, interlock: Interlock, paper: Paper, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if no one of them did it alone: what all of them together join, nobody may leave."""
    shared(paper)
    no_member(paper)
    monkeypatch.setattr(Judging, "alone", lambda *_: ())
    found = judged(interlock)
    assert found.keys() > {"RoleAssignment acme-member-alice"}
    assert {item["verdict"] for item in found.values()} == {"leak"}
    assert all(item["findings"] for item in found.values())


def test_what_would_stop_an_up_is_said_by_who_looks_beforehand(
    lyon: Lyon, paper: Paper, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looking, "preflight", lambda *_: [])
    gate, cloud = lyon.gate().with_applied(), PaperCloud(paper)
    assert [fault.code for fault in looking.obstacles(gate, "acme", cloud)] == ["break-glass"]
    assert list(looking.obstacles(gate, "globex", cloud)) == []


def test_what_no_plan_can_hold_is_not_waved_through(lyon: Lyon, interlock: Interlock, paper: Paper) -> None:
    """A right of somebody whom no request names: no plan has such a user, so no rule has judged it."""
    stranger = {"user": {"id": "mallory"}, "role": {"id": "admin"}, "scope": {"project": {"id": _project(paper)}}}
    paper.lists["RoleAssignment"].append(stranger)
    found = judged(interlock)
    assert [item["verdict"] for item in found.values()] == ["not judged"]
    assert closed(interlock, *LOOKED, "--undo", "all").code == 1
    assert is_open(lyon)


def _project(paper: Paper) -> str:
    found = ident(ACME, "acme-project")
    assert paper.one("Project", found)
    return found


def test_what_nobody_reads_somebody_has_to_have_looked_at(lyon: Lyon, interlock: Interlock, paper: Paper) -> None:
    done = closed(interlock)
    assert done.code == 3
    assert "NOT SEEN V-IPU of acme-train-controller: " in done.out
    assert is_open(lyon)
    assert closed(interlock, *LOOKED).code == 0


@pytest.mark.parametrize(
    ("port", "about", "says", "verdict"),
    [
        (1, "admin state", "disabled", "undo"),
        (1, "VLAN", "1001", "not judged"),
        (30, "admin state", "enabled", "not judged"),
    ],
)
def test_switch_ports_of_the_stack_and_of_nobody_count(
    interlock: Interlock,
    paper: Paper,
    monkeypatch: pytest.MonkeyPatch,
    port: int,
    about: str,
    says: str,
    verdict: str,
) -> None:
    finding = SwitchFinding(FindingKind.DIFFERENT, "tor-1", port, "Ethernet1/1", about, "has another", says, "it")
    surveyed = Surveyed(ObservedSwitch("tor-1", "SN", None, None, {}), {}, (finding,))
    monkeypatch.setattr(survey, "survey_of_audit", lambda *_: Survey("lyon", {"tor-1": surveyed}, {}))
    (item,) = judged(interlock).values()
    assert item["verdict"] == verdict


def test_an_entry_of_somebody_else_is_closed_by_who_says_so(
    lyon: Lyon, store: Ledger, interlock: Interlock, paper: Paper
) -> None:
    BreakGlass(store.store).add(ACME, an_opening)
    done = closed(interlock, *LOOKED)
    assert done.code == 1
    assert "open by others: 2 by anne@tower" in done.err
    assert is_open(lyon)
    assert closed(interlock, *LOOKED, "--everybody").code == 0
    assert not is_open(lyon)


def test_what_is_opened_while_the_cloud_is_read_is_not_closed_unseen(
    lyon: Lyon, store: Ledger, interlock: Interlock, paper: Paper, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(gate: Any, *_: Any) -> Survey:
        BreakGlass(store.store).add(ACME, an_opening)
        return Survey(gate.workspace.site.name, {}, {})

    monkeypatch.setattr(survey, "survey_of_audit", read)
    done = closed(interlock, *LOOKED)
    assert done.code == 4
    assert "nothing is closed" in done.err
    assert len(break_glass_of(lyon.gate()).of(ACME).open_entries) == 2


def test_an_audit_says_what_is_open_and_finds_what_is_over(
    lyon: Lyon, store: Ledger, interlock: Interlock, paper: Paper
) -> None:
    done = interlock("audit")
    assert done.code == 0, done.out
    assert "BREAK-GLASS lyon-acme 1: " in done.out
    document = store.store.get(f"break-glass/{ACME}")
    assert document is not None
    record = json.loads(document.body)
    record["entries"][0]["opening"] |= {"since": "2026-01-01T00:00:00Z", "until": "2026-01-01T04:00:00Z"}
    store.store.put_over(f"break-glass/{ACME}", json.dumps(record).encode(), document.version)
    done = interlock("audit")
    assert done.code == 1, done.out
    assert "until 2026-01-01T04:00:00Z that is over: INC-1207" in done.out
    (found,) = json.loads(interlock("audit", "--format", "json").out)["break_glass"]
    assert (found["stack"], found["number"], found["is_expired"]) == (ACME, 1, True)
    assert "break-glass lyon-acme 1" in interlock("audit", "--format", "junit").out
    assert '"ruleId": "break-glass"' in interlock("audit", "--format", "sarif").out


def test_a_site_with_signers_has_its_entries_closed_by_one_of_them(
    lyon: Lyon, interlock: Interlock, paper: Paper, tmp_path_factory: pytest.TempPathFactory
) -> None:
    signing = lists_signers(lyon, tmp_path_factory.mktemp("keys"))
    assert interlock("lock").code == 0
    assert closed(interlock, *LOOKED).code == 2
    done = closed(interlock, *LOOKED, "--everybody", "--key", str(signing.key("bob")))
    assert done.code == 0, done.err
    (entry,) = json.loads(interlock("break-glass", "list", "--closed", "--json").out)["entries"]
    assert entry["closing"]["by"] == "bob"


def test_markers_are_what_an_object_is_known_by(lyon: Lyon, interlock: Interlock, paper: Paper) -> None:
    """Why they are not to be touched: without it the router is a stranger's, and the planned one is gone."""
    router = paper.one("Router", ident(ACME, "acme-router"))
    assert router["description"] == marker(lyon.gate().plan("acme").owner, "acme-router")
    router["description"] = ""
    assert "Router acme-router" in judged(interlock)
