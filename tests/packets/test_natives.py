"""A trunk takes the VLAN that it sends without a tag with its tag as well, where the other end sends it so.

Open vSwitch does, whether the list of the site file names the native VLAN or not. Whether another make takes it, no
record says: the graph says *perhaps* of both (docs/design/semantics.md §4, E1).
"""

from __future__ import annotations

import pytest

from sandbox.fabric.frames import Probe
from tests.oracle.drafting import Draft, Ranges

from .asking import asked
from .plant import Placed, Stage

NATIVE = 20


def fabric(listed: Ranges) -> Draft:
    """One end sends the VLAN with its tag, the other has it as native; a device on each side."""
    draft = Draft()
    tagged = {"untagged": None, "tagged": ((NATIVE, NATIVE),), "tag_native": False}
    draft.link("leaf-1", "leaf-2", tagged, {"untagged": NATIVE, "tagged": listed, "tag_native": False})
    draft.appliance("one", "leaf-1", untagged=NATIVE)
    draft.appliance("two", "leaf-2", untagged=NATIVE)
    return draft


@pytest.mark.parametrize("listed", [((NATIVE, NATIVE),), ()], ids=["listed", "not listed"])
def test_a_tagged_frame_comes_into_a_native_vlan(stage: Stage, listed: Ranges) -> None:
    """One way: what goes back has no tag, and the other end drops it."""
    world = fabric(listed).made()
    placed = Placed.of(world.site, (NATIVE,))
    one, two = placed.host["one", "e0"], placed.host["two", "e0"]
    stage.control(placed)
    stage.set(placed.states())
    assert stage.prober.probe([Probe(one), Probe(two)]).pairs == {(one, two)}
    answer = asked(world, placed)
    assert (one, two) not in answer.must.wire
    assert (one, two) in answer.may.wire
