"""Partitions through the provider: what is written, whose a partition is, and what a kill at any request leaves."""

from __future__ import annotations

from pathlib import Path

import pytest

from interlock.provider.errors import Failure, Trouble
from interlock.provider.redaction import REDACTOR
from interlock.provider.turns import ClaimsPlace, StackHolding
from interlock.resources import PartitionKey
from tests.ufm.conftest import GUIDS
from tests.ufm.double import CONFIG_MANAGER, INFRA_CONTROLLER, PASSWORD, PREFIX, WITH_JOBS, Cut, Double, Profile
from tests.ufm.partition_stack import (
    IDENT,
    KEY,
    PartitionStack,
    identities,
    partition,
    table,
)

#: Where the form of answers and jobs make no difference to what a kill leaves.
FEWER = pytest.mark.parametrize("profile", [CONFIG_MANAGER, WITH_JOBS])
PROFILES = pytest.mark.parametrize("profile", [CONFIG_MANAGER, INFRA_CONTROLLER, WITH_JOBS])
FULL = partition((0, 1))
MIXED = partition((0, 1), (2, 3))


@pytest.fixture
def stack(double: Double, tmp_path: Path) -> PartitionStack:
    """A stack that has made nothing yet."""
    return PartitionStack(double, tmp_path)


def refusal(stack: PartitionStack, spec: PartitionKey | None) -> str:
    """What an `up`, or a destroy, says that is refused; nothing is changed by it."""
    before, changes = {**stack.double.table}, stack.double.changes
    with pytest.raises(Failure) as caught:
        stack.destroy() if spec is None else stack.up(spec)
    assert caught.value.trouble is Trouble.REFUSED
    assert (stack.double.table, stack.double.changes) == (before, changes)
    return str(caught.value)


@PROFILES
@pytest.mark.parametrize("spec", [FULL, MIXED, partition((), (4,), index0=False, ip_over_ib=False)])
def test_it_is_made_read_back_and_deleted(stack: PartitionStack, profile: Profile, spec: PartitionKey) -> None:
    stack.double.profile = profile
    stack.up(spec)
    assert stack.double.members(KEY) == table(spec)
    assert {item["index0"] for item in stack.double.table[KEY].values()} == {spec.index0}
    assert stack.double.ip_over_ib[KEY] is spec.ip_over_ib
    assert stack.state is not None
    ident, outputs = stack.state
    assert (ident, outputs["marker"], outputs["prefix"]) == (IDENT, "", stack.double.prefix)
    assert outputs["guids"] == sorted(table(spec))
    asked = len(stack.double.bodies)
    stack.up(spec)
    assert len(stack.double.bodies) == asked
    assert stack.refresh() == spec.canonical() | {"owner": "0ac3e0"}
    stack.destroy()
    assert stack.double.table == {}


CHANGES = [
    (partition((0, 1)), partition((0, 1, 2)), ["POST"]),
    (partition((0, 1, 2)), partition((0, 1)), ["DELETE"]),
    (partition((0, 1)), partition((1, 2)), ["DELETE", "POST"]),
    (partition((0, 1)), partition((1, 4), (2,)), ["DELETE", "PUT"]),
    (partition((0, 1)), partition((2, 3)), ["PUT"]),
    (partition((0, 1)), partition((0,), (1,)), ["PUT"]),
    (partition((0, 1)), partition((0, 1), (2,)), ["POST"]),
    (partition((0, 1)), partition((0, 1, 4), (2,)), ["PUT"]),
    (partition((0, 1)), partition((0, 1), index0=False), ["PUT"]),
    (partition((0, 1)), partition((0, 1), ip_over_ib=False), ["PUT"]),
    (MIXED, partition((2, 3), (0, 1)), ["PUT"]),
]


@PROFILES
@pytest.mark.parametrize(("before", "after", "methods"), CHANGES)
def test_it_is_changed_by_few_requests(
    stack: PartitionStack, profile: Profile, before: PartitionKey, after: PartitionKey, methods: list[str]
) -> None:
    stack.double.profile = profile
    stack.up(before)
    stack.double.asked.clear()
    stack.up(after)
    assert stack.double.members(KEY) == table(after)
    assert {item["index0"] for item in stack.double.table[KEY].values()} == {after.index0}
    assert stack.double.ip_over_ib[KEY] is after.ip_over_ib
    assert [method for method, _ in stack.double.asked if method != "GET"] == methods
    assert stack.state is not None
    assert stack.state[1]["guids"] == sorted(table(after))


CUTS: list[Cut] = ["before", "middle", "after"]


@PROFILES
@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("spec", [FULL, MIXED])
def test_killed_while_it_is_made_the_next_run_completes_it(
    stack: PartitionStack, profile: Profile, cut: Cut, spec: PartitionKey
) -> None:
    stack.double.profile = profile
    assert stack.killed(spec, 1, cut)
    made = stack.double.members(KEY)
    assert made == {"before": None, "after": table(spec)}.get(cut, made)
    assert cut != "middle" or (made is not None and 0 < len(made) < len(table(spec)))
    stack.up(spec)
    assert stack.double.members(KEY) == table(spec)
    stack.destroy()
    assert not stack.killed(spec, 2, cut)


@FEWER
@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize(("before", "after", "methods"), CHANGES)
def test_killed_while_it_is_changed_the_next_run_completes_it(
    stack: PartitionStack,
    profile: Profile,
    cut: Cut,
    before: PartitionKey,
    after: PartitionKey,
    methods: list[str],
) -> None:
    stack.double.profile = profile
    come, go = table(after).keys() - table(before).keys(), table(before).keys() - table(after).keys()
    for at in range(1, len(methods) + 1):
        stack.up(before)
        assert stack.killed(after, at, cut)
        left = stack.double.members(KEY) or {}
        assert len(methods) > 1 or cut == "middle" or left == table(after if cut == "after" else before)
        assert len(methods) == 1 or not (come & left.keys() and go & left.keys()), "one that goes is out before"
        stack.up(after)
        assert stack.double.members(KEY) == table(after)
    stack.destroy()
    assert stack.double.table == {}


@PROFILES
@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("at", [1, 2])
def test_killed_while_it_is_changed_another_plan_can_follow(
    stack: PartitionStack, profile: Profile, cut: Cut, at: int
) -> None:
    """What the killed run put in is neither in the state nor in the new plan: the claims store has it as ours."""
    stack.double.profile = profile
    stack.up(FULL)
    assert stack.killed(partition((0, 5)), at, cut)
    stack.held = identities(0, 1) | identities(0, 5)
    stack.up(partition((0, 6)))
    assert stack.double.members(KEY) == table(partition((0, 6)))


@PROFILES
@pytest.mark.parametrize("cut", CUTS)
def test_killed_while_it_is_deleted_the_next_run_completes_it(
    stack: PartitionStack, profile: Profile, cut: Cut
) -> None:
    stack.double.profile = profile
    stack.up(MIXED)
    assert stack.killed(None, 1, cut)
    stack.destroy()
    assert stack.double.table == {}


@PROFILES
@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("at", [1, 2])
def test_killed_in_an_update_a_destroy_takes_out_all_that_the_stack_claims(
    stack: PartitionStack, profile: Profile, cut: Cut, at: int
) -> None:
    """What the killed run put in no state has; the claims store has it as this stack's, by the state's lineage."""
    stack.double.profile = profile
    stack.place = ClaimsPlace("file:///claims", "lyon-acme", "l1")
    stack.up(FULL)
    assert stack.killed(partition((0, 5)), at, cut)
    stack.holds = StackHolding(identities(0, 1, 5))
    stack.destroy()
    assert stack.double.table == {}


@pytest.mark.parametrize(
    ("holds", "lineage"),
    [
        (identities(0, 1), "l1"),
        (identities(0, 1, 5) - {f"K:{PREFIX}:0x0005"}, "l1"),
        (identities(0, 1, 5, prefix="fe80000000000099"), "l1"),
        (identities(0, 1, 5), "l2"),
    ],
    ids=["not the port", "not the key", "the key of another subnet", "by another state"],
)
def test_killed_in_an_update_a_destroy_leaves_what_is_not_claimed(
    stack: PartitionStack, holds: frozenset[str], lineage: str
) -> None:
    stack.place = ClaimsPlace("file:///claims", "lyon-acme", "l1")
    stack.up(FULL)
    assert stack.killed(partition((0, 5)), 2, "after")
    before = stack.double.members(KEY)
    stack.holds, stack.place = StackHolding(holds), stack.place._replace(lineage=lineage)
    assert f"members that this stack did not put in: {GUIDS[5]} (full)" in refusal(stack, None)
    assert stack.double.members(KEY) == before


def test_killed_in_an_update_a_destroy_that_knows_no_store_leaves_what_it_does_not_know(stack: PartitionStack) -> None:
    stack.up(FULL)
    assert stack.killed(partition((0, 5)), 2, "after")
    said = refusal(stack, None)
    assert f"members that this stack did not put in: {GUIDS[5]} (full)" in said
    assert "run `pulumi up` once more" in said
    stack.up(partition((0, 5)))
    stack.destroy()


def test_a_lost_answer_is_no_failure_where_it_was_done(stack: PartitionStack) -> None:
    """A gateway says 504 to the PUT, which had its effect: it is looked for, found, and taken."""
    stack.double.instead["PUT", "/resources"] = (504, {}, "<html><title>Gateway Time-out</title></html>")

    def done(double: Double) -> None:
        for guid, membership in table(MIXED).items():
            double.put(KEY, guid, membership)

    stack.double.meanwhile = done
    stack.up(MIXED)
    assert stack.double.members(KEY) == table(MIXED)
    assert [method for method, _ in stack.double.asked if method != "GET"] == ["PUT"]


TRAPS: dict[str, tuple[dict[int, str], str]] = {
    "one more": ({0: "full", 1: "full", 7: "full"}, f"not this stack's: {GUIDS[7]} (full)"),
    "others only": ({6: "limited", 7: "full"}, f"not this stack's: {GUIDS[6]} (limited), {GUIDS[7]} (full)"),
    "another membership": ({0: "full", 1: "limited"}, f"other members than are planned: {GUIDS[0]} (full), "),
    "another membership, and one less": ({1: "limited"}, f"other members than are planned: {GUIDS[1]} (limited)"),
    "nobody": ({}, "it has no members"),
}


@PROFILES
@pytest.mark.parametrize("trap", TRAPS)
def test_trap_a_partition_of_our_key_that_is_not_ours(stack: PartitionStack, profile: Profile, trap: str) -> None:
    members, said = TRAPS[trap]
    stack.double.profile = profile
    stack.double.table[KEY] = {}
    for number, membership in members.items():
        stack.double.put(KEY, GUIDS[number], membership)
    assert said in refusal(stack, FULL)
    assert any(said in str(fault) for fault in stack.preflight(FULL))


def test_trap_another_stacks_members_are_not_taken_over(stack: PartitionStack) -> None:
    """The store has GUIDs of an earlier footprint of ours, which did not have the key, or not that GUID."""
    stack.double.put(KEY, GUIDS[5])
    stack.held = frozenset({f"guid:{GUIDS[5]}"})
    assert GUIDS[5] in refusal(stack, FULL)
    stack.held = identities(6)
    assert GUIDS[5] in refusal(stack, FULL)
    stack.held = identities(5)
    stack.up(FULL)
    assert stack.double.members(KEY) == table(FULL)


def test_what_a_killed_run_made_as_planned_is_adopted_and_not_written_again(stack: PartitionStack) -> None:
    for guid in table(FULL):
        stack.double.put(KEY, guid)
    stack.up(FULL)
    assert stack.double.changes == 0
    assert stack.state is not None


def test_a_foreign_member_stops_everything_and_stays(stack: PartitionStack) -> None:
    stack.up(FULL)
    stack.double.put(KEY, GUIDS[7], "limited")
    foreign = f"{GUIDS[7]} (limited)"
    assert foreign in refusal(stack, FULL)
    assert foreign in refusal(stack, partition((0, 1, 2)))
    assert foreign in refusal(stack, None)
    # A refresh shows it, and does not make it ours.
    for _ in range(2):
        seen = stack.refresh()
        assert seen is not None
        assert {"guid": GUIDS[7], "membership": "limited"} in seen["members"]
        assert foreign in refusal(stack, None)
        assert foreign in refusal(stack, FULL)
    del stack.double.table[KEY][GUIDS[7]]
    stack.up(FULL)
    stack.destroy()


def test_a_foreign_member_that_comes_in_meanwhile_is_told(stack: PartitionStack) -> None:
    stack.double.meanwhile = lambda double: double.put(KEY, GUIDS[7])
    with pytest.raises(Failure, match=rf"not this stack's: {GUIDS[7]} \(full\)"):
        stack.up(FULL)
    assert stack.double.members(KEY) == {**table(FULL), GUIDS[7]: "full"}
    assert stack.state is not None
    del stack.double.table[KEY][GUIDS[7]]
    stack.up(FULL)


def test_a_foreign_member_that_comes_in_while_old_ones_go_out_stops_the_new_ones(stack: PartitionStack) -> None:
    stack.up(FULL)
    stack.double.meanwhile = lambda double: double.put(KEY, GUIDS[7])
    with pytest.raises(Failure, match=rf"not this stack's: {GUIDS[7]} \(full\)"):
        stack.up(partition((0, 5)))
    assert stack.double.members(KEY) == {GUIDS[0]: "full", GUIDS[7]: "full"}


def test_one_that_does_not_go_out_lets_no_new_one_in(stack: PartitionStack) -> None:
    """A UFM that says yes and does nothing: the old adapter may hang at somebody else by now."""
    stack.up(FULL)
    stack.double.instead["DELETE", "/resources"] = (200, {}, "")
    with pytest.raises(Failure, match=rf"still has {GUIDS[1]}, which were taken out") as caught:
        stack.up(partition((0, 5)))
    assert caught.value.trouble is Trouble.NOT_READY
    assert stack.double.members(KEY) == table(FULL)
    del stack.double.instead["DELETE", "/resources"]
    stack.up(partition((0, 5)))
    assert stack.double.members(KEY) == table(partition((0, 5)))


def test_a_foreign_member_that_comes_in_while_it_is_deleted_stays(stack: PartitionStack) -> None:
    stack.up(FULL)
    stack.double.meanwhile = lambda double: double.put(KEY, GUIDS[7])
    with pytest.raises(Failure, match=rf"others came in, who stay: {GUIDS[7]} \(full\)") as caught:
        stack.destroy()
    assert caught.value.trouble is Trouble.REFUSED
    assert stack.double.members(KEY) == {GUIDS[7]: "full"}


def test_a_member_that_ufm_makes_full_is_no_success(stack: PartitionStack) -> None:
    def spoilt(double: Double) -> None:
        double.instead["PUT", "/resources"] = (200, {}, "")
        for guid in table(MIXED):
            double.put(KEY, guid, "full")

    stack.double.meanwhile = spoilt
    with pytest.raises(Failure, match="was changed, and still differs in members"):
        stack.up(MIXED)


def test_a_job_that_fails_is_told_and_leaves_the_next_run_all_it_needs(stack: PartitionStack) -> None:
    stack.double.profile, stack.double.job_ends = WITH_JOBS, "Failed"
    with pytest.raises(Failure, match="ended as Failed: the SM says no"):
        stack.up(FULL)
    stack.double.job_ends = "Completed"
    stack.up(FULL)
    assert stack.double.members(KEY) == table(FULL)


def test_what_was_drifted_is_put_back(stack: PartitionStack) -> None:
    stack.up(MIXED)
    stack.double.put(KEY, GUIDS[3], "full", index0=False)
    del stack.double.table[KEY][GUIDS[0]]
    stack.up(MIXED)
    assert stack.double.members(KEY) == table(MIXED)
    assert {item["index0"] for item in stack.double.table[KEY].values()} == {True}


def test_gone_with_its_last_member_it_is_made_again(stack: PartitionStack) -> None:
    stack.up(FULL)
    stack.double.table.clear()
    assert stack.refresh() is None
    stack.up(FULL)
    assert stack.double.members(KEY) == table(FULL)
    stack.double.table[KEY] = {}
    stack.destroy()
    assert stack.double.table == {}


def test_another_ufm_under_the_same_name_forgets_nothing(stack: PartitionStack) -> None:
    stack.up(FULL)
    made, stack.double.prefix = stack.double.prefix, "fec0000000000002"
    stack.double.table.clear()
    with pytest.raises(Failure, match="was made on the subnet fec0000000000001"):
        stack.refresh()
    with pytest.raises(Failure, match="manages fec0000000000002"):
        stack.destroy()
    assert stack.state is not None
    stack.double.prefix = made


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        (partition(()), "has no members, and UFM keeps no partition without any"),
        (partition((0, 0)), "a GUID is there twice"),
        (partition((0,), (0,)), "a GUID is there twice"),
        (partition((0,), key=0x7FFF), "that key is no tenant's"),
        (partition((0,), key=0xFFFF), "that key is no tenant's"),
        (partition((0,), key=0), "that key is no tenant's"),
        (partition((0,), members=({"guid": "mlx5_0", "membership": "full"},)), "'mlx5_0' is no GUID"),
        (partition((0,), members=({"guid": "00" * 8, "membership": "full"},)), f"discovered no port {'00' * 8}"),
        (partition((0,), infiniband="ib-2"), "does not say where the UFM of ib-2 is"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_sent(
    stack: PartitionStack, spec: PartitionKey, said: str
) -> None:
    assert said in refusal(stack, spec)


def test_preflight_finds_it_all_beforehand(stack: PartitionStack) -> None:
    claims = identities(0, 1)
    assert stack.preflight(FULL, claims) == []
    (wrong,) = stack.preflight(FULL, identities(0, 1, prefix="fec0000000000009"))
    assert "manages the subnet fec0000000000001, and the site file states fec0000000000009" in str(wrong)
    stack.double.ports = frozenset(GUIDS[:1])
    (unknown,) = stack.preflight(FULL, claims)
    assert f"the subnet manager has discovered no port {GUIDS[1]}" in str(unknown)
    stack.double.instead["GET", "/"] = (503, {}, "starting")
    (silent,) = stack.preflight(FULL, claims)
    assert "status 503: starting" in str(silent)
    assert type(silent).__name__ == "NotLookedAt"


def test_audit_names_what_is_not_as_planned(stack: PartitionStack) -> None:
    assert stack.audited(MIXED).ids == ()
    stack.up(MIXED)
    whole = stack.audited(MIXED)
    assert (whole.ids, whole.has_drifted, whole.unread) == ((IDENT,), False, "")
    stack.double.put(KEY, GUIDS[7])
    foreign = stack.audited(MIXED)
    assert foreign.has_drifted
    assert foreign.reason == f"in it are members that no plan puts there: {GUIDS[7]} (full)"
    assert [*foreign.differs] == ["members"]
    del stack.double.table[KEY][GUIDS[7]]
    stack.double.ports -= {GUIDS[2]}
    stale = stack.audited(MIXED)
    assert stale.reason == f"in it are GUIDs of which the subnet has no port: {GUIDS[2]}"
    assert "its HCA was replaced" in stale.hint
    stack.double.put(KEY, GUIDS[3], "full")
    assert [*stack.audited(MIXED).differs] == ["members"]
    stack.double.table.clear()
    gone = stack.audited(MIXED)
    assert (gone.ids, gone.has_drifted) == ((), True)
    stack.double.instead["GET", "/"] = (401, {}, "no")
    assert "status 401" in stack.audited(MIXED).unread


def test_the_secret_is_masked_in_every_failure(stack: PartitionStack) -> None:
    stack.up(FULL)
    assert PASSWORD not in REDACTOR.redact(f"some library says {PASSWORD}")
    assert stack.state is not None
    assert PASSWORD not in str(stack.state)
