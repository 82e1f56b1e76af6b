"""What an S3 server does with each setting of a bucket, found by asking it: a call, and a look at the effect.

A server's word is not enough. Some answer a call that they do not know with success, or do something else: Swift
takes a sub-resource that it does not know for the bucket itself, so `DELETE ?lifecycle` deletes the bucket there. So
each question has a bucket of its own, and no setting is removed from a bucket that is to stay.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen
from xml.etree import ElementTree

from botocore.exceptions import ClientError


class Support(StrEnum):
    """What came of a wish."""

    #: Accepted, and its effect was seen.
    ENFORCED = "enforced"
    #: Accepted and read back; no effect was seen.
    KEPT = "kept"
    #: A call was answered with success, and had no effect or another one.
    IGNORED = "ignored"
    REFUSED = "refused"


@dataclass
class Server:
    """A server to ask, with the keys of two accounts."""

    kind: str
    #: What it says of itself.
    release: str
    endpoint: str
    own: Any
    other: Any
    #: The other account, as a policy names it.
    principal: str
    #: Method and path of every request that the own key sent.
    sent: list[tuple[str, str]] = field(default_factory=list)
    #: Root element of the last answer to the own key; empty if it was no XML.
    answered: str = ""

    def __post_init__(self) -> None:
        events = self.own.meta.events
        events.register("before-send.s3", self._note_request)
        events.register("before-parse.s3", self._note_answer)

    def _note_request(self, request: Any, **_: Any) -> None:
        self.sent.append((request.method, request.url.removeprefix(self.endpoint)))

    def _note_answer(self, response_dict: Any, **_: Any) -> None:
        body = response_dict["body"]
        self.answered = ""
        # What is in an object comes as a stream, and is read later.
        if isinstance(body, bytes) and body.lstrip().startswith(b"<"):
            self.answered = ElementTree.fromstring(body).tag.rpartition("}")[2]

    def bucket(self, **more: Any) -> str:
        """A new bucket of the own account."""
        name = f"asked-{secrets.token_hex(6)}"
        self.own.create_bucket(Bucket=name, **more)
        return name

    def has(self, bucket: str) -> bool:
        """Whether the bucket is there."""
        return not refusal(lambda: self.own.head_bucket(Bucket=bucket))


def refusal(call: Callable[[], object]) -> str:
    """The code with which a call is refused; empty if it is not."""
    try:
        call()
    except ClientError as error:
        return str(error.response["Error"]["Code"])
    return ""


def ask(server: Server) -> dict[str, str]:
    """Capability -> what came of it, in the order of `QUESTIONS`."""
    return {capability: str(question(server)) for capability, question in QUESTIONS.items()}


def _versioning(server: Server) -> Support:
    bucket, own = server.bucket(), server.own
    wanted = {"Status": "Enabled"}
    if refusal(lambda: own.put_bucket_versioning(Bucket=bucket, VersioningConfiguration=wanted)):
        return Support.REFUSED
    first = own.put_object(Bucket=bucket, Key="model", Body=b"old").get("VersionId")
    own.put_object(Bucket=bucket, Key="model", Body=b"new")
    if first and own.get_object(Bucket=bucket, Key="model", VersionId=first)["Body"].read() == b"old":
        return Support.ENFORCED
    return _kept(own.get_bucket_versioning(Bucket=bucket).get("Status") == "Enabled")


def _lifecycle(server: Server) -> Support:
    bucket, own = server.bucket(), server.own
    rule = {"ID": "old", "Status": "Enabled", "Filter": {"Prefix": "tmp/"}, "Expiration": {"Days": 3}}
    wanted = {"Rules": [rule]}
    if refusal(lambda: own.put_bucket_lifecycle_configuration(Bucket=bucket, LifecycleConfiguration=wanted)):
        # The one removal that is asked of a server that may not know it: of a bucket made for it, and empty.
        gone = not refusal(lambda: own.delete_bucket_lifecycle(Bucket=bucket)) and not server.has(bucket)
        return Support.IGNORED if gone else Support.REFUSED
    # Days pass before anything expires, so no effect can be seen here.
    return _kept(own.get_bucket_lifecycle_configuration(Bucket=bucket).get("Rules", [{}])[0].get("ID") == "old")


def _cors(server: Server) -> Support:
    bucket, own, origin = server.bucket(), server.own, "https://notebook.example"
    rule = {"AllowedOrigins": [origin], "AllowedMethods": ["GET"], "MaxAgeSeconds": 60}
    if refusal(lambda: own.put_bucket_cors(Bucket=bucket, CORSConfiguration={"CORSRules": [rule]})):
        return _refused(server, lambda: own.get_bucket_cors(Bucket=bucket))
    strange = "https://elsewhere.example"
    if _allows_origin(server, bucket, origin) and not _allows_origin(server, bucket, strange):
        return Support.ENFORCED
    return _kept(own.get_bucket_cors(Bucket=bucket).get("CORSRules", [{}])[0].get("AllowedOrigins") == [origin])


def _allows_origin(server: Server, bucket: str, origin: str) -> bool:
    """What a browser asks before it lets a page of `origin` read an object."""
    asking = {"Origin": origin, "Access-Control-Request-Method": "GET"}
    try:
        with urlopen(
            Request(f"{server.endpoint}/{bucket}/model", headers=asking, method="OPTIONS"), timeout=30
        ) as said:
            return bool(said.headers.get("Access-Control-Allow-Origin") in (origin, "*"))
    except HTTPError:
        return False


def policy_text(bucket: str, principal: Any, *actions: str) -> str:
    """A policy with one statement, for the bucket and all that is in it."""
    resources = [f"arn:aws:s3:::{bucket}", f"arn:aws:s3:::{bucket}/*"]
    wanted: dict[str, Any] = {"Effect": "Allow", "Principal": principal, "Action": list(actions)}
    return json.dumps({"Version": "2012-10-17", "Statement": [{**wanted, "Resource": resources}]})


def _policy(server: Server) -> Support:
    bucket, own = server.bucket(), server.own
    own.put_object(Bucket=bucket, Key="model", Body=b"weights")
    reads = {"Bucket": bucket, "Key": "model"}
    before = refusal(lambda: server.other.get_object(**reads))
    text = policy_text(bucket, {"AWS": [server.principal]}, "s3:GetObject", "s3:ListBucket")
    if refusal(lambda: own.put_bucket_policy(Bucket=bucket, Policy=text)):
        return _refused(server, lambda: own.get_bucket_policy(Bucket=bucket))
    writes = refusal(lambda: server.other.put_object(**reads, Body=b"mine"))
    if before and writes and not refusal(lambda: server.other.get_object(**reads)):
        return Support.ENFORCED
    return _kept(bool(own.get_bucket_policy(Bucket=bucket).get("Policy")))


def _object_lock(server: Server) -> Support:
    bucket, own = server.bucket(ObjectLockEnabledForBucket=True), server.own
    retention = {"DefaultRetention": {"Mode": "COMPLIANCE", "Days": 1}}
    wanted = {"ObjectLockEnabled": "Enabled", "Rule": retention}
    if refusal(lambda: own.put_object_lock_configuration(Bucket=bucket, ObjectLockConfiguration=wanted)):
        return _refused(server, lambda: own.get_object_lock_configuration(Bucket=bucket))
    version = own.put_object(Bucket=bucket, Key="model", Body=b"weights").get("VersionId")
    if version and refusal(lambda: own.delete_object(Bucket=bucket, Key="model", VersionId=version)):
        return Support.ENFORCED
    return _kept("Rule" in own.get_object_lock_configuration(Bucket=bucket).get("ObjectLockConfiguration", {}))


def _encryption(server: Server) -> Support:
    bucket, own = server.bucket(), server.own
    rule = {"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}
    wanted = {"Rules": [rule]}
    if refusal(lambda: own.put_bucket_encryption(Bucket=bucket, ServerSideEncryptionConfiguration=wanted)):
        return _refused(server, lambda: own.get_bucket_encryption(Bucket=bucket))
    own.put_object(Bucket=bucket, Key="model", Body=b"weights")
    if own.head_object(Bucket=bucket, Key="model").get("ServerSideEncryption") == "AES256":
        return Support.ENFORCED
    said = own.get_bucket_encryption(Bucket=bucket).get("ServerSideEncryptionConfiguration", {})
    return _kept(said.get("Rules", [{}])[0].get("ApplyServerSideEncryptionByDefault") is not None)


def _public_access_block(server: Server) -> Support:
    bucket, own = server.bucket(), server.own
    names = ("BlockPublicAcls", "IgnorePublicAcls", "BlockPublicPolicy", "RestrictPublicBuckets")
    wanted = dict.fromkeys(names, True)
    if refusal(lambda: own.put_public_access_block(Bucket=bucket, PublicAccessBlockConfiguration=wanted)):
        return _refused(server, lambda: own.get_public_access_block(Bucket=bucket))
    open_to_all = policy_text(bucket, "*", "s3:GetObject", "s3:ListBucket")
    if refusal(lambda: own.put_bucket_policy(Bucket=bucket, Policy=open_to_all)) == "AccessDenied":
        return Support.ENFORCED
    said = own.get_public_access_block(Bucket=bucket).get("PublicAccessBlockConfiguration", {})
    return _kept(said.get("BlockPublicPolicy") is True)


def _tagging(server: Server) -> Support:
    bucket, own = server.bucket(), server.own
    wanted = [{"Key": "tenant", "Value": "acme"}]
    if refusal(lambda: own.put_bucket_tagging(Bucket=bucket, Tagging={"TagSet": wanted})):
        return _refused(server, lambda: own.get_bucket_tagging(Bucket=bucket))
    # To be read is all that a tag is for, but nothing obeys it.
    return _kept(own.get_bucket_tagging(Bucket=bucket).get("TagSet") == wanted)


def _kept(read_back: bool) -> Support:
    return Support.KEPT if read_back else Support.IGNORED


def _refused(server: Server, read: Callable[[], object]) -> Support:
    """After a refused write. Where reading lists the objects instead, removing would remove the bucket."""
    listed = not refusal(read) and server.answered == "ListBucketResult"
    return Support.IGNORED if listed else Support.REFUSED


#: Capability -> how it is asked.
QUESTIONS: dict[str, Callable[[Server], Support]] = {
    "versioning": _versioning,
    "lifecycle": _lifecycle,
    "cors": _cors,
    "policy": _policy,
    "object_lock": _object_lock,
    "encryption": _encryption,
    "public_access_block": _public_access_block,
    "tagging": _tagging,
}
