"""What a cluster gave up is its tenant's until it was seen off: in the proof, and derived a second time."""

from __future__ import annotations

import json

import pytest

from infra.verifying.deriving import derived_from
from interlock.model.lock.record import Footprint, Lock, Released
from interlock.model.site.inventory import InfinibandSubnet, Site
from policies.edges.residue import still_held
from policies.facts.site import SiteFacts
from tests.builders.gpu_sites import COMPUTE, gpu_site, gpu_tenant
from tests.builders.pod64 import locked

SITE = gpu_site()
OTHER = InfinibandSubnet(name="storage", prefix="fe80000000000002")


def gave_up(claim: str, value: str) -> Released:
    return Released(vpod="train", claim=claim, value=value)


def second(site: Site, *released: Released) -> set[str]:
    """What the second derivation says that acme holds for it."""
    lock = locked(SITE, gpu_tenant("acme"))
    none = lock.allocation.model_copy(update={"clusters": {}})
    footprint = Footprint(classes=(), labels={}, exclusive=())
    left = Lock(**dict(lock) | {"allocation": none, "released": released, "footprint": footprint})
    ground, _ = derived_from(json.loads(site.model_dump_json()), {}, [json.loads(left.model_dump_json())])
    return {thing for thing, owners in ground.exclusive.items() if owners == {"acme"}}


@pytest.mark.parametrize(
    ("claim", "value", "identities"),
    [
        ("partition_keys", "compute:0x0001", {f"K:{COMPUTE.prefix}:0x0001"}),
        ("cluster_vlan", "inband:1500", {"segment:L:SN-inband-1:1500"}),
        ("hosts", "su01-n01", {"host:SN-su01-n01"}),
        ("cluster_subnet", "10.60.0.0/24", set()),
    ],
)
def test_it_is_held_in_both_derivations(claim: str, value: str, identities: set[str]) -> None:
    entry = gave_up(claim, value)
    assert {identity for _, identity in still_held(SiteFacts(SITE), entry)} == identities
    assert second(SITE, entry) == identities


def test_a_key_of_a_subnet_that_is_listed_no_more_may_be_on_any() -> None:
    site = Site(**{name: getattr(SITE, name) for name in Site.model_fields} | {"infiniband": (COMPUTE, OTHER)})
    entry = gave_up("partition_keys", "gone:0x0007")
    keys = {f"K:{subnet.prefix}:0x0007" for subnet in (COMPUTE, OTHER)}
    assert {identity for _, identity in still_held(SiteFacts(site), entry)} == keys
    assert second(site, entry) == keys
