"""Identities of nodes: one text for each value, one value for each text, and neither differs from what locks hold."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.vocabulary import nodes
from interlock.vocabulary.nodes import (
    Copy,
    DeviceNode,
    ExternalNetworkNode,
    OtherTextNode,
    RouterNode,
    SwitchRouterNode,
    VlanNode,
    parse,
)
from policies.facts import identities as ids

NAME = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S")), min_size=1, max_size=8)
NUMBER = st.integers(0, 4095)
#: Field -> what it may hold; a bridge is the text of a switch or of a host's interface.
BY_FIELD: dict[str, st.SearchStrategy[object]] = {
    "bridge": st.one_of(NAME.map(ids.switch_bridge), st.builds(ids.host_bridge, NAME, NAME)),
    "number": NUMBER,
    "key": st.integers(0, nodes.KEY_BITS),
    "group": st.none() | NAME,
    "vrf": st.none() | NAME,
    "interface": st.none() | NAME,
    "encapsulation": st.sampled_from(["vxlan", "geneve"]),
    "copy": st.none() | st.builds(Copy, NUMBER, st.none() | NAME),
    "router": st.none() | st.builds(RouterNode, NAME, NAME),
}
TYPES = [kind for kind in nodes.Node.__args__ if kind is not OtherTextNode]


@given(st.data(), st.sampled_from(TYPES))
def test_a_value_is_its_text_and_back(data: st.DataObject, kind: type[nodes.Node]) -> None:
    build: Any = kind
    value = build(**{field.name: data.draw(BY_FIELD.get(field.name, NAME)) for field in fields(kind)})
    assert parse(str(value)) == value


@given(st.text(max_size=20))
def test_any_text_is_some_value_and_stays_as_it_is(text: str) -> None:
    assert str(parse(text)) == text


#: As locks hold them: none of these may ever be written in another way.
HELD = {
    "L:FDO2~group-red:1001": VlanNode("FDO2", 1001, "group-red"),
    "L:SN1/ens1f0:0": VlanNode("SN1/ens1f0", 0),
    "V:lyon:vxlan:5001": nodes.OverlayNode("lyon", "vxlan", 5001),
    "X:external": ExternalNetworkNode("external"),
    "X:external@R:acme:edge": ExternalNetworkNode("external", RouterNode("acme", "edge")),
    "R:FDO2/acme@1001": SwitchRouterNode("FDO2", "acme", Copy(1001)),
    "dev:acme:pod-a%2F0": nodes.ServerNode("acme", "pod-a/0"),
    "dev:SN9/rnic@1001~port-17": DeviceNode("SN9", "rnic", Copy(1001, "port-17")),
    "dev:SN9": DeviceNode("SN9"),
    "port:FDO2/17": nodes.SwitchPortNode("FDO2", 17),
    "port:acme:data": nodes.NeutronPortNode("acme", "data"),
    "K:fe80%3A%3A:0x0005": nodes.PartitionKeyNode("fe80::", 5),
    "segment:L:FDO2:1001": nodes.HeldSegment("L:FDO2:1001"),
    "switch-port:FDO2:17": nodes.HeldSwitchPort("FDO2", 17),
    "machine:SN:1": nodes.HeldMachine("SN:1"),
}


@pytest.mark.parametrize("text", HELD)
def test_texts_of_locks_stay_as_they_are(text: str) -> None:
    assert parse(text) == HELD[text]
    assert str(HELD[text]) == text


@pytest.mark.parametrize(
    "text", ["L:FDO2:x", "L:FDO2:01", "K:fe80:5", "dev:a:b:c", "port:FDO2/", "X:e@dev:SN", "R:a@b"]
)
def test_what_no_value_writes_is_no_value(text: str) -> None:
    assert parse(text) == OtherTextNode(text)
    assert nodes.is_identity(text)
    assert not nodes.is_vlan(text)
    assert not nodes.is_device(text)
    assert not nodes.is_router(text)


def test_a_long_row_of_copies_is_a_text_like_any_other() -> None:
    text = "X:a@" * 5000 + "R:a:b"
    assert parse(text) == nodes.OtherTextNode(text)
