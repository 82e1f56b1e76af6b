"""A stand-in for Keystone's part in buckets: who has which keys. The gateway that is told of them is the real one."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from interlock.provider.actuators import Target
from interlock.provider.actuators.bucket_policy import BucketPolicyActuator
from interlock.provider.clouds import Cloud, Login
from interlock.provider.retry import RetryBudget, RetryPolicy
from interlock.resources import BucketPolicy
from interlock.vocabulary.fingerprints import CloudFingerprint
from interlock.vocabulary.owners import OwnerId
from interlock.vocabulary.pair_ids import BucketId, CredentialId
from tests.support.versity import REGION, Versity

PROJECT = "0f" * 16
OWNER = OwnerId("acme-7f3a")


class _Clock:
    """Time passes by waiting alone, and at once."""

    def __init__(self) -> None:
        self.now = 0.0

    def sleep(self, seconds: float) -> None:
        """Waits."""
        self.now += seconds

    async def rest(self, seconds: float) -> None:
        """Waits, among coroutines."""
        self.now += seconds


def _quick() -> RetryPolicy:
    clock = _Clock()
    return RetryPolicy(RetryBudget(attempts=2, answer=5.0), clock=lambda: clock.now, sleep=clock.sleep, rest=clock.rest)


@dataclass
class Keys:
    """The keys of users, each an account of the gateway as well."""

    gateway: Versity
    #: User id -> its keys, as Keystone shows them.
    held: dict[str, list[dict[str, str]]] = field(default_factory=dict)

    def add(self, user: str) -> str:
        """A new key of this user; its access half."""
        key = {"access": f"g{secrets.token_hex(8)}", "secret": secrets.token_hex(16), "tenant_id": PROJECT}
        self.gateway.add_account(key["access"], key["secret"])
        self.held.setdefault(user, []).append(key)
        return key["access"]

    def revoke(self, user: str, access: str) -> None:
        """The key is gone, at Keystone and at the gateway."""
        self.gateway.drop_account(access)
        self.held[user] = [key for key in self.held[user] if key["access"] != access]

    def s3(self, access: str) -> Any:
        """A client with this key."""
        found = {key["access"]: key["secret"] for keys in self.held.values() for key in keys}
        return self.gateway.s3(access, found[access])

    def ids(self, *users: str) -> tuple[str, ...]:
        """Ids of all keys of these users, as a state holds them."""
        return tuple(str(CredentialId(user, key["access"])) for user in users for key in self.held[user])


class _Identity:
    """Of Keystone, the one question that is asked about keys."""

    def __init__(self, keys: Keys) -> None:
        self._keys = keys

    def find(self, path: str) -> dict[str, Any]:
        user = re.fullmatch(r"/users/([^/]+)/credentials/OS-EC2", path)
        assert user, path
        return {"credentials": list(self._keys.held.get(user[1], ()))}


class GatewayCloud(Cloud):
    """A cloud whose object storage is the gateway."""

    def __init__(self, keys: Keys) -> None:
        super().__init__("gateway", _quick())
        self._keys = keys
        self.login = Login(CloudFingerprint("gateway", REGION), "operator", "op", ("admin",))

    @property
    def region(self) -> str:
        """The gateway's."""
        return REGION

    def api(self, service: str, project: str | None = None) -> Any:
        """Keystone's, and no other."""
        assert service == "identity", service
        return _Identity(self._keys)

    def endpoint(self, service: str, project: str | None = None) -> str:
        """The gateway's, and no other."""
        assert service == "object-store", service
        return self._keys.gateway.endpoint


def target_on(
    policy: BucketPolicy, name: str, bucket: str, keys: Keys, credential: str, users: Mapping[str, str]
) -> Target[BucketPolicy]:
    """What is to be written on `bucket`; `users`: plan name -> id of each user that the policy speaks of."""
    refs: dict[str, Any] = {
        "project": PROJECT,
        "bucket": str(BucketId(PROJECT, bucket)),
        "credential": credential,
        "users": tuple(users[user] for user in policy.users),
        "keys": keys.ids(*(users[user] for user in policy.users)),
    }
    return Target(name, OWNER, policy, refs)


ACTUATOR = BucketPolicyActuator()
