"""Login keys that a request no longer names, as lines for people: what they may still open, and what ends that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from interlock.model.lock.record import FormerKey
from interlock.planning import Plan
from interlock.planning.former_keys import may_be_opened


def former_key_lines(plan: Plan, keys: Sequence[FormerKey]) -> Iterator[str]:
    """A line for each key, then what to do. What a server was really made with, `interlock settle` asks the cloud."""
    servers = ", ".join(may_be_opened(plan)) or "servers that are no more in the plan"
    for key in keys:
        yield f"  ssh key {key.fingerprint}, taken out {key.since}, may still open {servers}"
    yield f"  next: `interlock settle {plan.tenant} --dry-run` says which; recreate those (`pulumi up --replace URN`)"
