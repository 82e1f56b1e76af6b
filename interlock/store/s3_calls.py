"""Calls to an S3 server: the client that a URL describes, attempts at one call, and what an error means."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import parse_qsl, urlsplit

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectionError,  # noqa: A004 - the name is botocore's
    HTTPClientError,
    IncompleteReadError,
)

from interlock.retry import RetryBudget, RetryPolicy, Tried, persist

from .objects import StoreFailed
from .s3_client import S3Access, s3_client

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

T = TypeVar("T")

#: Seven attempts at one call. Writers that met shall not meet again, hence the jitter.
PATIENCE = RetryPolicy(RetryBudget(attempts=7, first=0.1, longest=3.2, total=math.inf, jitter=0.5))
#: Readers of one store at a time.
READERS = 16
#: Seconds until a server that says nothing counts as silent.
_CONNECT, _READ = 5, 15

_NOT_FOUND = 404
_CONDITION_FAILED = 412
#: Answers after which the same call may succeed. 409 is ConditionalRequestConflict: two writers met in the server.
_AGAIN = frozenset({408, 409, 429, 500, 502, 503, 504})
#: Those of them that say for certain that nothing was done.
_NOTHING_DONE = frozenset({409, 429})

_STYLE = frozenset({"s3ForcePathStyle", "use_path_style"})
_PLAIN = frozenset({"disableSSL", "disable_https"})
_KNOWN = frozenset({"endpoint", "region", "profile", "awssdk"}) | _STYLE | _PLAIN

_HINTS = {
    "NoSuchBucket": "make the bucket, or correct `claims:` in site.yaml",
    "NotImplemented": "use a server with conditional writes (If-None-Match and If-Match on PutObject)",
    "AccessDenied": "the credential needs s3:ListBucket, s3:GetObject and s3:PutObject there",
    "InvalidAccessKeyId": "set AWS_PROFILE or AWS_ACCESS_KEY_ID, or write ?profile=… into `claims:`",
    "SignatureDoesNotMatch": "check the secret key of the credential in use, and the clock of this machine",
}


class ConditionFailed(Exception):
    """The server looked and refused. `unsure`: an earlier attempt got no answer, and may be what it saw."""

    def __init__(self, *, unsure: bool) -> None:
        super().__init__()
        self.unsure = unsure


class Unanswered(StoreFailed):
    """Every attempt failed; one of them may have been carried out all the same."""


@dataclass(frozen=True)
class BucketUrl:
    """A store's URL, taken apart: the conventions are those of Pulumi's S3 backend."""

    name: str
    prefix: str
    endpoint: str | None
    region: str | None
    profile: str | None

    @classmethod
    def at(cls, url: str, part: str) -> BucketUrl:
        """`s3://bucket/prefix?endpoint=…&region=…&profile=…`; `part` is added to the prefix. Raises `StoreFailed`."""
        parts = urlsplit(url)
        words = dict(parse_qsl(parts.query, keep_blank_values=True))
        if unknown := sorted(set(words) - _KNOWN):
            raise StoreFailed(
                f"claims store {url!r}: unknown parameter {unknown[0]!r}",
                "`claims:` in site.yaml takes endpoint, region and profile, as in s3://bucket/prefix?region=…",
            )
        prefix = "/".join(step for step in (*parts.path.split("/"), part) if step)
        return cls(parts.netloc, prefix, _endpoint(words), words.get("region"), words.get("profile"))

    @property
    def url(self) -> str:
        """What people know it by."""
        return f"s3://{self.name}/{self.prefix}" + (f"?endpoint={self.endpoint}" if self.endpoint else "")


def _endpoint(words: dict[str, str]) -> str | None:
    given = words.get("endpoint")
    if not given or "://" in given:
        return given or None
    plain = any(words.get(word) == "true" for word in _PLAIN)
    return f"{'http' if plain else 'https'}://{given}"


class Calls:
    """One client, and the patience that its calls need. Making one costs nothing and does no I/O."""

    def __init__(self, bucket: BucketUrl, retry_policy: RetryPolicy = PATIENCE) -> None:
        self.bucket = bucket
        self._retry_policy = retry_policy

    @cached_property
    def client(self) -> S3Client:
        """The client, with the credential that boto3 finds. It may be used by several threads."""
        bucket = self.bucket
        access = S3Access(bucket.endpoint, bucket.region, bucket.profile)
        try:
            return s3_client(access, connect=_CONNECT, read=_READ, connections=READERS)
        except (BotoCoreError, ValueError) as error:
            raise StoreFailed(f"claims store {bucket.url}: {error}", "correct `claims:` in site.yaml") from error

    def ask(self, place: str, call: Callable[[], T]) -> T:
        """The answer, after as many attempts as it takes or may take.

        Raises `ConditionFailed` where the server refused a condition, `Unanswered`, and `StoreFailed` for the rest.
        """
        attempts = _Attempts(self, place)
        return persist(self._retry_policy, lambda: attempts.once(call))

    def explained(self, place: str, error: ClientError) -> StoreFailed:
        """A refusal that stays one, with what to do about it."""
        said = error.response["Error"]
        hint = _HINTS.get(code(error), "see what the server's log says of it, then run again")
        return self.failed(place, f"{error.operation_name}: {code(error)} {said.get('Message', '')}".strip(), hint)

    def failed(self, place: str, what: str, hint: str) -> StoreFailed:
        """What is wrong with this object of the store."""
        return StoreFailed(f"claims store {self.bucket.url}, {place}: {what}", hint)

    def unanswered(self, place: str, error: Exception) -> Unanswered:
        """Every attempt failed, the last one so."""
        tries = self._retry_policy.budget.attempts
        what = f"claims store {self.bucket.url}, {place}: {tries} attempts failed, the last with: {error}"
        return Unanswered(what, "once the server answers again, run again: it continues what was begun")


class _Attempts:
    """The attempts at one call, and whether one of them may have been carried out without an answer."""

    def __init__(self, calls: Calls, place: str) -> None:
        self._calls = calls
        self._place = place
        self._unsure = False

    def once(self, call: Callable[[], T]) -> Tried[T]:
        """One attempt. Raises what no further attempt would change."""
        try:
            return Tried(call())
        except ClientError as error:
            status = error.response["ResponseMetadata"]["HTTPStatusCode"]
            if status == _CONDITION_FAILED or code(error) == "NoSuchKey":
                raise ConditionFailed(unsure=self._unsure) from error
            # An answer that was cut off says no reason: the status stands in its place.
            cut_off = status == _NOT_FOUND and code(error) == str(_NOT_FOUND)
            if status not in _AGAIN and not cut_off:
                raise self._calls.explained(self._place, error) from error
            return self._failed(error, unsure=status not in _NOTHING_DONE)
        except (ConnectionError, HTTPClientError, IncompleteReadError) as error:
            return self._failed(error, unsure=True)
        except BotoCoreError as error:
            raise self._calls.failed(self._place, str(error), _HINTS["InvalidAccessKeyId"]) from error

    def _failed(self, error: Exception, *, unsure: bool) -> Tried[Any]:
        self._unsure |= unsure
        failure = self._calls.unanswered(self._place, error)
        failure.__cause__ = error
        return Tried(failure=failure, again=True)


def code(error: ClientError) -> str:
    """S3's own word for the reason."""
    return error.response["Error"].get("Code", "")
