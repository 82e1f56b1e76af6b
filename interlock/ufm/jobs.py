"""Jobs: what UFM promised to do later. A request has ended when its job has."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from interlock.retry import RetryPolicy

from .errors import UfmError, UfmTrouble
from .transport import UfmAnswer

#: Seconds that a job may take, and between two looks at it.
PATIENCE, PAUSE = 120.0, 0.5

_ID = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_IN_PATH = re.compile(r"/jobs/([A-Za-z0-9_.-]{1,64})/?$")
#: In lower case: versions write either.
_DONE = frozenset({"completed", "success", "succeeded"})
_GOING_ON = frozenset({"running", "pending", "queued", "created", "started", "in progress", "waiting"})


def job_of(answer: UfmAnswer) -> str | None:
    """The id of the job that an answer names; None if the request ended with its answer."""
    if named := _IN_PATH.search(answer.location):
        return named.group(1)
    if not isinstance(answer.value, dict):
        return None
    keys = ("job_id", "jobId", "ID", "id") if answer.status == 202 else ("job_id", "jobId")
    found = next((str(answer.value[key]) for key in keys if answer.value.get(key) is not None), None)
    return found if found is not None and _ID.fullmatch(found) else None


def wait_for(job: str, infiniband: str, look: Callable[[str], Any], retry_policy: RetryPolicy) -> None:
    """Returns when the job has done all it had to. Raises `UfmError` if it failed, if nobody knows, or if the run was
    cancelled before.

    `look`: the JSON of `GET /jobs/<id>`, a list or one object; empty for an id that UFM does not know.
    """
    until = retry_policy.clock() + PATIENCE
    while True:
        item = _one(look(job))
        status = str(item.get("Status") or item.get("status") or "")
        if status.lower() in _DONE:
            return
        if status.lower() not in _GOING_ON:
            raise _failed(job, infiniband, status, item)
        if retry_policy.clock() > until:
            what = f"job {job} of UFM of {infiniband} is still {status} after {PATIENCE:.0f} s"
            raise UfmError(UfmTrouble.LOST_ANSWER, infiniband, what, "look at it in UFM, then run the command again")
        if not retry_policy.wait(PAUSE):
            what = f"the run was cancelled while job {job} of UFM of {infiniband} is {status}: it goes on by itself"
            raise UfmError(UfmTrouble.LOST_ANSWER, infiniband, what, "run the command again: it looks at what is there")


def _one(value: Any) -> dict[str, Any]:
    found = value[0] if isinstance(value, list) and value else value
    return found if isinstance(found, dict) else {}


def _failed(job: str, infiniband: str, status: str, item: dict[str, Any]) -> UfmError:
    if not status:
        what = f"UFM of {infiniband} does not know its job {job} any more: what came of it is not known"
        return UfmError(UfmTrouble.LOST_ANSWER, infiniband, what, "run the command again: it looks at what is there")
    why = " ".join(str(item.get("Summary") or item.get("Description") or "it does not say why").split())[:300]
    what = f"job {job} of UFM of {infiniband} ended as {status}: {why}"
    return UfmError(UfmTrouble.SERVICE, infiniband, what, "see UFM's log, correct the cause, then run it again")
