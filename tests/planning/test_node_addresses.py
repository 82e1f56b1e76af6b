"""A cluster has as many nodes as its in-band subnet has addresses, and capacity counts no more."""

from __future__ import annotations

from ipaddress import IPv4Network

import pytest

from interlock.model.site.inventory import Site
from interlock.planning import PlanningError
from interlock.planning.addresses import most_nodes, node_address
from interlock.planning.allocation_state import AllocationState
from interlock.planning.node_rooms import node_rooms
from tests.builders.gpu_sites import cluster, gpu_site, gpu_tenant
from tests.builders.pod64 import locked


def cut(each: int, prefix: str = "10.60.0.0/16", units: int = 2, nodes: int = 4) -> Site:
    pools = gpu_site().pools.model_copy(update={"cluster_subnets": (prefix, each)})
    return gpu_site(units, nodes, pools=pools)


def largest(site: Site, *others: str) -> tuple[int, int, int]:
    locks = [locked(site, gpu_tenant(name, cluster(nodes=1))) for name in others]
    (room,) = node_rooms(AllocationState.of(site, locks), ())
    return room.free, room.largest, room.largest_in_unit


@pytest.mark.parametrize("length", [20, 24, 26, 27])
def test_so_many_nodes_have_an_address_and_no_more(length: int) -> None:
    subnet = str(IPv4Network(f"10.60.0.0/{length}"))
    most = most_nodes(length)
    node_address(subnet, most - 1)
    with pytest.raises(PlanningError):
        node_address(subnet, most)


def test_a_subnet_that_is_too_small_is_refused_while_the_lock_is_made_and_counted() -> None:
    site = cut(27, units=4)
    assert largest(site) == (16, 13, 4)
    locked(site, gpu_tenant("acme", cluster(nodes=13)))
    with pytest.raises(PlanningError) as raised:
        locked(site, gpu_tenant("acme", cluster(nodes=14)))
    assert str(raised.value) == (
        "cluster train: its in-band subnet 10.60.0.0/27 has addresses for 13 nodes, not 14\n  hint: ask for 13 at "
        "most, or for another cluster beside it; or let the site's pool `cluster` cut larger subnets, /26 for so many"
    )
    assert largest(cut(28)) == (8, 0, 0)


def test_a_cluster_that_has_a_subnet_grows_no_further_than_it() -> None:
    before = locked(cut(27, units=4), gpu_tenant("acme", cluster(nodes=2)))
    with pytest.raises(PlanningError, match=r"hint: ask for 13 at most, or for another cluster beside it$"):
        locked(cut(24, units=4), gpu_tenant("acme", cluster(nodes=14)), (), before)


def test_without_a_subnet_left_there_is_room_for_no_cluster() -> None:
    site = cut(24, "10.60.0.0/24")
    assert largest(site) == (8, 8, 4)
    assert largest(site, "acme") == (7, 0, 0)
