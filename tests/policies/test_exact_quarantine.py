"""ISO-16: whom a released machine meets, on which segments, and who is named of several."""

from __future__ import annotations

import pytest

from interlock.model.lock.record import Premise
from policies.edges.shape import Edge, GraphFragment, Relation, premise
from policies.facts import identities as ids
from policies.facts.site import SiteFacts
from policies.graph.model import Model
from policies.proof import RuleResult
from tests.policies.exact_answers import (
    answer,
    drawn,
    host_vlan,
    identified,
    messages,
    only,
    plan_of,
    rnic,
    share,
    switch_vlan,
)
from tests.policies.workspace import NA, P, V, full_site

SITE = SiteFacts(full_site())
WIRE, OTHER = switch_vlan("tor-1", 4000), switch_vlan("tor-1", 4001)
HOST_WIRE = host_vlan("poplar-1", "ens161f0", 4000)


def released(number: int, owner: str) -> Premise:
    return premise(Relation.RESIDUE, ids.machine_identity(f"SN-ipum-{number:02}"), owner, "old")


def plugged(owner: str, *numbers: int, wire: str = WIRE, gone: bool = True) -> GraphFragment:
    """Machines of an owner on a wire, released or in use."""
    return share(
        owner,
        [Edge(rnic(number), wire, "E6") for number in numbers],
        {rnic(number): owner for number in numbers},
        [released(number, owner) for number in numbers if gone],
    )


def seen_model(*shares: GraphFragment) -> Model:
    """As the operator sees it, who looks at all of them."""
    return drawn(SITE, plan_of("op"), share("op"), *shares)


def seen(*shares: GraphFragment) -> RuleResult:
    return answer("ISO-16", seen_model(*shares))


def test_two_released_machines() -> None:
    found = only(seen(plugged("acme", 6), plugged("globex", 8)))
    assert found.message == ("tor-1 VLAN 4000 is no quarantine: RNIC of ipum-06, released, meets RNIC of ipum-08 there")
    assert found.witness == ("RNIC of ipum-06 [acme]", "tor-1 VLAN 4000", "RNIC of ipum-08 [globex]")
    assert found.path == (rnic(6), WIRE, rnic(8))
    assert (found.verdict, found.specificity) == (V, 88)


def test_how_many_were_released() -> None:
    answers = [seen(plugged("acme", 6), plugged("globex", 8, wire=OTHER)), seen(plugged("acme", 6, gone=False))]
    assert [(item.count, item.verdict) for item in answers] == [(2, P), (0, NA)]


@pytest.mark.parametrize(
    ("others", "met"),
    [
        ((plugged("acme", 7),), None),
        ((plugged("acme", 7, gone=False),), None),
        ((plugged("op", 7, gone=False),), 7),
        # A tenant is told before the operator, whatever comes first by its name.
        ((plugged("op", 7, gone=False), plugged("globex", 8, gone=False)), 8),
        # Whoever has the device too is no other owner of it.
        ((share("globex", [Edge(rnic(7), WIRE, "E6")], {rnic(7): "acme, globex"}),), 7),
    ],
)
def test_whom_it_meets(others: tuple[GraphFragment, ...], met: int | None) -> None:
    mine, *rest = (plugged("acme", 6), *others)
    if rest and rest[0].owner == "acme":
        both = rest.pop(0)
        mine = GraphFragment(
            "acme", (*mine.edges, *both.edges), mine.labels | both.labels, (*mine.premises, *both.premises)
        )
    assert [item.path[-1] for item in seen(mine, *rest).findings] == ([rnic(met)] if met else [])


def test_what_is_in_use_on_a_segment_where_nothing_was_released() -> None:
    shares = (
        plugged("acme", 6),
        plugged("globex", 7, wire=OTHER, gone=False),
        plugged("op", 8, wire=OTHER, gone=False),
    )
    assert seen(*shares).verdict is P


def test_a_segment_that_somebody_claims_is_no_quarantine() -> None:
    """ISO-01 tells of those who meet there."""
    claim = premise(Relation.CLAIM, WIRE, "globex", "globex-data", "VLAN 4000", "held")
    there = share("globex", [Edge(rnic(8), WIRE, "E6")], {rnic(8): "globex"}, [claim])
    assert seen(plugged("acme", 6), there).verdict is P
    # Another one, that nobody claims, is still looked at.
    elsewhere = plugged("acme", 5, wire=OTHER), plugged("op", 4, wire=OTHER, gone=False)
    assert only(seen(plugged("initech", 6), there, *elsewhere)).path == (rnic(5), OTHER, rnic(4))


def test_the_segment_goes_by_its_name_at_a_switch() -> None:
    """That of the host would be first by its identity."""
    assert HOST_WIRE < WIRE
    joined = share("globex", [Edge(HOST_WIRE, WIRE, "E1"), Edge(rnic(8), HOST_WIRE, "E6")], {rnic(8): "globex"})
    model = seen_model(plugged("acme", 6), joined)
    found = only(answer("ISO-16", model))
    assert found.message.startswith("tor-1 VLAN 4000 is no quarantine")
    assert found.id == identified("ISO-16", model, HOST_WIRE, frozenset({"acme", "globex"}))


@pytest.mark.parametrize(("touches", "told"), [(OTHER, 0), (WIRE, 1)])
def test_a_tenant_answers_for_the_segments_that_it_touches(touches: str, told: int) -> None:
    """A router leads from its segment to the one where two others meet."""
    way = [Edge(ids.router("initech", "r"), wire, "E10") for wire in (WIRE, OTHER)]
    others = (plugged("acme", 6), plugged("globex", 8), share("initech", way))
    server = ids.server("umbrella", "s")
    own = share("umbrella", [Edge(server, touches, "E7")], {server: "umbrella"})
    found = answer("ISO-16", drawn(SITE, plan_of("umbrella"), own, *others))
    assert (len(messages(found)), found.count) == (told, 2)


def test_a_released_host_is_each_of_its_interfaces() -> None:
    gone = premise(Relation.RESIDUE, ids.host_identity("SN-poplar-1"), "acme", "old")
    leg = ids.part("SN-poplar-1", "ens161f1")
    legs = share("acme", [Edge(leg, WIRE, "E6")], {leg: "acme"}, [gone])
    found = only(seen(legs, plugged("globex", 8, gone=False)))
    assert found.path == (leg, WIRE, rnic(8))
    assert seen(legs).count == 1
