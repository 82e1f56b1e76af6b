"""LIF-12: the state of each V-IPU controller is backed up, lately enough, with its certificates.

A controller keeps agents, allocations, users and partitions in one local file. A backup that was young enough when it
was read and is not any more may have been made again since: that is unknown, not violated.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from interlock.model.evidence.values import age_text
from interlock.model.site.controller_readings import BACKUP_H, RENEW_CONTROLLERS, ControllerSeen
from policies.about import Fact, SaidFact, components, resources
from policies.facts.controllers import ControllerFacts, controllers_read
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.proof import Severity

from .controller_software import unread
from .rule import Cause, Of, Polarity, Rule, RuleAnswer, by_facts


def _backed_up(model: Model, _: Names) -> RuleAnswer:
    controller = model.site.site.controller
    terms = None if controller is None else controller.readings
    hours, now = BACKUP_H if terms is None else terms.backup, model.site.moment
    read = controllers_read(model.plan, model.site)
    return by_facts(len(read), [cause for item in read for cause in _lacking(item, now, hours)])


def _lacking(item: ControllerFacts, now: datetime, hours: int) -> Iterator[Cause]:
    seen = item.seen
    if seen is None:
        yield unread(item, "whether its state is backed up")
    elif not seen.backup_read:
        missing = SaidFact(f"where the state of {item.name} is backed up")
        yield _cause(item, "was read without a look at a backup of its state", (), (missing,))
    elif not seen.backup_state:
        yield _cause(item, "has no backup of its state: there is no copy of vipu-server.json")
    else:
        yield from _aged(item, seen, now, timedelta(hours=hours))
        if not seen.backup_certificates:
            yield _cause(item, "has a backup without its certificates: there is no copy of vipu-certs")


def _aged(item: ControllerFacts, seen: ControllerSeen, now: datetime, most: timedelta) -> Iterator[Cause]:
    state, read = datetime.fromisoformat(seen.backup_state), datetime.fromisoformat(seen.read)
    words = (f"backup of {seen.backup_state}", f"no older than {age_text(int(most.total_seconds()) // 3600)}")
    if read - state > most:
        yield _cause(item, f"had a backup of {seen.backup_state} when it was read, which is too old", words)
    elif now - state > most:
        missing = SaidFact(f"a backup of {item.name} later than {seen.backup_state}")
        yield _cause(item, f"has no backup that anybody saw later than {seen.backup_state}", words, (missing,))


def _cause(
    item: ControllerFacts, why: str, witness: tuple[str, ...] = (), missing: tuple[Fact, ...] = ()
) -> Cause:  # fmt: skip
    back_up = "back it up (docs/how-to/controllers.md)"
    return Cause(
        key=(item.name, why),
        message=f"controller {item.name} {why}",
        witness=(*item.witness, *witness),
        hint=f"say where its backups lie in vipu.yaml, or {back_up}, then run `{RENEW_CONTROLLERS}`"
        if missing
        else f"{back_up}, then run `{RENEW_CONTROLLERS}`",
        missing=missing,
        severity=Severity.WARN if missing else None,
        specificity=32,
        about=(*resources(item.name), *components(item.vpod)),
    )


LIF_12 = Rule(
    id="LIF-12",
    title="the state of each V-IPU controller is backed up, with its certificates",
    severity=Severity.ERROR,
    polarity=Polarity.BOTH,
    why="agents, allocations, users and partitions are in one file on the controller's disk, and go with it",
    source="Graphcore, V-IPU administrator guide, securing the installation: vipu-server.json and vipu-certs",
    needs=("readings of controllers", "controller.readings.backup"),
    ask=_backed_up,
    of=Of.TENANT,
)
