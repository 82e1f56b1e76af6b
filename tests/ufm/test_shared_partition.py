"""A partition that several stacks fill: each its own members, in turns, read back, and what a kill leaves."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from interlock.provider.errors import Failure, Trouble
from interlock.provider.turns import ClaimsPlace, StackHolding
from interlock.resources import PartitionKey
from interlock.store.places import open_store
from interlock.store.turns import Turns
from tests.ufm.conftest import AT_ONCE, GUIDS
from tests.ufm.double import CONFIG_MANAGER, INFRA_CONTROLLER, WITH_JOBS, Cut, Double, Profile
from tests.ufm.partition_stack import KEY, identities, table
from tests.ufm.shared_stack import SharingStack, appliance, part

PROFILES = pytest.mark.parametrize("profile", [CONFIG_MANAGER, INFRA_CONTROLLER, WITH_JOBS])
SUBJECT = "the shared partitions of InfiniBand subnet ib-1"
CUTS: list[Cut] = ["before", "middle", "after"]


@pytest.fixture
def site(double: Double, tmp_path: Path) -> SharingStack:
    """The operator's own stack, which has put the appliance in."""
    stack = SharingStack(double, tmp_path, stack="lyon-site")
    stack.up(appliance())
    return stack


@pytest.fixture
def acme(site: SharingStack) -> SharingStack:
    return site.of("acme")


@pytest.fixture
def globex(site: SharingStack) -> SharingStack:
    """It has two clients in it."""
    stack = site.of("globex")
    stack.up(part(4, 5))
    return stack


def members(stack: SharingStack) -> dict[str, str]:
    return stack.double.members(KEY) or {}


def both(*specs: PartitionKey) -> dict[str, str]:
    return {guid: how for spec in specs for guid, how in table(spec).items()}


def methods(stack: SharingStack) -> list[str]:
    return [method for method, _ in stack.double.asked if method != "GET"]


@PROFILES
def test_each_puts_its_own_in_and_takes_its_own_out(
    site: SharingStack, acme: SharingStack, globex: SharingStack, profile: Profile
) -> None:
    acme.double.profile = profile
    acme.up(part(2, 3))
    assert members(acme) == both(appliance(), part(4, 5), part(2, 3))
    assert {item["index0"] for item in acme.double.table[KEY].values()} == {False}
    acme.double.asked.clear()
    acme.up(part(2, 3))
    assert methods(acme) == []
    assert acme.refresh() == part(2, 3).canonical() | {"owner": "0ac3e0"}
    acme.up(part(3))
    assert members(acme) == both(appliance(), part(4, 5), part(3))
    acme.destroy()
    assert members(acme) == both(appliance(), part(4, 5))
    globex.destroy()
    site.destroy()
    assert acme.double.table == {}


def test_members_are_added_by_post_with_one_membership(acme: SharingStack, globex: SharingStack) -> None:
    acme.double.asked.clear()
    acme.double.bodies.clear()
    acme.up(part(2, 3))
    acme.up(part(3, 6))
    assert methods(acme) == ["POST", "DELETE", "POST"]
    assert [body["membership"] for body in acme.double.bodies] == ["limited", "limited"]
    assert members(acme) == both(appliance(), part(4, 5), part(3, 6))


def test_a_member_that_became_full_is_limited_again(acme: SharingStack, globex: SharingStack) -> None:
    acme.up(part(2, 3))
    acme.double.put(KEY, GUIDS[2], "full", index0=False)
    found = acme.audited(part(2, 3))
    assert found.has_drifted
    assert GUIDS[2] in found.reason
    acme.up(part(2, 3))
    assert members(acme) == both(appliance(), part(4, 5), part(2, 3))


def test_clients_wait_for_the_appliance(double: Double, tmp_path: Path) -> None:
    acme = SharingStack(double, tmp_path)
    with pytest.raises(Failure, match=r"(?s)the appliance is not in it.*operator's own stack first"):
        acme.up(part(2))
    assert double.table == {}
    assert ["the appliance is not in it" in str(fault) for fault in acme.preflight(part(2))] == [True]
    acme.of("site").up(appliance())
    assert acme.preflight(part(2)) == []


def test_the_appliance_stays_while_it_has_clients(site: SharingStack, globex: SharingStack) -> None:
    with pytest.raises(Failure, match=r"(?s)is still used by others.*destroy the clusters of all tenants first"):
        site.destroy()
    assert members(site) == both(appliance(), part(4, 5))


def test_the_appliance_gets_another_port(site: SharingStack, globex: SharingStack) -> None:
    site.up(appliance(0, 6))
    assert members(site) == both(appliance(0, 6), part(4, 5))


def test_a_full_member_that_is_no_server_stops_everybody(acme: SharingStack, globex: SharingStack) -> None:
    acme.double.put(KEY, GUIDS[6], "full")
    before = members(acme)
    for spec, stack in ((part(2), acme), (part(4, 5, 7), globex)):
        with pytest.raises(Failure, match=f"no servers of the site file: {GUIDS[6]} .full."):
            stack.up(spec)
    assert members(acme) == before
    assert "members that no plan puts there" in globex.audited(part(4, 5)).reason
    assert acme.preflight(part(2))


def test_a_port_of_ones_own_that_is_full_is_not_adopted(acme: SharingStack) -> None:
    acme.double.put(KEY, GUIDS[2], "full", index0=False)
    with pytest.raises(Failure, match="full members are in it"):
        acme.up(part(2))
    acme.double.put(KEY, GUIDS[2], "limited", index0=False)
    acme.up(part(2))
    assert acme.double.bodies[-1]["membership"] == "full", "nothing but the appliance's was written"


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("at", [1, 2])
@pytest.mark.parametrize("step", ["create", "change", "delete"])
def test_killed_at_any_request_the_next_run_completes_it_and_nobody_else_loses_a_member(
    acme: SharingStack, globex: SharingStack, step: str, at: int, cut: Cut
) -> None:
    others = both(appliance(), part(4, 5))
    if step != "create":
        acme.up(part(2, 3))
    after = {"create": part(2, 3), "change": part(3, 6), "delete": None}[step]
    reached = acme.killed(after, at, cut)
    assert reached == (at == 1 or step == "change")
    assert others.items() <= members(acme).items()
    assert all(how == "limited" for guid, how in members(acme).items() if guid not in others)
    if reached:
        acme.destroy() if after is None else acme.up(after)
    assert members(acme) == others | ({} if after is None else table(after))


def test_members_of_others_that_a_request_loses_are_told(acme: SharingStack, globex: SharingStack) -> None:
    """A release of UFM that writes the whole set from what it read before."""

    def lost(double: Double) -> None:
        del double.table[KEY][GUIDS[5]]

    acme.double.meanwhile = lost
    with pytest.raises(Failure, match=f"members of others are gone: {GUIDS[5]}; who has them runs `pulumi up`"):
        acme.up(part(2))
    globex.up(part(4, 5))
    acme.up(part(2))
    assert members(acme) == both(appliance(), part(4, 5), part(2))


def test_whoever_loses_the_turn_writes_no_more_and_says_so(acme: SharingStack, globex: SharingStack) -> None:
    """Somebody else takes over while a request is on its way."""

    def other(_: Double) -> None:
        store = open_store(acme.claims, "lyon")
        with Turns(store, AT_ONCE, lease=0.0).turn(SUBJECT, "lyon-initech"):
            pass

    acme.double.meanwhile = other
    acme.double.asked.clear()
    with pytest.raises(Failure, match="took longer than 300 s for one step"):
        acme.up(part(2))
    assert methods(acme) == ["POST"]
    acme.up(part(2, 3))
    assert members(acme) == both(appliance(), part(4, 5), part(2, 3))


def test_a_turn_that_a_killed_run_of_the_stack_left_is_taken_up(acme: SharingStack, globex: SharingStack) -> None:
    """What a kill leaves in the store; another stack would wait for the lease."""
    left = Turns(open_store(acme.claims, "lyon"), AT_ONCE, process="killed").turn(SUBJECT, acme.stack)
    left.__enter__()
    acme.up(part(2))
    assert members(acme) == both(appliance(), part(4, 5), part(2))
    assert list(open_store(acme.claims, "lyon").items("turns/")) == []


def test_without_the_store_nothing_is_written(acme: SharingStack, globex: SharingStack) -> None:
    before, store = members(acme), acme.folder / "claims"
    store.rename(acme.folder / "elsewhere")
    store.write_text("no folder")
    with pytest.raises(Failure, match=r"claims store .* cannot be") as caught:
        acme.up(part(2))
    assert caught.value.trouble is Trouble.UNREACHABLE
    assert members(acme) == before


def test_a_destroy_that_knows_no_store_is_refused(acme: SharingStack, globex: SharingStack) -> None:
    acme.up(part(2))
    assert acme.state is not None
    ident, known = acme.state
    forgotten: dict[str, Any] = {**known, "store": None}
    acme.state = (ident, forgotten)
    with pytest.raises(Failure, match="nobody says which claims store orders the writers"):
        acme.destroy()
    assert GUIDS[2] in members(acme)


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize(("then", "at"), [((2, 3), 1), ((3,), 2)], ids=["one more", "another one"])
def test_killed_in_an_update_a_destroy_takes_out_what_the_killed_run_put_in(
    acme: SharingStack, globex: SharingStack, cut: Cut, then: tuple[int, ...], at: int
) -> None:
    """And neither members of others nor those of another cluster of the same stack, which are in all its footprints."""
    serve = replace(acme, name="acme-serve-key")
    serve.up(part(6))
    acme.up(part(2))
    acme.place = ClaimsPlace(acme.claims, acme.stack)
    assert acme.killed(part(*then), at, cut)
    acme.holds = StackHolding(identities(2, 3, 6), identities(*{2, 3} - ({2} & {*then})) - identities())
    acme.destroy()
    assert members(acme) == both(appliance(), part(4, 5), part(6))


def test_a_cluster_that_grows_leaves_another_of_its_stack_in(acme: SharingStack, globex: SharingStack) -> None:
    """While an `up` runs the store has two footprints, and both have the members of that one."""
    serve = replace(acme, name="acme-serve-key")
    serve.up(part(6))
    acme.up(part(2, 3))
    acme.held, acme.has = identities(2, 3, 6), identities(2, 7, 6)
    acme.up(part(2, 7))
    assert members(acme) == both(appliance(), part(4, 5), part(6), part(2, 7))
