"""What the checker says of grants, of paths that findings show, and of what rules answer, word by word."""

from __future__ import annotations

from typing import Any

import pytest

from infra.checker import edges, witnesses
from infra.checker.answers import unasked_rules, verdict_faults
from infra.checker.authority import authority_faults
from tests.certificate.test_exact_checker import said_of
from tests.certificate.test_grounded import stating

Found = dict[str, Any]

# What an owner holds.


@pytest.mark.parametrize(
    ("way", "held", "gives"),
    [
        ("acts as", "write", "write"), ("reads", "write", "read"), ("writes", "write", "write"),
        ("keeps", "read", "write"), ("serves", "read", "write"), ("controls", "write", "write"),
    ],
)  # fmt: skip
def test_a_set_is_closed_under_grants(way: str, held: str, gives: str) -> None:
    said = said_of(grants=[[way, "x", "y"]])
    own = "write prin:acme"
    lacks = [f"x {way} y, which is not in the set of acme"]
    other = "read" if gives == "write" else "write"
    assert list(authority_faults(said, [own])) == []
    assert list(authority_faults(said, [own, "write x"])) == lacks
    assert list(authority_faults(said, [own, "read x"])) == (lacks if held == "read" else [])
    assert list(authority_faults(said, [own, "write x", f"{gives} y"])) == []
    assert list(authority_faults(said, [own, "write x", f"{other} y"])) == lacks


@pytest.mark.parametrize(
    ("owner", "item", "owners", "public", "is_due"),
    [
        ("acme", "write x", ["acme"], [], True),
        ("acme", "write x", [], [], True),
        ("acme", "write x", ["acme", "globex"], [], False),
        ("acme", "write x and more", ["globex"], [], False),
        ("acme", "write x", ["globex"], ["x"], False),
        ("acme", "read x", ["globex"], ["x"], True),
        ("acme", "read x", ["globex"], ["y"], False),
        ("acme", "read x", ["op"], [], True),
        ("acme", "read x", ["op", "globex"], [], False),
        ("acme", "write x", ["op"], [], False),
        ("op", "write x", ["globex"], [], True),
    ],
)
def test_what_is_somebody_elses(owner: str, item: str, owners: list[str], public: list[str], is_due: bool) -> None:
    node = item.partition(" ")[2]
    said = said_of(owner=owner, owners={node: owners}, public=public)
    others = " and ".join(sorted({*owners} - {owner}))
    expected = [] if is_due else [f"{owner} holds {node} of {others}"]
    assert list(authority_faults(said, [f"write prin:{owner}", item])) == expected


def test_an_owner_is_in_its_own_set() -> None:
    for held in ([], ["read prin:acme"], ["write prin:globex"]):
        assert list(authority_faults(said_of(), held)) == ["acme is not in its own set"]


# Witnesses.


@pytest.mark.parametrize(
    ("rule", "path", "labels", "words"),
    [
        ("ISO-02", ["a", "b"], {"a": ["acme"], "b": ["globex"]}, []),
        ("ISO-02", ["a"], {"a": ["acme", "globex"]}, []),
        ("ISO-02", ["a", "b"], {"a": ["acme"], "b": ["acme"]}, ["f: both ends of its path have one owner"]),
        ("ISO-02", [], {}, ["f: both ends of its path have one owner"]),
        # Who is on the way is not at an end.
        ("ISO-02", ["a", "b", "c"], {"a": ["acme"], "b": ["globex"]}, ["f: both ends of its path have one owner"]),
        ("ISO-05", ["a", "b"], {"a": ["acme"]}, []),
        ("ISO-05", ["a", "c", "a", "d"], {}, ["f: a - c, c - a, a - d is no edge of the facts"]),
        # A path over what is in no class is one of grants.
        ("AUTH-01", ["a", "elsewhere"], {}, []),
    ],
)
def test_paths_of_findings(rule: str, path: list[str], labels: dict[str, list[str]], words: list[str]) -> None:
    said = stating("machines", ["M"]) | {"labels": labels, "facts": {"E6": [["a", "b"], ["b", "c"]]}}
    results = [{"findings": []}, {"findings": [{"id": "f", "rule": rule, "path": path}]}]
    found = {
        "statement": said, "judgement": {"results": results},
        "classes": {node: ["a", ""] for node in "abcd"},
    }  # fmt: skip
    assert list(witnesses(found)) == list(witnesses(found, edges(said))) == words


# Rules and their answers.


def result(rule: str = "X-1", severity: str = "E", verdict: str = "proved", *findings: Found) -> Found:
    """One result."""
    return {"rule": rule, "severity": severity, "verdict": verdict, "findings": [*findings]}


def finding(severity: str, verdict: str = "violated") -> Found:
    """One finding."""
    return {"severity": severity, "verdict": verdict, "message": "words"}


def waiver(rule: str, state: str = "used", expires: str = "2026-06-01") -> Found:
    """A waiver."""
    return {"rule": rule, "state": state, "expires": expires}


DAY = "2026-06-01"


@pytest.mark.parametrize(
    ("results", "waivers", "words"),
    [
        ([result()], [], []),
        ([result("X-1", "E", "not applicable")], [], []),
        ([result("X-1", "E", "violated", finding("E"))], [], ["X-1 is violated: words"]),
        ([result("X-1", "E", "not provable", finding("E", "not provable"))], [], ["X-1 is not provable: words"]),
        ([result("X-1", "B", "violated", finding("B"))], [], ["X-1 is violated: words"]),
        ([result("X-1", "E", "violated", finding("W"))], [], []),
        (
            [result("X-1", "E", "violated", finding("E"), finding("E", "not provable"))], [],
            ["X-1 is violated: words", "X-1 is not provable: words"],
        ),
        # A result says the worst of what its findings say, whether it counts or not.
        ([result(verdict="violated")], [], ["X-1 is violated, and its findings say nothing"]),
        ([result("X-1", "B", "not provable")], [], ["X-1 is not provable, and its findings say nothing"]),
        ([result("X-1", "W", "violated")], [], ["X-1 is violated, and its findings say nothing"]),
        ([result("X-1", "W", "proved", finding("W"))], [], ["X-1 is proved, and its findings say violated"]),
        (
            [result("X-1", "W", "violated", finding("W", "not provable"))], [],
            ["X-1 is violated, and its findings say not provable"],
        ),
        (
            [result("X-1", "W", "not provable", finding("W", "not provable"), finding("W"))], [],
            ["X-1 is not provable, and its findings say not provable and violated"],
        ),
        # A finding finds something.
        *(
            ([result("X-1", "E", said, finding("E", fine))], [], [f"X-1 is {said}, and its findings say {fine}"])
            for fine in ("proved", "not applicable")
            for said in ("proved", "not applicable", "violated", "not provable")
        ),
        (
            [result("X-1", "E", "violated", finding("W"), finding("E", "proved"))], [],
            ["X-1 is violated, and its findings say proved and violated"],
        ),
        # Of a rule that is known, a finding is as severe as the rule; of some it may be a warning, with one verdict.
        ([result("ISO-07", "E", "violated", finding("W"))], [], ["ISO-07 is violated: words"]),
        ([result("PWR-02", "E", "violated", finding("W"))], [], []),
        ([result("PWR-02", "E", "violated", finding("E"))], [], ["PWR-02 is violated: words"]),
        ([result("PWR-01", "E", "violated", finding("W"))], [], ["PWR-01 is violated: words"]),
        ([result("PWR-01", "E", "not provable", finding("W", "not provable"))], [], []),
        ([result("L3-10", "B", "violated", finding("W"))], [], []),
        (
            [result("L3-10", "B", "not provable", finding("W", "not provable"))], [],
            ["L3-10 is not provable: words"],
        ),
        # A waiver lets pass what is of severity E, if it was used, up to its day.
        ([result("X-1", "E", "violated", finding("E"))], [waiver("X-1")], []),
        ([result("X-1", "E", "violated", finding("E"))], [waiver("X-2")], ["X-1 is violated: words"]),
        ([result("X-1", "E", "violated", finding("E"))], [waiver("X-1", "unused")], ["X-1 is violated: words"]),
        ([result("X-1", "E", "violated", finding("B"))], [waiver("X-1")], ["X-1 is violated: words"]),
        ([result()], [waiver("X-1", "expired", "2026-05-31")], []),
        (
            [result()], [waiver("X-1", "used", "2026-05-31")],
            ["the waiver of X-1 counts up to 2026-05-31, which is before 2026-06-01"],
        ),
    ],
)  # fmt: skip
def test_answers_of_rules(results: list[Found], waivers: list[Found], words: list[str]) -> None:
    assert list(verdict_faults({"results": results, "waivers": waivers}, DAY)) == words


@pytest.mark.parametrize("stack", ["site", "tenant"])
def test_rules_that_have_to_be_asked(stack: str) -> None:
    """Each once, and as severely as it is meant."""
    ((lacking,),) = [list(unasked_rules({"results": []}, stack))]
    names = [tuple(item.removesuffix(")").split(" (")) for item in lacking.partition(": ")[2].split(", ")]
    asked = [{"rule": name, "severity": severity} for name, severity in names]
    assert len(names) > 50
    assert (("PWR-01", "E") in names, ("SEC-01", "B") in names) == (stack == "site", stack == "tenant")
    assert list(unasked_rules({"results": asked}, stack)) == []
    assert list(unasked_rules({"results": [*asked, {"rule": "NEW-01", "severity": "I"}]}, stack)) == []
    assert list(unasked_rules({"results": [*asked, asked[0]]}, stack)) == ["a rule was asked twice"]
    name, severity = names[0]
    less = f"not asked, or not with this severity: {name} ({severity})"
    assert list(unasked_rules({"results": asked[1:]}, stack)) == [less]
    assert list(unasked_rules({"results": [{"rule": name, "severity": "I"}, *asked[1:]]}, stack)) == [less]
