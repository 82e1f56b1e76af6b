"""Frames with two tags (docs/design/semantics.md §4, E21).

A switch reads the outer tag only. Where the frame leaves a port whose VLAN goes untagged, that tag is taken off, and
the next switch reads the other one: what was sent in the VLAN of the port comes to whichever VLAN the sender wrote
inside. Nothing comes back this way. The sender is a whole host of acme's: the operator's own devices send no such
frames, and the graph has no way for them.
"""

from __future__ import annotations

from typing import Any

import pytest

from interlock.resources import BareMetalServer
from sandbox.fabric.frames import Probe
from tests.oracle.drafting import Draft
from tests.oracle.sayings import A

from .asking import Answer, asked
from .plant import Placed, Stage

OWN, INNER, UNUSED = 10, 20, 30


def fabric(sender: dict[str, Any], native: int | None, *, tag_native: bool = False, lent: bool = True) -> Draft:
    """Two switches, a link that carries both VLANs, the sender on one and somebody in INNER on the other."""
    draft = Draft()
    carried = ((OWN, OWN), (INNER, INNER), (UNUSED, UNUSED))
    end = {"mode": "trunk", "untagged": native, "tag_native": None if native is None else tag_native, "tagged": carried}
    draft.link("leaf-1", "leaf-2", end, end)
    draft.networks["data-1"] = ("leaf-1",)
    if lent:
        draft.whole_host("sender", "leaf-1", **sender)
        draft.tenant(A)
        whole = BareMetalServer(name="x", project=draft.project(A), node="sender", image="site:Image/poplar", ports=())
        draft.add(A, "acme-a-whole", whole)
    else:
        draft.appliance("sender", "leaf-1", **sender)
    draft.appliance("own", "leaf-2", untagged=OWN)
    draft.appliance("inner", "leaf-2", untagged=INNER)
    return draft


def reached(stage: Stage, draft: Draft) -> tuple[set[tuple[int, ...]], Answer, tuple[str, str]]:
    """Tags of the frames that came to INNER, after a positive control; what the graph says; sender and receiver."""
    world = draft.made()
    placed = Placed.of(world.site, (OWN, INNER, UNUSED))
    stage.control(placed)
    stage.set(placed.states())
    sender, own, inner = (placed.host[name, "e0"] for name in ("sender", "own", "inner"))
    sent = [(), *((tag,) for tag in (0, OWN, INNER)), *((tag, INNER) for tag in (0, OWN, UNUSED))]
    seen = stage.prober.probe([Probe(sender, tags) for tags in sent], control=[(sender, own)])
    return {probe.tags for probe in seen.of(sender, inner)}, asked(world, placed), (sender, inner)


ACCESS: dict[str, Any] = {"untagged": OWN}
TRUNK: dict[str, Any] = {"mode": "trunk", "tagged": ((OWN, OWN),)}


@pytest.mark.parametrize("lent", [True, False], ids=["acme's", "the operator's"])
@pytest.mark.parametrize(("sender", "outer"), [(ACCESS, 0), (TRUNK, OWN)], ids=["access port", "trunk"])
def test_a_second_tag_passes_where_a_vlan_goes_untagged(
    stage: Stage, sender: dict[str, Any], outer: int, lent: bool
) -> None:
    """From an access port behind an outer tag of VLAN 0, which says nothing; from a trunk behind its own VLAN's."""
    tags, answer, pair = reached(stage, fabric(sender, OWN, lent=lent))
    assert tags == {(outer, INNER)}
    assert pair not in answer.must.wire
    assert (pair in answer.may.wire) is lent
    assert lent or pair in answer.second


@pytest.mark.parametrize("sender", [ACCESS, TRUNK], ids=["access port", "trunk"])
@pytest.mark.parametrize(
    ("native", "tag_native"), [(None, False), (OWN, True), (UNUSED, False)], ids=["none", "tagged", "nobody's"]
)
def test_no_second_tag_passes_elsewhere(
    stage: Stage, sender: dict[str, Any], native: int | None, tag_native: bool
) -> None:
    """No native VLAN, one that goes tagged, or one in which nobody is."""
    tags, answer, pair = reached(stage, fabric(sender, native, tag_native=tag_native))
    assert tags == set()
    assert pair not in answer.may.wire | answer.second
