"""Whole hosts on the real path: Ironic's allocation, deployment and cleaning, Neutron, its driver, and the switches."""

from __future__ import annotations

import re
import threading
from typing import Any

import pytest

from interlock.provider import removing
from interlock.provider.actuators import ACTUATORS, bare_metal
from interlock.provider.clouds import Cloud
from tests.conftest import Sandbox
from tests.faults.attempts import attempt, settle
from tests.provider.whole_hosts import (
    DATA,
    DEATHS,
    HOST,
    LEGS,
    NUMBER,
    allocations,
    attached,
    is_back,
    is_lent,
    mended,
    mia,
    node,
    switches_die,
    told,
    vlans,
)
from tests.sandbox.switch_sessions import QUARANTINE, Client, clients
from tests.support.cloud.journal import Trap
from tests.support.cloud.nodes import Enrolled
from tests.support.engine.process import Refused
from tests.support.engine.stack import Stack
from tests.support.sampling import Sampling
from tests.support.world import whole
from tests.support.world.declared import KEY

__all__ = ["mia", "node"]


@pytest.fixture
def host(mia: Stack) -> Stack:
    """The host stands."""
    if HOST not in mia.state:
        mia.create(HOST)
    return mia


@pytest.fixture
def no_host(mia: Stack) -> Stack:
    """There is none; what the test makes of it is the host of the next test that wants one."""
    if HOST in mia.state:
        mia.delete(HOST)
    return mia


@pytest.fixture
def switches(sandbox: Sandbox) -> dict[str, Client]:
    """As a reader sees them."""
    return clients(sandbox.dir)


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """What does not go is asked again at once."""
    monkeypatch.setattr(removing, "LETTING_GO", 0.5)


# --- as planned -------------------------------------------------------------------------------------------


def test_trap_an_allocation_with_our_marker_in_another_project(no_host: Stack, node: Enrolled, operator: Cloud) -> None:
    project = no_host.state["mia-project"].id
    body = {"resource_class": "none", "extra": {"interlock": f"interlock:313a00:{HOST}"}, "owner": project}
    theirs = node.asked("POST", "/allocations", body)
    try:
        assert theirs["owner"] == project
        mark, own = f"interlock:313a00:{HOST}", operator.login.project
        assert list(ACTUATORS["BareMetalServer"].search(operator, mark, own)) == []
    finally:
        node.asked("DELETE", f"/allocations/{theirs['uuid']}")


MARKS = ("", "interlock:313a00:mia-whole-1-2", "interlock:313a002:mia-whole-1", "x interlock:313a00:mia-whole-1")


def test_trap_an_allocation_without_exactly_our_marker(no_host: Stack, operator: Cloud) -> None:
    """Of a class that no node has: they stand there, failed."""
    ironic, own = operator.api("baremetal"), operator.login.project
    bodies = [{"resource_class": "none", "extra": {"interlock": mark}, "owner": own} for mark in MARKS]
    theirs = [ironic.post("/allocations", body)["uuid"] for body in bodies]
    try:
        assert list(ACTUATORS["BareMetalServer"].search(operator, f"interlock:313a00:{HOST}", own)) == []
        assert no_host.create(HOST).id not in theirs
        assert all(ironic.find(f"/allocations/{one}") is not None for one in theirs)
    finally:
        for one in theirs:
            ironic.delete(f"/allocations/{one}")


def test_a_host_is_lent_deployed_and_on_its_networks(host: Stack, node: Enrolled, switches: dict[str, Client]) -> None:
    assert is_lent(node, host)
    assert vlans(switches) == [DATA, whole.CONTROL]
    assert attached(node) == {
        "tor-1 Ethernet13/1": host.state[f"{HOST}-data"].id, "mgmt-1 Ethernet13": host.state[f"{HOST}-control"].id,
    }  # fmt: skip
    assert host.diff(HOST) == {}
    assert host.read(HOST, record=False) == host.state[HOST]


def test_a_host_that_is_ours_is_no_obstacle(host: Stack) -> None:
    assert told(host, conductor_group="interlock") == []
    assert host.admit(preview=False) == []


def test_a_host_has_the_key_and_the_document_of_the_plan(host: Stack, node: Enrolled, sandbox: Sandbox) -> None:
    drive = whole.disk(sandbox.dir, node.id)["configdrive"]
    assert drive["meta_data"]["hostname"] == HOST
    assert list(drive["meta_data"]["public_keys"].values()) == [KEY]
    assert drive["user_data"] == host.resources[HOST].canonical()["user_data"]


def test_a_port_comes_and_goes_on_a_host_that_runs(host: Stack, node: Enrolled, switches: dict[str, Client]) -> None:
    deployed, plan = node.raw()["provision_updated_at"], dict(host.resources)
    spec: Any = plan[HOST]
    fewer = spec.model_copy(update={"ports": spec.ports[:1], "legs": spec.legs[:1]})
    for planned, expected in ((fewer, [DATA, QUARANTINE]), (spec, [DATA, whole.CONTROL])):
        host.declare(plan | {HOST: planned})
        assert host.admit(preview=False) == []
        changes = host.diff(HOST)
        assert {"ports", "legs"} <= set(changes)
        assert not any(changes.values()), "nothing is replaced"
        host.update(HOST)
        assert vlans(switches) == expected
    assert node.raw()["provision_updated_at"] == deployed, "it was not deployed again"


def test_a_port_that_somebody_set_is_drift_and_up_attaches_it_again(
    host: Stack, node: Enrolled, sandbox: Sandbox, switches: dict[str, Client]
) -> None:
    deployed = node.raw()["provision_updated_at"]
    whole.by_hand(sandbox.dir, switches["tor-1"], "Ethernet13/1", "switchport access vlan 1")
    assert host.read(HOST) is not None
    assert host.diff(HOST) == {"legs": False}
    assert host.check(HOST) == [], "what a refresh wrote into the state can be read"
    host.update(HOST)
    assert vlans(switches) == [DATA, whole.CONTROL]
    assert host.diff(HOST) == {}
    assert node.raw()["provision_updated_at"] == deployed, "it was not deployed again"


# --- interrupted ------------------------------------------------------------------------------------------


def test_a_deletion_whose_answer_is_lost_goes_on(
    host: Stack, node: Enrolled, sandbox: Sandbox, switches: dict[str, Client]
) -> None:
    """Also of a host that a refresh found off its network."""
    whole.by_hand(sandbox.dir, switches["tor-1"], "Ethernet13/1", "switchport access vlan 1")
    assert host.read(HOST) is not None
    trap = Trap(sandbox.dir)
    trap.arm(1, "after", "/states/provision")
    releasing = threading.Thread(target=_release, args=(trap,))
    releasing.start()
    host.delete(HOST)
    releasing.join()
    assert is_back(node)
    assert vlans(switches) == [QUARANTINE, QUARANTINE]


#: (request, where its answer is lost): the allocation, the node, two ports, the deployment.
LOST = ((1, "after"), (2, "before"), (3, "after"), (4, "before"), (5, "before"), (5, "after"))


def test_an_answer_that_is_lost_at_any_step_makes_one_host(
    no_host: Stack, node: Enrolled, operator: Cloud, sandbox: Sandbox, sampling: Sampling
) -> None:
    """One step in a usual run, all in a long one: each deploys and cleans the host. Kills take others."""
    for request_, when in sampling.some("answers lost of a host", LOST, 1):
        if HOST in no_host.state:
            no_host.delete(HOST)
            assert is_back(node)
        trap = Trap(sandbox.dir)
        trap.arm(request_, when, "/v1/")
        releasing = threading.Thread(target=_release, args=(trap,))
        releasing.start()
        refused = attempt(lambda: no_host.create(HOST))
        releasing.join()
        settle(no_host, HOST, refused)
        assert is_lent(node, no_host)
        assert [item["uuid"] for item in allocations(operator, node)] == [no_host.state[HOST].id]


def _release(trap: Trap) -> None:
    """Lets the held request fail with 503 as soon as it is held."""
    assert trap.wait(30) is not None
    trap.release()


def test_a_host_comes_back_cleaned(host: Stack, node: Enrolled, switches: dict[str, Client]) -> None:
    host.delete(HOST)
    assert is_back(node)
    assert vlans(switches) == [QUARANTINE, QUARANTINE]


# --- what does not work -----------------------------------------------------------------------------------


def test_a_node_that_cannot_be_had_is_told_and_the_next_up_goes_on(
    no_host: Stack, node: Enrolled, operator: Cloud
) -> None:
    """Another has it, another owns it, its deployment fails: each is told after the other, then it is ours."""
    body = {"resource_class": "poplar-r6525", "candidate_nodes": [node.id], "extra": {"interlock": "interlock:0:x"}}
    theirs = operator.api("baremetal").post("/allocations", body)["uuid"]
    try:
        refused = attempt(lambda: no_host.create(HOST))
        assert refused is not None
        assert "none of the requested nodes are available" in refused.reasons[0]
        assert node.raw()["instance_uuid"] == theirs
    finally:
        operator.api("baremetal").delete(f"/allocations/{theirs}")
    node.patch(owner=no_host.state["mia-project"].id)
    try:
        again = attempt(lambda: settle(no_host, HOST, refused))
        assert again is not None
    finally:
        node.patch(owner=operator.login.project)
    assert node.raw()["instance_uuid"] is None
    node.switch(deploy="fail")
    failed = attempt(lambda: settle(no_host, HOST, again))
    node.switch()
    assert failed is not None
    assert failed.partial is not None
    assert "node whole-1 is in state deploy failed" in failed.reasons[0]
    assert "the sandbox's fault switch says that deploy fails" in failed.reasons[0]
    assert "mgmt-1 Ethernet13 is access 3001, not at rest" in failed.reasons[0], "what is set by then is said"
    settle(no_host, HOST, failed)
    assert is_lent(node, no_host)


def test_a_host_that_is_not_cleaned_is_not_gone(
    host: Stack, node: Enrolled, sandbox: Sandbox, switches: dict[str, Client]
) -> None:
    """Neither for its lessee nor without one, nor while a switch port behind it carries its VLAN."""
    node.switch(clean="fail")
    before = host.state[HOST]
    assert before.outputs["node_uuid"] == node.id
    for lessee in (host.state["mia-project"].id, None):
        for ask in (host.delete, host.read):
            with pytest.raises(Refused, match=r"is deleted, but node whole-1 is in maintenance \(clean failed\)"):
                ask(HOST)
        assert host.state[HOST] == before, "the state keeps it"
        assert node.raw()["lessee"] == lessee
        node.patch(lessee=None)
    mended(node)
    whole.by_hand(sandbox.dir, switches["tor-1"], "Ethernet13/1", f"switchport access vlan {DATA}", "no shutdown")
    with pytest.raises(Refused, match=rf"is deleted, but tor-1 Ethernet13/1 is still access {DATA}"):
        host.read(HOST)
    host.delete(HOST)
    assert is_back(node)
    assert vlans(switches) == [QUARANTINE, QUARANTINE]


def test_a_port_that_the_switch_does_not_have_is_told(no_host: Stack, node: Enrolled) -> None:
    """Ironic and the plan agree in a name that the switch does not know: nobody can say that it is at rest."""
    plan, (leg, other) = dict(no_host.resources), LEGS
    wrong_leg = leg.model_copy(update={"port_name": f"Ethernet{NUMBER}/9"})
    wrong = plan[HOST].model_copy(update={"legs": (wrong_leg, other)})
    with node.renamed("Ethernet13/1", "Ethernet13/9"):
        no_host.declare(plan | {HOST: wrong})
        try:
            assert any("tor-1 has no port Ethernet13/9" in fault for fault in no_host.admit())
            refused = attempt(lambda: no_host.create(HOST))
            assert refused is not None
            assert refused.partial is not None
            no_host.state[HOST] = refused.partial
            said = "is deleted, but how tor-1 Ethernet13/9 is set is not known: tor-1 has no such port"
            with pytest.raises(Refused, match=said) as kept:
                no_host.delete(HOST)
            assert "pulumi state delete" in str(kept.value)
        finally:
            no_host.declare(plan)
    # As it says: nothing is behind that name.
    del no_host.state[HOST]
    assert no_host.admit(preview=False) == []
    no_host.create(HOST)
    assert is_lent(node, no_host)


def test_a_host_whose_deployment_cannot_be_undone_stays(host: Stack, node: Enrolled, soon: None) -> None:
    node.switch(tear_down="fail")
    with pytest.raises(Refused, match="it does not go: node whole-1 is in state error"):
        host.delete(HOST)
    assert HOST in host.state
    node.switch()
    host.delete(HOST)
    assert is_back(node)


# --- switches ---------------------------------------------------------------------------------------------


def test_a_switch_that_dies_in_the_middle_of_a_deployment_is_told(
    no_host: Stack, node: Enrolled, sandbox: Sandbox, switches: dict[str, Client], sampling: Sampling
) -> None:
    """One moment in a usual run. What is half-wired is said port by port, and the next `up` mends it."""
    for moment in sampling.some("deaths of a switch", DEATHS, 1):
        if HOST in no_host.state:
            no_host.delete(HOST)
        with switches_die(sandbox, node, moment):
            refused = attempt(lambda: no_host.create(HOST))
        assert refused is not None
        assert refused.partial is not None
        for leg in LEGS:
            told = f"how {leg.switch} {leg.port_name} is set is not known: .*out of reach.*"
            assert re.search(told, refused.reasons[0]), refused.reasons[0]
        assert "node whole-1 is in state deploy failed" in refused.reasons[0]
        node.switch()
        settle(no_host, HOST, refused)
        assert is_lent(node, no_host)
        assert vlans(switches) == [DATA, whole.CONTROL]


def test_a_switch_that_is_down_is_neither_drift_nor_loss(
    host: Stack, node: Enrolled, sandbox: Sandbox, switches: dict[str, Client]
) -> None:
    with whole.switches_down(sandbox):
        assert host.read(HOST) is not None
        assert host.diff(HOST) == {}
    assert is_lent(node, host)


def test_a_host_that_runs_is_not_waited_for_longer_than_its_switches(
    host: Stack, node: Enrolled, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The patience for disks that are erased is hours; a switch that does not answer is told long before."""
    monkeypatch.setattr(bare_metal, "_SWITCHES_ANSWER", 2.0)
    with whole.switches_down(sandbox), pytest.raises(Refused) as refused:
        host.update(HOST)
    assert "is not ready after 2 s: how tor-1 Ethernet13/1 is set is not known" in str(refused.value)
    host.update(HOST)
    assert is_lent(node, host)


def test_a_switch_that_is_down_while_a_host_goes_keeps_it_in_the_state(
    host: Stack, node: Enrolled, sandbox: Sandbox, switches: dict[str, Client], soon: None
) -> None:
    with whole.switches_down(sandbox):
        with pytest.raises(Refused) as refused:
            host.delete(HOST)
        assert "next: " in str(refused.value)
    assert HOST in host.state
    with pytest.raises(Refused, match=r"(?s)is deleted, but .*without a refresh"):
        host.read(HOST)
    assert HOST in host.state, "a refresh does not forget what is still lent"
    mended(node)
    host.delete(HOST)
    assert is_back(node)
    assert vlans(switches) == [QUARANTINE, QUARANTINE]
