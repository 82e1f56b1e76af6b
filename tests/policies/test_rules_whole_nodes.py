"""Virtual servers that take GPU nodes whole: LIF-03 with defects and intact twins, and what else finds them.

hall-1: su02-n03 and su02-n04 are hypervisors. acme has a cluster of one of them, globex of the other.
"""

from __future__ import annotations

import json
from functools import cache

import pytest

from infra.checker import complaints
from infra.verifying.answers import found_in
from infra.verifying.comparing import Comparing
from infra.verifying.inventory import Inventory
from infra.verifying.plans import PlanOfStack
from infra.verifying.ports import Ports, asked_of, claimed_of
from interlock.model.lock.record import Settled
from interlock.model.site.inventory import FlavorSpec, Site
from interlock.planning.plan import Plan
from interlock.resources import NvlinkPartition, Server
from policies import Judgement
from policies.certificate import certificate
from policies.facts import identities as ids
from policies.judging import judge, seen_by
from tests.builders.completeness import declared_complete
from tests.builders.gpu_plans import claims, clusters_locked, clusters_planned
from tests.builders.gpu_sites import guid_of
from tests.builders.virtual_nodes import FLAVOR, VIRTUAL, virtual_cluster, virtual_site, virtual_tenant, whole_flavor
from tests.policies.workspace import (
    Made,
    N,
    P,
    V,
    added,
    assumptions,
    edited,
    judged,
    sharing,
    text,
    verdicts,
    with_footprint,
)

NODE = "acme-train-node-0"


@cache
def site() -> Site:
    return with_flavor(whole_flavor())


def with_flavor(*flavors: FlavorSpec, **changes: bool | None) -> Site:
    """The site with these flavours in place of the one for whole nodes."""
    base = virtual_site(sharing=sharing(), assumptions=assumptions(**changes))
    others = tuple(item for item in base.flavors if item.name != FLAVOR)
    return declared_complete(base.with_parts(flavors=(*others, *flavors)))


def one_time_use(value: bool | None) -> Site:
    node = whole_flavor().whole_node
    assert node is not None
    return with_flavor(whole_flavor(whole_node=node.model_copy(update={"one_time_use": value})))


@cache
def acme() -> Made:
    return of("acme", 1, 3)


@cache
def globex() -> Made:
    return of("globex", 2, 4)


def of(tenant: str, number: int, node: int) -> Made:
    """A tenant with one virtual node of unit 2."""
    request, given = virtual_tenant(tenant), claims(number, (2, node))
    plan = clusters_planned(request, [given], site())
    return with_footprint(site(), plan, clusters_locked(request, given))


def found(plan: Plan, known: Site | None = None, *others: Made) -> Judgement:
    return judged(known or site(), plan, *(others or (globex(),)))


def rules(judgement: Judgement) -> set[str]:
    return {item.rule for item in judgement.findings}


def second(plan: Plan, known: Site | None = None) -> set[str]:
    """Rules that find something by the second derivation."""
    inventory, documents = json.loads((known or site()).model_dump_json()), [json.loads(json.dumps(plan.canonical()))]
    ports = Ports(inventory, asked_of(documents), claimed_of(documents, []))
    return set(found_in(PlanOfStack(Inventory(inventory, ports), documents[0])))


def test_a_virtual_node_that_is_whole_and_given_back_clean() -> None:
    judgement = found(acme().plan)
    assert not judgement.findings, [text(item) for item in judgement.findings]
    assert {rule: verdicts(judgement)[rule] for rule in ("LIF-03", "TOP-26", "ISO-29", "CAP-02", "SEC-09")} == (
        dict.fromkeys(("LIF-03", "TOP-26", "ISO-29", "CAP-02", "SEC-09"), P)
    )
    assert second(acme().plan) == set()


@pytest.mark.parametrize(("stated", "verdict"), [(False, V), (None, N)])
def test_devices_that_go_to_the_next_server_at_once(stated: bool | None, verdict: str) -> None:
    known = one_time_use(stated)
    judgement = found(acme().plan, known)
    assert rules(judgement) == {"LIF-03"}
    assert verdicts(judgement)["LIF-03"] == verdict
    assert second(acme().plan, known) == {"LIF-03"}


@pytest.mark.parametrize(
    "flavor",
    [
        whole_flavor(name="half", whole_node=None, role="poplar", extra_specs={"pci_passthrough:alias": "h100:4"}),
        whole_flavor(name="half", whole_node=whole_flavor().whole_node.model_copy(update={"type": "dgx-a100"})),  # type: ignore[union-attr]
    ],
    ids=["four of eight GPUs", "of another type"],
)
def test_a_part_of_a_node(flavor: FlavorSpec) -> None:
    known = with_flavor(whole_flavor(), flavor)
    plan = edited(acme().plan, NODE, flavor="site:Flavor/half")
    judgement = found(plan, known)
    assert verdicts(judgement)["LIF-03"] == V
    assert "half" in text(next(item for item in judgement.findings if item.rule == "LIF-03"))
    assert "LIF-03" in second(plan, known)


def test_two_tenants_on_one_node() -> None:
    """Whatever their flavours say: each has the GPUs and adapters of it, and the node is one exclusive identity."""
    plan = edited(acme().plan, NODE, host=VIRTUAL[1])
    judgement = found(plan)
    assert {"ISO-02", "TOP-06", "CAP-02"} <= rules(judgement)
    assert found(acme().plan).exit_code == 0


def test_network_adapters_that_nobody_excludes() -> None:
    """A flavour that may hand out Ethernet functions leads to every VLAN of its host's ports."""
    assert verdicts(found(acme().plan, with_flavor(whole_flavor(devices=None))))["ISO-02"] == N
    assert verdicts(found(acme().plan, with_flavor(whole_flavor(devices="network"))))["ISO-02"] in (V, N)


def test_what_a_former_holder_left_is_met_by_the_next() -> None:
    """Cleaned, and nobody says that firmware is set back (A23): the GPUs may be the former holder's as well."""
    identity = ids.host_identity(site().host[VIRTUAL[0]].serial)
    former = globex().lock.model_copy(
        update={"settled": (Settled(identity=identity, at="2026-11-01T10:00:00Z", by="ops"),)}
    )
    other = Made(globex().plan, former)
    assert found(acme().plan, None, other).exit_code == 0
    doubtful = with_flavor(whole_flavor(), firmware_restored=None)
    assert verdicts(found(acme().plan, doubtful, other))["ISO-02"] == N


def test_a_hypervisor_that_does_not_keep_guests_apart() -> None:
    assert verdicts(found(acme().plan, with_flavor(whole_flavor(), iommu=False)))["ISO-02"] == V


def with_gpus(made: Made, node: str) -> Made:
    """A tenant whose plan tells a fabric manager besides that all GPUs of a node are its."""
    part = NvlinkPartition(name="all", domain=node, partition=0, gpus=tuple(map(str, range(1, 9))))
    tenant = made.plan.tenant or ""
    return with_footprint(site(), added(made.plan, f"{tenant}-gpus", f"{tenant}-train", part), made.lock)


def test_gpus_of_a_virtual_node_are_those_of_whoever_has_it() -> None:
    """The node is the NVLink domain, as a whole host's is: a group of somebody else's in it meets its server."""
    own, stranger = with_gpus(acme(), VIRTUAL[0]), with_gpus(globex(), VIRTUAL[0])
    assert verdicts(found(acme().plan))["ISO-22"] == P
    assert found(own.plan).exit_code == 0
    assert {"ISO-02", "ISO-22"} <= rules(found(acme().plan, None, stranger))
    assert "ISO-02" in rules(judged(site(), stranger.plan, acme()))


def test_gpus_of_a_virtual_node_that_nobody_has_are_the_operators() -> None:
    assert "ISO-02" in rules(judged(site(), with_gpus(acme(), VIRTUAL[1]).plan))


def test_a_group_of_a_virtual_node_is_derived_again_with_the_node() -> None:
    own, locks = with_gpus(acme(), VIRTUAL[0]), [acme().lock, globex().lock]
    stated = json.loads(certificate(seen_by(site(), own.plan, locks), judge(site(), own.plan, locks)).model_dump_json())
    plans = {made.plan.stack: json.loads(json.dumps(made.plan.canonical())) for made in (own, globex())}
    documents = [json.loads(lock.model_dump_json()) for lock in locks]
    assert Comparing(json.loads(site().model_dump_json()), plans, documents).compare(stated, "acme").complaints == ()
    rows = stated["statement"]["facts"]["E17"]
    without = [pair for pair in rows if not any(node.endswith("/gpus") for node in pair)]
    assert len(without) == len(rows) - 1
    stated["statement"]["facts"]["E17"] = without
    assert Comparing(json.loads(site().model_dump_json()), plans, documents).compare(stated, "acme").complaints


@pytest.mark.parametrize("tenant", ["acme", "globex"])
def test_what_is_derived_is_what_is_stated(tenant: str) -> None:
    plan = {"acme": acme(), "globex": globex()}[tenant].plan
    locks = [acme().lock, globex().lock]
    judgement = judge(site(), plan, locks)
    stated = json.loads(certificate(seen_by(site(), plan, locks), judgement).model_dump_json())
    assert judgement.exit_code == 0
    assert list(complaints(stated, None, stated["date"])) == []
    plans = {made.plan.stack: json.loads(json.dumps(made.plan.canonical())) for made in (acme(), globex())}
    documents = [json.loads(lock.model_dump_json()) for lock in locks]
    comparing = Comparing(json.loads(site().model_dump_json()), plans, documents)
    assert comparing.compare(stated, tenant).complaints == ()
    port = f"guid:{guid_of(2, 3 if tenant == 'acme' else 4, 1)}"
    assert port in json.dumps(stated)


def test_a_certificate_without_the_devices_is_another() -> None:
    """As if its server had none: what the second derivation says of its GPUs is missing."""
    locks = [acme().lock, globex().lock]
    stated = json.loads(
        certificate(seen_by(site(), acme().plan, locks), judge(site(), acme().plan, locks)).model_dump_json()
    )
    as_metal = site().with_parts(
        hosts=tuple(
            item.model_copy(update={"provisioning": "bare-metal"}) if item.name == VIRTUAL[0] else item
            for item in site().hosts
        )
    )
    plans = {made.plan.stack: json.loads(json.dumps(made.plan.canonical())) for made in (acme(), globex())}
    documents = [json.loads(lock.model_dump_json()) for lock in locks]
    assert Comparing(json.loads(as_metal.model_dump_json()), plans, documents).compare(stated, "acme").complaints


def test_the_server_names_its_host_and_its_flavour() -> None:
    spec = acme().plan.by_name[NODE].resource
    assert isinstance(spec, Server)
    assert (spec.host, spec.flavor) == (VIRTUAL[0], f"site:Flavor/{FLAVOR}")
    assert virtual_cluster().provisioning == "hypervisor"
