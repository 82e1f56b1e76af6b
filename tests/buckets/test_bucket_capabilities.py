"""interlock/object_storage/capabilities.json against the real servers: what it says is asked again."""

from __future__ import annotations

import datetime
import json
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from .ask import CAPABILITIES
from .probe import QUESTIONS, Server, Support, ask

SAID: dict[str, Any] = json.loads(CAPABILITIES.read_text(encoding="utf-8"))
KINDS = ("swift", "versity")


@pytest.fixture(scope="module", params=KINDS)
def server(request: pytest.FixtureRequest) -> Server:
    """Each of the servers that the file speaks of."""
    found: Server = request.getfixturevalue(request.param)
    return found


def test_the_file_of_bucket_capabilities_is_whole() -> None:
    assert tuple(SAID) == KINDS
    for entry in SAID.values():
        assert list(entry["capabilities"]) == list(QUESTIONS)
        assert set(entry["capabilities"].values()) <= set(map(str, Support))
        assert datetime.date.fromisoformat(entry["asked"]) <= datetime.datetime.now(datetime.UTC).date()


def test_each_server_does_with_bucket_settings_what_the_file_says(server: Server) -> None:
    again = "ask again: python -m tests.buckets.ask"
    assert (server.release, ask(server)) == (SAID[server.kind]["release"], SAID[server.kind]["capabilities"]), again


def test_swift_takes_the_removal_of_a_bucket_rule_for_that_of_the_bucket(swift: Server) -> None:
    bucket = swift.bucket()
    swift.own.delete_bucket_lifecycle(Bucket=bucket)
    assert not swift.has(bucket)


def test_asking_removes_no_setting_of_a_bucket_with_objects(server: Server) -> None:
    """Swift takes such a removal for that of the bucket: it is sent once, for a bucket that was made for it."""
    del server.sent[:]
    ask(server)
    removals = [urlsplit(path) for method, path in server.sent if method == "DELETE"]
    of_buckets = [url for url in removals if url.path.count("/") == 1]
    assert [dict(parse_qsl(url.query, keep_blank_values=True)) for url in of_buckets] == [{"lifecycle": ""}]
    filled = {path.split("/")[1] for method, path in server.sent if method == "PUT" and path.count("/") > 1}
    assert not filled & {url.path[1:] for url in of_buckets}
