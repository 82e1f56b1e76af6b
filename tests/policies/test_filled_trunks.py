"""Trunks that Neutron fills, where examples 6b to 6e do not reach: bundles, and what nobody recorded."""

from __future__ import annotations

import pytest

from policies.edges.reach import reached
from policies.edges.shape import Union
from policies.facts import identities as ids
from policies.facts.port_modes import SwitchEnd
from policies.facts.site import SiteFacts
from policies.judging import read
from tests.certificate.test_compared import certified, derived
from tests.oracle.comparing import answers
from tests.oracle.drafting import Draft
from tests.oracle.oracle import leaks
from tests.oracle.sayings import A, G, leaf, more_leaf, tenant

FILLED: dict[str, object] = {"tagged": (), "filled_by": "neutron"}


def verdict(draft: Draft) -> str:
    """Of prover and oracle, who agree; and the twin finds what the certificates state."""
    world = draft.made()
    codes = {judgement.exit_code for judgement in answers(world, ["site", *world.plans]).values()}
    found = "V" if 1 in codes else "N" if 3 in codes else "P"
    assert leaks(world).verdict == found
    locks, comparing = derived(world)
    for name in world.plans:
        assert comparing.compare(certified(world, locks, name)[1], name).complaints == ()
    return found


def bundled(*ports: dict[str, object]) -> Draft:
    """Ports of two leaves that are one bundle of the spine's; globex is on the spine, acme on leaf-1, both in 1001."""
    draft = leaf()
    draft.switch("leaf-2")
    draft.networks["data-2"] = ("spine-1",)
    far = [
        draft.link(name, "spine-1", dict(port), {"tagged": None})[1]
        for name, port in zip(("leaf-1", "leaf-2"), ports, strict=True)
    ]
    draft.bundle("spine-1", *far)
    tenant(draft, A, 1001)
    tenant(draft, G, 1001, "data-2", None)
    return draft


@pytest.mark.parametrize(
    ("ports", "expected"),
    [((FILLED, {}), "V"), (({}, FILLED), "P"), (({}, {}), "P"), ((FILLED, {"tagged": ((1050, 1050),)}), "V")],
)
def test_a_bundle_carries_what_one_of_its_ports_is_filled_with(
    ports: tuple[dict[str, object], dict[str, object]], expected: str
) -> None:
    """By the networks of the switch that it is filled at: leaf-2 has none."""
    assert verdict(bundled(*ports)) == expected


def test_whoever_has_a_network_answers_for_the_other_switch_of_a_bundle() -> None:
    world = bundled(FILLED, {}).made()
    site = SiteFacts(world.site)
    share = read(site, world.plans[A]).share
    there = ids.vlan_segment(ids.switch_bridge("SN-leaf-2"), 1001)
    assert there not in share.nodes
    assert there in set(reached(site, share))
    mode = Union(site, [share]).mode[SwitchEnd("leaf-2", 1)]
    assert (sorted(mode.filled), mode.carries(1001)) == (["leaf-1"], True)


@pytest.mark.parametrize(("trunk", "expected"), [(FILLED, "N"), ({"tagged": ()}, "P")])
def test_a_released_vlan_that_may_be_anywhere_may_be_on_a_filled_trunk(trunk: dict[str, object], expected: str) -> None:
    """It has 1001 translated at the other end, where acme is in 1005."""
    draft = leaf()
    draft.switch("spine-1")
    tenant(draft, A, 1005)
    draft.tenant(G)
    draft.give_up(G, "storage_vlan", "1001")
    draft.link("leaf-1", "spine-1", {"tagged": ((1005, 1005),), "translations": ((1001, 1005),)}, dict(trunk))
    assert verdict(draft) == expected


def test_networks_of_another_leaf_that_nobody_lists() -> None:
    """Both ends fill the link: what is unlisted on the far leaf comes to the near one."""
    draft = leaf()
    more_leaf(draft, "leaf-2", "data-2", "hv-2")
    tenant(draft, A, 1001)
    draft.tenant(G)
    near, _ = draft.link("leaf-1", "leaf-2", dict(FILLED), dict(FILLED))
    assert verdict(draft) == "P"
    draft.open_tables.add(("networks", "data-2"))
    assert verdict(draft) == "N"
    draft.change_port("leaf-1", near, filled_by=None)
    assert verdict(draft) == "P"
