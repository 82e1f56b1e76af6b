"""Every field and row of the certificates of shipped sites, altered one at a time: `verify --site` refuses it.

Or the field stands in `GRANTED`, which the documentation and the output name; or the certificate says no less than
before. Certificates of sites that leak say *proved* everywhere, and are refused whatever else is altered.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from infra.checker import Malformed, complaints, edges, guarded
from infra.verifying.comparing import Comparing
from infra.verifying.granted import GRANTED
from infra.verifying.inputs import Inputs
from policies.certificate import certificate
from tests.certificate.altering import sealed
from tests.certificate.test_forgeries import grown
from tests.certificate.test_form import places
from tests.support.sampling import Sampling

Found = dict[str, Any]
Way = tuple[Any, ...]
#: Whose certificate, the place in it, what is done there.
Case = tuple[str | None, Way, str]
STACKS = Path(__file__).resolve().parents[2] / "stacks"
LEAKY = tuple(sorted(f"leaky/{folder.name}" for folder in (STACKS / "leaky").iterdir() if folder.is_dir()))
#: How many alterations of one site a usual run takes.
SAMPLE = 60
FINE = ("proved", "not applicable")
#: What stands in place of a text; those of a kind first.
TEXTS = ("acme", "globex", "op", "1999-01-01", "2999-01-01", "SEC-04", "used", "expired", "proved", "B", "another")


@cache
def site(folder: str) -> tuple[Inputs, dict[str | None, Found], frozenset[str | None]]:
    """What the files say, the certificates by tenant, and whose plan is not proved."""
    inputs, found, leaking = Inputs.of(folder), dict[str | None, Found](), set[str | None]()
    for tenant in inputs.gate.stacks():
        judged, seen = inputs.gate.look(tenant)
        found[tenant] = json.loads(certificate(seen, judged.judgement).model_dump_json())
        leaking |= {tenant} if judged.judgement.exit_code else set()
    return inputs, found, frozenset(leaking)


def altered(known: Found) -> Iterator[tuple[Way, str]]:
    """(place, what is done there) of everything that can be altered."""
    for way in places({key: known[key] for key in known if key != "digest"}):
        value: Any = known
        for key in way[:-1]:
            value = value[key]
        yield way, "delete"
        yield from [(way, "twice"), (way, "swap")] if isinstance(value, list) else [(way, "rename")]
        if not isinstance(value[way[-1]], dict | list):
            yield way, "other"


def after(known: Found, way: Way, what: str, number: int) -> Found:
    """A copy with one alteration; `number` chooses among others."""
    found: Found = json.loads(json.dumps(known))
    part: Any = found
    for key in way[:-1]:
        part = part[key]
    key = way[-1]
    if what == "delete":
        del part[key]
    elif what == "twice":
        part.insert(key, json.loads(json.dumps(part[key])))
    elif what == "swap":
        part[key], part[key - 1] = part[key - 1], part[key]
    elif what == "rename":
        part[f"{key}0"] = part.pop(key)
    else:
        part[key] = _other(part[key], number)
    return found


def sealed_again(found: Found) -> Found:
    """With digests that fit, where there is something to seal."""
    is_whole = {"judgement", "statement", "boundary"} <= found.keys() and isinstance(found["judgement"], dict)
    return sealed(found) if is_whole else found


def _other(value: Any, number: int) -> Any:
    if isinstance(value, bool) or value is None:
        return [item for item in (True, False, None) if item is not value][number % 2]
    if isinstance(value, int):
        return value + 1
    return [text for text in (*TEXTS, f"{value}0") if text != value][number % len(TEXTS)]


def refused(inputs: Inputs, found: Found, tenant: str | None) -> bool:
    """True if `verify --site` says that it is unsound, about something else, or no certificate."""
    try:
        return bool([*complaints(found)] or inputs.compare(found, tenant).complaints)
    except Malformed:
        return True


def is_granted(way: Way) -> bool:
    """True for a place that the documentation says is not established, and everything in it."""
    place = ".".join(map(str, way))
    return any(fnmatchcase(place, pattern) or fnmatchcase(place, f"{pattern}.*") for pattern in GRANTED)


def turned(found: Found, known: Found) -> bool:
    """True if some rule found something, and now says that it finds nothing, or the other way round."""
    verdicts = [[item["verdict"] for item in of["judgement"]["results"]] for of in (found, known)]
    return any((a in FINE) != (b in FINE) for a, b in zip(*verdicts, strict=True))


def says_as_much(found: Found, known: Found, comparing: Comparing) -> bool:
    """True if nothing is stated otherwise, and only more may be: edges, labels, who has what, grants.

    What only other plans join may be left out, as long as it stands in one class (semantics §10). What is stated by two
    rows may be there by one of them, or be kept away by the guards of the other.
    """
    needed, guarding = comparing.needed(known["statement"]["owner"]), comparing.ground.guarded
    said, before = found["statement"], known["statement"]
    away = [{frozenset(edge[1:3]): {*chain(*edge[4])} for edge in guarded(item) if edge[5]} for item in (said, before)]
    there = {frozenset(pair) for pair in edges(said)}
    fewer = [
        pair
        for pair, guards in away[1].items()
        if pair in needed and pair not in there and not guards <= away[0].get(pair, set())
    ]
    lost = {pair for pair in {frozenset(pair) for pair in edges(before)} - there if pair in needed}
    lost -= {pair for pair in lost & guarding.keys() if guarding[pair][1] <= away[0].get(pair, set())}
    tables = [(said[part], before[part]) for part in ("labels", "exclusive", "owners")]
    less = [key for now, old in tables for key in old if not {*old[key]} <= {*now.get(key, ())}]
    grants = [{tuple(row) for row in item["grants"]} for item in (said, before)]
    free = ("facts", "ground", "labels", "exclusive", "owners", "grants", "public", "unknown")
    return (
        not lost
        and not fewer
        and not less
        and grants[1] <= grants[0]
        and {*said["public"]} <= {*before["public"]}
        and all(said[key] == before[key] for key in said if key not in free)
        and _judged_alike(found, known)
    )


def _judged_alike(found: Found, known: Found) -> bool:
    """The same answers in whatever order, about the same things."""
    now, before = (item["judgement"] for item in (found, known))
    fixed = [key for key in now if key not in ("results", "statement", "waivers")]
    order = [sorted(json.dumps(item) for item in of[key]) for of in (now, before) for key in ("results", "waivers")]
    return all(now[key] == before[key] for key in fixed) and order[:2] == order[2:]


def taken(sampling: Sampling, name: str, cases: list[Case]) -> list[Case]:
    """A sample; in a long run all, or those of its part."""
    mine = [case for place, case in enumerate(cases) if not sampling.long or sampling.part.takes(place)]
    return sampling.some(name, mine, SAMPLE)


@pytest.mark.parametrize("folder", ["lyon", *LEAKY])
def test_a_field_that_is_altered_is_refused_or_said_not_to_be_established(folder: str, sampling: Sampling) -> None:
    inputs, certificates, leaking = site(folder)
    cases = [
        (tenant, way, what)
        for tenant, known in certificates.items()
        if tenant not in leaking
        for way, what in altered(known)
    ]
    for tenant, way, what in taken(sampling, f"leaves of {folder}", cases):
        number = sampling.seed + len(str(way))
        known = certificates[tenant]
        found = sealed_again(after(known, way, what, number))
        if not refused(inputs, found, tenant):
            assert (is_granted(way) and not turned(found, known)) or says_as_much(found, known, inputs.comparing), (
                tenant,
                way,
                what,
                number,
            )


@pytest.mark.parametrize("folder", LEAKY)
def test_nothing_makes_a_leak_sound(folder: str, sampling: Sampling) -> None:
    """Every rule says *proved*, all classes and digests fit the facts, and one thing besides is altered."""
    inputs, certificates, leaking = site(folder)
    assert leaking
    cases = [(tenant, *case) for tenant in leaking for case in altered(certificates[tenant])]
    for tenant in leaking:
        assert refused(inputs, grown(json.loads(json.dumps(certificates[tenant]))), tenant)
    for tenant, way, what in taken(sampling, f"leaks of {folder}", cases):
        found = after(certificates[tenant], way, what, sampling.seed + len(str(way)))
        try:
            found = grown(found)
        except (KeyError, TypeError, AttributeError, IndexError, ValueError, Malformed):
            found = sealed_again(found)
        assert refused(inputs, found, tenant), (tenant, way, what)


#: Field of a result or a finding that decides -> every value that it may have.
DECIDES = {"verdict": (*FINE, "violated", "not provable"), "severity": ("B", "E", "W", "I")}


def of_findings(known: Found) -> Iterator[Found]:
    """The certificate with one field of a result that finds something set to each value that its form allows."""
    for number, result in enumerate(known["judgement"]["results"]):
        ways = places(result) if result["verdict"] not in FINE else ()
        for way in (way for way in ways if way[-1] in DECIDES):
            for word in DECIDES[way[-1]]:
                found: Found = json.loads(json.dumps(known))
                part: Any = found["judgement"]["results"][number]
                for key in way[:-1]:
                    part = part[key]
                part[way[-1]] = word
                yield sealed(found)


@pytest.mark.parametrize("folder", LEAKY)
def test_a_leak_that_is_told_stays_one(folder: str, sampling: Sampling) -> None:
    """Nothing is altered but one field: what a violated plan's certificate says is refused all the same."""
    inputs, certificates, leaking = site(folder)
    for tenant in leaking:
        assert refused(inputs, certificates[tenant], tenant)
        assert all(refused(inputs, found, tenant) for found in of_findings(certificates[tenant]))
    cases = [(tenant, *case) for tenant in leaking for case in altered(certificates[tenant])]
    for tenant, way, what in taken(sampling, f"leaks of {folder} as told", cases):
        found = sealed_again(after(certificates[tenant], way, what, sampling.seed + len(str(way))))
        assert refused(inputs, found, tenant), (tenant, way, what)


def test_all_that_is_granted_is_documented() -> None:
    """Each place stands in the semantics, as here."""
    text = (STACKS.parent / "docs" / "design" / "semantics.md").read_text()
    assert [place for place in GRANTED if f"`{place}`" not in text] == []
