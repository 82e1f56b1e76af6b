"""The policy of a bucket on a real Versity gateway: made, read, changed, removed; killed at each call, and lied to.

The lifecycle is the provider's own. Keystone's part, which keys a user has, is a stand-in; the gateway is the real one.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from botocore import exceptions
from botocore.awsrequest import AWSResponse
from botocore.compat import HTTPHeaders

from interlock.provider.errors import Failure, Trouble
from interlock.provider.lifecycle import Partial
from tests.buckets.ground import MOMENTS, WRITE, Fault, Ground
from tests.buckets.probe import policy_text, refusal
from tests.buckets.told import Keys
from tests.support.versity import Versity


@pytest.fixture
def ground(gateway: Versity, monkeypatch: pytest.MonkeyPatch) -> Ground:
    """A bucket of its own for each test."""
    keys, tag = Keys(gateway), secrets.token_hex(4)
    users = {"maker": f"maker-{tag}", "mate": f"mate-{tag}"}
    for ident in users.values():
        keys.add(ident)
    found = Ground(keys, f"acme-data-{tag}", users, keys.ids(users["maker"])[0], monkeypatch)
    found.maker.create_bucket(Bucket=found.bucket)
    return found


def test_a_bucket_policy_is_made_changed_and_removed(ground: Ground) -> None:
    state = ground.create(ground.target())
    ground.stands(ground.target(), state)
    state = ground.update(ground.target(WRITE), state)
    ground.stands(ground.target(WRITE), state)
    ground.delete(ground.target(WRITE), state)
    assert ground.document() is None
    assert ground.read(ground.target(), state) is None
    # Once more is no fault.
    ground.delete(ground.target(WRITE), state)


def test_a_bucket_policy_whose_id_a_crash_lost_is_adopted(ground: Ground) -> None:
    state = ground.create(ground.target())
    assert ground.create(ground.target()) == state
    # Made as an earlier request said, it is adopted and brought to what is asked now.
    state = ground.create(ground.target(WRITE))
    ground.stands(ground.target(WRITE), state)


def test_a_bucket_policy_of_somebody_else_is_left_alone(ground: Ground) -> None:
    theirs = json.loads(policy_text(ground.bucket, {"AWS": [ground.credential.rpartition("/")[2]]}, "s3:*"))
    for document in (theirs, {**theirs, "Id": "interlock:globex-1234:acme-data-policy"}):
        ground.put(document)
        with pytest.raises(Failure, match="a policy that this stack did not write") as failure:
            ground.create(ground.target())
        assert failure.value.trouble is Trouble.REFUSED
        assert ground.document() == document


@pytest.mark.parametrize("mark", [None, "interlock:globex-1234:acme-data-policy"], ids=["unmarked", "another stack's"])
def test_a_bucket_policy_that_was_exchanged_is_neither_changed_nor_removed(ground: Ground, mark: str | None) -> None:
    state = ground.create(ground.target())
    theirs = json.loads(policy_text(ground.bucket, {"AWS": [ground.credential.rpartition("/")[2]]}, "s3:*"))
    document = theirs if mark is None else {**theirs, "Id": mark}
    ground.put(document)
    for change in (lambda: ground.update(ground.target(WRITE), state), lambda: ground.delete(ground.target(), state)):
        with pytest.raises((Failure, Partial), match=r"did not write|belongs to another stack"):
            change()
        assert ground.document() == document


def test_a_bucket_policy_changed_by_hand_is_seen_and_put_back(ground: Ground) -> None:
    state = ground.create(ground.target())
    document = ground.document()
    assert document is not None
    statements = document["Statement"]
    opened = {**statements[1], "Principal": "*"}
    stranger = {**statements[1], "Principal": {"AWS": [ground.keys.add("somebody")]}}
    denied = {**statements[1], "Effect": "Deny"}
    part = {**statements[1], "Resource": [f"arn:aws:s3:::{ground.bucket}/models/*"], "Action": ["s3:GetObject"]}
    for changed in ([statements[0]], [*statements, opened], [*statements, stranger], [*statements, denied],
                    [statements[0], part]):  # fmt: skip
        ground.put({**document, "Statement": changed})
        seen = ground.read(ground.target(), state)
        assert seen is not None
        assert seen[0] != ground.inputs()
        state = ground.update(ground.target(), seen[1])
        assert ground.document() == document


def test_a_bucket_policy_follows_the_keys_of_its_users(ground: Ground) -> None:
    """A new key of either user is named beside the old one, and the old one goes from the policy with it."""
    state = ground.create(ground.target())
    first = ground.credential
    newer = {user: ground.keys.add(ident) for user, ident in ground.users.items()}
    # The newest key makes the request, and may do nothing before the policy names it: the older one is tried, too.
    ground.credential = next(one for one in ground.keys.ids(ground.users["maker"]) if one.endswith(newer["maker"]))
    state = ground.update(ground.target(), state)
    for access in newer.values():
        assert not refusal(partial(ground.keys.s3(access).list_objects_v2, Bucket=ground.bucket))
    ground.keys.revoke(ground.users["maker"], first.rpartition("/")[2])
    state = ground.update(ground.target(), state)
    ground.stands(ground.target(), state)
    assert first.rpartition("/")[2] not in json.dumps(ground.document())


# Kills: at each moment of each call.


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_kill_leaves_a_bucket_policy_that_the_next_run_finishes(ground: Ground, moment: str) -> None:
    plain, wider = ground.target(), ground.target(WRITE)
    state = ground.create(plain)
    creating = ground.calls
    after = ground.update(wider, state)
    changing = ground.calls
    ground.delete(wider, after)
    removing = ground.calls
    # At least: look, write, look again.
    assert min(creating, changing, removing) >= 3
    for number in range(1, max(creating, changing, removing) + 1):
        state = ground.killed(moment, number, number <= creating, lambda: ground.create(plain))
        ground.stands(plain, state)
        after = ground.killed(moment, number, number <= changing, partial(ground.update, wider, state))
        ground.stands(wider, after)
        ground.killed(moment, number, number <= removing, partial(ground.delete, wider, after))
        assert ground.document() is None


# Faults: what goes wrong between the provider and the gateway.


class _Body:
    """The body of an answer that no server gave."""

    def __init__(self, text: bytes) -> None:
        self._text = text

    def stream(self, **_: Any) -> Iterator[bytes]:
        yield self._text


def _answers(status: int, text: bytes = b"") -> Callable[[], Any]:
    return lambda: AWSResponse("http://gateway", status, HTTPHeaders(), _Body(text))


def _breaks() -> Any:
    raise exceptions.ConnectionClosedError(endpoint_url="http://gateway")


FAULTS = {
    f"{name}, {'each call' if lasts else 'once'}": Fault(moment, act, lasts)
    for lasts in (False, True)
    for name, moment, act in (
        ("503", "before-send", _answers(503)),
        ("429", "before-send", _answers(429)),
        ("500", "before-send", _answers(500)),
        ("403", "before-send", _answers(403, b"<Error><Code>AccessDenied</Code></Error>")),
        ("html", "before-send", _answers(502, b"<html>gateway</html>")),
        ("nonsense", "before-send", _answers(200, b"no policy")),
        ("cut before", "before-send", _breaks),
        ("cut after", "before-parse", _breaks),
    )
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_harms_no_bucket_policy(ground: Ground, name: str) -> None:
    """Either it is done, or it is told; and the next run finishes it, with nothing twice and nothing of another's."""
    fault, plain, wider = FAULTS[name], ground.target(), ground.target(WRITE)
    numbers = (0,) if fault.lasts else (1, 2, 3)
    for number in numbers:
        state = ground.faulty(fault, number, lambda: ground.create(plain))
        ground.stands(plain, state)
        after = ground.faulty(fault, number, partial(ground.update, wider, state))
        ground.stands(wider, after)
        ground.faulty(fault, number, partial(ground.delete, wider, after))
        assert ground.document() is None
