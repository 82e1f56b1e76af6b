"""Calls to an S3 server: the client that a URL describes, attempts at one call, and what an error means."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import parse_qsl, urlsplit

import boto3
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectionError,  # noqa: A004 - the name is botocore's
    HTTPClientError,
    IncompleteReadError,
)

from interlock import __version__

from .objects import StoreFailed

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

T = TypeVar("T")

#: Seconds between two attempts at one call, at most; their number is one more.
PAUSES = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2)
#: Readers of one store at a time.
READERS = 16
#: Seconds until a server that says nothing counts as silent.
_CONNECT, _READ = 5, 15

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

    def __init__(self, bucket: BucketUrl, pauses: tuple[float, ...] = PAUSES) -> None:
        self.bucket = bucket
        self._pauses = pauses

    @cached_property
    def client(self) -> S3Client:
        """The client, with the credential that boto3 finds. It may be used by several threads."""
        bucket = self.bucket
        config = Config(
            signature_version="s3v4",
            # A server of one's own seldom answers to names of buckets.
            s3={"addressing_style": "path" if bucket.endpoint else "auto"},
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
            # Attempts are counted here: only so is it known that one of them may have been carried out.
            retries={"mode": "standard", "total_max_attempts": 1},
            connect_timeout=_CONNECT,
            read_timeout=_READ,
            max_pool_connections=READERS,
            user_agent_extra=f"interlock/{__version__}",
        )
        try:
            session = boto3.Session(profile_name=bucket.profile, region_name=bucket.region)
            region = session.region_name or "us-east-1"
            return session.client("s3", endpoint_url=bucket.endpoint, region_name=region, config=config)
        except (BotoCoreError, ValueError) as error:
            raise StoreFailed(f"claims store {bucket.url}: {error}", "correct `claims:` in site.yaml") from error

    def ask(self, place: str, call: Callable[[], T]) -> T:
        """The answer, after as many attempts as it takes or may take.

        Raises `ConditionFailed` where the server refused a condition, `Unanswered`, and `StoreFailed` for the rest.
        """
        unsure = False
        for pause in (*self._pauses, None):
            try:
                return call()
            except ClientError as error:
                status = error.response["ResponseMetadata"]["HTTPStatusCode"]
                if status == _CONDITION_FAILED or code(error) == "NoSuchKey":
                    raise ConditionFailed(unsure=unsure) from error
                if status not in _AGAIN:
                    raise self._explained(place, error) from error
                last: Exception = error
                unsure |= status not in _NOTHING_DONE
            except (ConnectionError, HTTPClientError, IncompleteReadError) as error:
                last, unsure = error, True
            except BotoCoreError as error:
                raise self._failed(place, str(error), _HINTS["InvalidAccessKeyId"]) from error
            if pause is None:
                raise self._unanswered(place, last) from last
            # Writers that met shall not meet again.
            time.sleep(pause * random.uniform(0.5, 1))
        raise AssertionError("the last attempt returns or raises")

    def _explained(self, place: str, error: ClientError) -> StoreFailed:
        said = error.response["Error"]
        hint = _HINTS.get(code(error), "see what the server's log says of it, then run again")
        return self._failed(place, f"{error.operation_name}: {code(error)} {said.get('Message', '')}".strip(), hint)

    def _failed(self, place: str, what: str, hint: str) -> StoreFailed:
        return StoreFailed(f"claims store {self.bucket.url}, {place}: {what}", hint)

    def _unanswered(self, place: str, error: Exception) -> Unanswered:
        tries = len(self._pauses) + 1
        what = f"claims store {self.bucket.url}, {place}: {tries} attempts failed, the last with: {error}"
        return Unanswered(what, "once the server answers again, run again: what was begun is taken up")


def code(error: ClientError) -> str:
    """S3's own word for the reason."""
    return error.response["Error"].get("Code", "")
