"""What every test of a fault asks: was it done or did it stop cleanly, with how many requests, and what comes next."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from interlock.provider.lifecycle import TRIES
from interlock.provider.removing import LETTING_GO
from interlock.provider.retry import RetryBudget
from tests.faults.proxy import Act, Injection
from tests.faults.table import FAULTS
from tests.support.engine.process import Refused
from tests.support.engine.stack import Stack

BEFORE, STILL, AFTER = "before, once", "before, until further notice", "after, once"

#: Faults that say what is the case, so that nothing is gained by asking again -> requests at most.
SAID = {"401": 2, "403": 1, "404": 1, "500": 1}

#: Requests at most where the same may be asked again.
MOST = max(RetryBudget().attempts, TRIES)

#: What is in use may be let go: it is asked about once a second, at first more often.
IN_USE = int(LETTING_GO) + 7


def act_of(name: str, where: str) -> Act:
    """What a fault of the table does there."""
    fault = FAULTS[name]
    act = fault.after if where == AFTER else fault.before
    assert act is not None
    return act


def attempt(call: Callable[[], Any]) -> Refused | None:
    """None if it was done, or the clean stop: a sentence, what to do next, and no word of a fault of ours."""
    try:
        call()
    except Refused as refused:
        told = "\n".join((str(refused), *refused.reasons))
        assert "Traceback" not in told, told
        assert "fault in the provider" not in told, told
        assert "next: " in told, told
        return refused
    return None


def words(refused: Refused | None) -> str:
    """What the engine shows of a stop, on one line; empty if there was none."""
    if refused is None:
        return ""
    return " ".join((refused.reasons[0] if refused.reasons else str(refused)).split())


def within_budget(injection: Injection, fault: str, *, most: int = MOST) -> None:
    """Asserts that the fault was met, and not oftener than the budget allows."""
    allowed = SAID.get(fault, most)
    assert 1 <= len(injection.hits) <= allowed, [f"{hit.method} {hit.target}" for hit in injection.hits]


def settle(program: Stack, name: str, refused: Refused | None) -> None:
    """The next `up`, without a fault: the engine goes on from what it was told."""
    if refused is None or refused.partial is None:
        program.create(name)
        return
    program.state[name] = refused.partial
    if any(program.diff(name).values()):
        program.delete(name)
        program.create(name)
    else:
        program.update(name)
