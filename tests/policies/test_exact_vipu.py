"""TOP-10, TOP-11, ISO-24 to ISO-26, L3-15 and unstated roles: what each says of facts that a plan always states."""

from __future__ import annotations

from dataclasses import replace

import pytest

from interlock.vocabulary import NetworkRole
from policies import Severity
from policies.about import OpenScope, PlanComponent, PlanResource
from policies.facts.fabric import AllocationFact, PartitionFact, SwitchPortFact
from policies.facts.kinds import NetworkFact, PlanFacts, ServerFact, VPodFact
from policies.facts.rights import RightFact
from policies.facts.site import SiteFacts
from policies.facts.vipu import AgentClusterFact, AgentFact, VipuFacts, VipuUserFact
from policies.proof import RuleResult
from policies.rules.unstated_roles import lacking, of_role
from tests.policies.exact_answers import answer, drawn, messages, only, plan_of, share
from tests.policies.workspace import NA, P, V, full_site

SITE = SiteFacts(full_site())
TRAIN, SERVE = VPodFact("train", ("ipum-01", "ipum-02")), VPodFact("serve", ("ipum-03",))


def of(rule: str, plan: PlanFacts) -> RuleResult:
    return answer(rule, drawn(SITE, plan, share(plan.owner)))


def controller(vpod: str, name: str = "", *, is_controller: bool = True) -> ServerFact:
    return ServerFact(name or f"{vpod}-ctl", frozenset({"op"}), "infra-1", vpod, (), is_controller)


def pool(of_pod: VPodFact, *machines: str, **changes: str) -> AllocationFact:
    found = AllocationFact(
        f"{of_pod.name}-pool", "acme", of_pod.name, f"{of_pod.name}-ctl", machines or of_pod.machines, "mesh",
        cluster=f"{of_pod.name}-cluster",
    )  # fmt: skip
    return replace(found, **changes)  # type: ignore[arg-type]


def agent(of_pod: VPodFact, machine: str, **changes: str) -> AgentFact:
    serial = SITE.site.machine[machine].serial
    found = AgentFact(f"agent-{machine}", of_pod.name, f"{of_pod.name}-ctl", machine, serial, address_of(machine))
    return replace(found, **changes)


def address_of(machine: str) -> str:
    return f"10.3.0.{machine.removeprefix('ipum-')}"


def managed(machine: str) -> SwitchPortFact:
    """The address of its BMC, then that of its gateway."""
    both = (f"10.3.1.{machine.removeprefix('ipum-')}", address_of(machine))
    return SwitchPortFact(f"mgmt-{machine}", "sw", 1, machine, "mgmt", 1, None, addresses=both)


def joined(of_pod: VPodFact, *agents: str, **changes: str) -> AgentClusterFact:
    names = agents or tuple(f"agent-{machine}" for machine in of_pod.machines)
    found = AgentClusterFact(f"{of_pod.name}-cluster", of_pod.name, f"{of_pod.name}-ctl", names, "mesh", 1, "none")
    return replace(found, **changes)  # type: ignore[arg-type]


def user(of_pod: VPodFact, *allocations: str, **changes: str) -> VipuUserFact:
    names = allocations or (f"{of_pod.name}-pool",)
    found = VipuUserFact(f"{of_pod.name}-user", "acme", of_pod.name, f"{of_pod.name}-ctl", names)
    return replace(found, **changes)  # type: ignore[arg-type]


def part(name: str, ipus: int, of_pool: str = "train-pool", controller: str = "train-ctl") -> PartitionFact:
    return PartitionFact(name, "train", of_pool, ipus, 1, 1, False, "default", "default", controller)


AGENTS = tuple(agent(vpod, machine) for vpod in (TRAIN, SERVE) for machine in vpod.machines)
CLUSTERS = (joined(TRAIN), joined(SERVE))
PORTS = tuple(managed(machine) for vpod in (TRAIN, SERVE) for machine in vpod.machines)
SERVERS = (controller("train"), controller("serve"), controller("train", "poplar", is_controller=False))


@pytest.mark.parametrize(
    ("pools", "words", "witness", "named"),
    [
        ((pool(TRAIN),), None, (), ()),
        ((), "vPOD train has 0 V-IPU allocations, and a vPOD is one", (), ("train",)),
        (
            (pool(TRAIN), pool(TRAIN, name="more")), "vPOD train has 2 V-IPU allocations, and a vPOD is one",
            ("train-pool", "more"), ("train", "train-pool", "more"),
        ),
        (
            (pool(TRAIN, "ipum-01", "ipum-02", "ipum-01"),), "allocation train-pool names ipum-01 twice",
            ("ipum-01", "ipum-02", "ipum-01"), ("train-pool",),
        ),
        (
            (pool(TRAIN, "ipum-09"),), "allocation train-pool lacks ipum-01, ipum-02 of vPOD train",
            ("ipum-01", "ipum-02"), ("train-pool",),
        ),
        (
            (pool(TRAIN, "ipum-01", "ipum-02", "ipum-09", "ipum-08"),),
            "allocation train-pool takes ipum-08, ipum-09, not of vPOD train", ("ipum-08", "ipum-09"), ("train-pool",),
        ),
        # Of another vPOD, no controller, or nobody that the plan knows.
        *(
            (
                (pool(TRAIN, controller=name),),
                f"allocation train-pool stands on {name}, not the controller of vPOD train", (), ("train-pool", name),
            )
            for name in ("serve-ctl", "poplar", "elsewhere")
        ),
    ],
)  # fmt: skip
def test_the_allocation_of_a_vpod(
    pools: tuple[AllocationFact, ...], words: str | None, witness: tuple[str, ...], named: tuple[str, ...]
) -> None:
    result = of("TOP-10", planned(allocations=(*pools, pool(SERVE))))
    assert result.count == 2
    if words is None:
        assert result.verdict is P
        return
    found = result.findings[0]
    assert (found.message, found.witness[1:]) == (words, witness)
    assert found.witness[0] == " ".join(words.split()[:2])
    assert (found.verdict, found.specificity) == (V, 78)
    assert found.subjects == (*map(PlanResource, named), PlanComponent(named[0]))


def test_an_allocation_of_no_vpod() -> None:
    plan = planned(allocations=(pool(TRAIN), pool(SERVE), pool(TRAIN, name="stray", vpod="")))
    assert "allocation stray stands in no vPOD" in messages(of("TOP-10", plan))


def planned(**changes: object) -> PlanFacts:
    """Two vPODs with all that their controllers are told, but for what is said otherwise."""
    told: dict[str, object] = {
        "vpods": (TRAIN, SERVE), "servers": SERVERS, "switch_ports": PORTS, "agents": AGENTS,
        "agent_clusters": CLUSTERS, "allocations": (pool(TRAIN), pool(SERVE)), "vipu_users": (user(TRAIN),),
        "partitions": (part("a", 4),),
    }  # fmt: skip
    told |= changes
    parts = (told.pop("agents"), told.pop("agent_clusters"), told.pop("vipu_users"))
    return plan_of("acme", vipu=VipuFacts(*parts), **told)  # type: ignore[arg-type]


def test_what_a_controller_is_told_of_its_own_vpod() -> None:
    assert of("TOP-10", planned()).verdict is P


OTHER = agent(SERVE, "ipum-03", name="agent-x", vpod="train", controller="train-ctl")


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (
            {"agents": (*AGENTS, OTHER)},
            {
                "agent agent-ipum-03 is of ipum-03, and so is agent-x",
                "agent agent-x is of ipum-03, not of vPOD train",
                "cluster train-cluster lacks agent-x of vPOD train",
            },
        ),
        (
            {"agents": (agent(TRAIN, "ipum-01", serial="other"), *AGENTS[1:])},
            {f"agent agent-ipum-01 is of the board other, and ipum-01 is {SITE.site.machine['ipum-01'].serial}"},
        ),
        (
            {"agents": (agent(TRAIN, "ipum-01", host=address_of("ipum-03")), *AGENTS[1:])},
            {"agent agent-ipum-01 is asked at 10.3.0.03, where ipum-01 is not"},
        ),
        (
            {"agents": (agent(TRAIN, "ipum-01", controller="serve-ctl"), *AGENTS[1:])},
            {"agent agent-ipum-01 stands on serve-ctl, not the controller of vPOD train"},
        ),
        (
            {"agents": AGENTS[1:], "agent_clusters": (joined(TRAIN, "agent-ipum-02"), CLUSTERS[1])},
            {
                "vPOD train has no agent of ipum-01",
                "allocation train-pool takes ipum-01, of which cluster train-cluster has no agent",
            },
        ),
        ({"agents": (*AGENTS, agent(TRAIN, "ipum-09", vpod=""))}, {"agent agent-ipum-09 stands in no vPOD"}),
        (
            {"agent_clusters": (joined(TRAIN, "agent-ipum-01", "agent-ipum-02", "agent-ipum-03"), CLUSTERS[1])},
            {"cluster train-cluster has agent-ipum-03, not of vPOD train"},
        ),
        (
            {"agent_clusters": (joined(TRAIN, "agent-ipum-01", "agent-ipum-02", "agent-ipum-01"), CLUSTERS[1])},
            {"cluster train-cluster names agent-ipum-01 twice"},
        ),
        (
            {"agent_clusters": (*CLUSTERS, joined(TRAIN, name="more"))},
            {"vPOD train has 2 V-IPU clusters, and a vPOD is one"},
        ),
        (
            {"agent_clusters": (joined(TRAIN, controller="serve-ctl"), CLUSTERS[1])},
            {"cluster train-cluster stands on serve-ctl, not the controller of vPOD train"},
        ),
        (
            {"agent_clusters": (replace(CLUSTERS[0], link_domains=2), CLUSTERS[1])},
            {"cluster train-cluster has 2 IPU-Link domains, and its machines stand in 1 logical racks"},
        ),
        (
            {"agent_clusters": (replace(CLUSTERS[0], cluster_topology="looped"), CLUSTERS[1])},
            {"cluster train-cluster loops GW-Links of one IPU-Link domain"},
        ),
        (
            {"allocations": (pool(TRAIN, cluster="serve-cluster"), pool(SERVE))},
            {"allocation train-pool is of serve-cluster, no cluster of its vPOD"},
        ),
        (
            {"vipu_users": (user(TRAIN, "train-pool", "serve-pool"),)},
            {"user train-user has serve-pool, no allocation of vPOD train"},
        ),
        (
            {"vipu_users": (replace(user(TRAIN), allocations=()),)},
            {"user train-user has no allocation, which may open all of them to it"},
        ),
        ({"vipu_users": (user(TRAIN, "far"),)}, {"user train-user has far, no allocation of vPOD train"}),
        (
            {"partitions": (part("a", 4, controller="serve-ctl"),)},
            {"partition a stands on serve-ctl, and its allocation on train-ctl"},
        ),
    ],
)
def test_what_a_controller_is_told_of_others(changes: dict[str, object], told: set[str]) -> None:
    """No source says that V-IPU refuses any of these."""
    result = of("TOP-10", planned(**changes))
    assert set(messages(result)) == told
    assert {found.verdict for found in result.findings} == {V}


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        ((), []),
        ((part("a", 4), part("b", 4)), []),
        ((part("a", 4), part("b", 4), part("c", 4, "serve-pool")), []),
        ((part("a", 4, "serve-pool"),), []),
        (
            (part("a", 8), part("b", 1), part("c", 4, "serve-pool")),
            ["train-pool: 9 IPUs in partitions (a 8, b 1) of 8 there are"],
        ),
        ((part("a", 4, "far"),), ["a: far is no allocation of this plan"]),
    ],
)
def test_partitions_of_an_allocation(parts: tuple[PartitionFact, ...], told: list[str]) -> None:
    """Two machines are 8 IPUs, one is 4; partitions of two allocations do not take from each other."""
    plan = plan_of(vpods=(TRAIN, SERVE), partitions=parts, allocations=(pool(TRAIN), pool(SERVE)))
    result = of("TOP-11", plan)
    assert (messages(result), result.count) == (told, len(parts))
    for found in result.findings:
        assert found.witness == tuple(found.message.split(": ", 1))
        assert (found.verdict, found.specificity) == (V, 77)
    if told and told[0].startswith("train-pool"):
        assert result.findings[0].subjects == tuple(map(PlanResource, ("train-pool", "a", "b")))


# ISO-24, ISO-25, ISO-26.

NET = NetworkFact("net", "acme", None, None, "vlan", "fabric100g", 1000, False, False, True)
OUT = replace(NET, name="out", owner="op", external=True, shared=True)


def right(target: str, to: str = "net", action: str = "access_as_shared") -> RightFact:
    return RightFact("r", "acme", to, "Network", action, target)


@pytest.mark.parametrize(
    ("given", "verdicts"),
    [
        (right("*"), (V, NA, NA)),
        (right("globex"), (P, V, NA)),
        (right("acme"), (P, P, NA)),
        (right("*", "out", "access_as_external"), (P, NA, V)),
        (right("globex", "out", "access_as_external"), (P, P, P)),
        (right("*", "site:Network/external", "access_as_external"), (P, NA, V)),
        (right("*", "out"), (V, NA, NA)),
        (right("globex", "out"), (P, V, NA)),
        (right("*", "net", "access_as_external"), (V, NA, NA)),
        (right("*", "elsewhere", "access_as_external"), (V, NA, NA)),
    ],
)
def test_rights(given: RightFact, verdicts: tuple[str, ...]) -> None:
    results = [of(f"ISO-{number}", plan_of(networks=(NET, OUT), rights=(given,))) for number in (24, 25, 26)]
    assert tuple(item.verdict for item in results) == verdicts
    words = {
        24: f"every project, foreign ones among them, has a right to {given.object} of acme",
        25: f"{given.target} has a right to {given.object} of acme, before it uses it",
        26: f"every project may put a gateway on {given.object}",
    }
    first = {24: (f"{given.object} of acme", f"r: {given.action} to *"), 25: (f"{given.object} of acme",),
             26: (given.object, f"r: {given.action} to *")}  # fmt: skip
    for number, result in zip((24, 25, 26), results, strict=True):
        for found in result.findings:
            assert found.message == words[number]
            assert found.witness[: len(first[number])] == first[number]
            assert found.specificity == {24: 96, 25: 95, 26: 20}[number]
            assert found.subjects == (PlanResource(given.object), PlanResource("r"))
            assert (found.severity is Severity.WARN) == (number == 26)


def test_what_is_shared() -> None:
    """Networks outside are meant to be; scopes of the operator's are L3-05's where a gateway stands on them."""
    scopes = (OpenScope("address scope", "wide"),)
    tenant = plan_of(networks=(replace(NET, shared=True), OUT), open_scopes=scopes)
    head = "every project, foreign ones among them, has a right to"
    result = of("ISO-24", tenant)
    assert messages(result) == [f"{head} network net of acme", f"{head} address scope wide"]
    assert [item.witness[1] for item in result.findings] == ["VLAN 1000 on fabric100g, shared: true", "shared: true"]
    assert result.count == 1
    assert of("ISO-24", replace(tenant, owner="op", is_tenant=False, networks=(OUT,))).verdict is NA


# L3-15.


@pytest.mark.parametrize(
    ("name", "is_safe"),
    [("a", True), ("A-b_c.9", True), ("9", True), ("a" * 63, True), ("a" * 64, False), ("-a", False), (".a", False),
     ("_a", False), ("a b", False), ("a;b", False), ("a\n", False), ("", False), ("ä", False)],
)  # fmt: skip
def test_names(name: str, is_safe: bool) -> None:
    plan = plan_of(networks=(replace(NET, name=name),))
    result = of("L3-15", plan)
    words = f"the network name {name!r} is not safe for shells and generators"
    assert (messages(result), result.count) == ([] if is_safe else [words], 2)
    if not is_safe:
        found = only(result)
        assert found.subjects == (PlanResource(name), PlanComponent(name))
        assert (found.specificity, found.witness[0]) == (38, f"network {name!r}")


# Unstated roles.


def test_networks_that_lack_a_role() -> None:
    """Each once; whoever is not of the plan has none to lack, and external networks need none."""
    bare = replace(NET, role=None, vpod="train")
    known = replace(bare, name="known", role=NetworkRole.STORAGE)
    plan = plan_of(networks=(bare, known, replace(OUT, shared=False)), vpods=(TRAIN, SERVE))
    assert lacking(plan, ("net", "known", "out", "elsewhere", "net")) == (bare,)
    (cause,) = of_role(plan, NetworkRole.STORAGE, 5)
    assert cause.message == (
        "network net (VLAN 1000 on fabric100g) has no stated role, "
        "so nobody can say whether it is the storage network of a vPOD"
    )
    assert (cause.witness[0], cause.specificity) == ("network net of train", 5)
    homeless = replace(plan, networks=(replace(bare, vpod=None),))
    assert [item.witness[0] for item in of_role(homeless, NetworkRole.STORAGE, 5)] == ["network net of no stated vPOD"]
