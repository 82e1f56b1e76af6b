"""What rules answered: which of them a stack has to be asked about, and what may be said of each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

#: Severity and whose stack is asked -> the rules. Of these none may be missing; what else was asked can only find more.
ASKED: dict[tuple[str, str], str] = {
    ("B", "both"): "AUTH-01 EXPO-01 FACT-01 ISO-01 ISO-02 ISO-03 ISO-05 ISO-08 ISO-11 ISO-12 ISO-17 ISO-18 ISO-19 "
    "ISO-20 ISO-22 ISO-24 ISO-27 ISO-28 L3-01 L3-02 L3-04 L3-08 L3-10 L3-13 SEC-03 SEC-04 SEC-05 SEC-16 SEC-21 TOP-02 "
    "TOP-03 TOP-06 TOP-07",
    ("B", "tenant"): "ISO-04 ISO-29 ISO-30 SEC-01 SEC-02 SEC-11 SEC-14 TOP-05 TOP-10 TOP-11 TOP-13",
    ("E", "both"): "CAP-02 CAP-05 ISO-07 ISO-09 ISO-14 ISO-15 ISO-16 ISO-21 ISO-23 ISO-25 L3-05 L3-06 L3-11 L3-15 "
    "SEC-09 SEC-10 SEC-15 TOP-23",
    ("E", "tenant"): "CST-01 ISO-06 L3-03 L3-09 L3-14 LIF-03 LIF-08 LIF-12 LIF-13 SEC-12 SW-01 SW-03 SW-05 "
    "SW-06 SW-07 SW-08 SW-09 SW-11 SW-12 SW-13 SW-14 SW-16 SW-17 TOP-26 TOP-27 TOP-28",
    ("E", "site"): "CAP-03 ISO-13 PWR-01 PWR-02 PWR-03 PWR-04 PWR-05 PWR-07 SEC-08 TOP-08 TOP-09 TOP-14 TOP-15 TOP-17 "
    "TOP-18 TOP-19 TOP-21 TOP-22",
}  # fmt: skip
#: Those of them of which a finding with this verdict may be a warning only.
MAY_WARN = {
    "violated": {"CAP-03", "L3-10", "PWR-02", "SW-03"},
    "not provable": {"LIF-08", "LIF-12", "SEC-08", "SW-03", "TOP-14"} | {f"PWR-0{n}" for n in (1, 2, 3, 4, 5, 7)},
}
_KNOWN = {name for names in ASKED.values() for name in names.split()}
FINE = {"proved", "not applicable"}


def unasked_rules(judgement: dict[str, Any], stack: str) -> Iterator[str]:
    """Every rule that such a stack is asked about was asked, once and as severely as it is meant."""
    said = [(result["rule"], result["severity"]) for result in judgement["results"]]
    asked = ((severe, names) for (severe, of), names in ASKED.items() if of in ("both", stack))
    wanted = {(name, severe) for severe, names in asked for name in names.split()}
    if lacking := sorted(f"{name} ({severity})" for name, severity in wanted - {*said}):
        yield f"not asked, or not with this severity: {', '.join(lacking)}"
    if len({name for name, _ in said}) < len(said):
        yield "a rule was asked twice"


def verdict_faults(judgement: dict[str, Any], day: str) -> Iterator[str]:
    """No rule that counts says anything but proved, unless a waiver of severity E lets it, which counts on that day."""
    used = [item for item in judgement["waivers"] if item["state"] == "used"]
    for item in (item for item in used if item["expires"] < day):
        yield f"the waiver of {item['rule']} counts up to {item['expires']}, which is before {day}"
    waived = {item["rule"] for item in used}
    for result in judgement["results"]:
        rule, found = result["rule"], {item["verdict"] for item in result["findings"]}
        if found & FINE or result["verdict"] not in ({"violated"} & found or found or FINE):
            yield f"{rule} is {result['verdict']}, and its findings say {' and '.join(sorted(found)) or 'nothing'}"
        for item in result["findings"]:
            may_warn = rule not in _KNOWN or rule in MAY_WARN.get(item["verdict"], ())
            severity = item["severity"] if may_warn else result["severity"]
            if item["verdict"] not in FINE and (severity == "B" or (severity == "E" and rule not in waived)):
                yield f"{rule} is {item['verdict']}: {item['message']}"
