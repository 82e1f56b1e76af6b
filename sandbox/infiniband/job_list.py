"""Jobs of the stand-in: what is done after the answer."""

from __future__ import annotations

import datetime
import threading
from collections.abc import Callable
from typing import Any

from .requests import UfmRefused

RUNNING, DONE, FAILED = "Running", "Completed", "Completed With Errors"


class JobList:
    """Jobs by number, each in a thread of its own."""

    def __init__(self, pause: float = 0.2) -> None:
        self._pause = pause
        self._jobs: dict[str, dict[str, Any]] = {}
        self._changed = threading.Condition()

    def begin(self, operation: str, work: Callable[[], None], *, fails: bool = False) -> str:
        """Do it later; with `fails` nothing is done and the job ends in error. Returns the job's id."""
        with self._changed:
            job = str(len(self._jobs) + 1)
            self._jobs[job] = {
                "ID": job,
                "Status": RUNNING,
                "Operation": operation,
                "Description": operation,
                "Created": _now(),
                "LastUpdated": _now(),
                "Progress": 0,
                "Summary": "",
                "RelatedObjects": [],
                "CreatedBy": "admin",
            }
        threading.Thread(target=self._run, args=(job, work, fails), daemon=True).start()
        return job

    def listed(self, status: str | None = None) -> list[dict[str, Any]]:
        """All, or those with one status."""
        with self._changed:
            return [dict(job) for job in self._jobs.values() if status in (None, job["Status"])]

    def some(self, ids: str) -> list[dict[str, Any]]:
        """Those with these ids, separated by commas; unknown ones are left out."""
        with self._changed:
            return [dict(self._jobs[job]) for job in ids.split(",") if job in self._jobs]

    def wait(self) -> None:
        """Return when none runs any more."""
        with self._changed:
            self._changed.wait_for(lambda: all(job["Status"] != RUNNING for job in self._jobs.values()), timeout=30)

    def _run(self, job: str, work: Callable[[], None], fails: bool) -> None:
        threading.Event().wait(self._pause)
        status, summary = DONE, "done"
        try:
            if fails:
                raise UfmRefused(500, "failed on demand")
            work()
        except UfmRefused as error:
            status, summary = FAILED, error.text
        with self._changed:
            self._jobs[job] |= {"Status": status, "Summary": summary, "Progress": 100, "LastUpdated": _now()}
            self._changed.notify_all()


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M:%S")
