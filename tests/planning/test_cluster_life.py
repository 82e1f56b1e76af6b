"""A cluster's life: who leaves by name, who comes in whose place, coming back after a release, and another image.

The site of `gpu_sites`: units su01 and su02 of 4 nodes, two in a rack.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from infra.reports.plan_nodes import node_lines, roll_lines
from interlock.model.lock.record import ClusterAllocation, Lock
from interlock.model.site.inventory import Site
from interlock.model.site.software import ImageSoftware
from interlock.model.tenant.request import Pins, Roll, Tenant
from interlock.planning import Plan, PlanningError, allocate, plan_tenant
from interlock.planning.claims import claimed_values
from interlock.planning.cluster_life import node_steps
from interlock.planning.cluster_numbers import number_nodes
from interlock.planning.cluster_spans import cluster_span
from interlock.planning.rolling import rolls
from interlock.resources import BareMetalServer, PartitionKey, Port
from tests.builders.fitting_software import FITTING
from tests.builders.gpu_sites import cluster, gpu_site, gpu_tenant, node_name
from tests.builders.pod64 import locked, site_locked

SITE = gpu_site()


def names(unit: int, *numbers: int) -> tuple[str, ...]:
    return tuple(node_name(unit, number) for number in numbers)


def asked(nodes: int = 4, **overrides: object) -> Tenant:
    return gpu_tenant("acme", cluster("train", nodes, **overrides))


def given_to(lock: Lock) -> ClusterAllocation:
    return lock.allocation.clusters["train"]


def settled(lock: Lock) -> Lock:
    """The same after `interlock settle`: what it gave up is anybody's."""
    return lock.model_copy(update={"released": ()}).sealed()


def planned(tenant: Tenant, lock: Lock, site: Site = SITE) -> Plan:
    return plan_tenant(site, site_locked(site), tenant, lock)


def servers(plan: Plan) -> dict[str, tuple[str, str]]:
    """Server -> (host, image) of each node."""
    found = (item.resource for item in plan.resources)
    return {
        item.name: (item.node, item.image.rpartition("/")[2]) for item in found if isinstance(item, BareMetalServer)
    }


def two_images(**software: object) -> Site:
    """With a second image `next`, whose software differs in this."""
    last = SITE.images[-1]
    newer = last.model_copy(
        update={"name": "next", "software": ImageSoftware(**FITTING | {"lustre": "none"} | software)}
    )
    fields = {name: getattr(SITE, name) for name in Site.model_fields}
    return Site(**fields | {"images": (*SITE.images, newer)})


FOUR = locked(SITE, asked())
FOUR_NAMES = names(1, 1, 2, 3, 4)


class TestNumbers:
    def test_one_that_leaves_by_name_changes_no_other(self) -> None:
        lock = locked(SITE, asked(3, without=names(1, 2)), (), FOUR)
        assert given_to(lock).numbered == {0: "su01-n01", 2: "su01-n03", 3: "su01-n04"}
        before, after = servers(planned(asked(), FOUR)), servers(planned(asked(3, without=names(1, 2)), lock))
        assert after == {name: found for name, found in before.items() if name != "acme-train-node-1"}
        assert [item.value for item in lock.released] == ["su01-n02"]

    def test_another_comes_in_the_place_of_one_that_is_not_wanted(self) -> None:
        tenant = asked(without=names(1, 2))
        lock = locked(SITE, tenant, (), FOUR)
        assert given_to(lock).numbered == {0: "su01-n01", 1: "su02-n01", 2: "su01-n03", 3: "su01-n04"}
        assert given_to(lock).numbers == ()
        before, after = planned(asked(), FOUR), planned(tenant, lock)
        addresses = [{item.name: item.resource for item in plan.resources if isinstance(item.resource, Port)}
                     for plan in (before, after)]  # fmt: skip
        assert addresses[0] == addresses[1], "its name and address are those of the one before"
        assert locked(SITE, tenant, (), lock).allocation == lock.allocation
        # It stays away while it is named, and nobody has it before it is clean.
        assert "su01-n02" not in given_to(locked(SITE, asked(7, without=names(1, 2)), (), settled(lock))).hosts
        with pytest.raises(PlanningError) as raised:
            locked(SITE, asked(8, without=names(1, 2)), (), settled(lock))
        assert "of which 3 are free besides the 4 that it has (1 under `without` (su01-n02))" in str(raised.value)

    def test_the_gap_is_filled_and_the_controller_stays_where_it_is(self) -> None:
        two = locked(SITE, asked(2, without=names(1, 1, 3)), (), FOUR)
        assert given_to(two).numbered == {1: "su01-n02", 3: "su01-n04"}
        grown = given_to(locked(SITE, asked(4), (), two))
        assert sorted(grown.numbered) == [1, 2, 3, 4]
        assert {number: grown.numbered[number] for number in (1, 3)} == given_to(two).numbered

    def test_pins_name_the_nodes_and_each_keeps_its_number(self) -> None:
        tenant = gpu_tenant("acme", cluster(nodes=2), pins={"train": Pins(hosts=names(1, 4, 2))})
        assert given_to(locked(SITE, tenant, (), FOUR)).numbered == {1: "su01-n02", 3: "su01-n04"}

    @given(
        st.dictionaries(st.integers(0, 30), st.integers(0, 40).map(str), max_size=12).filter(
            lambda found: len({*found.values()}) == len(found)
        ),
        st.lists(st.integers(0, 40).map(str), unique=True, max_size=12),
    )
    def test_a_node_that_stays_keeps_its_number_and_each_has_one(
        self, before: dict[int, str], nodes: list[str]
    ) -> None:
        found = number_nodes(before, nodes, 31)
        assert sorted(found.values()) == sorted(nodes)
        assert list(found) == sorted(found)
        assert all(found[number] == node for number, node in before.items() if node in nodes)
        assert max(found, default=0) < 31, "each has an address"

    @pytest.mark.parametrize(
        ("fields", "why"),
        [
            ({"numbers": [0, 2, 3]}, "one for each host"),
            ({"numbers": [0, 2, 2, 3]}, "ascending"),
            ({"numbers": [0, 1, 2, 3]}, "left out where"),
            ({"former": ["su01-n01"]}, "only of a cluster that is released"),
        ],
    )
    def test_a_lock_whose_numbers_are_wrong_is_refused(self, fields: dict[str, object], why: str) -> None:
        stated = FOUR.model_dump(mode="json")
        assert not fields.keys() & stated["allocation"]["clusters"]["train"].keys()
        stated["allocation"]["clusters"]["train"] |= fields
        with pytest.raises(ValidationError, match=why):
            Lock.model_validate(stated)


class TestRelease:
    AWAY = asked(state="released")

    def test_nodes_are_given_up_and_all_else_is_kept(self) -> None:
        lock = locked(SITE, self.AWAY, (), FOUR)
        kept = [claim for claim in claimed_values(given_to(FOUR)) if claim[0] != "hosts"]
        assert list(claimed_values(given_to(lock))) == kept
        assert [(item.claim, item.value) for item in lock.released] == [
            ("hosts", name) for name in names(1, 1, 2, 3, 4)
        ]
        assert given_to(lock).former == FOUR_NAMES
        assert str(cluster_span(SITE, "train", given_to(lock))) == "released, and has no nodes"
        plan = planned(self.AWAY, lock)
        assert not servers(plan)
        assert not [item for item in plan.resources if isinstance(item.resource, PartitionKey)]
        assert (
            plan.by_name["acme-train-cluster"].resource == planned(asked(), FOUR).by_name["acme-train-cluster"].resource
        )
        # Nobody else is given what it keeps, and it is the same as often as it is locked.
        other = given_to(locked(SITE, gpu_tenant("globex"), [lock]))
        assert not {*claimed_values(other)} & {*kept}
        assert locked(SITE, self.AWAY, (), lock).allocation == lock.allocation

    def test_it_comes_back_to_its_nodes_if_all_are_free(self) -> None:
        moved = locked(SITE, gpu_tenant("acme", cluster(nodes=2), pins={"train": Pins(hosts=names(2, 3, 2))}))
        gone = gpu_tenant("acme", cluster(nodes=2, state="released"))
        away = settled(locked(SITE, gone, (), moved))
        back = locked(SITE, asked(2), (), away)
        assert given_to(back) == given_to(moved)
        grown = given_to(locked(SITE, asked(3), (), away))
        assert grown.hosts[:2] == names(2, 3, 2)
        other = locked(SITE, gpu_tenant("globex", cluster(nodes=1), pins={"train": Pins(hosts=names(2, 3))}), [away])
        elsewhere = given_to(locked(SITE, asked(2), [other], away))
        assert elsewhere.hosts == names(2, 1, 2)
        assert elsewhere.partition_keys == given_to(moved).partition_keys

    def test_before_its_nodes_are_clean_it_gets_others_as_everybody_does(self) -> None:
        away = locked(SITE, self.AWAY, (), FOUR)
        assert given_to(locked(SITE, asked(), (), away)).hosts == names(2, 1, 2, 3, 4)
        with pytest.raises(PlanningError, match="ask for 4 at most; or settle what acme released"):
            locked(SITE, asked(5), (), away)

    def test_what_was_never_there_cannot_be_released(self) -> None:
        with pytest.raises(PlanningError, match="train is to be released, and it has nothing yet\n  hint: take it out"):
            allocate(SITE, self.AWAY, [], None)


class TestRoll:
    SITE = two_images(nccl="2.99.0")

    def rolled(self, *drained: str) -> Tenant:
        return asked(scheduler="slurm", roll=Roll(image="next", drained=drained))

    def test_old_and_new_are_beside_each_other_and_the_end_changes_nothing(self) -> None:
        lock = locked(self.SITE, self.rolled())
        part = servers(planned(self.rolled("su01-n03"), self.relocked("su01-n03"), self.SITE))
        assert [image for _, image in part.values()] == ["dgx-os", "dgx-os", "next", "dgx-os"]
        every = names(1, 1, 2, 3, 4)
        done = planned(self.rolled(*every), self.relocked(*every), self.SITE)
        after = asked(scheduler="slurm", image="next")
        assert planned(after, locked(self.SITE, after, (), lock), self.SITE).resources == done.resources

    def relocked(self, *drained: str) -> Lock:
        return locked(self.SITE, self.rolled(*drained))

    def test_a_node_that_the_cluster_does_not_have_is_refused(self) -> None:
        with pytest.raises(PlanningError, match=r"`roll.drained` names su02-n01, which is none of its nodes"):
            planned(self.rolled("su02-n01"), self.relocked("su02-n01"), self.SITE)

    def test_the_next_step_is_told_and_the_controller_comes_last(self) -> None:
        (none,) = rolls(self.SITE, self.rolled(), self.relocked())
        assert [node.host for node in none.left] == [*names(1, 2, 3, 4), *names(1, 1)]
        assert not [line for line in roll_lines([none]) if "beside each other" in line]
        drained = names(1, 2, 3, 4)
        lines = "\n".join(roll_lines(rolls(self.SITE, self.rolled(*drained), self.relocked(*drained))))
        assert lines == (
            "  train: dgx-os → next, 3 of 4 nodes\n"
            f"    beside each other: nccl {FITTING['nccl']} and 2.99.0\n"
            "    keep jobs on nodes of one image: nothing here knows whether both fit one job\n"
            "    left, in this order: su01-n01 (acme-train-node-0)\n"
            "    1. `scontrol update NodeName=acme-train-node-0 State=DRAIN Reason=image`\n"
            "    2. wait until `sinfo -h -n acme-train-node-0 -o %T` says drained\n"
            "       it is the controller: save /var/lib/slurm/slurmctld, and put it back before slurmctld starts\n"
            "    3. add su01-n01 to `clusters.train.roll.drained`; `interlock lock`, `pulumi up`\n"
            "    4. `scontrol update NodeName=acme-train-node-0 State=RESUME`; then the next"
        )
        every = names(1, 1, 2, 3, 4)
        last = list(roll_lines(rolls(self.SITE, self.rolled(*every), self.relocked(*every))))[-1]
        assert last == "    all have it: say `image: next` and take `roll` out, which changes no node"


class TestSteps:
    def steps(self, tenant: Tenant, lock: Lock, site: Site = SITE) -> list[str]:
        """Against four nodes with Slurm."""
        before = asked(scheduler="slurm")
        return list(node_lines(node_steps(planned(before, FOUR_SLURM, site).canonical(), planned(tenant, lock, site))))

    def test_nothing_is_told_where_nothing_changes(self) -> None:
        assert self.steps(asked(scheduler="slurm"), FOUR_SLURM) == []

    def test_who_comes_moves_and_leaves_is_told_with_what_is_lost(self) -> None:
        tenant = asked(5, scheduler="slurm", without=names(1, 2))
        moves, comes, first = self.steps(tenant, locked(SITE, tenant, (), FOUR_SLURM))
        assert moves == (
            "  acme-train-node-1 moves to su02-n01, with its name and address; su01-n02: its ports out of the partition"
            " first, then undeployed and cleaned; nobody's until it is settled; what is on its own disks is lost"
        )
        assert comes == (
            "  acme-train-node-4 comes, on su02-n02 with dgx-os: its ports come into the partition first; deployed"
        )
        assert first == (
            "    before `pulumi up` run `scontrol update NodeName=acme-train-node-1 State=DRAIN Reason=undeploy`, and "
            "wait until `sinfo -h -n acme-train-node-1 -o %T` says drained"
        )

    def test_a_release_takes_the_partition_last(self) -> None:
        tenant = asked(scheduler="slurm", state="released")
        *leaving, first = self.steps(tenant, locked(SITE, tenant, (), FOUR_SLURM))
        assert len(leaving) == 4
        assert all("undeployed and cleaned, then the partition goes" in line for line in leaving)
        assert "'acme-train-node-[0-3]' State=DRAIN" in first
        assert first.endswith("acme-train-node-0 is the controller: save /var/lib/slurm/slurmctld as well")

    def test_a_new_image_for_all_at_once_is_told_as_such(self) -> None:
        site = two_images()
        tenant = asked(scheduler="slurm", image="next")
        lines = self.steps(tenant, locked(site, tenant, (), FOUR_SLURM), site)
        assert lines[0].startswith("  acme-train-node-0 is deployed anew on su01-n01, dgx-os → next: undeployed, ")
        assert lines[-1] == (
            "    4 nodes of acme-train are deployed anew at once; with `roll:` it is one after the other"
        )


FOUR_SLURM = locked(SITE, asked(scheduler="slurm"))
