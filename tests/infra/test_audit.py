"""`interlock audit` on a cloud on paper: what the report says, what the rules say of it, and how it ends."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from itertools import dropwhile
from typing import Any
from xml.etree import ElementTree

import pytest

import interlock.provider.clouds as interlock_clouds
from infra.audit.comparison import Audit, audit
from infra.audit.report import as_table
from infra.program.gate import Gate
from infra.switches import survey
from infra.switches.survey import Survey, Surveyed
from interlock.provider.actuators.shares import SERVICE as SHARES
from interlock.provider.calls import Api
from interlock.provider.clouds import Login
from interlock.provider.errors import Failure, Trouble
from interlock.provider.regions import Catalogue
from interlock.store.ledger import Ledger
from interlock.store.records import FootprintRecord, StackRecord
from interlock.store.refusals import Foreign
from interlock.switches.findings import FindingKind, SwitchFinding
from interlock.switches.observed import ObservedSwitch
from interlock.vocabulary import CloudFingerprint
from interlock.vocabulary.owners import OwnerId
from tests.builders.paper import LOGIN, Paper, ident
from tests.builders.paper_cloud import PaperCloud
from tests.infra.conftest import Interlock, Lyon

ACME = "lyon-acme"


@pytest.fixture
def gate(lyon: Lyon, store: Ledger) -> Gate:
    """The site with both tenants."""
    return lyon.gate().with_applied()


@pytest.fixture
def paper(gate: Gate) -> Paper:
    """Everything as it was planned."""
    return Paper.of(gate.plan(tenant) for tenant in gate.stacks())


def held(gate: Gate, paper: Paper) -> Audit:
    return audit(gate, PaperCloud(paper))


def share(paper: Paper) -> None:
    """With everybody, as Neutron shows it: a right of all, and a flag that follows from it."""
    network = ident(ACME, "acme-train-ipu-data")
    paper.one("Network", network)["shared"] = True
    right = {"id": "right", "object_type": "network", "object_id": network, "target_tenant": "*"}
    paper.lists["RbacPolicy"].append(right | {"action": "access_as_shared"})


@pytest.fixture
def on_paper(monkeypatch: pytest.MonkeyPatch, paper: Paper) -> Paper:
    """The command finds this cloud."""
    monkeypatch.setattr(interlock_clouds, "Cloud", lambda _, **of_site: PaperCloud(paper))
    monkeypatch.setattr(survey, "survey_of_audit", lambda gate, *_: Survey(gate.workspace.site.name, {}, {}))
    return paper


def test_where_all_is_as_planned_there_is_no_drift(interlock: Interlock, on_paper: Paper) -> None:
    ended = interlock("audit")
    assert ended.code == 0, ended.out
    held = "and so its certificate holds, but for what V-IPU was told by hand (proved"
    assert f"lyon-acme: 49 of 49 objects are as planned, {held}" in ended.out
    assert ended.out.splitlines()[-1].startswith("lyon: no drift; ")
    assert ended.err == ""  # how far it is, is for terminals


def test_in_another_region_nothing_is_compared(gate: Gate, paper: Paper) -> None:
    """Everything would be missing there, and what is really there would not be looked at."""
    assert gate.applied is not None
    assert gate.applied.ledger is not None
    gate.applied.ledger.keep_cloud(CloudFingerprint("paper", "RegionTwo"))
    with pytest.raises(Foreign, match=r"about cloud paper \(region RegionTwo\)"):
        held(gate, paper)


def test_a_region_that_is_stated_wrongly_is_refused(lyon: Lyon, gate: Gate, paper: Paper, interlock: Interlock) -> None:
    """The stated region has claims of its own, and none of them: everything would be missing, and be called drift."""
    assert gate.applied is not None
    assert gate.applied.ledger is not None
    gate.applied.ledger.keep_cloud(CloudFingerprint("paper", "RegionOne"))
    file = lyon.folder / "site.yaml"
    text = file.read_text()
    file.write_text(text.replace("cloud: sandbox\n", "cloud: sandbox\nregion: RegionTwo\n"))
    assert interlock("lock").code == 0
    elsewhere = lyon.gate().with_applied()
    with pytest.raises(Foreign, match=r"its claims are about cloud paper \(region RegionOne\)") as refused:
        held(elsewhere, paper)
    assert "correct `region:` in site.yaml" in str(refused.value)
    file.write_text(text.replace("cloud: sandbox\n", "cloud: sandbox\nregion: RegionOne\n"))
    here = lyon.gate().with_applied().applied
    assert here is not None
    here.check_cloud(CloudFingerprint("paper", "RegionOne"))


def test_a_recreated_user_is_drift_also_with_the_right_of_the_old_one(gate: Gate, paper: Paper) -> None:
    """Somebody gave it back by hand: the name is the same, the person may be another."""
    assert gate.applied is not None
    entry = FootprintRecord(footprint=gate.footprint(gate.plan("acme")), nodes=())
    record = StackRecord(
        stack=ACME, tenant="acme", owner=OwnerId("x"), lineage="", serial=1, confirmed=True, entries=(entry,),
        persons={"alice": "an-old-id", "anne": "anne"}, written_by="",
    )  # fmt: skip
    known = replace(gate, applied=replace(gate.applied, records={ACME: record}))
    found = held(known, paper)
    (acme,) = (item for item in found.stacks if item.plan.stack == ACME)
    (drifted,) = acme.drift
    assert drifted.name == "acme-member-alice"
    said = "user alice is another than the one that got the right: its id was an-old-id, and is alice now"
    assert drifted.reason == said
    # `up` refuses that, so it puts nothing back.
    told = as_table(found, known)
    assert "next: ask who that is; take alice out of `members`" in told
    assert "puts it back" not in told


def test_what_nobody_applied_is_no_drift(gate: Gate) -> None:
    found = held(gate, Paper.of([gate.plan(None)]))
    assert not found.has_drifted
    assert [stack.is_applied for stack in found.stacks] == [True, False, False]


def test_a_network_for_everybody_is_a_leak_with_a_witness(interlock: Interlock, on_paper: Paper) -> None:
    share(on_paper)
    ended = interlock("audit")
    assert ended.code == 1
    assert "DRIFT Network acme-train-ipu-data" in ended.out
    assert "shared is true, planned false" in ended.out
    assert "planned at " in ended.out
    assert "ISO-24 violated: every project, foreign ones among them, has a right to network acme-train" in ended.out
    assert "    + facts E13 cap:globex" in ended.out


def test_the_same_for_programs(interlock: Interlock, on_paper: Paper) -> None:
    share(on_paper)
    said = json.loads(interlock("audit", "--format", "json").out)
    assert (said["version"], said["verdict"]) == (1, "drift")
    (acme,) = (stack for stack in said["stacks"] if stack["stack"] == ACME)
    (drift,) = acme["drift"]
    assert drift["differs"] == {"shared": {"planned": False, "seen": True}}
    assert acme["live"]["verdict"] == "violated"
    assert acme["live"]["statement"] != acme["statement"]
    assert {finding["rule"] for finding in acme["live"]["findings"]} >= {"ISO-01", "ISO-02", "ISO-24"}


def test_the_same_for_ci(interlock: Interlock, on_paper: Paper) -> None:
    clean = ElementTree.fromstring(interlock("audit", "--format", "junit").out)
    assert {suite.get("failures") for suite in clean} == {"0"}
    assert sum(int(suite.get("tests") or 0) for suite in clean) > 37
    share(on_paper)
    ended = interlock("audit", "--format", "junit")
    assert ended.code == 1
    failed = [
        case.get("name")
        for case in ElementTree.fromstring(ended.out).iter("testcase")
        if case.find("failure") is not None
    ]
    assert "Network acme-train-ipu-data" in failed
    assert any((name or "").startswith("observed plan: ISO-24 ") for name in failed)
    (run,) = json.loads(interlock("audit", "--format", "sarif").out)["runs"]
    (drift,) = [result for result in run["results"] if result["ruleId"] == "drift"]
    assert "acme-train-ipu-data" in drift["message"]["text"]
    (leak,) = [result for result in run["results"] if result["ruleId"] == "ISO-24"]
    assert leak["message"]["text"].startswith("lyon-acme: observed plan: every project")
    assert (leak["level"], bool(leak["locations"])) == ("error", True)
    (place,) = drift["locations"]
    assert place["physicalLocation"]["artifactLocation"]["uri"].startswith("stacks/lyon/tenants/acme")
    assert {result["ruleId"] for result in run["results"]} <= {rule["id"] for rule in run["tool"]["driver"]["rules"]}


def test_what_no_plan_can_hold_is_no_pass_for_ci(interlock: Interlock, on_paper: Paper) -> None:
    """A trunk of elsewhere takes a port of ours: what hangs on its other ports nobody can say."""
    inside = {"port_id": ident(ACME, "acme-train-poplar-0-control"), "segmentation_id": 7, "segmentation_type": "vlan"}
    trunk = {"id": "t", "name": "t", "description": "", "project_id": "p", "port_id": "y", "sub_ports": [inside]}
    on_paper.lists["Trunk"].append(trunk)
    said = ElementTree.fromstring(interlock("audit", "--format", "junit").out)
    (case,) = [case for case in said.iter("testcase") if case.get("name") == "observed plan"]
    assert case.find("failure") is not None
    (run,) = json.loads(interlock("audit", "--format", "sarif").out)["runs"]
    (result,) = [result for result in run["results"] if result["ruleId"] == "not-judged"]
    assert "Trunk t (t)" in result["message"]["text"]


def test_a_change_that_joins_nobody_changes_no_fact(gate: Gate, paper: Paper) -> None:
    paper.one("Volume", ident(ACME, "acme-train-poplar-0-data"))["name"] = "mine"
    found = held(gate, paper)
    (acme,) = (stack for stack in found.stacks if stack.plan.stack == ACME)
    assert [item.name for item in acme.drift] == ["acme-train-poplar-0-data"]
    assert acme.live is not None
    assert (acme.live.new, acme.live.gone, acme.live.judgement.exit_code) == ((), (), 0)


def test_a_quota_that_was_raised_by_hand_is_told_with_both_limits(gate: Gate, paper: Paper) -> None:
    limits = paper.quotas[ident(ACME, "acme-project")]["network"]
    planned, limits["port"] = limits["port"], 999
    found = held(gate, paper)
    (acme,) = (stack for stack in found.stacks if stack.plan.stack == ACME)
    assert [(item.name, item.differs) for item in acme.drift] == [("acme-quota", {"ports": (planned, 999)})]
    assert acme.live is not None
    assert acme.live.judgement.exit_code == 0, "it joins nobody"


def test_the_quota_of_a_project_that_is_gone_is_gone_with_it(gate: Gate, paper: Paper) -> None:
    paper.lists["Project"] = [item for item in paper.lists["Project"] if item["id"] != ident(ACME, "acme-project")]
    (acme,) = (stack for stack in held(gate, paper).stacks if stack.plan.stack == ACME)
    assert {"acme-project", "acme-quota"} <= {item.name for item in acme.drift if not item.ids}


def test_each_of_two_s3_keys_is_found_by_its_number(gate: Gate, paper: Paper) -> None:
    """While a key is rotated there are two: the second is foreign where no plan has it, and the first no less ours."""
    (key,) = (item for item in paper.lists["S3Credential"] if item["id"] == ident(ACME, "acme-train-s3-key"))
    blob = json.dumps({"access": "g02aa", "secret": "another"})
    paper.lists["S3Credential"].append(key | {"id": "other", "blob": blob})
    found = held(gate, paper)
    (acme,) = (stack for stack in found.stacks if stack.plan.stack == ACME)
    assert acme.drift == []
    assert [item.kind for item in acme.unmanaged] == ["S3Credential"]


def test_what_no_plan_can_say_is_not_judged_and_counts(gate: Gate, paper: Paper) -> None:
    port = paper.one("Port", ident(ACME, "acme-train-poplar-0-control"))
    port["security_groups"] = ["3f0d4c1e-somebody's"]
    found = held(gate, paper)
    (acme,) = (stack for stack in found.stacks if stack.plan.stack == ACME)
    (drift,) = acme.drift
    assert drift.differs["security_groups"][1] == ["cloud-id:3f0d4c1e-somebody's"]
    assert acme.live is None
    assert found.has_drifted


def test_what_is_gone_takes_what_stands_on_it_along(gate: Gate, paper: Paper) -> None:
    gone = ident(ACME, "acme-train-control-subnet")
    paper.lists["Subnet"] = [item for item in paper.lists["Subnet"] if item["id"] != gone]
    found = held(gate, paper)
    (acme,) = (stack for stack in found.stacks if stack.plan.stack == ACME)
    assert {"acme-train-control-subnet", "acme-train-control-uplink"} <= {item.name for item in acme.drift}
    assert acme.live is not None
    assert acme.live.gone


#: Kind -> an object of somebody else's in the site's territory, and what is said of it.
SOMEBODYS: dict[str, tuple[dict[str, Any], str]] = {
    "Server": (
        {"id": "x", "name": "x", "tenant_id": "p", "metadata": {}, "OS-EXT-SRV-ATTR:host": "poplar-2"},
        "it runs on host poplar-2 of the site",
    ),
    "FloatingIp": (
        {
            "id": "x",
            "project_id": "p",
            "port_id": "acme-train-poplar-0-control",
            "router_id": None,
            "floating_network_id": ident("lyon-site", "external"),
            "floating_ip_address": "192.0.2.77",
        },
        "it leads to port",
    ),
    "Trunk": (
        {"id": "x", "name": "x", "project_id": "p", "port_id": "acme-train-poplar-0-ipu-data", "sub_ports": []},
        "it leads to port",
    ),
}


@pytest.mark.parametrize("kind", SOMEBODYS)
def test_what_others_have_in_our_territory_is_told(gate: Gate, paper: Paper, kind: str) -> None:
    item, said = SOMEBODYS[kind]
    port = item.get("port_id")
    paper.lists[kind].append(item | ({"port_id": ident(ACME, port)} if port else {}))
    (resource,) = held(gate, paper).unmanaged
    assert (resource.kind, resource.id, resource.orphan) == (kind, "x", False)
    assert resource.why.startswith(said)


@pytest.mark.parametrize("kind", SOMEBODYS)
def test_and_elsewhere_it_is_nobodys_business(gate: Gate, paper: Paper, kind: str) -> None:
    item, _ = SOMEBODYS[kind]
    paper.lists[kind].append(
        item | {"OS-EXT-SRV-ATTR:host": "mars-1"} | ({"port_id": "y"} if "port_id" in item else {})
    )
    assert not held(gate, paper).has_drifted


@pytest.fixture
def was_there(lyon: Lyon, interlock: Interlock, on_paper: Paper) -> dict[str, Any]:
    """The external network is the operator's own, as the site file states it; as Neutron lists it."""
    network = on_paper.one("Network", ident("lyon-site", "external"))
    network["description"] = ""
    lyon.replace("site.yaml", "\nexternal:\n", f"\nexisting: {{Network/external: {network['id']}}}\nexternal:\n")
    assert interlock("lock").code == 0
    return network


def test_an_object_that_was_there_before_is_compared_with_the_site_file(
    interlock: Interlock, was_there: dict[str, Any]
) -> None:
    assert interlock("audit").code == 0
    was_there.update({"provider:network_type": "vlan", "provider:segmentation_id": 57})
    ended = interlock("audit")
    assert ended.code == 1
    assert f"EXISTING Network/external ({was_there['id']}): network_type is" in ended.out
    assert "named at stacks/lyon/site.yaml:" in ended.out
    said = json.loads(interlock("audit", "--format", "json").out)
    (item,) = said["existing"]
    assert (said["verdict"], item["differs"]["network_type"]["seen"]) == ("drift", "vlan")
    (run,) = json.loads(interlock("audit", "--format", "sarif").out)["runs"]
    assert [result["ruleId"] for result in run["results"] if result["level"] == "error"] == ["existing"]
    suites = ElementTree.fromstring(interlock("audit", "--format", "junit").out)
    failed = [case.get("name") for case in suites.iter("testcase") if case.find("failure") is not None]
    assert failed == ["existing Network/external"]


def test_of_an_object_that_was_there_before_what_is_not_listed_is_unread(
    interlock: Interlock, was_there: dict[str, Any], monkeypatch: pytest.MonkeyPatch, on_paper: Paper
) -> None:
    """Its list is refused: nobody knows whether it is as stated."""
    monkeypatch.setattr(Refusing, "path", "/networks")
    monkeypatch.setattr(interlock_clouds, "Cloud", lambda _, **of_site: Refusing(on_paper))
    ended = interlock("audit")
    assert "UNREAD existing Network/external: network GET /networks: status 403" in ended.out
    assert "EXISTING" not in ended.out


class Refusing(PaperCloud):
    """One list fails."""

    trouble = Trouble.FORBIDDEN
    path = "/rbac-policies"

    def api(self, service: str, project: str | None = None) -> Api:
        found = super().api(service, project)
        if service == "network":
            whole: Callable[..., Any] = found.pages

            def pages(path: str, *rest: Any, **options: Any) -> Any:
                if path == self.path:
                    raise Failure(self.trouble, f"network GET {path}: status 403")
                return whole(path, *rest, **options)

            found.pages = pages  # type: ignore[method-assign]
        return found


def test_a_list_that_is_refused_is_no_pass(interlock: Interlock, paper: Paper, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interlock_clouds, "Cloud", lambda _, **of_site: Refusing(paper))
    ended = interlock("audit")
    assert ended.code == 3
    assert "UNREAD RbacPolicy: network GET /rbac-policies: status 403" in ended.out
    assert "lyon: not readable" in ended.out
    paper.one("Network", ident(ACME, "acme-train-ipu-data"))["shared"] = True
    assert interlock("audit").code == 1


class WithoutManila(PaperCloud):
    """Its catalogue has no shared file systems."""

    @cached_property
    def login(self) -> Login:
        return replace(LOGIN, catalogue=Catalogue({}))

    def api(self, service: str, project: str | None = None) -> Api:
        assert service != SHARES, "nobody answers there"
        return super().api(service, project)


def test_a_service_that_is_planned_and_not_there_is_unread(
    interlock: Interlock, paper: Paper, monkeypatch: pytest.MonkeyPatch, lyon: Lyon
) -> None:
    """It may hold what was planned: nobody calls it missing. All else is read and judged."""
    monkeypatch.setattr(interlock_clouds, "Cloud", lambda _, **of_site: WithoutManila(paper))
    monkeypatch.setattr(survey, "survey_of_audit", lambda gate, *_: Survey(gate.workspace.site.name, {}, {}))
    ended = interlock("audit")
    assert ended.code == 3, ended.out
    assert "DRIFT" not in ended.out
    why = "the catalogue of cloud 'paper' has no service shared-file-system"
    told = [line.split(": ")[0] for line in ended.out.splitlines() if line.endswith(f": {why}")]
    plan = lyon.gate().plan("acme")
    planned = {item.name for item in plan.resources if item.resource.KIND.startswith("Share")}
    assert {*told} >= {f"UNREAD {what}" for what in ("Share", "ShareAccess", "ShareType", *planned)}
    # Servers are told where the share is exported, so of them not all is known either.
    names = (f"UNREAD {item.name}: " for item in plan.resources)
    unread = sum(any(line.startswith(name) for line in ended.out.splitlines()) for name in names)
    assert unread > len(planned)
    assert f"and {unread} could not be read, so nobody knows whether its certificate holds" in ended.out
    assert "lyon: not readable" in ended.out
    share(paper)
    assert interlock("audit").code == 1


def test_where_nobody_plans_shares_a_cloud_needs_no_manila(
    interlock: Interlock, monkeypatch: pytest.MonkeyPatch, lyon: Lyon, store: Ledger
) -> None:
    lyon.replace("site.yaml", ", share_type: nfs", "")
    for file, key in (("tenants/acme.yaml", "shares:"), ("site.yaml", "share_types:")):
        before, _, after = lyon.file(file).read_text().partition(f"\n{key}\n")
        rest = dropwhile(lambda line: line.startswith(" "), after.splitlines(keepends=True))
        lyon.file(file).write_text("\n".join((before, "".join(rest))))
    assert interlock("lock").code == 0
    gate = lyon.gate().with_applied()
    paper = Paper.of(gate.plan(tenant) for tenant in gate.stacks())
    found = audit(gate, WithoutManila(paper))
    assert not found.has_drifted
    assert [what for what in found.unread if "hare" in what] == []


def test_a_cloud_that_fails_is_no_verdict(interlock: Interlock, paper: Paper, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Refusing, "trouble", Trouble.SERVICE)
    monkeypatch.setattr(interlock_clouds, "Cloud", lambda _, **of_site: Refusing(paper))
    ended = interlock("audit")
    assert (ended.code, ended.out) == (4, "")
    assert "status 403" in ended.err


# What the switches say.

VLAN = SwitchFinding(
    FindingKind.DIFFERENT, "tor-1", 1, "Ethernet1/1", "VLAN", "sets access VLAN 1000 for ipum-01:rnic", "4000",
    "the plan of lyon-acme",
)  # fmt: skip
TOLD = "tor-1 1 (Ethernet1/1): VLAN: the plan of lyon-acme sets access VLAN 1000 for ipum-01:rnic; the switch says 4000"


def saying(*findings: SwitchFinding) -> Callable[..., Survey]:
    """Switches that say this."""
    observed = ObservedSwitch("tor-1", "SN", None, None, {})
    return lambda gate, *_: Survey(gate.workspace.site.name, {"tor-1": Surveyed(observed, {}, findings)}, {})


def test_a_switch_that_says_something_else_is_drift(
    interlock: Interlock, on_paper: Paper, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(survey, "survey_of_audit", saying(VLAN))
    ended = interlock("audit")
    assert ended.code == 1
    assert f"SWITCH {TOLD}" in ended.out
    assert ended.out.splitlines()[-1].startswith("lyon: drift; ")
    (found,) = json.loads(interlock("audit", "-f", "json").out)["switches"]
    assert (found["found"], found["switch"], found["port"], found["says"]) == ("different", "tor-1", 1, "4000")
    results = json.loads(interlock("audit", "-f", "sarif").out)["runs"][0]["results"]
    assert [item["message"]["text"] for item in results if item["ruleId"] == "switch"] == [TOLD]
    assert TOLD in interlock("audit", "-f", "junit").out


def test_what_a_switch_does_not_say_is_no_pass(
    interlock: Interlock, on_paper: Paper, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(survey, "survey_of_audit", saying(replace(VLAN, found=FindingKind.UNKNOWN, says="nothing")))
    ended = interlock("audit")
    assert ended.code == 3
    assert "UNREAD tor-1 1 (Ethernet1/1): VLAN" in ended.out


def test_a_switch_that_neutron_wires_and_nobody_can_read_is_no_pass(
    interlock: Interlock, paper: Paper, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interlock_clouds, "Cloud", lambda _, **of_site: PaperCloud(paper))
    ended = interlock("audit")
    assert ended.code == 3
    assert "UNREAD switch tor-1: there is no switches.yaml" in ended.out
    assert ended.out.splitlines()[-1].startswith("lyon: not readable; ")
