"""Over-reports that are explained, and provers that report too much and give a known reason: those are told.

A prover is changed in place as a mistake would change it. Each of these says of what it finds that it rests on a second
tag, which is all that was asked once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import pytest

from interlock.resources import RouterInterface
from policies.about import SaidFact
from policies.edges import second_tags, union
from policies.edges.shape import Edge, Union
from policies.facts.port_modes import SwitchEnd

from .comparing import Difference, answers, differing
from .completing import decided
from .drafting import Draft
from .examples_wire import (
    second_tag_behind_a_native_vlan,
    second_tag_behind_a_tagged_native_vlan,
)
from .explaining import BEHIND_A_PORT, BY_A_PORT, LOST, SECOND_TAGS, explained
from .oracle import leaks
from .sayings import POOL, A, G, apart, both, control, leaf, more_leaf, tenant
from .world import World


def differences(world: World) -> list[Difference]:
    return list(differing(1, (), world, leaks(world), decided(world), every=True))


def from_both_sides() -> Draft:
    """acme's VLAN leaves leaf-1 untagged and globex's leaf-2; the spine takes one VLAN, 1099, of both by its tag."""
    draft = leaf()
    more_leaf(draft, "leaf-2", "data-2", "hv-2")
    tenant(draft, A, 1001)
    tenant(draft, G, 1002, "data-2", "hv-2")
    for name, vlan in (("leaf-1", 1001), ("leaf-2", 1002)):
        draft.link(name, "spine-1", {"untagged": vlan, "tag_native": False, "tagged": ()}, {"tagged": ((1099, 1099),)})
    return draft


def globex_at_the_spine(draft: Draft) -> None:
    """globex has 1002, on a host of its own."""
    draft.networks["data-2"] = ("spine-1",)
    draft.hypervisor("hv-2", "spine-1", "data-2", POOL)
    tenant(draft, G, 1002, "data-2", "hv-2")


def nobody_in_the_native_vlan() -> Draft:
    """A link with the native VLAN 999, whose ends take acme's VLAN and globex's by their tags."""
    draft = leaf()
    tenant(draft, A, 1001)
    globex_at_the_spine(draft)
    native: dict[str, object] = {"untagged": 999, "tag_native": False}
    draft.link("leaf-1", "spine-1", native | {"tagged": ((1001, 1001),)}, native | {"tagged": ((1002, 1002),)})
    return draft


def list_that_names_another() -> Draft:
    """acme's VLAN leaves leaf-1 untagged; the spine, where globex has 1002, takes 1099 alone."""
    draft = leaf()
    tenant(draft, A, 1001)
    globex_at_the_spine(draft)
    here = {"untagged": 1001, "tag_native": False, "tagged": ()}
    draft.link("leaf-1", "spine-1", here, {"tagged": ((1099, 1099),)})
    return draft


def test_what_two_second_tags_lead_to_is_explained() -> None:
    world = from_both_sides().made()
    assert not leaks(world).may
    assert {item.kind for item in differences(world)} == {f"over: {SECOND_TAGS}"}


def test_what_comes_to_a_native_vlan_by_an_unknown_port_alone_is_explained_as_such() -> None:
    """Nobody is in 1090, the native VLAN of acme's and initech's host, but what leaf-1 may send there."""
    draft = apart()
    tenant(draft, "initech", 1003, "data-2", "hv-2")
    draft.change_port("leaf-2", 1, untagged=1090, tag_native=False)
    _, end = draft.link("leaf-1", "leaf-2", {"tagged": ()}, {"tagged": ()})
    del draft.switches["leaf-2"].ports[end]
    world = draft.made()
    assert not leaks(world).may
    assert {item.kind for item in differences(world)} == {
        f"over: {BEHIND_A_PORT} and {BY_A_PORT}", f"over: {BY_A_PORT}",
    }  # fmt: skip


def test_a_reason_is_no_excuse_for_owners_or_vlans_that_it_does_not_lead_to() -> None:
    world = from_both_sides().made()
    findings = answers(world, ["site"])["site"].findings
    assert explained(world, findings) == SECOND_TAGS
    one = next(item for item in findings if item.rule == "ISO-02")
    for changed in (
        {"message": one.message.replace(G, "op")},
        {"message": f"{A} sends something", "witness": ()},
        {"path": (*one.path, "L:SN-spine-1:1001")},
    ):
        assert explained(world, [*findings, one.model_copy(update=changed)]) == "", changed


def test_a_record_between_nothing_and_nothing_is_explained_and_others_are_not() -> None:
    """Found by a random run: a leg of nobody's router on nobody's subnet."""
    draft = both()
    control(draft, A, 5001)
    leg = RouterInterface(project=draft.project(A), router="nobody-router", subnet="subnet-of-nobody")
    draft.add(A, "acme-leg", leg)
    world = draft.made()
    assert [(item.stack, item.kind) for item in differences(world)] == [(A, f"over: {LOST}")]
    findings = answers(world, [A])[A].findings
    other = findings[0].model_copy(update={"witness": ("acme-router, external_network", "nobodys-network")})
    assert explained(world, [*findings, other]) == ""


# Provers that report too much.


def _tag_or_no_tag(made: Union, _: Iterable[str]) -> Iterator[Edge]:
    """A native VLAN that keeps its tag is taken for one that loses it."""
    for link in made.site.switch_links:
        for near, far in (link, link[::-1]):
            port = next(item for item in made.site.site.switch[near.switch].ports if item.port == near.port)
            vlan = port.untagged or 0
            words = f"whether {near.switch} port {near.port} drops frames with a second tag in its untagged VLAN {vlan}"
            for other in second_tags._taken(made, far):
                yield Edge(made.segment(near, vlan), other, second_tags.SECOND_TAG, (SaidFact(words),))


def _all_vlans(made: Union, end: SwitchEnd) -> list[str]:
    """The port's list is not asked."""
    return [made.segment(end, vlan) for vlan in made.vlans]


def _whoever_sends(_: Union, found: Sequence[Edge], __: Iterable[Edge]) -> Iterator[Edge]:
    """Nobody has to be in the first VLAN."""
    yield from found


@pytest.mark.parametrize(
    ("module", "name", "mistake", "make"),
    [
        (union, "ways", _tag_or_no_tag, second_tag_behind_a_tagged_native_vlan),
        (second_tags, "_taken", _all_vlans, list_that_names_another),
        (union, "second_tags", _whoever_sends, nobody_in_the_native_vlan),
    ],
)
def test_a_prover_that_sees_too_many_second_tags_is_told(
    monkeypatch: pytest.MonkeyPatch, module: object, name: str, mistake: object, make: Callable[[], Draft]
) -> None:
    world = make().made()
    assert differences(world) == []
    monkeypatch.setattr(module, name, mistake)
    found = answers(world, ["site", A, G])
    said = [fact for judgement in found.values() for finding in judgement.findings for fact in finding.missing]
    assert said
    assert all("second tag" in fact for fact in said), "it gives the reason that was an excuse once"
    assert {(item.stack, item.kind) for item in differences(world)} == {("site", "over"), (A, "over"), (G, "over")}


def test_a_prover_that_is_wrong_is_told_also_where_second_tags_do_join() -> None:
    """One world with a true over-report, and one finding that says the same of VLANs which no tag leads to."""
    world = second_tag_behind_a_native_vlan().made()
    findings = answers(world, ["site"])["site"].findings
    assert explained(world, findings) == SECOND_TAGS
    one = findings[0].model_copy(update={"path": ("L:SN-leaf-1:1001", "L:SN-spine-1:1099")})
    assert explained(world, [one]) == ""
