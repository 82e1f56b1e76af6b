"""Object storage: S3 keys (EC2 credentials at Keystone) and buckets."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlsplit

from interlock.object_storage import Storage, object_storage
from interlock.provider.clouds import Cloud
from interlock.provider.errors import Failure, Trouble, classify, refused
from interlock.provider.redaction import REDACTOR
from interlock.provider.retry import RETRIED_STATUS, Tried, may_repeat, persist, retry_after
from interlock.resources import Bucket, Resource, S3Credential
from interlock.store.s3_client import S3Access, s3_client
from interlock.vocabulary.digits import is_number
from interlock.vocabulary.pair_ids import BucketId, CredentialId

from .base import Actuator, Ids, Observed, Target
from .bucket_settings import Ask, at_creation, guarded, read_settings, write_settings

if TYPE_CHECKING:
    from botocore.exceptions import ClientError
    from mypy_boto3_s3 import S3Client


#: What the access half of a numbered key begins with, by what it opens: no hexadecimal digit, which Keystone's own
#: begin with.
NUMBERED: Mapping[str, str] = {"s3": "g", "munge": "m"}
#: Bytes of the secret half: 128 bits for S3, and for munge the 1024 that its own program takes by default.
_BYTES: Mapping[str, int] = {"s3": 16, "munge": 128}


def number_of(access: str) -> int:
    """The number of a key, by its access half; 1 of one that Keystone named."""
    digits = access[1:3]
    return int(digits) if access.startswith(tuple(NUMBERED.values())) and is_number(digits) else 1


def opened_by(access: str) -> str:
    """What a key opens, by its access half: `s3` or `munge`."""
    return "munge" if access.startswith(NUMBERED["munge"]) else "s3"


class S3CredentialActuator(Actuator[S3Credential]):
    """A key of a service user for one project. The id is `user/access key`.

    Nothing is found: a key of the same number is revoked when one is made, so a secret that a crash lost cannot linger.
    Keystone keeps nothing of a key but its two halves, so the first says its number (`g02…`), and nobody can know it
    beforehand. Keys that Keystone named itself are from before keys had numbers: they count as the first.
    """

    KIND: ClassVar[type[Resource]] = S3Credential
    SERVICE: ClassVar[str] = "identity"
    OUTPUTS: ClassVar[Mapping[str, str]] = {
        "access_key": "S3 access key",
        "secret_key": "S3 secret key, a Pulumi secret",
    }
    SECRET: ClassVar[frozenset[str]] = frozenset({"secret_key"})

    def create(self, cloud: Cloud, target: Target[S3Credential]) -> str:
        api, user, project = cloud.api("identity"), target.one("user"), target.one("project")
        path, number, opens = f"/users/{user}/credentials/OS-EC2", target.spec.number, target.spec.opens
        for item in api.get(path)["credentials"]:
            wanted = (project, number, opens)
            if (item["tenant_id"], number_of(item["access"]), opened_by(item["access"])) == wanted:
                api.delete(f"{path}/{item['access']}")
        access = f"{NUMBERED[opens]}{number:02d}{secrets.token_hex(14)}"
        secret = secrets.token_hex(_BYTES[opens])
        REDACTOR.add(secret)
        key = json.dumps({"access": access, "secret": secret})
        api.post("/credentials", {"credential": {"type": "ec2", "user_id": user, "project_id": project, "blob": key}})
        return str(CredentialId(user, access))

    def read(self, cloud: Cloud, ident: str, target: Target[S3Credential] | None = None) -> Observed | None:
        found = cloud.api("identity").find(self._path(ident))
        if found is None:
            return None
        raw = found["credential"]
        references: dict[str, Ids] = {"user": raw["user_id"], "project": raw["tenant_id"]}
        REDACTOR.add(raw["secret"])
        outputs = {"access_key": raw["access"], "secret_key": raw["secret"]}
        fields = {"number": number_of(raw["access"]), "opens": opened_by(raw["access"])}
        return Observed(ident, "", fields, references, outputs)

    def delete(self, cloud: Cloud, ident: str, target: Target[S3Credential]) -> None:
        cloud.api("identity").delete(self._path(ident))

    @staticmethod
    def _path(ident: str) -> str:
        key = CredentialId.parse(ident)
        return f"/users/{key.user}/credentials/OS-EC2/{key.access}"


class BucketActuator(Actuator[Bucket]):
    """Buckets in the account of a project, reached with that project's own key. The id is `project/name`."""

    KIND: ClassVar[type[Resource]] = Bucket
    SERVICE: ClassVar[str] = "object-store"
    PATIENCE: ClassVar[float] = 600.0
    OUTPUTS: ClassVar[Mapping[str, str]] = {"endpoint": "address of the S3 service"}

    def __init__(self, known: Callable[[str], Storage] = object_storage) -> None:
        self._known = known

    def find(self, cloud: Cloud, target: Target[Bucket]) -> Sequence[str]:
        # Only buckets of the key's own account answer; one of that name elsewhere is refused or not seen.
        return [self._id(target)] if self._exists(cloud, target) else []

    def create(self, cloud: Cloud, target: Target[Bucket]) -> str:
        # Not repeated on its own: the second one would be told that the name is taken, if only by us.
        more = at_creation(self._storage(target), target.spec)
        s3_call(cloud, self._client(cloud, target).create_bucket, repeat=False, Bucket=target.spec.name, **more)
        return self._id(target)

    def read(self, cloud: Cloud, ident: str, target: Target[Bucket] | None = None) -> Observed | None:
        if target is None or not self._exists(cloud, target):
            return None
        bucket = BucketId.parse(ident)
        settings = read_settings(self._ask(cloud, target), self._storage(target), target.spec)
        references: dict[str, Ids] = {"project": bucket.project}
        outputs = {"endpoint": target.spec.address or s3_endpoint(cloud)}
        return Observed(ident, "", {"name": bucket.name, **settings}, references, outputs)

    def update(self, cloud: Cloud, target: Target[Bucket], seen: Observed, changed: frozenset[str]) -> None:
        write_settings(self._ask(cloud, target), self._storage(target), target.spec, changed)

    def delete(self, cloud: Cloud, ident: str, target: Target[Bucket]) -> None:
        client, name = self._client(cloud, target), BucketId.parse(ident).name
        if not self._exists(cloud, target):
            return
        for upload in s3_call(cloud, client.list_multipart_uploads, Bucket=name).get("Uploads", []):
            s3_call(cloud, client.abort_multipart_upload, Bucket=name, Key=upload["Key"], UploadId=upload["UploadId"])
        for version in _versions(cloud, client, name):
            s3_call(cloud, client.delete_object, Bucket=name, Key=version["Key"], VersionId=version["VersionId"])
        try:
            s3_call(cloud, client.delete_bucket, Bucket=name)
        except Failure as failure:
            # Where the answer to the first attempt was lost, the second finds nothing.
            if failure.trouble is not Trouble.NOT_FOUND:
                raise

    def holds_data(self, cloud: Cloud, target: Target[Bucket], seen: Observed) -> bool:
        """Versions, the newest or not, and uploads that somebody has begun. Marks of deletions hold nothing."""
        client, name = self._client(cloud, target), target.spec.name
        uploads = s3_call(cloud, client.list_multipart_uploads, Bucket=name).get("Uploads")
        return bool(uploads) or any("Size" in item for item in _versions(cloud, client, name))

    @staticmethod
    def _id(target: Target[Bucket]) -> str:
        return str(BucketId(target.one("project"), target.spec.name))

    def _exists(self, cloud: Cloud, target: Target[Bucket]) -> bool:
        try:
            s3_call(cloud, self._client(cloud, target).head_bucket, Bucket=target.spec.name)
        except Failure as failure:
            if failure.trouble is Trouble.NOT_FOUND:
                return False
            raise
        return True

    def _client(self, cloud: Cloud, target: Target[Bucket]) -> S3Client:
        client = client_with(cloud, usable_keys(cloud, target)[0], target.spec.address)
        return guarded(client, self._storage(target))

    def _ask(self, cloud: Cloud, target: Target[Bucket]) -> Ask:
        return Ask(self._client(cloud, target), target.spec.name, partial(s3_call, cloud))

    def _storage(self, target: Target[Bucket]) -> Storage:
        """What is known of the kind of storage that the bucket is on. Raises a refusal if nothing is any more."""
        try:
            return self._known(target.spec.storage)
        except KeyError as unknown:
            raise refused(f"bucket {target.spec.name}: nobody asked object storage {unknown}") from unknown


def client_with(cloud: Cloud, key: Mapping[str, Any], address: str) -> S3Client:
    """A client with this key, one of `usable_keys`, for the S3 interface there; empty: for the cloud's own."""
    wait = cloud.retry_policy.budget.answer
    access = S3Access(
        endpoint=address or s3_endpoint(cloud),
        region=cloud.region or "us-east-1",
        access_key=key["access"],
        secret_key=key["secret"],
    )
    return s3_client(access, connect=wait, read=wait)


def usable_keys(cloud: Cloud, target: Target[Any]) -> Sequence[Mapping[str, Any]]:
    """The recorded key, if it was not revoked meanwhile, then the others of the same user for the same project.

    Raises a refusal if there is none: without a key nobody can tell whether the bucket exists, and "not found"
    would make a refresh drop it from the state.
    """
    recorded = CredentialId.parse(target.one("credential"))
    found = cloud.api("identity").find(f"/users/{recorded.user}/credentials/OS-EC2")
    usable = [item for item in (found["credentials"] if found else ()) if item["tenant_id"] == target.one("project")]
    usable.sort(key=lambda item: item["access"] != recorded.access)
    if not usable:
        raise refused(
            f"{target.spec.KIND} {target.name}: the user {recorded.user} has no S3 key for its project any more",
            "run `pulumi refresh --target` on the S3Credential, then `pulumi up`: it makes a new key",
        )
    for key in usable:
        REDACTOR.add(key["secret"])
    return usable


def s3_endpoint(cloud: Cloud) -> str:
    """Scheme and host of the object store: Swift's S3 interface answers at the root of Swift's own address."""
    parts = urlsplit(cloud.endpoint("object-store"))
    if not parts.netloc:
        raise Failure(Trouble.UNREACHABLE, "the catalogue has no object store", service="object storage")
    return f"{parts.scheme}://{parts.netloc}"


def _versions(cloud: Cloud, client: S3Client, bucket: str) -> Iterator[Any]:
    where: dict[str, Any] = {}
    while True:
        page = s3_call(cloud, client.list_object_versions, Bucket=bucket, **where)
        yield from page.get("Versions", [])
        yield from page.get("DeleteMarkers", [])
        if not page.get("IsTruncated"):
            return
        where = {"KeyMarker": page["NextKeyMarker"], "VersionIdMarker": page["NextVersionIdMarker"]}


def s3_call(cloud: Cloud, method: Any, *, repeat: bool = True, **arguments: Any) -> Any:
    """The answer of an S3 call, within the budget. Raises `Failure`."""
    return persist(cloud.retry_policy, lambda: _once(method, repeat, arguments))


def _once(method: Any, repeat: bool, arguments: dict[str, Any]) -> Tried[Any]:
    from botocore import exceptions
    from botocore.parsers import ResponseParserError

    try:
        return Tried(method(**arguments))
    except exceptions.ClientError as error:
        return _refused(error, repeat, arguments)
    except (exceptions.EndpointConnectionError, exceptions.ConnectTimeoutError) as error:
        # No connection was made, so there was no effect.
        return Tried(failure=_failure(Trouble.UNREACHABLE, str(error)), again=True)
    except (exceptions.BotoCoreError, ResponseParserError) as error:
        kind = Trouble.UNREACHABLE if repeat else Trouble.LOST_ANSWER
        return Tried(failure=_failure(kind, str(error)), again=repeat)


def _refused(error: ClientError, repeat: bool, arguments: dict[str, Any]) -> Tried[Any]:
    """S3 says its reasons by code, so they are put into the text."""
    answer: Any = error.response
    status, sent = answer["ResponseMetadata"]["HTTPStatusCode"], answer["ResponseMetadata"].get("HTTPHeaders", {})
    headers = {"Retry-After": sent.get("retry-after", ""), "Date": sent.get("date", "")}
    said = answer.get("Error", {})
    kind, _ = classify("object-store", status, said.get("Code", ""))
    retried = status in RETRIED_STATUS
    again = retried and may_repeat("", idempotent=repeat, refused=status == 429)
    if retried and not again:
        kind = Trouble.LOST_ANSWER
    words = f"{error.operation_name} {arguments.get('Bucket', '')}: {said.get('Code')} {said.get('Message', '')}"
    return Tried(failure=_failure(kind, words), again=again, after=retry_after(headers))


def _failure(kind: Trouble, words: str) -> Failure:
    return Failure(kind, f"S3 {' '.join(words.split())[:300]}", service="object storage")
