"""Proof and subnet manager compared: random partition tables, as the graph judges them and as OpenSM wrote them.

*Isolated* by our graph: ISO-02 finds no way from one owner to another, and ISO-19 nobody who is full in the default
partition, where OpenSM has every port, and which no plan lists. By the tables: no two owners' ports share a key of
which one is full. Each tenant's plan answers for this tenant, the operator's for everybody, and the tables of hosts and
those of leaf ports are asked each by themselves. Two things are defined rather than measured: a port that stands in
two tenants' plans is in two hands, so its owners have met; and full members that the site declares as shared storage
serve limited clients and join nobody.

Each draft gets a sweep of its own: OpenSM is told of it, SIGHUP, all tables are read. A failure names its seed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from random import Random

import pytest

from interlock.model.lock.record import Lock
from interlock.model.site.inventory import Sharing, Site
from interlock.model.site.networks import InfinibandSubnet, PartitionKeyPool
from interlock.planning import plan_site
from interlock.planning.plan import Plan
from policies import Verdict
from policies.edges.shape import Relation, Union
from policies.judging import asked, model_of, operators_part
from policies.rules.infiniband import ISO_19
from policies.rules.separation import ISO_02
from sandbox.infiniband.subnet import LiveSubnet, ManagerSettings
from sandbox.infiniband.topology import SubnetTopology, hex16, rails
from tests.builders.pod64 import pools, site_locked, tenant
from tests.policies.joining import declared
from tests.policies.workspace import Made, added, assumptions, full_site, made, with_footprint
from tests.support.sampling import Sampling

from .conftest import folder
from .random_tables import (
    HIGHEST_KEY,
    INFINIBAND,
    LEAKING,
    ONE_FULL,
    OPERATOR,
    STORAGE_KEY,
    TENANTS,
    DraftedTables,
    drafted,
)

KEY_BITS, FULL = 0x7FFF, 0x8000


@dataclass(frozen=True)
class ComparedTables:
    """One draft: which tenants meet another owner by the graph, by tables of hosts, by tables of leaf ports."""

    seed: int
    leaking: bool
    draft: DraftedTables
    #: Owners whose plan is refused. The operator's answers for all.
    graph: frozenset[str]
    hosts: frozenset[str]
    leaves: frozenset[str]

    @property
    def agree(self) -> bool:
        """All three say the same, and that is what the draft was made for."""
        by_graph, by_hosts = self.graph - {OPERATOR}, self.hosts - {OPERATOR}
        for_all = OPERATOR in self.graph
        return by_graph == by_hosts and self.hosts == self.leaves and for_all == bool(self.hosts) == self.leaking

    def __str__(self) -> str:
        said = {"graph": self.graph, "hosts' tables": self.hosts, "leaves' tables": self.leaves}
        lines = [f"seed {self.seed}, made to {'leak' if self.leaking else 'be isolated'}: {self.draft.done}"]
        lines += [
            f"  who meets another by the {name}: {', '.join(sorted(who)) or 'nobody'}" for name, who in said.items()
        ]
        return "\n".join([*lines, self.draft.configuration])


def meeting(draft: DraftedTables, tables: Mapping[str, Iterable[int]]) -> frozenset[str]:
    """Owners of whose ports one shares a key with another's, one of them full. `tables`: port -> its keys."""
    owners = draft.owners
    members: defaultdict[int, dict[str, bool]] = defaultdict(dict)
    for guid, rows in tables.items():
        for row in rows:
            members[row & KEY_BITS][guid] = members[row & KEY_BITS].get(guid, False) or bool(row & FULL)
    found = {owner for named in owners.values() if len(named) > 1 for owner in named}
    for held in members.values():
        full = {guid for guid, is_full in held.items() if is_full and guid in owners}
        if full - set(draft.terminals):
            together = {owner for guid in held for owner in owners.get(guid, ())}
            found |= together if len(together) > 1 else set()
    return frozenset(found)


@dataclass(frozen=True)
class Judges:
    """A site with one InfiniBand subnet, three tenants and the operator, whose plans have no partition yet."""

    site: Site
    tenants: Mapping[str, Made]
    operator: Plan

    def meeting(self, draft: DraftedTables) -> frozenset[str]:
        """Owners of whose plans ISO-02 or ISO-19 says that they are not apart."""
        plans = {name: self._with_keys(item.plan, draft, name) for name, item in self.tenants.items()}
        plans[OPERATOR] = self._with_keys(self.operator, draft, OPERATOR)
        locks: dict[str, Lock] = {
            name: with_footprint(self.site, plans[name], item.lock).lock for name, item in self.tenants.items()
        }
        locks[OPERATOR] = operators_part(self.site, plans[OPERATOR])
        return frozenset(name for name, plan in plans.items() if self._meets(name, plan, locks))

    def _meets(self, name: str, plan: Plan, locks: Mapping[str, Lock]) -> bool:
        model = model_of(self.site, plan, [lock for other, lock in locks.items() if other != name])
        verdicts = {result.rule: result.verdict for result in asked(model, [ISO_02, ISO_19])}
        assert set(verdicts.values()) <= {Verdict.PROVED, Verdict.VIOLATED, Verdict.NOT_APPLICABLE}, verdicts
        return Verdict.VIOLATED in verdicts.values()

    def _with_keys(self, plan: Plan, draft: DraftedTables, owner: str) -> Plan:
        for number, item in enumerate(draft.plans(owner)):
            plan = added(plan, f"{owner}-key-{number}", plan.components[0].name, item)
        return plan


@cache
def judges(topology: SubnetTopology) -> Judges:
    """With the ports of node n0 declared as shared storage."""
    pool = PartitionKeyPool(infiniband=INFINIBAND, keys=((0x0001, HIGHEST_KEY),), reserved=(STORAGE_KEY,))
    site = full_site(
        infiniband=(InfinibandSubnet(name=INFINIBAND, prefix="fe80000000000000"),),
        pools=pools(partition_keys=(pool,)),
        assumptions=assumptions(),
        sharing=_storage(topology),
    )
    found: dict[str, Made] = {}
    for name in TENANTS:
        found[name] = made(site, tenant(name, machines=4, servers=1), [item.lock for item in found.values()])
    return Judges(site, found, plan_site(site, site_locked(site)))


def _storage(topology: SubnetTopology) -> tuple[Sharing, ...]:
    ports = [hex16(hca.guid) for hca in topology.hosts if hca.name.startswith("n0-")]
    entries = [declared(guid, "storage-appliance") for guid in ports]
    *usual, _ = entries[0]
    extra = [item[-1].model_copy(update={"name": f"storage-{number}"}) for number, item in enumerate(entries)]
    return (*usual, *extra)


def compare(subnet: LiveSubnet, seed: int, *, leaking: bool) -> ComparedTables:
    """Draft, judge, tell OpenSM, read its tables."""
    draft = drafted(Random(seed), subnet.topology, leaking=leaking)
    return compared_with(subnet, draft, seed, leaking=leaking)


def compared_with(subnet: LiveSubnet, draft: DraftedTables, seed: int, *, leaking: bool) -> ComparedTables:
    """The same for a draft that is there."""
    subnet.partition_file.write_text(draft.configuration, encoding="utf-8")
    subnet.reload()
    tables = {hex16(guid): item for guid, item in subnet.tables().items()}
    return ComparedTables(
        seed,
        leaking,
        draft,
        graph=judges(subnet.topology).meeting(draft),
        hosts=meeting(draft, {guid: item.host for guid, item in tables.items()}),
        leaves=meeting(draft, {guid: item.leaf for guid, item in tables.items()}),
    )


@pytest.fixture(scope="module")
def quiet(sampling: Sampling) -> Iterator[LiveSubnet]:
    """A subnet that sweeps when it is told to, and else never: what is read is of the draft that was written last."""
    size = 127 if sampling.long else 8
    with LiveSubnet(rails(size, 2), folder("quiet"), ManagerSettings(sweep_interval=0)).running() as subnet:
        yield subnet


@pytest.fixture(scope="module")
def compared(quiet: LiveSubnet, sampling: Sampling) -> list[ComparedTables]:
    """Every draft of this run; every other one leaks."""
    seeds = sampling.cases("random partition tables")
    return [compare(quiet, seed, leaking=bool(place % 2)) for place, seed in enumerate(seeds)]


@pytest.mark.timeout(100_000)
def test_who_meets_whom_is_what_the_graph_says(compared: list[ComparedTables]) -> None:
    wrong = [str(item) for item in compared if not item.agree]
    assert not wrong, f"{len(wrong)} of {len(compared)}\n" + "\n\n".join(wrong[:3])


@pytest.mark.timeout(100_000)
def test_half_of_the_drafts_leak(compared: list[ComparedTables]) -> None:
    """In tables that OpenSM wrote, whatever was intended."""
    count = Counter(bool(item.hosts) for item in compared)
    assert abs(count[True] - count[False]) <= 1, count


@pytest.mark.parametrize("place", range(len(LEAKING)), ids=[change.__name__.strip("_") for change in LEAKING])
def test_each_way_to_leak_is_seen_by_both(quiet: LiveSubnet, monkeypatch: pytest.MonkeyPatch, place: int) -> None:
    """Also those that a sample did not draw."""
    monkeypatch.setattr("tests.subnet_manager.random_tables.LEAKING", (LEAKING[place],))
    item = compare(quiet, place, leaking=True)
    assert item.agree, str(item)


def test_a_key_in_two_plans_is_refused_though_limited_members_alone_hear_nobody(quiet: LiveSubnet) -> None:
    """The one difference, and on purpose: a partition has one writer, whoever its members are. The operator's plan may
    name them both.
    """
    draft = drafted(Random(1), quiet.topology, leaking=False)
    for owner in ("acme", "globex"):
        draft.put(owner, 0x0F04, {draft.dealt[owner][0]: "limited"})
    item = compared_with(quiet, draft, 1, leaking=False)
    assert item.hosts == item.leaves == frozenset()
    assert item.graph == {"acme", "globex", OPERATOR}


def test_a_graph_without_limited_members_is_found_out(quiet: LiveSubnet, monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison is compared: with a row of the graph that leaves out limited members the two differ."""
    whole = Union.facts

    def fewer(union: Union, relation: Relation) -> list[tuple[str, ...]]:
        found = whole(union, relation)
        return found if relation is not Relation.KEY else [fact for fact in found if fact[2] == "full"]

    monkeypatch.setattr(Union, "facts", fewer)
    monkeypatch.setattr("tests.subnet_manager.random_tables.LEAKING", (ONE_FULL,))
    assert not compare(quiet, 5, leaking=True).agree
