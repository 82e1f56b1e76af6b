"""`interlock audit` of V-IPU: controllers of the simulator beside a cloud on paper."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from xml.etree import ElementTree

import asyncssh
import pytest

import interlock.provider.clouds as interlock_clouds
from infra.audit.comparison import Audit, StackAudit, audit
from infra.program.gate import Gate
from infra.switches import survey
from infra.switches.survey import Survey
from interlock.store.ledger import Ledger
from interlock.vipu.loading import SshHop
from interlock.vipu.transport import LocalRunner, Ran, Runner, SshRunner, VipuLimits
from sandbox.vipu.racks import changed
from tests.builders.paper import Paper, ident
from tests.builders.paper_cloud import PaperCloud
from tests.builders.vipu_controllers import StandingControllers, standing_controllers
from tests.infra.conftest import Interlock, Lyon
from tests.vipu.desk import Desk

ACME, CONTROLLER, GLOBEX = "lyon-acme", "acme-train-controller", "globex-research-controller"


@dataclass
class World:
    """The site with both tenants applied, and their controllers."""

    gate: Gate
    paper: Paper
    controllers: StandingControllers

    def cloud(self) -> PaperCloud:
        cloud = PaperCloud(self.paper)
        cloud.controllers = self.controllers
        return cloud

    def audit(self) -> Audit:
        return audit(self.gate, self.cloud())

    def acme(self, found: Audit) -> StackAudit:
        return next(item for item in found.stacks if item.plan.stack == ACME)

    @property
    def desk(self) -> Desk:
        return self.controllers.desk(CONTROLLER)

    def agents(self) -> list[tuple[str, str]]:
        """Id and address of acme's planned agents."""
        plan = self.gate.plan("acme")
        return [(one.name, one.host) for item in plan.resources if (one := item.resource).KIND == "VipuAgent"]  # type: ignore[attr-defined]


@pytest.fixture
def told(lyon: Lyon, interlock: Interlock, store: Ledger) -> Gate:
    """The site lets interlock tell controllers, and hands keys out."""
    lyon.replace("site.yaml", "user_api_port: 8090}", "user_api_port: 8090, managed_by: interlock}\nchannel: true")
    done = interlock("lock")
    assert done.code == 0, done.err
    return lyon.gate().with_applied()


@pytest.fixture
def world(told: Gate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    plans = [told.plan(tenant) for tenant in told.stacks()]
    with standing_controllers(tmp_path / "controllers", *plans) as controllers:
        found = World(told, Paper.of(plans), controllers)
        monkeypatch.setattr(interlock_clouds, "Cloud", lambda _, **of_site: found.cloud())
        monkeypatch.setattr(survey, "survey_of_audit", lambda gate, *_: Survey(gate.workspace.site.name, {}, {}))
        yield found


def test_what_an_up_left_has_not_drifted_and_is_no_strangers(world: World, interlock: Interlock) -> None:
    found = world.audit()
    assert [(item.name, item.differs, item.reason) for item in world.acme(found).drift] == []
    assert (found.has_drifted, found.unread, found.notes, found.unmanaged, found.unchecked) == (False, {}, (), (), "")
    kinds = {item.kind for item in world.acme(found).standings if item.ids}
    assert kinds >= {"VipuAgent", "VipuCluster", "VipuAllocation", "VipuUser", "StoredCredential"}
    ended = interlock("audit")
    assert ended.code == 0, ended.out
    assert "and so its certificate holds (proved" in ended.out
    assert "V-IPU" not in ended.out


def test_asked_by_hand_nobody_is_asked_and_it_is_said_once(
    lyon: Lyon, store: Ledger, interlock: Interlock, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = lyon.gate().with_applied()
    paper, controllers = Paper.of(gate.plan(tenant) for tenant in gate.stacks()), StandingControllers()

    def cloud(_: str, **of_site: str) -> PaperCloud:
        made = PaperCloud(paper)
        made.controllers = controllers
        return made

    monkeypatch.setattr(interlock_clouds, "Cloud", cloud)
    monkeypatch.setattr(survey, "survey_of_audit", lambda gate, *_: Survey(gate.workspace.site.name, {}, {}))
    ended = interlock("audit")
    assert ended.code == 0, ended.out
    (line,) = [line for line in ended.out.splitlines() if line.startswith("UNCHECKED")]
    assert line.startswith("UNCHECKED V-IPU controllers are told by hand (`controller.managed_by` of the site)")
    assert line.endswith(f": {CONTROLLER}, {GLOBEX}")
    assert "and so its certificate holds, but for what V-IPU was told by hand (proved" in ended.out
    assert json.loads(interlock("audit", "-f", "json").out)["unchecked"] in line
    (result,) = json.loads(interlock("audit", "-f", "sarif").out)["runs"][0]["results"]
    assert (result["ruleId"], result["level"]) == ("unchecked", "note")
    cases = ElementTree.fromstring(interlock("audit", "-f", "junit").out).iter("testcase")
    (case,) = [case for case in cases if case.get("name") == "V-IPU"]
    assert case.find("skipped") is not None


# Drift: what is planned, and how it is.


def test_what_is_missing_is_told_and_what_stands_on_it_is_compared_all_the_same(world: World) -> None:
    world.desk.do("remove user acme-train-poplar-0")
    (user,) = [item for item in world.acme(world.audit()).drift if item.kind == "VipuUser"]
    assert (user.name, user.ids) == ("acme-train-poplar-0-vipu", ())
    drift = {item.name: item.reason for item in world.acme(world.audit()).drift}
    assert drift == {
        "acme-train-poplar-0-vipu": "",
        "acme-train-poplar-0-vipu-key": "it refers to acme-train-poplar-0-vipu, which is not there",
    }


def test_a_user_of_other_allocations_is_drift_with_the_field(world: World, interlock: Interlock) -> None:
    world.desk.do("remove user acme-train-poplar-0")
    world.desk.do("create user acme-train-poplar-0")
    found = world.audit()
    (user,) = world.acme(found).drift
    planned, seen = user.differs["allocations"]
    assert planned == ["acme-train-allocation"]
    assert seen == [f"cloud-id:{ident(ACME, CONTROLLER)}/allocation/*"]
    ended = interlock("audit")
    assert ended.code == 1
    assert "DRIFT VipuUser acme-train-poplar-0-vipu" in ended.out


def test_an_agent_that_was_moved_is_judged_where_it_is(world: World) -> None:
    """Two planned agents at one address: the controller asks one machine twice."""
    (first, host), (second, before) = world.agents()[:2]
    world.controllers.says(CONTROLLER, f'"host": "{before}"', f'"host": "{host}"')
    found = world.acme(world.audit())
    (moved,) = found.drift
    assert (moved.name, dict(moved.differs)) == (second, {"host": (before, host)})
    assert moved.hint.startswith(f"{second} and {first} are at one address")
    assert found.live is not None
    told = [finding.message for finding in found.live.judgement.findings if finding.rule == "TOP-10"]
    assert any(f"{second} is asked at {host}, where ipum-02 is not" in text for text in told), told


def test_an_allocation_with_fewer_machines_than_planned_is_drift(world: World) -> None:
    agents = [name for name, _ in world.agents()]
    world.desk.do(f"update allocation acme-train-allocation --agents {','.join(agents[:-1])}")
    (item,) = world.acme(world.audit()).drift
    planned, seen = item.differs["machines"]
    assert (item.kind, len(planned) - len(seen), {*seen} < {*planned}) == ("VipuAllocation", 1, True)


def test_a_planned_name_that_an_administrator_has_is_drift(world: World) -> None:
    world.desk.do("remove user acme-train-poplar-0")
    world.desk.do("create user acme-train-poplar-0 --admin")
    (user,) = world.acme(world.audit()).drift
    assert "is an administrator of the controller" in user.reason
    assert user.hint.startswith("somebody made it one")


# Strangers, and what is none.


def test_an_agent_under_another_name_at_a_planned_address_is_found_and_judged(
    world: World, interlock: Interlock
) -> None:
    name, host = world.agents()[0]
    world.desk.do("create agent spy --host 10.9.9.9")
    world.controllers.says(CONTROLLER, "10.9.9.9", host)
    found = world.audit()
    (spy,) = found.unmanaged
    assert (spy.kind, spy.name, spy.stack, spy.orphan) == ("VipuAgent", "spy", ACME, False)
    assert f"it is at {host}:8080, where agent {name} of machine " in spy.why
    assert f"two agents are at one address: {name} is there, too" in spy.why
    live = world.acme(found).live
    assert live is not None
    assert live.not_expressible == ()
    assert any(finding.rule == "TOP-10" for finding in live.judgement.findings)
    ended = interlock("audit")
    assert ended.code == 1
    assert f"FOREIGN VipuAgent spy ({ident(ACME, CONTROLLER)}/agent/spy) at {ACME}: V-IPU controller" in ended.out


def test_strangers_at_one_address_that_nobody_planned(world: World) -> None:
    for name, host in (("one", "10.9.9.9"), ("two", "10.9.9.8")):
        world.desk.do(f"create agent {name} --host {host}")
    world.controllers.says(CONTROLLER, "10.9.9.8", "10.9.9.9")
    found = world.audit()
    assert {item.name: item.why.partition(": ")[2] for item in found.unmanaged} == {
        one: f"no plan has it; it is at 10.9.9.9:8080; two agents are at one address: {other} is there, too"
        for one, other in (("one", "two"), ("two", "one"))
    }
    live = world.acme(found).live
    assert live is not None
    assert len(live.not_expressible) == 2  # which machine is there no plan says


def test_what_a_stranger_made_of_planned_machines_is_in_the_observed_plan(world: World) -> None:
    """A cluster by hand after the planned one was taken away, with an allocation, a user and a partition in it."""
    users = [*world.desk.controller.state.users]
    for line in (
        *(f"remove user {user}" for user in users), "remove allocation acme-train-allocation",
        "remove cluster acme-train-cluster", f"create cluster other --agents {world.agents()[0][0]}",
        "create allocation other --cluster other", "create user mallory --allocations other",
        "create partition other --size 1 --allocation other",
    ):  # fmt: skip
        world.desk.do(line)
    found = world.audit()
    assert {item.kind for item in found.unmanaged} == {"VipuCluster", "VipuAllocation", "VipuUser", "VipuPartition"}
    live = world.acme(found).live
    assert live is not None
    server = ident(ACME, CONTROLLER)
    assert live.not_expressible == (f"VipuUser mallory ({server}/user/mallory)",)
    assert any("obj:allocation/acme/acme-train-allocation" in fact for fact in live.gone)
    assert any(f"obj:allocation/acme/found-{server}-allocation-other" in fact for fact in live.new)
    told = [finding.message for finding in live.judgement.findings if finding.rule == "TOP-10"]
    assert any(text.startswith(f"cluster found-{server}-cluster-other lacks acme-train-agent-") for text in told), told


@pytest.mark.parametrize(
    ("flags", "why"),
    [
        ("--allocations acme-train-allocation", "no plan has it, and it may use acme-train-allocation"),
        ("", "no plan has it, and all allocations are open to it"),
    ],
)
def test_a_user_nobody_planned_is_found(world: World, flags: str, why: str) -> None:
    world.desk.do(f"create user mallory {flags}")
    found = world.audit()
    (user,) = found.unmanaged
    assert (user.kind, user.name) == ("VipuUser", "mallory")
    assert user.why == f"V-IPU controller {CONTROLLER}: {why}"
    live = world.acme(found).live
    assert live is not None
    # Who has its key nobody knows: to judge it as the tenant's own would prove too much.
    assert live.not_expressible == (str(user),)


def test_of_administrators_one_is_taken_for_the_operators_or_they_are_stated(world: World) -> None:
    world.desk.do("create user root --admin")
    found = world.audit()
    assert (found.unmanaged, [note.word for note in found.notes]) == ((), ["ADMIN"])
    world.desk.do("create user toor --admin")
    assert [item.name for item in world.audit().unmanaged] == ["root", "toor"]
    server = ident(ACME, CONTROLLER)
    client = world.controllers.clients[server]
    world.controllers.clients[server] = replace(client, access=replace(client.access, admins=("root",)))
    found = world.audit()
    (other,) = found.unmanaged
    assert (other.name, found.notes) == ("toor", ())
    assert "it is an administrator: it can change everything" in other.why
    assert "`admins`" in other.hint


def test_a_partition_of_a_tenants_user_is_information(world: World, interlock: Interlock) -> None:
    world.desk.do("create partition mine --size 4 --allocation acme-train-allocation")
    found = world.audit()
    assert not found.has_drifted
    (note,) = found.notes
    assert (note.word, note.stack, note.controller) == ("OWN", ACME, CONTROLLER)
    assert note.text.startswith("partition mine: 4 IPUs of acme-train-allocation, ACTIVE; a user of the tenant made it")
    ended = interlock("audit")
    assert ended.code == 0
    assert f"OWN {CONTROLLER}: partition mine" in ended.out
    (result,) = json.loads(interlock("audit", "-f", "sarif").out)["runs"][0]["results"]
    assert (result["ruleId"], result["level"]) == ("controller", "note")
    (said,) = json.loads(interlock("audit", "-f", "json").out)["controllers"]
    assert said["word"] == "OWN"


def test_a_machine_that_does_not_answer_is_off_and_no_drift(world: World) -> None:
    name, host = world.agents()[0]
    world.desk.becomes(changed(world.desk.hardware(), host, answers=False))
    world.desk.clock.passes(60)
    found = world.audit()
    assert not world.acme(found).drift
    assert [(note.word, name in note.text) for note in found.notes] == [("OFF", True)]


# Controllers that cannot be read.

SECRET = "0c41dbe0-the-administrators-own-key"


@dataclass
class Stuck:
    """Answers each list with this."""

    ran: Ran

    def run(self, words: Sequence[str]) -> Ran:
        """What was to be said."""
        return self.ran


def _closed(world: World) -> None:
    """Nobody listens where its server should be."""
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        port = reserved.getsockname()[1]
    key = asyncssh.generate_private_key("ssh-ed25519")
    files = [world.controllers.stands[CONTROLLER].folder / name for name in ("key", "known_hosts")]
    key.write_private_key(str(files[0]))
    files[1].write_text(f"[127.0.0.1]:{port} {key.export_public_key().decode()}")
    world.controllers.answers(CONTROLLER, SshRunner(CONTROLLER, (SshHop("127.0.0.1", port, "operator", *files),)))


def _slow(world: World) -> None:
    """Its command does not end."""
    server = ident(ACME, CONTROLLER)
    client = world.controllers.clients[server]
    access = replace(client.access, command=("sh", "-c", "sleep 600"))
    runner = LocalRunner(CONTROLLER, limits=VipuLimits(command=0.1))
    world.controllers.clients[server] = replace(client, access=access, runner=runner)


def _unread(world: World, runner: Runner | None) -> None:
    if runner is None:
        del world.controllers.clients[ident(ACME, CONTROLLER)]
    else:
        world.controllers.answers(CONTROLLER, runner)


@pytest.mark.parametrize(
    ("spoilt", "why"),
    [
        (lambda world: _unread(world, None), "vipu.yaml does not say how V-IPU controller acme-train-controller"),
        (_closed, "is out of reach: "),
        (_slow, "there was no answer within 0.1 s while `sh` ran"),
        (lambda world: _unread(world, Stuck(Ran(0, '[{"id": 7', ""))), "is not understood: it is no JSON"),
        (lambda world: _unread(world, Stuck(Ran(0, "{}", ""))), "is not understood: it is no list"),
        (
            lambda world: _unread(world, Stuck(Ran(1, "", f'denied; api-access-key="{SECRET}"'))),
            '`list agent` ended with 1: denied; api-access-key="[secret]"',
        ),
    ],
    ids=["no entry", "no way", "too slow", "no JSON", "no list", "refused"],
)
def test_a_controller_that_cannot_be_read_is_no_pass(
    world: World, interlock: Interlock, spoilt: Callable[[World], None], why: str
) -> None:
    spoilt(world)
    ended = interlock("audit")
    assert ended.code == 3, ended.out
    (line,) = [line for line in ended.out.splitlines() if line.startswith("UNREAD V-IPU")]
    assert line.startswith(f"UNREAD V-IPU controller {CONTROLLER}: ")
    assert why in line
    assert "; next: " in line
    told = {text.split(":")[0]: text for text in ended.out.splitlines() if text.startswith("lyon-")}
    assert "nobody knows whether its certificate holds" in told[ACME]
    assert "and so its certificate holds (proved" in told["lyon-globex"]
    assert "DRIFT" not in ended.out
    forms = [interlock("audit", "-f", form).out for form in ("json", "sarif", "junit")]
    assert not any(SECRET in text for text in (ended.out, *forms))
    assert all(CONTROLLER in text for text in forms)


def test_no_key_of_a_user_is_in_any_report(world: World, interlock: Interlock) -> None:
    """A release that shows keys in lists: nobody reads that field."""
    world.controllers.says(CONTROLLER, '"spec": {', f'"spec": {{"access_key": "{SECRET}", ')
    world.desk.do("create user mallory")
    told = [interlock("audit", "-f", form).out for form in ("text", "json", "sarif", "junit")]
    assert all("mallory" in text for text in told)
    assert not any(SECRET in text for text in told)


def test_names_of_tenants_move_no_cursor_and_stop_nothing(world: World) -> None:
    world.controllers.says(CONTROLLER, "mine", "a/b\\u001b[2J")
    world.desk.do("create user mine")
    world.desk.do("create partition mine --size 4 --allocation acme-train-allocation")
    found = world.audit()
    (user,), (note,) = found.unmanaged, found.notes
    assert "\x1b" not in f"{user}{user.why}{note.text}"
    live = world.acme(found).live
    assert live is not None
    assert len(live.not_expressible) == 1
