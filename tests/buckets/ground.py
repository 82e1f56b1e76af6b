"""A bucket on a real Versity gateway whose policy the provider writes, and how the provider is killed and lied to."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from interlock.provider import lifecycle
from interlock.provider.actuators import Target, bucket_policy
from interlock.provider.actuators.s3 import client_with
from interlock.provider.admitted import AdmissionGate
from interlock.provider.errors import Failure
from interlock.provider.lifecycle import Lifecycle, Partial
from interlock.provider.pools import ThreadPools
from interlock.provider.state import Declared
from interlock.resources import BucketPolicy, BucketStatement
from interlock.vocabulary.pair_ids import BucketId
from tests.buckets.probe import refusal
from tests.buckets.told import OWNER, PROJECT, GatewayCloud, Keys, target_on

READ = (BucketStatement(principals=("mate",), actions=("read",)),)
WRITE = (BucketStatement(principals=("mate",), actions=("read", "write")),)
NAME = "acme-data-policy"


class Killed(BaseException):
    """The provider's process ends here."""


#: Where in a call of S3 the process may end: before it is sent, after its effect, after its answer was read.
MOMENTS = ("before-send", "before-parse", "after-call")


@dataclass(frozen=True)
class Fault:
    """What happens in a call, and at which moment of it. `lasts`: each call of the run meets it."""

    moment: str
    act: Callable[[], Any]
    lasts: bool


def _killing(moment: str, number: int) -> Callable[[str, int], Any]:
    def at(here: str, calls: int) -> None:
        if (here, calls) == (moment, number):
            raise Killed

    return at


@dataclass
class Ground:
    """A bucket of `maker`, a user `mate`, and a provider that writes the policy."""

    keys: Keys
    bucket: str
    users: dict[str, str]
    credential: str
    monkeypatch: pytest.MonkeyPatch
    #: Called at each moment of each call of S3, with the moment and the number of the call.
    at: Callable[[str, int], Any] = field(default=lambda moment, number: None)
    calls: int = 0

    @property
    def maker(self) -> Any:
        """A client with the key that made the bucket."""
        return self.keys.s3(self.credential.rpartition("/")[2])

    def target(self, statements: tuple[BucketStatement, ...] = READ) -> Target[BucketPolicy]:
        """What is to stand."""
        spec = BucketPolicy(
            project="acme-project", bucket="acme-data", credential="maker-key", statements=statements,
            enforced_by="versity", users=("maker", "mate"), keys=self.names(),
        )  # fmt: skip
        return target_on(spec, NAME, self.bucket, self.keys, self.credential, self.users)

    def inputs(self, target: Target[BucketPolicy] | None = None) -> dict[str, Any]:
        """Inputs of the resource in a state, if the policy is as the target says."""
        return Declared(BucketPolicy.KIND, NAME, (target or self.target()).spec, OWNER, {}).inputs()

    def names(self) -> tuple[str, ...]:
        """Plan names of all keys."""
        held = ((user, key) for user, ident in self.users.items() for key in self.keys.held[ident])
        return tuple(f"{user}-{key['access']}" for user, key in held)

    def document(self) -> dict[str, Any] | None:
        """What really stands there, whoever asks: root looks."""
        client = self.keys.gateway.s3()
        if refusal(lambda: client.get_bucket_policy(Bucket=self.bucket)):
            return None
        found: dict[str, Any] = json.loads(client.get_bucket_policy(Bucket=self.bucket)["Policy"])
        return found

    def put(self, document: dict[str, Any]) -> None:
        """Somebody writes a policy by hand."""
        self.maker.put_bucket_policy(Bucket=self.bucket, Policy=json.dumps(document))

    def create(self, target: Target[BucketPolicy]) -> dict[str, Any]:
        """As an `up` without it in the state; the new state."""
        made: tuple[str, dict[str, Any]] = self._run(target, lambda life, item: life.create(item, preview=False))
        assert made[0] == self.ident
        return made[1]

    def update(self, target: Target[BucketPolicy], state: dict[str, Any]) -> dict[str, Any]:
        """As an `up` that finds a difference; the new state."""
        found: dict[str, Any] = self._run(
            target, lambda life, item: life.update(item, self.ident, state, preview=False)
        )
        return found

    def delete(self, target: Target[BucketPolicy], state: dict[str, Any]) -> None:
        """As a `destroy`."""
        self._run(target, lambda life, item: life.delete(item, self.ident, state, "lyon-acme"))

    def read(self, target: Target[BucketPolicy], state: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """As a `refresh`."""
        found: tuple[dict[str, Any], dict[str, Any]] | None
        found = self._run(target, lambda life, item: life.read(item, self.ident, state))
        return found

    @property
    def ident(self) -> str:
        """The id of the policy."""
        return str(BucketId(PROJECT, self.bucket))

    def _run(self, target: Target[BucketPolicy], what: Callable[[Lifecycle, Declared], Any]) -> Any:
        """One operation in a provider of its own: nothing is remembered from one to the next."""
        cloud, gate = GatewayCloud(self.keys), AdmissionGate()
        gate.open = lambda: None  # type: ignore[method-assign]
        self.monkeypatch.setattr(AdmissionGate, "admission", None)
        self.monkeypatch.setattr(lifecycle, "target_of", lambda *_: target)
        self.monkeypatch.setattr(bucket_policy, "client_with", self._client)
        item = Declared(BucketPolicy.KIND, NAME, target.spec, OWNER, {})
        self.calls = 0
        return asyncio.run(what(Lifecycle(cloud, gate, ThreadPools()), item))

    def _client(self, cloud: Any, key: Any, address: str) -> Any:
        client = client_with(cloud, key, address)
        for moment in MOMENTS:
            client.meta.events.register(f"{moment}.s3", self._met(moment))
        return client

    def _met(self, moment: str) -> Callable[..., Any]:
        def handler(**_: Any) -> Any:
            self.calls += moment == MOMENTS[0]
            return self.at(moment, self.calls)

        return handler

    @contextmanager
    def interrupted(self, at: Callable[[str, int], Any]) -> Iterator[None]:
        """Something happens at moments of calls meanwhile."""
        before, self.at = self.at, at
        try:
            yield
        finally:
            self.at = before

    def killed(self, moment: str, number: int, meets: bool, run: Callable[[], Any]) -> Any:
        """What a run gives after one that was killed in its call `number`; `meets`: it makes so many calls."""
        with self.interrupted(_killing(moment, number)):
            try:
                found = run()
            except Killed:
                assert meets
            else:
                assert not meets
                return found
        return run()

    def faulty(self, fault: Fault, number: int, run: Callable[[], Any]) -> Any:
        """What a run gives that met a fault in its call `number`, 0: in each; of the next run, if that failed."""
        met: list[int] = []
        words = BucketPolicy.KIND

        def at(moment: str, calls: int) -> Any:
            if moment != fault.moment or (number and calls != number):
                return None
            met.append(calls)
            return fault.act()

        with self.interrupted(at):
            try:
                found, told = run(), False
            except (Failure, Partial) as failure:
                found, told, words = None, True, str(failure)
        assert met
        assert BucketPolicy.KIND in words or "S3 " in words
        # What meets it in every call cannot be done.
        assert told or number
        return run() if told else found

    def stands(self, target: Target[BucketPolicy], state: dict[str, Any]) -> None:
        """The policy is as the target says, once, and whoever looks again finds no difference."""
        found = self.document()
        assert found is not None
        assert found["Id"] == target.marker
        seen = self.read(target, state)
        assert seen is not None
        assert seen[0] == self.inputs(target)
        mate = self.keys.s3(self.keys.held[self.users["mate"]][0]["access"])
        writes = refusal(lambda: mate.put_object(Bucket=self.bucket, Key="model", Body=b"mine"))
        assert writes == ("" if target.spec.statements == WRITE else "AccessDenied")
        assert not refusal(lambda: mate.list_objects_v2(Bucket=self.bucket))
