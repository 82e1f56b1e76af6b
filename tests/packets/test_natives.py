"""A trunk takes the VLAN that it sends without a tag with its tag as well, where the other end sends it so.

Open vSwitch does, and says that its list holds the native VLAN. A site file that has the list like this is *not
provable* there, which is right: whether a switch takes it, no record says. Where the list of the file leaves the native
VLAN out, the graph says that the two are apart, and frames come. These tests state that as it is, so that a change is
noticed.
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


@pytest.mark.parametrize(
    ("listed", "perhaps"), [(((NATIVE, NATIVE),), True), ((), False)], ids=["listed", "not listed"]
)
def test_a_tagged_frame_comes_into_a_native_vlan(stage: Stage, listed: Ranges, perhaps: bool) -> None:
    """One way: what goes back has no tag, and the other end drops it."""
    world = fabric(listed).made()
    placed = Placed.of(world.site, (NATIVE,))
    one, two = placed.host["one", "e0"], placed.host["two", "e0"]
    stage.control(placed)
    stage.set(placed.states())
    assert stage.prober.probe([Probe(one), Probe(two)]).pairs == {(one, two)}
    answer = asked(world, placed)
    assert (one, two) not in answer.must.wire
    assert ((one, two) in answer.may.wire) is perhaps
