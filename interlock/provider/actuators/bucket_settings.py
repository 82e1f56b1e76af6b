"""Settings of buckets: how each is written, read back and removed, in the words of S3.

None is asked of object storage that is not known to take it (`interlock.object_storage`): what a server does with a
call that it does not know may be anything, up to deleting the bucket.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from interlock.object_storage import Capability, Storage, takes
from interlock.provider.errors import Failure, Trouble, refused
from interlock.resources import Bucket, BucketLifecycle, CorsRule, Expiry, ObjectLock

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


@dataclass(frozen=True)
class Ask:
    """Calls about one bucket. `call` takes a method of the client and its arguments, and raises `Failure`."""

    client: S3Client
    bucket: str
    call: Callable[..., Any]

    def __call__(self, method: Any, **arguments: Any) -> Any:
        return self.call(method, Bucket=self.bucket, **arguments)

    def found(self, method: Any) -> Any:
        """The answer; an empty one where nothing is set."""
        try:
            return self(method)
        except Failure as failure:
            if failure.trouble is Trouble.NOT_FOUND:
                return {}
            raise


@dataclass(frozen=True)
class BucketSetting:
    """One setting of a bucket; its value is that of the field of `Bucket`, in canonical form."""

    capability: Capability
    read: Callable[[Ask, Bucket], Any]
    #: Makes it as the specification says, which may be to remove it.
    write: Callable[[Ask, Bucket], None]

    @property
    def field(self) -> str:
        """The field of `Bucket` that asks for it."""
        return str(self.capability)


def guarded(client: S3Client, storage: Storage) -> S3Client:
    """The same client, which sends nothing that this storage is not known to take: each call is looked up before."""

    def look_up(model: Any, **_: Any) -> None:
        if not takes(storage, model.name):
            what = f"object storage of kind {storage.kind}" if storage.kind else "object storage that no site states"
            raise refused(f"{model.name} was not sent: {what} is not known to take it")

    client.meta.events.register("before-call.s3", look_up)
    return client


def read_settings(ask: Ask, storage: Storage, spec: Bucket) -> dict[str, Any]:
    """Field -> value of everything that this storage can be asked about."""
    return {item.field: item.read(ask, spec) for item in SETTINGS if storage.takes(item.capability)}


def write_settings(ask: Ask, storage: Storage, spec: Bucket, changed: frozenset[str]) -> None:
    """Makes those of the changed fields that are settings as the specification says. Raises `Failure`."""
    for item in SETTINGS:
        if item.field in changed and (storage.takes(item.capability) or getattr(spec, item.field)):
            item.write(ask, spec)


def at_creation(storage: Storage, spec: Bucket) -> dict[str, Any]:
    """What the creating call says besides the name: a lock of objects comes with the bucket or never."""
    if spec.object_lock is None:
        return {}
    if not storage.takes(Capability.OBJECT_LOCK):
        raise refused(f"bucket {spec.name}: object storage {storage.kind} locks no objects")
    return {"ObjectLockEnabledForBucket": True}


def _read_versioning(ask: Ask, _: Bucket) -> bool:
    return bool(ask(ask.client.get_bucket_versioning).get("Status") == "Enabled")


def _write_versioning(ask: Ask, spec: Bucket) -> None:
    status = "Enabled" if spec.versioning else "Suspended"
    ask(ask.client.put_bucket_versioning, VersioningConfiguration={"Status": status})


def lifecycle_rules(lifecycle: BucketLifecycle) -> Iterator[dict[str, Any]]:
    """The rules that S3 gets. Of several for one object the first to be due takes effect."""

    def rule(name: str, prefix: str, action: str, days: Mapping[str, int]) -> dict[str, Any]:
        return {"ID": name, "Status": "Enabled", "Filter": {"Prefix": prefix}, action: dict(days)}

    for index, item in enumerate(lifecycle.expire):
        yield rule(f"expire-{index}", item.prefix, "Expiration", {"Days": item.days})
    if lifecycle.noncurrent_days is not None:
        days = {"NoncurrentDays": lifecycle.noncurrent_days}
        yield rule("noncurrent", "", "NoncurrentVersionExpiration", days)
    if lifecycle.abort_multipart_days is not None:
        days = {"DaysAfterInitiation": lifecycle.abort_multipart_days}
        yield rule("abort-multipart", "", "AbortIncompleteMultipartUpload", days)


#: Action of a rule -> its one word, and the field of `BucketLifecycle`.
_ACTIONS = {
    "Expiration": ("Days", "expire"),
    "NoncurrentVersionExpiration": ("NoncurrentDays", "noncurrent_days"),
    "AbortIncompleteMultipartUpload": ("DaysAfterInitiation", "abort_multipart_days"),
}


def lifecycle_of(rules: list[dict[str, Any]]) -> BucketLifecycle | None:
    """What rules say; those that no plan makes stand under `beside`."""
    fields: dict[str, Any] = {}
    expire: list[Expiry] = []
    beside: list[str] = []
    for rule in rules:
        meant = _meaning(rule)
        if meant is None or meant[0] in fields:
            beside.append(str(rule.get("ID") or "without an id"))
        elif meant[0] == "expire":
            expire.append(Expiry(prefix=meant[1], days=meant[2]))
        else:
            fields[meant[0]] = meant[2]
    found = BucketLifecycle(expire=tuple(expire), beside=tuple(sorted(beside)), **fields)
    return None if found == BucketLifecycle() else found


def _meaning(rule: Mapping[str, Any]) -> tuple[str, str, int] | None:
    """(field, prefix, days) of a rule such as plans make; None of another."""
    said = rule.get("Filter")
    prefix = said.get("Prefix", "") if said is not None else rule.get("Prefix", "")
    actions = [name for name in rule if name not in ("ID", "Status", "Filter", "Prefix")]
    if rule.get("Status") != "Enabled" or set(said or ()) - {"Prefix"} or len(actions) != 1:
        return None
    (action,) = actions
    word, field = _ACTIONS.get(action, ("", ""))
    if not field or set(rule[action]) != {word} or (prefix and field != "expire"):
        return None
    return field, prefix, rule[action][word]


def _read_lifecycle(ask: Ask, spec: Bucket) -> Any:
    found = lifecycle_of(ask.found(ask.client.get_bucket_lifecycle_configuration).get("Rules", []))
    if found is None:
        return None
    wanted = [] if spec.lifecycle is None else list(spec.lifecycle.expire)
    # The order of rules means nothing: it is told as the plan has it.
    ordered = sorted(found.expire, key=lambda item: wanted.index(item) if item in wanted else len(wanted))
    return found.model_copy(update={"expire": tuple(ordered)}).model_dump(mode="json")


def _write_lifecycle(ask: Ask, spec: Bucket) -> None:
    if spec.lifecycle is None:
        ask(ask.client.delete_bucket_lifecycle)
    else:
        rules = list(lifecycle_rules(spec.lifecycle))
        ask(ask.client.put_bucket_lifecycle_configuration, LifecycleConfiguration={"Rules": rules})


def _read_cors(ask: Ask, _: Bucket) -> Any:
    return [_cors_rule(rule) for rule in ask.found(ask.client.get_bucket_cors).get("CORSRules", [])]


def _cors_rule(said: Mapping[str, Any]) -> dict[str, Any]:
    return CorsRule(
        origins=tuple(said["AllowedOrigins"]), methods=tuple(said["AllowedMethods"]),
        headers=tuple(said.get("AllowedHeaders", ())), expose=tuple(said.get("ExposeHeaders", ())),
        max_age=said.get("MaxAgeSeconds"),
    ).model_dump(mode="json")  # fmt: skip


def _write_cors(ask: Ask, spec: Bucket) -> None:
    if not spec.cors:
        ask(ask.client.delete_bucket_cors)
        return
    ask(ask.client.put_bucket_cors, CORSConfiguration={"CORSRules": [_said_of(rule) for rule in spec.cors]})


def _said_of(rule: CorsRule) -> dict[str, Any]:
    lists = {"AllowedHeaders": rule.headers, "ExposeHeaders": rule.expose}
    said: dict[str, Any] = {"AllowedOrigins": list(rule.origins), "AllowedMethods": list(rule.methods)}
    said |= {name: list(values) for name, values in lists.items() if values}
    return said if rule.max_age is None else said | {"MaxAgeSeconds": rule.max_age}


def _read_lock(ask: Ask, _: Bucket) -> Any:
    said = ask.found(ask.client.get_object_lock_configuration).get("ObjectLockConfiguration", {})
    kept = said.get("Rule", {}).get("DefaultRetention")
    if not kept:
        return None
    days = kept["Days"] if "Days" in kept else 365 * kept["Years"]
    return ObjectLock(mode="compliance" if kept["Mode"] == "COMPLIANCE" else "governance", days=days).model_dump()


def _write_lock(ask: Ask, spec: Bucket) -> None:
    if spec.object_lock is None:
        why = f"bucket {spec.name} locks its objects, and the request does not ask for it"
        raise refused(why, "ask for it: a bucket whose objects are locked stays one")
    kept = {"Mode": spec.object_lock.mode.upper(), "Days": spec.object_lock.days}
    wanted = {"ObjectLockEnabled": "Enabled", "Rule": {"DefaultRetention": kept}}
    ask(ask.client.put_object_lock_configuration, ObjectLockConfiguration=wanted)


#: By keys of the storage's own.
_ALGORITHM = "AES256"


def _read_encryption(ask: Ask, _: Bucket) -> bool:
    said = ask.found(ask.client.get_bucket_encryption).get("ServerSideEncryptionConfiguration", {})
    rules = [rule.get("ApplyServerSideEncryptionByDefault", {}) for rule in said.get("Rules", [])]
    return any(rule.get("SSEAlgorithm") == _ALGORITHM for rule in rules)


def _write_encryption(ask: Ask, spec: Bucket) -> None:
    if not spec.encryption:
        ask(ask.client.delete_bucket_encryption)
        return
    wanted = {"Rules": [{"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": _ALGORITHM}}]}
    ask(ask.client.put_bucket_encryption, ServerSideEncryptionConfiguration=wanted)


#: The four ways in which a bucket could be opened to everybody; all are shut, or none.
_BLOCKS = ("BlockPublicAcls", "IgnorePublicAcls", "BlockPublicPolicy", "RestrictPublicBuckets")


def _read_block(ask: Ask, _: Bucket) -> bool:
    said = ask.found(ask.client.get_public_access_block).get("PublicAccessBlockConfiguration", {})
    return all(said.get(name) is True for name in _BLOCKS)


def _write_block(ask: Ask, spec: Bucket) -> None:
    if not spec.public_access_block:
        ask(ask.client.delete_public_access_block)
        return
    ask(ask.client.put_public_access_block, PublicAccessBlockConfiguration=dict.fromkeys(_BLOCKS, True))


#: Every setting, in the order in which they are written: versions before their lock.
SETTINGS = (
    BucketSetting(Capability.VERSIONING, _read_versioning, _write_versioning),
    BucketSetting(Capability.OBJECT_LOCK, _read_lock, _write_lock),
    BucketSetting(Capability.LIFECYCLE, _read_lifecycle, _write_lifecycle),
    BucketSetting(Capability.CORS, _read_cors, _write_cors),
    BucketSetting(Capability.ENCRYPTION, _read_encryption, _write_encryption),
    BucketSetting(Capability.PUBLIC_ACCESS_BLOCK, _read_block, _write_block),
)
