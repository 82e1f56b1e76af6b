"""Judgements and audits in the two forms that CI systems read: SARIF 2.1.0 and JUnit XML.

SARIF: what is wrong, with its file and line. JUnit: a test suite for each stack, a test case for each rule or object.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from infra.reports.check_report import Checked
from interlock import __version__
from interlock.vocabulary import Position
from policies import RULES
from policies.findings.report import counts, why_not_counted
from policies.proof import Judgement, Verdict

if TYPE_CHECKING:
    from infra.audit.comparison import Audit, StackAudit
    from infra.program.gate import Gate
    from interlock.provider.existing import Comparison

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def check_sarif(checked: Sequence[Checked]) -> dict[str, Any]:
    """Every finding. Level `error` if it decides the verdict, else `note`; what is waived is suppressed."""
    results = [_finding(item, index) for item in checked for index in range(len(item.judgement.findings))]
    rules = [{"id": rule.id, "shortDescription": {"text": rule.title}} for rule in RULES]
    return _sarif(rules, results)


def check_junit(checked: Sequence[Checked]) -> str:
    """A rule fails if a finding of it decides the verdict; it is skipped if it had nothing to look at."""
    return _junit(_suite(item.judgement.stack, _rule_cases(item.judgement)) for item in checked)


def audit_sarif(audit: Audit, gate: Gate) -> dict[str, Any]:
    """Everything that is not as it was proved: drift, orphans, foreign objects, and what could not be read; with what
    the rules find in the observed plan, like the findings of `check`.
    """
    results = [_result("unread", f"{what}: {why}", []) for what, why in audit.unread.items()]
    for stack in audit.stacks:
        if stack.is_applied and stack.is_behind:
            results.append(_result("behind", f"{stack.plan.stack}: {AUDIT_RULES['behind']}", []))
        places = gate.places(stack.plan)
        for item in stack.drift:
            place = Position.parse(places.planned(item.name))
            results.append(
                _result("drift", f"{item.kind} {item.name} of {stack.plan.stack} is not as planned", [place])
            )
        if stack.live is not None:
            observed = Checked(stack.live.judgement, places)
            results += [_finding(observed, index, _OBSERVED) for index in range(len(observed.judgement.findings))]
        results += [_result("not-judged", f"{stack.plan.stack}: {one}", []) for one in _not_judged(stack)]
    results += [_result("break-glass", f"{one}; {one.hint}", []) for one in audit.break_glass if one.is_finding]
    for resource in audit.unmanaged:
        kind = "orphan" if resource.orphan else "foreign"
        results.append(_result(kind, f"{resource}: {resource.why}; {resource.hint}", []))
    results += [_not_as_stated(item, gate) for item in audit.existing if item.has_drifted]
    results += [_result("switch", str(finding), []) for finding in audit.switches]
    results += [_result("cable", f"{one}; {one.hint}", []) for one in audit.cables if one.is_difference]
    results += [_result("subnet-manager", finding, []) for finding in audit.managers]
    results += [_result("controller", f"{note.controller}: {note.text}", [], "note") for note in audit.notes]
    results += [_result("unchecked", audit.unchecked, [], "note")] if audit.unchecked else []
    known = AUDIT_RULES | {rule.id: rule.title for rule in RULES}
    return _sarif([{"id": name, "shortDescription": {"text": text}} for name, text in known.items()], results)


def _not_as_stated(item: Comparison, gate: Gate) -> dict[str, Any]:
    place = Position.parse(gate.workspace.position("existing", str(item.object)))
    return _result("existing", f"{item.object} ({item.id}): {item.wrong}", [place])


#: What an audit finds -> what it means.
AUDIT_RULES = {
    "behind": "the claims store says that another footprint is applied, or may be",
    "break-glass": "changes by hand were not closed in time, or nobody who may sign signed for them",
    "drift": "an object is missing, duplicated or not as planned",
    "orphan": "an object carries the marker of a stack and is in no plan",
    "foreign": "an unmanaged object meets objects of this site",
    "existing": "an object that was there before is not as the site file states it",
    "switch": "a switch says something else than the site file and the applied plans",
    "cable": "an InfiniBand subnet is cabled otherwise than the site file says",
    "subnet-manager": "a subnet manager is not set as a guard of A6 says",
    "controller": "a V-IPU controller has something that is no drift, such as a partition of a tenant's own",
    "unchecked": "nobody was asked, because a person tells V-IPU controllers",
    "unread": "a list could not be read",
    "not-judged": "no plan can hold what was observed, so the rules did not judge it",
}

#: Stands before what the rules find in an observed plan.
_OBSERVED = "observed plan: "


def audit_junit(audit: Audit, gate: Gate) -> str:
    """A suite for each stack with a case for each object, and one for what no stack has."""
    suites = [_suite(stack.plan.stack, _object_cases(stack, gate)) for stack in audit.stacks]
    existing = [_Case(f"existing {item.object}", failed=item.wrong) for item in audit.existing]
    switches = [_Case(finding.where, failed=str(finding)) for finding in audit.switches]
    cables = [_Case(one.where, failed=str(one)) for one in audit.cables if one.is_difference]
    managers = [_Case("subnet manager", failed=finding) for finding in audit.managers]
    unchecked = [_Case("V-IPU", skipped=audit.unchecked)] if audit.unchecked else []
    by_hand = [
        _Case(f"break-glass {one.stack} {one.number}", failed=str(one)) for one in audit.break_glass if one.is_finding
    ]
    beside = [*by_hand, *existing, *switches, *cables, *managers, *unchecked, *_unmanaged_cases(audit)]
    return _junit([*suites, _suite(f"{audit.site}, unmanaged", beside)])


def _finding(item: Checked, index: int, of: str = "") -> dict[str, Any]:
    judgement = item.judgement
    finding = judgement.findings[index]
    level = "error" if counts(judgement, finding) else "note"
    places = [Position(place.file, place.line, place.column) for place in item.where(finding.about)]
    text = "\n".join([f"{judgement.stack}: {of}{finding.message}", *finding.witness, *_next(finding.hint)])
    result = _result(finding.rule, text, places, level)
    result["partialFingerprints"] = {"interlock/v1": f"{judgement.stack}/{finding.id}"}
    if waiver := judgement.waiver(finding):
        result["suppressions"] = [{"kind": "external", "justification": waiver.reason}]
    return result


def _next(hint: str) -> list[str]:
    return [f"next: {hint}"] if hint else []


def _result(rule: str, text: str, places: Sequence[Position], level: str = "error") -> dict[str, Any]:
    locations = [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": place.file},
                "region": {"startLine": place.line, "startColumn": place.column},
            }
        }
        for place in dict.fromkeys(places)
    ]
    return {"ruleId": rule, "level": level, "message": {"text": text}, "locations": locations}


def _sarif(rules: list[dict[str, Any]], results: list[dict[str, Any]]) -> dict[str, Any]:
    driver = {"name": "interlock", "version": __version__, "rules": rules}
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}


@dataclass(frozen=True)
class _Case:
    """A test case: failed with a text, skipped with a text, or passed."""

    name: str
    failed: str = ""
    skipped: str = ""


def _rule_cases(judgement: Judgement, of: str = "") -> Iterator[_Case]:
    for result in judgement.results:
        name = f"{of}{result.rule} {result.title}"
        deciding = [finding for finding in result.findings if counts(judgement, finding)]
        light = [finding for finding in result.findings if not counts(judgement, finding)]
        failed = "\n".join("\n".join([f"{one.verdict}: {one.message}", *one.witness]) for one in deciding)
        skipped = "; ".join(f"{one.verdict} ({why_not_counted(judgement, one)}): {one.message}" for one in light)
        if result.verdict is Verdict.NOT_APPLICABLE:
            skipped = str(result.verdict)
        yield _Case(name, failed, skipped)


def _not_judged(stack: StackAudit) -> tuple[str, ...]:
    """What was observed at a stack and the rules did not see."""
    if stack.live is not None:
        return stack.live.not_expressible
    return (AUDIT_RULES["not-judged"],) if stack.drift or stack.unmanaged else ()


def _object_cases(stack: StackAudit, gate: Gate) -> Iterator[_Case]:
    if not stack.is_applied:
        yield _Case(stack.plan.stack, skipped="not applied")
        return
    yield _Case("claims store", failed=AUDIT_RULES["behind"] if stack.is_behind else "")
    places, drifted = gate.places(stack.plan), {item.name for item in stack.drift}
    for item in stack.standings:
        planned = f"planned at {places.planned(item.name)}" if item.name in drifted else ""
        unread = f"unread: {item.unread}" if item.unread else ""
        yield _Case(f"{item.kind} {item.name}", f"not as planned; {planned}" if planned else unread)
    if stack.live is not None:
        yield from _rule_cases(stack.live.judgement, _OBSERVED)
    yield from (_Case("observed plan", failed=f"not judged: {one}") for one in _not_judged(stack))


def _unmanaged_cases(audit: Audit) -> Iterator[_Case]:
    yield from (_Case(f"{item.kind} {item.id}", failed=f"{item}: {item.why}; {item.hint}") for item in audit.unmanaged)
    # What could not be read is no pass: CI that looks at this file alone has to see it.
    yield from (_Case(f"list of {what}", failed=f"unread: {why}") for what, why in audit.unread.items())


def _suite(name: str, cases: Iterable[_Case]) -> ElementTree.Element:
    told = list(cases)
    failed = sum(bool(case.failed) for case in told)
    skipped = sum(bool(case.skipped and not case.failed) for case in told)
    numbers = {"tests": str(len(told)), "failures": str(failed), "skipped": str(skipped)}
    suite = ElementTree.Element("testsuite", {"name": _plain(name), **numbers})
    for case in told:
        element = ElementTree.SubElement(suite, "testcase", {"classname": _plain(name), "name": _plain(case.name)})
        if case.failed:
            ElementTree.SubElement(element, "failure", {"message": _head(case.failed)}).text = _plain(case.failed)
        elif case.skipped:
            ElementTree.SubElement(element, "skipped", {"message": _head(case.skipped)})
    return suite


def _head(text: str) -> str:
    return _plain(text.partition("\n")[0])


def _plain(text: str) -> str:
    """Text without the control characters that XML 1.0 has no way to write."""
    return "".join(char if char.isprintable() or char in "\n\t" else "?" for char in text)


def _junit(suites: Iterable[ElementTree.Element]) -> str:
    root = ElementTree.Element("testsuites", {"name": "interlock"})
    root.extend(suites)
    ElementTree.indent(root)
    # Characters outside ASCII are written as references, so that stdout's encoding does not matter.
    text: str = ElementTree.tostring(root, encoding="us-ascii").decode("ascii")
    return '<?xml version="1.0" encoding="us-ascii"?>\n' + text
