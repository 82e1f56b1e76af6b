"""Policies of buckets, on object storage that enforces them (`interlock/object_storage/capabilities.json`).

A policy is one JSON text. Its `Id`, which servers keep and do not interpret, holds the marker of who wrote it: a policy
that another wrote is neither overwritten nor removed. Nothing is given to anybody for what stands there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from interlock.object_storage import object_storage
from interlock.provider.clouds import Cloud
from interlock.provider.errors import Failure, Trouble, refused
from interlock.resources import BucketPolicy, BucketStatement, Resource
from interlock.vocabulary.pair_ids import BucketId, CredentialId

from .base import Actuator, Ids, Observed, Target
from .bucket_settings import guarded
from .s3 import client_with, s3_call, usable_keys

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

EVERYBODY = "*"
_VERSION = "2012-10-17"

#: What a statement of a plan lets do -> actions of S3, on the bucket and on what is in it.
ACTIONS: Mapping[str, tuple[str, ...]] = {
    "read": ("s3:GetObject", "s3:GetObjectVersion", "s3:ListBucket", "s3:ListBucketVersions", "s3:GetBucketLocation"),
    "write": (
        "s3:PutObject",
        "s3:DeleteObject",
        "s3:AbortMultipartUpload",
        "s3:ListBucketMultipartUploads",
        "s3:ListMultipartUploadParts",
    ),
}
#: Where a policy is, nothing else counts: not even who owns the bucket. So the user who made it stands in it.
_ALL = ("s3:*",)


@dataclass(frozen=True)
class Keyring:
    """Plan name of a user -> the access halves of its keys, as policies name them."""

    keys: Mapping[str, tuple[str, ...]]
    #: The user who made the bucket.
    maker: str

    def of(self, users: Sequence[str]) -> list[str]:
        """The keys of these users, sorted; `*` is everybody."""
        return sorted(key for user in users for key in ((EVERYBODY,) if user == EVERYBODY else self.keys[user]))

    def users(self, found: Sequence[str]) -> list[str]:
        """The users all of whose keys are there; then each key that is left over."""
        here = set(found)
        whole = [user for user, keys in sorted(self.keys.items()) if keys and here.issuperset(keys)]
        return whole + sorted(here.difference(*(self.keys[user] for user in whole)))


def policy_document(bucket: str, mark: str, statements: Sequence[BucketStatement], keyring: Keyring) -> dict[str, Any]:
    """The policy of a bucket, with the marker `mark`."""
    resources = [f"arn:aws:s3:::{bucket}", f"arn:aws:s3:::{bucket}/*"]

    def allow(users: Sequence[str], actions: Sequence[str]) -> Iterator[dict[str, Any]]:
        # `*` may stand only alone, and then says all that the others would.
        named = [EVERYBODY] if EVERYBODY in users else keyring.of(users)
        if named:
            who: Any = EVERYBODY if named == [EVERYBODY] else {"AWS": named}
            yield {"Effect": "Allow", "Principal": who, "Action": list(actions), "Resource": resources}

    said = list(allow((keyring.maker,), _ALL))
    for statement in statements:
        said += allow(statement.principals, [one for word in statement.actions for one in ACTIONS[word]])
    return {"Version": _VERSION, "Id": mark, "Statement": said}


def _read_statement(bucket: str, said: Any, keyring: Keyring) -> dict[str, Any] | None:
    """A statement in the plan's words; None if it says something that no plan says."""
    resources = {f"arn:aws:s3:::{bucket}", f"arn:aws:s3:::{bucket}/*"}
    if (
        not isinstance(said, dict)
        or set(said) != {"Effect", "Principal", "Action", "Resource"}
        or said["Effect"] != "Allow"
    ):
        return None
    if set(map(str, _listed(said["Resource"]))) != resources:
        return None
    actions = set(map(str, _listed(said["Action"])))
    meant = [word for word in ACTIONS if actions.issuperset(ACTIONS[word])]
    if actions != {one for word in meant for one in ACTIONS[word]} or not meant:
        return None
    return {"principals": keyring.users(principals_of(said)), "actions": meant}


def principals_of(statement: Any) -> list[str]:
    """Whom a statement names; `*` is everybody."""
    who = statement.get("Principal") if isinstance(statement, dict) else None
    return [str(one) for one in _listed(who.get("AWS") if isinstance(who, dict) else who)]


def _listed(value: Any) -> list[Any]:
    """One value may stand for a list of one."""
    return list(value) if isinstance(value, list) else [] if value is None else [value]


class BucketPolicyActuator(Actuator[BucketPolicy]):
    """The policy of one bucket, which has one or none. The id is that of the bucket, `project/name`."""

    KIND: ClassVar[type[Resource]] = BucketPolicy
    SERVICE: ClassVar[str] = "object-store"

    def find(self, cloud: Cloud, target: Target[BucketPolicy]) -> Sequence[str]:
        found = self._policy(cloud, target)
        return [target.one("bucket")] if found is not None and found.get("Id") == target.marker else []

    def create(self, cloud: Cloud, target: Target[BucketPolicy]) -> str:
        found = self._policy(cloud, target)
        if found is not None and found.get("Id") != target.marker:
            raise _anothers(target)
        # Not repeated on its own: meanwhile somebody else may have written one.
        self._write(cloud, target, repeat=False)
        return target.one("bucket")

    def read(self, cloud: Cloud, ident: str, target: Target[BucketPolicy] | None = None) -> Observed | None:
        found = None if target is None else self._policy(cloud, target)
        if target is None or found is None:
            return None
        bucket, keyring = BucketId.parse(ident), _keyring(target)
        statements = _listed(found.get("Statement"))
        own = policy_document(bucket.name, "", (), keyring)["Statement"]
        rest = [one for one in statements if one not in own]
        read = [_read_statement(bucket.name, one, keyring) for one in rest]
        # A statement that no plan makes, or a maker who is not named, is a difference, whatever the others say.
        whole = len(rest) < len(statements) and None not in read
        references: dict[str, Ids] = {
            "bucket": ident,
            "project": bucket.project,
            "keys": tuple(sorted(_ids(target, statements))),
        }
        return Observed(
            ident, str(found.get("Id", "")), {"statements": _in_words(target, read) if whole else []}, references
        )

    def update(self, cloud: Cloud, target: Target[BucketPolicy], seen: Observed, changed: frozenset[str]) -> None:
        if seen.marker != target.marker:
            raise _anothers(target)
        if changed & {"statements", "keys"}:
            self._write(cloud, target, repeat=True)

    def delete(self, cloud: Cloud, ident: str, target: Target[BucketPolicy]) -> None:
        found = self._policy(cloud, target)
        if found is not None and found.get("Id") != target.marker:
            raise _anothers(target)
        if found is not None:
            _as_maker(cloud, target, lambda s3: s3.delete_bucket_policy, Bucket=BucketId.parse(ident).name)

    def _write(self, cloud: Cloud, target: Target[BucketPolicy], *, repeat: bool) -> None:
        bucket = BucketId.parse(target.one("bucket")).name
        text = json.dumps(policy_document(bucket, target.marker, target.spec.statements, _keyring(target)))
        _as_maker(cloud, target, lambda s3: s3.put_bucket_policy, repeat=repeat, Bucket=bucket, Policy=text)

    @staticmethod
    def _policy(cloud: Cloud, target: Target[BucketPolicy]) -> dict[str, Any] | None:
        """What stands there, whosever it is; None if nothing does, or the bucket is gone."""
        if not target.spec.enforced_by:
            raise refused(f"BucketPolicy {target.name}: the site's object storage does not enforce policies")
        bucket = BucketId.parse(target.one("bucket")).name
        try:
            answer = _as_maker(cloud, target, lambda s3: s3.get_bucket_policy, Bucket=bucket)
        except Failure as failure:
            if failure.trouble is Trouble.NOT_FOUND:
                return None
            raise
        return _parsed(answer["Policy"], bucket)


def _parsed(text: str, bucket: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise Failure(
            Trouble.SERVICE, f"S3 GetBucketPolicy {bucket}: the answer is no policy", service="object storage"
        )
    return found


def _as_maker(cloud: Cloud, target: Target[BucketPolicy], method: Callable[[S3Client], Any], **words: Any) -> Any:
    """The answer, by a key of the user who made the bucket: the recorded one, then the user's others.

    Where a key is an account of its own, the newest of a user may do nothing before the policy names it.
    """
    keys = usable_keys(cloud, target)
    for place, key in enumerate(keys, start=1):
        try:
            client = guarded(client_with(cloud, key, target.spec.address), object_storage(target.spec.enforced_by))
            return s3_call(cloud, method(client), **words)
        except Failure as failure:
            if failure.trouble not in (Trouble.FORBIDDEN, Trouble.UNAUTHORIZED) or place == len(keys):
                raise
    raise AssertionError("there is a key, or `usable_keys` raises")


def _keyring(target: Target[BucketPolicy]) -> Keyring:
    held = [CredentialId.parse(ident) for ident in target.many("keys")]
    users = dict(zip(target.spec.users, target.many("users"), strict=True))
    keys = {name: tuple(sorted(key.access for key in held if key.user == ident)) for name, ident in users.items()}
    maker = CredentialId.parse(target.one("credential")).user
    return Keyring(keys, next(name for name, ident in users.items() if ident == maker))


def _ids(target: Target[BucketPolicy], statements: Sequence[Any]) -> Iterator[str]:
    """The ids of the keys that stand in a policy; of one that is not planned nobody knows the user."""
    known = {CredentialId.parse(ident).access: ident for ident in target.many("keys")}
    for access in {name for statement in statements for name in principals_of(statement)} - {EVERYBODY}:
        yield known.get(access, str(CredentialId("unknown", access)))


def _in_words(target: Target[BucketPolicy], read: Sequence[Any]) -> list[Any]:
    """Statements as the plan has them, where they say the same: neither order of principals nor of actions counts."""
    wanted = {_meaning(one): one for one in (item.model_dump(mode="json") for item in target.spec.statements)}
    return [wanted.get(_meaning(one), one) for one in read]


def _meaning(statement: Mapping[str, Any]) -> tuple[frozenset[str], frozenset[str]]:
    users = statement["principals"]
    return frozenset((EVERYBODY,) if EVERYBODY in users else users), frozenset(statement["actions"])


def _anothers(target: Target[BucketPolicy]) -> Failure:
    bucket = BucketId.parse(target.one("bucket")).name
    return refused(
        f"BucketPolicy {target.name}: bucket {bucket} has a policy that this stack did not write",
        "read it (`aws s3api get-bucket-policy`), and remove it if the request says all that it should say",
    )
