"""The provider's actuator on buckets of one S3 server, with a key that Keystone would have given out."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest

from interlock.object_storage import Capability, Storage, Support
from interlock.provider.actuators import Observed, Target
from interlock.provider.actuators.s3 import BucketActuator
from interlock.provider.calls import Api
from interlock.provider.clouds import Cloud
from interlock.provider.state import as_seen, differing, immutable
from interlock.resources import Bucket
from interlock.store.s3_client import s3_client
from interlock.vocabulary.owners import OwnerId
from interlock.vocabulary.pair_ids import BucketId, CredentialId

PROJECT, USER = "p" * 32, "u" * 32
#: A fake: it takes every call, and says nothing of what real servers do.
MOTO = Storage("moto", "", "moto", dict.fromkeys(Capability, Support.KEPT))


class KeyedCloud(Cloud):
    """A cloud with one S3 server, and one user with a key to it."""

    def __init__(self, endpoint: str, access: str, secret: str, at: str = "us-east-1") -> None:
        super().__init__("keyed")
        self.at = at
        self.server, self.key = endpoint, {"access": access, "secret": secret, "tenant_id": PROJECT}

    @property
    def region(self) -> str:
        return self.at

    def endpoint(self, service: str, project: str | None = None) -> str:
        return self.server

    def api(self, service: str, project: str | None = None) -> Api:
        return cast("Api", self)

    def find(self, path: str, **_: Any) -> Any:
        """The keys of the user."""
        return {"credentials": [self.key]} if path == f"/users/{USER}/credentials/OS-EC2" else None


@dataclass(frozen=True)
class Hands:
    """One bucket to be, and what is done about it, as the lifecycle of all kinds does it."""

    actuator: BucketActuator
    cloud: Cloud
    target: Target[Bucket]

    @property
    def ident(self) -> str:
        return str(BucketId(self.target.one("project"), self.target.spec.name))

    def asking(self, **fields: Any) -> Hands:
        """The same bucket, asked for otherwise."""
        return replace(self, target=replace(self.target, spec=self.target.spec.model_copy(update=fields)))

    def read(self) -> Observed:
        seen = self.actuator.read(self.cloud, self.ident, self.target)
        assert seen is not None, "the bucket is gone"
        return seen

    def differs(self) -> frozenset[str]:
        return differing(self.target, self.read())

    def up(self) -> frozenset[str]:
        """Make it, or make it as it is asked for; what was changed. It has to be read back as it was asked for."""
        changed = self.write()
        assert self.differs() - immutable("Bucket") == frozenset()
        return changed

    def write(self) -> frozenset[str]:
        """The same, without the last look: what was changed, or was to be."""
        if not self.actuator.find(self.cloud, self.target):
            assert self.actuator.create(self.cloud, self.target) == self.ident
        seen = self.read()
        changed = differing(self.target, seen)
        if changed:
            self.actuator.update(self.cloud, self.target, seen, changed)
        return changed

    def refreshed(self) -> dict[str, Any]:
        """What a refresh writes into the state: it has to be a specification again."""
        found = as_seen(self.target, self.read())
        assert Bucket.model_validate(found).canonical() == found
        return found


def hands(cloud: Cloud, taken_for: Storage | None = None, **fields: Any) -> Hands:
    """A bucket that is not there yet. Without `taken_for` what is known of its kind of storage counts."""
    spec = Bucket(name=f"b-{secrets.token_hex(6)}", project="acme-project", credential="acme-key", **fields)
    refs = {"project": PROJECT, "credential": str(CredentialId(USER, "key"))}
    actuator = BucketActuator() if taken_for is None else BucketActuator(lambda _: taken_for)
    return Hands(actuator, cloud, Target("acme-data", OwnerId("yard/acme"), spec, refs))


@dataclass
class Watch:
    """Every S3 request that clients of the provider send: the name of the call, its method and its query."""

    sent: list[tuple[str, str, str]] = field(default_factory=list)

    def calls(self) -> set[str]:
        return {call for call, _, _ in self.sent}

    def note(self, event_name: str, request: Any, **_: Any) -> None:
        self.sent.append((event_name.rpartition(".")[2], request.method, request.url.partition("?")[2]))


@contextmanager
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[Watch]:
    """Notes what leaves this process, below everything that could be asked beforehand."""
    watch = Watch()

    def client(*words: Any, **more: Any) -> Any:
        found = s3_client(*words, **more)
        found.meta.events.register("before-send.s3", watch.note)
        return found

    with monkeypatch.context() as patch:
        patch.setattr("interlock.provider.actuators.s3.s3_client", client)
        yield watch
