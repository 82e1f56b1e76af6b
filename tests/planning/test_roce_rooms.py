"""The largest RoCE cluster that capacity counts is the largest that a lock is made for.

The site of `roce_sites`: units su01 and su02 of 4 nodes, each a leaf group.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from interlock.model.lock.record import Lock
from interlock.model.site.inventory import Site, VlanPool
from interlock.planning import PlanningError
from interlock.planning.allocation_state import AllocationState
from interlock.planning.node_rooms import node_rooms
from tests.builders.gpu_sites import gpu_site, gpu_tenant, node_name
from tests.builders.pod64 import locked
from tests.builders.roce_sites import roce_cluster, roce_site
from tests.builders.states import out


def largest(site: Site, locks: Sequence[Lock] = ()) -> int | None:
    (room,) = node_rooms(AllocationState.of(site, locks), ())
    return room.largest_roce


def with_pools(**changes: object) -> Site:
    return roce_site(pools=roce_site().pools.model_copy(update=changes))


def with_one_vlan() -> Site:
    """Of the leaf group of unit 2 none is left, when acme has the one of unit 1."""
    return with_pools(roce=VlanPool(physical_networks=("roce-su01",), vlans=((2500, 2500),)))


def without_a_cable(*nodes: str) -> Site:
    """The last rail of these nodes has no cable."""
    site = roce_site()
    gone = {(name, "eth8") for name in nodes}
    kept = (item for item in site.cables if (item.a.device, item.a.interface) not in gone)
    return roce_site(cables=tuple(kept))


IN_EACH_UNIT = (node_name(1, 1), node_name(2, 1))


@pytest.mark.parametrize(
    ("site", "others", "most"),
    [
        (roce_site, (), 4),
        (roce_site, (1,), 4),
        # The second is put beside the first, the third in the other unit.
        (roce_site, (1, 2, 2), 2),
        (lambda: without_a_cable(*IN_EACH_UNIT), (), 3),
        (lambda: out(roce_site(), *IN_EACH_UNIT), (), 3),
        # A node of eight rails takes 8 addresses of 32, and the first 8 are nobody's.
        (lambda: with_pools(roce_subnets=("10.61.0.0/16", 27)), (), 1),
        (lambda: with_pools(roce_subnets=("10.61.0.0/24", 24)), (1,), 0),
        (lambda: with_pools(cluster_subnets=("10.60.0.0/24", 24)), (1,), 0),
        (with_one_vlan, (), 4),
        (with_one_vlan, (1,), 0),
    ],
)
def test_it_is_as_large_as_a_lock_gives_and_not_one_node_larger(
    site: Callable[[], Site], others: tuple[int, ...], most: int
) -> None:
    made = site()
    locks = list[Lock]()
    for number, nodes in enumerate(others):
        locks.append(locked(made, gpu_tenant(f"other-{number}", roce_cluster(nodes=nodes)), locks))
    assert largest(made, locks) == most
    if most:
        wish = gpu_tenant("acme", roce_cluster(nodes=most))
        assert len(locked(made, wish, locks).allocation.clusters["train"].hosts) == most
    with pytest.raises(PlanningError):
        locked(made, gpu_tenant("acme", roce_cluster(nodes=most + 1)), locks)


def test_where_no_node_has_its_rails_in_one_leaf_group_there_is_no_figure() -> None:
    assert largest(gpu_site()) is None
    assert largest(without_a_cable(*(node_name(unit, number) for unit in (1, 2) for number in range(1, 5)))) is None
