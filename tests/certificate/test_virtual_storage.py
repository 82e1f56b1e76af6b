"""A virtual server on a GPU node with storage ports: they stay the hypervisor's, by rules and by second derivation."""

from __future__ import annotations

import json

from infra.verifying.answers import found_in
from infra.verifying.inventory import Inventory
from infra.verifying.plans import PlanOfStack
from infra.verifying.ports import Ports, asked_of, claimed_of
from interlock.model.site.storage_fabric import StorageAccess
from interlock.planning import plan_site
from interlock.planning.plan import Plan
from interlock.resources import PartitionKey
from interlock.resources.fabric import PartitionMember
from policies.judging import judge, operators_part
from tests.builders.completeness import declared_complete
from tests.builders.gpu_plans import clusters_locked, clusters_planned
from tests.builders.gpu_sites import gpu_site
from tests.builders.pod64 import site_locked
from tests.builders.storage_halls import APPLIANCE, SHARED_KEY, STORAGE, client_of, storage_claims, storage_site
from tests.builders.virtual_nodes import virtual_site, virtual_tenant
from tests.certificate.test_clusters import document
from tests.policies.test_rules_storage_fabrics import WAYS
from tests.policies.workspace import added, assumptions, sharing


@WAYS
def test_a_storage_port_of_a_hypervisor_is_in_no_tenants_partition(access: StorageAccess) -> None:
    plain = gpu_site(sharing=sharing(), assumptions=assumptions())
    virtual = virtual_site(sharing=plain.sharing, assumptions=plain.assumptions)
    site = declared_complete(storage_site(access, virtual))
    request, given = virtual_tenant(), storage_claims("shared", 1, (2, 3))
    intact = clusters_planned(request, [given], site)
    shared = access == "shared"
    servers = tuple(PartitionMember(guid=guid, membership="full") for guid in APPLIANCE)
    client = PartitionMember(guid=client_of(2, 3, 1), membership="limited")
    partition = PartitionKey(
        infiniband=STORAGE, key=SHARED_KEY if shared else 0x30, members=(*(() if shared else servers), client),
        index0=False, shared=shared, servers=APPLIANCE if shared else (),
    )  # fmt: skip
    own = plan_site(site, site_locked(site))
    locks = [clusters_locked(request, given), operators_part(site, own)]

    def found(plan: Plan) -> tuple[set[str], set[str]]:
        known, texts = json.loads(site.model_dump_json()), [document(plan)]
        ports = Ports(known, asked_of(texts), claimed_of(texts, []))
        again = set(found_in(PlanOfStack(Inventory(known, ports), texts[0])))
        return {item.rule for item in judge(site, plan, locks).findings}, again

    assert found(intact) == (set(), set())
    rules, again = found(added(intact, "acme-train-partition-storage", "acme-train", partition))
    assert {"ISO-20", "ISO-29"} <= rules
    assert again == {"ISO-29"}
