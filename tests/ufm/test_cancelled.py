"""A run that is cancelled: whoever waits for others stops within a second, and whoever has begun to write ends it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from google.protobuf import struct_pb2
from pulumi.runtime.proto import provider_pb2

from interlock.provider.admitted import AdmissionGate
from interlock.provider.errors import Failure, Trouble
from interlock.provider.server import Servicer
from interlock.retry import RetryPolicy, Tried, persist
from interlock.store.places import open_store
from interlock.store.turns import Turns
from interlock.ufm.client import UfmClient
from interlock.ufm.errors import UfmError, UfmTrouble
from interlock.ufm.transport import UfmTransport
from tests.ufm.conftest import AT_ONCE, GUIDS
from tests.ufm.double import WITH_JOBS, Double, access
from tests.ufm.partition_stack import KEY, PartitionStack, partition, table
from tests.ufm.shared_stack import SharingStack, appliance, part

SUBJECT = "the shared partitions of InfiniBand subnet ib-1"


@dataclass
class CancelledRun:
    """Time that passes while somebody waits, in a run that is cancelled at `at`."""

    at: float
    now: float = 0.0

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    async def rest(self, seconds: float) -> None:
        self.now += seconds

    @property
    def policy(self) -> RetryPolicy:
        return RetryPolicy(
            AT_ONCE.budget, clock=lambda: self.now, sleep=self.sleep, rest=self.rest,
            cancelled=lambda: self.now >= self.at,
        )  # fmt: skip


@pytest.fixture
def run() -> Iterator[CancelledRun]:
    """Cancelled after some seconds, and heard within one."""
    found = CancelledRun(at=7.3)
    yield found
    assert found.at <= found.now <= found.at + 1


def test_the_engine_cancels_and_all_that_waits_hears_it() -> None:
    servicer = Servicer()
    named = struct_pb2.Struct()
    named.update({"cloud": "paper"})
    asyncio.run(servicer.Configure(provider_pb2.ConfigureRequest(args=named), None))
    assert servicer._cloud is not None
    policies = (servicer._cloud.retry_policy, servicer._cloud.fabrics._retry_policy)
    assert not any(policy.is_cancelled for policy in policies)
    asyncio.run(servicer.Cancel(None, None))
    assert all(policy.is_cancelled for policy in policies)


def test_whoever_waits_for_a_turn_writes_nothing_and_leaves_nothing(
    double: Double, tmp_path: Path, run: CancelledRun
) -> None:
    site = SharingStack(double, tmp_path, stack="lyon-site")
    site.up(appliance())
    acme = replace(site.of("acme"), retry_policy=run.policy)
    before, changes = double.members(KEY), double.changes
    store = open_store(site.claims, "lyon")
    with Turns(store, AT_ONCE).turn(SUBJECT, "lyon-globex"):
        held = dict(store.items("turns/"))
        with pytest.raises(Failure, match="the run was cancelled while it waited") as caught:
            acme.up(part(2))
        assert dict(store.items("turns/")) == held
    assert caught.value.trouble is Trouble.REFUSED
    assert (double.members(KEY), double.changes, acme.state) == (before, changes, None)


@pytest.mark.parametrize("endless", [False, True])
def test_whoever_waits_for_a_job_of_its_own_partition_leaves_it_to_go_on(
    double: Double, tmp_path: Path, run: CancelledRun, endless: bool
) -> None:
    double.profile = WITH_JOBS
    client = UfmClient(UfmTransport(access(double, tmp_path), run.policy))
    double.job_turns = 10_000 if endless else 40
    with pytest.raises(UfmError, match="cancelled while job 1 of UFM of ib-1 is Running: it goes on") as caught:
        client.add(KEY, GUIDS[:1], "full", index0=True, ip_over_ib=True)
    assert caught.value.trouble is UfmTrouble.LOST_ANSWER


def test_a_job_ends_before_its_turn_does(double: Double, tmp_path: Path) -> None:
    """Whoever has the turn next would write while it goes on."""
    double.profile, double.job_turns = WITH_JOBS, 40
    run = CancelledRun(at=1.0)
    site = SharingStack(double, tmp_path, stack="lyon-site", retry_policy=run.policy)
    site.up(appliance())
    assert run.now > 10
    assert double.members(KEY) == table(appliance())
    assert list(open_store(site.claims, "lyon").items("turns/")) == []


def test_what_a_cancelled_run_had_asked_for_is_in_its_state_once_it_is_seen(double: Double, tmp_path: Path) -> None:
    """Its job is waited for no longer, but it is looked whether it had its effect; there is no second request."""
    double.profile, double.job_turns = WITH_JOBS, 10_000
    run, spec = CancelledRun(at=7.3), partition((0, 1))
    stack = PartitionStack(double, tmp_path, retry_policy=run.policy)
    stack.up(spec)
    assert run.now <= run.at + 2
    assert stack.state is not None
    assert (double.members(KEY), double.changes) == (table(spec), 1)


def test_a_cancelled_run_makes_no_second_attempt(
    double: Double, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What its first request came to nobody knows, and nothing is seen of it: the next run goes on."""
    run, spec = CancelledRun(at=7.3), partition((0, 1))
    stack = PartitionStack(double, tmp_path, retry_policy=run.policy)
    gone_on = AdmissionGate.open

    def opened(gate: AdmissionGate) -> None:
        if run.policy.is_cancelled:
            gate.cancel()
        gone_on(gate)

    monkeypatch.setattr(AdmissionGate, "open", opened)
    double.job_looks["1"] = 10_000
    double.instead["POST", "/resources"] = (202, {}, '{"job_id": 1}')
    with pytest.raises(Failure, match="cancelled") as caught:
        stack.up(spec)
    assert caught.value.trouble is Trouble.REFUSED
    assert (double.changes, stack.state) == (1, None)
    double.instead.clear()
    monkeypatch.undo()
    stack.retry_policy = AT_ONCE
    stack.up(spec)
    assert double.members(KEY) == table(spec)


def test_whoever_waits_until_something_is_gone_keeps_it_in_the_state(
    double: Double, tmp_path: Path, run: CancelledRun
) -> None:
    spec = partition((0, 1))
    stack = PartitionStack(double, tmp_path)
    stack.up(spec)
    stack.retry_policy = run.policy
    double.instead["DELETE", "/resources"] = (200, {}, "{}")
    with pytest.raises(Failure, match="the run was cancelled while it goes") as caught:
        stack.destroy()
    assert caught.value.trouble is Trouble.NOT_READY
    assert stack.state is not None
    double.instead.clear()
    stack.retry_policy = AT_ONCE
    stack.destroy()
    assert double.table == {}


def test_an_attempt_under_way_is_the_last(run: CancelledRun) -> None:
    tried = list[float]()

    def attempt() -> Tried[str]:
        tried.append(run.now)
        return Tried(failure=Failure(Trouble.UNREACHABLE, "no answer"), again=True, after=5.0)

    with pytest.raises(Failure, match="no answer"):
        persist(run.policy, attempt)
    assert tried == [0.0, 5.0]
