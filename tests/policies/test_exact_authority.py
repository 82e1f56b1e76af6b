"""AUTH-01 on hand-made grants: which leaks are told, once each, and what is said of them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from interlock.model.lock.record import Premise
from policies import Verdict
from policies.about import SaidFact
from policies.edges.premises import Way
from policies.edges.shape import Edge, GraphFragment, Relation, premise
from policies.facts import principals as who
from policies.facts.plan import plan_facts
from policies.proof import RuleResult
from policies.rules.authority import AUTH_01
from tests.policies.one_rule import Said, answer, by_hand, said
from tests.policies.test_rules_sec import clean, site_plan
from tests.policies.workspace import N, P, V, assumptions, edited, full_site

BUCKET = who.thing("bucket", "acme", "data")
#: Persons whom the cloud knows: one is globex's, and each is known to the next.
FIRST, SECOND = who.user("cloud", "one"), who.user("cloud", "two")
GLOBEX = who.principal("globex")
GUARD = "bucket_rules_enforced"
FACT = f"assumptions.A11.{GUARD}"


def held(node: str, owner: str) -> Premise:
    return premise(Relation.HOLDS, node, owner)


def grant(way: Way, source: str, target: str) -> Premise:
    return premise(Relation.GRANT, way.value, source, target, "a paper")


def asked(grants: Sequence[Premise], guard: bool | None = True) -> RuleResult:
    """acme's plan says these, and that its bucket is the service's to keep; globex has a lock."""
    premises = (held(BUCKET, "acme"), premise(Relation.RULED, BUCKET, GUARD), *grants)
    own = GraphFragment("acme", (), {}, premises)
    others = [GraphFragment("globex", (), {}, (held(GLOBEX, "globex"),))]
    site = full_site(assumptions=assumptions(**{GUARD: guard}))
    return by_hand(AUTH_01, site, plan_facts(clean()[0].plan), own, others)


#: By three steps for certain.
LONG = (grant(Way.ACTS_AS, GLOBEX, FIRST), grant(Way.ACTS_AS, FIRST, SECOND), grant(Way.WRITES, SECOND, BUCKET))


def told(owner: str, verb: str, verdict: Verdict, *steps: str) -> Said:
    missing = (FACT,) if verdict is N else ()
    return Said(verdict, f"{owner} can {verb} bucket data, which is acme's", (owner, *steps), missing, 15)


STEPS = ("acts as user one (a paper)", "acts as user two (a paper)")
UNASKED = ("acts as everybody (everybody)", "? writes bucket data (the service keeps to no rules)")


def test_nobody_is_granted_anything() -> None:
    assert (asked(()).verdict, asked(()).count) == (P, 1)


def test_a_certain_leak_is_told_once() -> None:
    """Also where it might be had by a shorter way: that way alone is what nobody knows."""
    certain = told("globex", "write", V, *STEPS, "writes bucket data (a paper)")
    assert said(asked(LONG)) == [certain]
    strangers = [told(owner, "write", N, *UNASKED) for owner in ("foreign", "world")]
    assert said(asked(LONG, None)) == [certain, *strangers]


def test_a_certain_leak_is_told_once_where_the_plans_own_tenant_may_have_it_sooner() -> None:
    """Everybody may write the bucket, or may not: acme does by three steps."""
    bucket, acme = who.thing("bucket", "globex", "data"), who.principal("acme")
    grants = (
        held(bucket, "globex"),
        premise(Relation.RULED, bucket, GUARD),
        grant(Way.ACTS_AS, acme, FIRST),
        *LONG[1:2],
        grant(Way.WRITES, SECOND, bucket),
    )
    found = [item for item in said(asked(grants, None)) if item.witness[0] == "acme"]
    message = "acme can write bucket data, which is globex's"
    assert found == [Said(V, message, ("acme", *STEPS, "writes bucket data (a paper)"), (), 15)]


def test_where_packets_meet_other_rules_come_first() -> None:
    """Two control networks with one id: what follows is told last, and once."""
    plan = edited(clean()[1].plan, "globex-train-control", segmentation_id=5000)
    (found,) = answer(AUTH_01, full_site(), plan, clean()[0]).findings
    assert (found.verdict, found.specificity) == (V, 5)
    assert found.hint == "it only follows from packets that meet: mend what the other rules name"


def test_a_certain_leak_is_no_doubt_where_others_may_come_too() -> None:
    """acme calls a controller of the operator's that serves globex; whether globex is there as well is unknown."""
    controller, allocation = who.thing("server", "op", "c"), who.thing("allocation", "globex", "a")
    port, ours, theirs = "port:op:c", "dev:acme:s", "dev:globex:s"
    premises = (
        held(controller, "op"),
        held(allocation, "globex"),
        premise(Relation.LISTENS, controller, port, "acme"),
        grant(Way.SERVES, controller, allocation),
    )
    edges = (Edge(port, ours, "E6"), Edge(port, theirs, "E6", (SaidFact("a cable"),)))
    own = GraphFragment("acme", edges, {ours: frozenset({"acme"})}, premises)
    others = [GraphFragment("globex", (), {theirs: frozenset({"globex"})}, ())]
    found = by_hand(AUTH_01, full_site(), plan_facts(clean()[0].plan), own, others)
    message = "acme can control V-IPU allocation a, which is globex's"
    steps = ("acme", "reads server c (calls it where it listens)", "serves V-IPU allocation a (a paper)")
    assert said(found) == [Said(V, message, steps, (), 15)]


def test_to_read_and_to_write_are_two_leaks() -> None:
    """One is certain, the other may be."""
    reads = (*LONG[:2], grant(Way.READS, SECOND, BUCKET))
    found = said(asked(reads, None))
    assert found[0] == told("globex", "read", V, *STEPS, "reads bucket data (a paper)")
    assert [item.message.split()[:3] for item in found[1:]] == [["foreign", "can", "write"], ["world", "can", "write"]]


@pytest.mark.parametrize(("guard", "verdict"), [(None, N), (False, V)])
def test_what_everybody_may_do_is_said_of_strangers(guard: bool | None, verdict: Verdict) -> None:
    """Not of each other tenant that there is."""
    found = asked((), guard)
    assert [(item.verdict, item.message.split()[0]) for item in found.findings] == [
        (verdict, "foreign"),
        (verdict, "world"),
    ]


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("bucket", "write bucket data, which is acme's"),
        ("server", "control server data, which is acme's"),
        ("allocation", "control V-IPU allocation data, which is acme's"),
    ],
)
def test_what_it_means_to_hold_a_thing(kind: str, words: str) -> None:
    thing = who.thing(kind, "acme", "data")
    (found,) = said(asked((held(thing, "acme"), grant(Way.WRITES, GLOBEX, thing))))
    assert found.message == f"globex can {words}"


@pytest.mark.parametrize(
    ("node", "words"),
    [
        (who.principal("acme"), "act as acme"),
        (who.user("acme", "s3"), "act as user s3, which is acme's"),
        (who.key("acme", "s3-key"), "use S3 key s3-key, which is acme's"),
    ],
)
def test_what_it_means_to_hold_a_principal(node: str, words: str) -> None:
    """What lies behind it is not told again."""
    (found,) = said(asked((held(node, "acme"), grant(Way.ACTS_AS, GLOBEX, node))))
    assert found.message == f"globex can {words}"


def test_what_a_plan_speaks_of_is_counted() -> None:
    acme, globex = clean()
    alone, of_site = (
        answer(AUTH_01, full_site(), acme.plan, globex),
        answer(AUTH_01, full_site(), site_plan(), *clean()),
    )
    assert (alone.verdict, of_site.verdict) == (P, P)
    assert 0 < alone.count < of_site.count
