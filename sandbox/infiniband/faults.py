"""Faults on demand: rules that say which of the next requests fail, and how."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Literal

#: Where the connection is closed without an answer: before anything is done, with half of the members of the request
#: done, with everything done.
Cut = Literal["before", "middle", "after"]


@dataclass(frozen=True)
class UfmFault:
    """One rule. `path`: a glob over the path behind the prefix, as `/resources/pkeys*`; `times`: how often it bites."""

    method: str
    path: str
    status: int | None = None
    cut: Cut | None = None
    #: The request is answered with a job, which ends in error with nothing done.
    job_fails: bool = False
    times: int = 1


@dataclass
class UfmFaults:
    """The rules that still bite, the first one first."""

    _rules: list[UfmFault] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, fault: UfmFault) -> None:
        """One rule more."""
        with self._lock:
            self._rules += [fault] * fault.times

    def clear(self) -> None:
        """None any more."""
        with self._lock:
            self._rules.clear()

    def take(self, method: str, path: str) -> UfmFault | None:
        """The rule that bites this request, which is used up by it."""
        with self._lock:
            for number, rule in enumerate(self._rules):
                if rule.method in ("*", method) and fnmatchcase(path, rule.path):
                    return self._rules.pop(number)
        return None


def fault_of(text: str) -> UfmFault:
    """A rule from `METHOD GLOB=WHAT`; WHAT: a status, `cut-before`, `cut-middle`, `cut-after` or `job-fails`."""
    place, _, what = text.rpartition("=")
    method, _, path = place.strip().partition(" ")
    if not method or not path.startswith(("/", "*")):
        raise ValueError(f"{text!r}: write `PUT /resources/pkeys*=503`")
    if what.isdecimal() and 400 <= int(what) <= 599:
        return UfmFault(method, path, status=int(what))
    cuts: dict[str, Cut] = {"cut-before": "before", "cut-middle": "middle", "cut-after": "after"}
    if what in cuts:
        return UfmFault(method, path, cut=cuts[what])
    if what == "job-fails":
        return UfmFault(method, path, job_fails=True)
    raise ValueError(f"{text!r}: {what!r} is no status of an error, no cut-before, -middle, -after, and not job-fails")
