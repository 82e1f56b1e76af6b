"""What is other than planned at one stack after changes by hand, each difference judged: alone, and with all others.

The rules judge the observed plan (`infra.audit.observed_plan`) with this one difference in it. A finding of severity B
that the committed plan does not have is a leak. What no plan can hold the rules cannot judge, and it counts no less.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any

from infra.audit.comparison import Audit, StackAudit
from infra.audit.observed_plan import observed_plan
from infra.audit.report import SWITCH_HINT, what_differs
from infra.program.break_glass import VARIABLE
from infra.program.gate import Gate
from infra.switches.survey import planned_ports
from interlock.planning.origins import request_path
from interlock.provider.audit.standing import Standing
from interlock.provider.audit.unmanaged import UnmanagedResource
from interlock.resources import RoleAssignment, S3Credential, ServiceUser
from interlock.switches.findings import SwitchFinding
from policies import Judgement
from policies.proof import Finding, Severity

from .manual_act import made_again
from .switched_off import SwitchedOff, switched_off

#: When an apply sets something back that cannot wait: no entry is closed while it is there.
_NOW = f"it is refused while this is open, so say the numbers of the entries in {VARIABLE}"


class DifferenceVerdict(StrEnum):
    """What has to become of a difference."""

    #: Tenants meet by it, or may: undo it now.
    LEAK = "leak"
    #: The rules cannot judge it, so nobody knows that it is no leak.
    NOT_JUDGED = "not judged"
    #: No file can say the same: it is set back.
    UNDO = "undo"
    #: It is set back, or written into a file so that the plan says the same.
    TAKE_OVER = "take over or undo"

    @property
    def can_wait(self) -> bool:
        """True if an entry may be closed while it is there."""
        return self in (DifferenceVerdict.UNDO, DifferenceVerdict.TAKE_OVER)


@dataclass(frozen=True)
class ManualDifference:
    """One difference. `object`: what people name it by, as in `Router acme-router`."""

    object: str
    what: str
    verdict: DifferenceVerdict
    #: How it is undone.
    undo: str
    #: Which line of which file would say the same; empty if none can.
    take_over: str = ""
    #: What the rules say of it, and not of the committed plan.
    findings: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """The JSON form."""
        return asdict(self)


@dataclass(frozen=True)
class Judging:
    """The rules, for what differs at one stack."""

    gate: Gate
    stack: StackAudit

    def alone(self, standing: Standing | None, other: UnmanagedResource | None) -> tuple[Finding, ...] | None:
        """What the rules find with one difference; with all unmanaged ones beside it where it rests on such. None:
        no plan can hold it.
        """
        others = (other,) if other is not None else ()
        for beside in (others, self.stack.unmanaged):
            found = self._found(standing, beside)
            if found is not None:
                return found
        return None

    def _found(self, standing: Standing | None, others: tuple[UnmanagedResource, ...]) -> tuple[Finding, ...] | None:
        words, name = self.stack.words, self.stack.plan.stack
        if words is None:
            return None
        kept = [one if one is standing else _as_planned(one) for one in self.stack.standings]
        real = observed_plan(replace(words, standings={**words.standings, name: kept}), others)
        if real is None or real.not_expressible:
            return None
        judgement = self.gate.look_at(real.plan)[0].judgement
        return new_findings(self.stack.judgement, judgement)


def differences(gate: Gate, audit: Audit, stack: StackAudit) -> tuple[ManualDifference, ...]:
    """Every difference at a stack, judged. Raises as `Gate.look_at` does."""
    judging = Judging(gate, stack)
    found = [*_drifted(judging), *_unmanaged(judging)]
    together = new_findings(stack.judgement, stack.live.judgement) if stack.live is not None else ()
    leaks = tuple(finding.message for finding in together if finding.severity is Severity.BLOCK)
    if leaks and all(item.verdict.can_wait for item in found):
        # None does it alone, so nobody knows which of them may stay.
        found = [replace(item, verdict=DifferenceVerdict.LEAK, findings=leaks) for item in found]
    planned = planned_ports(gate)
    ours = {(port.port.switch, port.port.port) for port in planned if port.stack == stack.plan.stack}
    others = {(port.port.switch, port.port.port) for port in planned} - ours
    switches = {switch for switch, _ in ours}
    seen = (item for item in audit.switches if item.switch in switches and (item.switch, item.port) not in others)
    return (*(item.difference() for item in found), *map(_off, _switched_off(stack)), *at_ports(seen))


def new_findings(committed: Judgement, observed: Judgement) -> tuple[Finding, ...]:
    """What the rules say of the observed plan alone."""
    known = {(item.rule, item.id) for item in committed.findings}
    return tuple(item for item in observed.findings if (item.rule, item.id) not in known)


def _as_planned(item: Standing) -> Standing:
    """The same, as if nobody had touched it."""
    return replace(item, ids=item.ids[:1] or (f"planned-{item.name}",), differs={}, reason="")


@dataclass(frozen=True)
class _Judged:
    """A difference of which the rules have spoken. What is said of undoing it follows from the verdict."""

    object: str
    what: str
    verdict: DifferenceVerdict
    #: How it is undone.
    undo: str
    #: True if an apply of the stack undoes it: that is refused while an entry is open.
    by_up: bool
    findings: tuple[str, ...]
    take_over: str = ""

    def difference(self) -> ManualDifference:
        """What people are told."""
        waits = self.verdict.can_wait
        when = "" if not self.by_up else ", once this is closed" if waits else f": {_NOW}"
        undo, take_over = f"{self.undo}{when}", self.take_over if waits else ""
        return ManualDifference(self.object, self.what, self.verdict, undo, take_over, self.findings)


def _drifted(judging: Judging) -> Iterator[_Judged]:
    stack, first = judging.stack.plan.stack, _needed_first(judging.stack)
    again = " and then ".join(f"`{command}`" for command in made_again(stack, *first))
    set_back = f"`pulumi up --refresh` on {stack} sets it as planned" + (f", after {again}" if first else "")
    for item in judging.stack.drift:
        by_up = again if (item.kind, item.name) in first else set_back
        findings = judging.alone(item, None)
        take_over = _take_over(judging, item)
        verdict = verdict_of(findings, DifferenceVerdict.TAKE_OVER if take_over else DifferenceVerdict.UNDO)
        yield _Judged(
            f"{item.kind} {item.name}", what_differs(item), verdict, item.hint or by_up, not item.hint,
            told_of(findings), take_over,
        )  # fmt: skip


def _needed_first(stack: StackAudit) -> tuple[tuple[str, str], ...]:
    """(kind, name) of S3 keys, and rights of their users, that are gone: buckets are asked for with them."""
    plan = stack.plan
    users = {name for name, item in plan.by_name.items() if isinstance(item.resource, ServiceUser)}
    gone = ((item, plan.by_name[item.name].resource) for item in stack.drift if not item.ids)
    return tuple(
        (item.kind, item.name)
        for item, spec in gone
        if isinstance(spec, S3Credential) or (isinstance(spec, RoleAssignment) and spec.user in users)
    )


def _unmanaged(judging: Judging) -> Iterator[_Judged]:
    for resource in judging.stack.unmanaged:
        findings = judging.alone(None, resource)
        verdict = verdict_of(findings, DifferenceVerdict.UNDO)
        name = f"{resource.kind} {resource.id}"
        yield _Judged(name, resource.why, verdict, resource.hint, resource.orphan, told_of(findings))


def verdict_of(findings: tuple[Finding, ...] | None, otherwise: DifferenceVerdict) -> DifferenceVerdict:
    """What the rules say decides; `otherwise`: where they find no leak. None: no plan can hold it."""
    if findings is None:
        return DifferenceVerdict.NOT_JUDGED
    is_leak = any(finding.severity is Severity.BLOCK for finding in findings)
    return DifferenceVerdict.LEAK if is_leak else otherwise


def told_of(findings: tuple[Finding, ...] | None) -> tuple[str, ...]:
    """Findings for people."""
    return tuple(f"{finding.rule}: {finding.message}" for finding in findings or ())


def _take_over(judging: Judging, item: Standing) -> str:
    """What to write so that the plan says what is there; empty where no line of a request says it."""
    plan = judging.stack.plan
    planned, place = plan.by_name[item.name], judging.gate.places(plan).planned(item.name)
    if plan.tenant is None:
        return f"change the site file ({place}) so that it says the same, then `interlock lock`"
    lock = f"then `interlock lock {plan.tenant}`"
    if not item.ids and not item.reason:
        path = request_path(plan, planned)
        return f"take out of the request what asks for it: `{path}` at {place}, {lock}" if path else ""
    keys = {name: request_path(plan, planned, name) for name in item.differs}
    if item.reason or not keys or None in keys.values():
        return ""
    said = "; ".join(f"`{keys[name]}` so that {name} is {json.dumps(seen)}" for name, (_, seen) in item.differs.items())
    return f"write at {place} {said}, {lock}"


def _switched_off(stack: StackAudit) -> Iterator[SwitchedOff]:
    if stack.words is not None:
        specs = {item.name: item.resource for item in stack.plan.resources}
        yield from switched_off(stack.standings, stack.words.found, specs)


def _off(item: SwitchedOff) -> ManualDifference:
    undo = f"by hand: `{item.undo}`; no `pulumi up` does it"
    return ManualDifference(f"{item.kind} {item.name}", item.what, DifferenceVerdict.UNDO, undo)


def at_ports(findings: Iterable[SwitchFinding]) -> Iterator[ManualDifference]:
    """What switches say at ports of a stack, and at ports that nobody plans: the wrong one may have been hit."""
    for finding in findings:
        # The rules see plans, not what switches say: but a port that is shut joins nobody.
        is_shut = finding.about == "admin state" and finding.says == "disabled"
        verdict = DifferenceVerdict.UNDO if is_shut else DifferenceVerdict.NOT_JUDGED
        undo = SWITCH_HINT if is_shut else f"{SWITCH_HINT} (`pulumi up`: {_NOW})"
        yield ManualDifference(f"switch {finding.where}", str(finding), verdict, undo)
