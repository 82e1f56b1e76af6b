"""What a site states of objects that were there before it is read and compared, field by field; nothing is believed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from interlock.provider.audit.listing import listed
from interlock.provider.audit.mirror import Mirror
from interlock.provider.audit.standing import Expected
from interlock.provider.clouds import Cloud
from interlock.provider.existing import Comparison, comparisons
from interlock.provider.preflight import preflight
from interlock.resources import (
    KINDS,
    AddressScope,
    Admitted,
    Aggregate,
    Flavor,
    Image,
    Network,
    Project,
    Resource,
    Role,
    Router,
    SegmentRange,
    ShareType,
    Subnet,
    SubnetPool,
    VolumeType,
)
from interlock.resources.existing import STATED
from interlock.vocabulary.owners import OwnerId
from tests.support.engine.process import Process, Refused
from tests.support.engine.stack import Stack
from tests.support.world.declared import DATA, LUKS, SHA512, SHARE_SPECS

OWNER, SITE_OWNER = "0e1150", "51e729"

#: What the site states, by plan name.
STATEMENTS: dict[str, Resource] = {
    "controllers": Project(name="lyon-controllers", description="not stated"),
    "s3_service": Role(name="x-s3", description="not stated"),
    "range": SegmentRange(name="not-stated", network_type="vxlan", minimum=64001, maximum=64009),
    "external-scope": AddressScope(name="x-scope"),
    "external-pool": SubnetPool(
        name="not-stated", address_scope="site:AddressScope/external-scope", prefixes=("192.0.2.0/24",)
    ),
    "external": Network(
        name="x-external", network_type="vlan", physical_network="external", segmentation_id=57, external=True
    ),
    "external-subnet": Subnet(
        name="not-stated", network="site:Network/external", cidr="192.0.2.0/24", gateway="192.0.2.1", dhcp=False,
        pools=(("192.0.2.10", "192.0.2.200"),), subnet_pool="site:SubnetPool/external-pool",
    ),
    "half": Flavor(name="x.half", vcpus=2, ram_mib=1024, disk_gib=5, extra_specs={"a": "b"}),
    "poplar": Image(name="x-image", file="not-there.raw", sha512=SHA512),
    "poplar-hosts": Aggregate(name="not-stated", hosts=("poplar-3",), metadata={"interlock_role": "poplar"}),
    "fast": VolumeType(name="x-fast", description="not stated", encryption=LUKS),
    "nfs": ShareType(name="x-nfs", extra_specs=SHARE_SPECS),
}  # fmt: skip

#: A field's value -> another that its type takes.
OTHERS: dict[Any, Any] = {"vlan": "flat", "vxlan": "vlan", "raw": "qcow2", "public": "private", 4: 6}


def admitted(name: str, spec: Resource) -> Admitted:
    return Admitted(name=name, kind=spec.KIND, spec=spec.canonical())


@dataclass(frozen=True)
class Theirs:
    """What the operator made by hand: plan name -> id."""

    ids: dict[str, str]

    def known(self, *stated: Admitted) -> Expected:
        existing = {f"{STATEMENTS[name].KIND}/{name}": ident for name, ident in self.ids.items()}
        site_owner = OwnerId(SITE_OWNER)
        told = stated or tuple(admitted(name, spec) for name, spec in STATEMENTS.items())
        return Expected("lyon-site", site_owner, site_owner, existing, "", (), told)

    def compared(self, cloud: Cloud, *stated: Admitted) -> dict[str, Comparison]:
        return {item.object.name: item for item in comparisons(cloud, self.known(*stated))}


@contextmanager
def made(cloud: Cloud, service: str, path: str, key: str, body: dict[str, Any]) -> Iterator[str]:
    api = cloud.api(service)
    answer = api.post(path, {key: body} if key else body)
    ident = str((answer[key] if key else answer)["id"])
    try:
        yield ident
    finally:
        api.delete(f"{path}/{ident}")


@pytest.fixture(scope="module")
def theirs(operator: Cloud) -> Iterator[Theirs]:
    """Made as the site states it, under names and descriptions of the operator's own where none are stated."""
    with ExitStack() as stack:

        def make(service: str, path: str, key: str, **body: Any) -> str:
            found: str = stack.enter_context(made(operator, service, path, key, body))
            return found

        ids = {"controllers": make("identity", "/projects", "project", name="x-own", domain_id="default")}
        ids["s3_service"] = make("identity", "/roles", "role", name="x-s3")
        ids["range"] = make(
            "network", "/network_segment_ranges", "network_segment_range", name="", network_type="vxlan",
            minimum=64001, maximum=64009, shared=True,
        )  # fmt: skip
        ids["external-scope"] = make("network", "/address-scopes", "address_scope", name="x-scope", ip_version=4)
        ids["external-pool"] = make(
            "network", "/subnetpools", "subnetpool", name="theirs", prefixes=["192.0.2.0/24"],
            address_scope_id=ids["external-scope"], default_prefixlen=28,
        )  # fmt: skip
        segment = {"network_type": "vlan", "physical_network": "external", "segmentation_id": 57}
        provider = {f"provider:{name}": value for name, value in segment.items()}
        ids["external"] = make(
            "network", "/networks", "network", name="x-external", **provider, **{"router:external": True}
        )
        ids["external-subnet"] = make(
            "network", "/subnets", "subnet", network_id=ids["external"], ip_version=4, cidr="192.0.2.0/24",
            gateway_ip="192.0.2.1", enable_dhcp=False, subnetpool_id=ids["external-pool"],
            allocation_pools=[{"start": "192.0.2.10", "end": "192.0.2.200"}], dns_nameservers=["192.0.2.53"],
        )  # fmt: skip
        ids["half"] = make("compute", "/flavors", "flavor", id="42", name="x.half", vcpus=2, ram=1024, disk=5)
        operator.api("compute").post("/flavors/42/os-extra_specs", {"extra_specs": {"a": "b"}})
        ids["poplar"] = make(
            "image", "/images", "", name="x-image", disk_format="raw", container_format="bare", visibility="public"
        )
        octets = {"Content-Type": "application/octet-stream"}
        operator.api("image").request("PUT", f"/images/{ids['poplar']}/file", data=DATA, headers=octets)
        ids["poplar-hosts"] = make("compute", "/os-aggregates", "aggregate", name="theirs")
        for action in (
            {"set_metadata": {"metadata": {"interlock_role": "poplar", "ssd": "yes"}}},
            {"add_host": {"host": "poplar-3"}},
        ):
            operator.api("compute").post(f"/os-aggregates/{ids['poplar-hosts']}/action", action)
        stack.callback(
            operator.api("compute").post,
            f"/os-aggregates/{ids['poplar-hosts']}/action", {"remove_host": {"host": "poplar-3"}},
        )  # fmt: skip
        specs = {"volume_backend_name": "fake"}
        ids["fast"] = make("block-storage", "/types", "volume_type", name="x-fast", extra_specs=specs)
        operator.api("block-storage").post(f"/types/{ids['fast']}/encryption", {"encryption": LUKS.model_dump()})
        more = SHARE_SPECS | {"snapshot_support": "True"}
        ids["nfs"] = make("shared-file-system", "/types", "share_type", name="x-nfs", extra_specs=more)
        yield Theirs(ids)


def test_every_field_of_every_kind_is_compared_or_left_out_with_a_reason() -> None:
    assert {spec.KIND for spec in STATEMENTS.values()} == STATED.keys()
    for kind, stated in STATED.items():
        named = [*stated.fields, *stated.at_least, *stated.left_out]
        assert sorted(named) == sorted(KINDS[kind].model_fields), kind
        assert all(stated.left_out.values())


@pytest.fixture(scope="module")
def mirror(operator: Cloud, theirs: Theirs) -> Mirror:
    """The cloud as an audit lists it."""
    return Mirror(operator, listed(operator))


def test_what_is_as_stated_passes_alone_and_in_lists(operator: Cloud, mirror: Mirror, theirs: Theirs) -> None:
    for cloud in (operator, mirror):
        found = theirs.compared(cloud)
        assert found.keys() == STATEMENTS.keys()
        assert {name: (item.wrong, item.unknown) for name, item in found.items() if item.wrong or item.unknown} == {}


def _other(value: Any) -> Any:
    """Another value that the same field can have."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, dict):
        return {key: _other(one) for key, one in value.items()}
    if isinstance(value, list):
        return [[one[0], one[0]] if isinstance(one, list) else f"{one}-not" for one in value]
    if value in OTHERS:
        return OTHERS[value]
    return value + 1 if isinstance(value, int) else f"{value}-not"


FIELDS = [
    (name, field)
    for name, spec in STATEMENTS.items()
    for field in (*STATED[spec.KIND].fields, *STATED[spec.KIND].at_least)
]


@pytest.mark.parametrize(("name", "field"), FIELDS)
def test_a_field_that_is_not_as_stated_is_told(mirror: Mirror, theirs: Theirs, name: str, field: str) -> None:
    item = admitted(name, STATEMENTS[name])
    wrong = item.model_copy(update={"spec": item.spec | {field: _other(item.spec[field])}})
    (found,) = theirs.compared(mirror, wrong).values()
    assert list(found.differs) == [field]
    assert found.has_drifted


def test_a_flat_network_without_a_scope_is_no_vlan_with_one(
    operator: Cloud, theirs: Theirs, process: Process, folder: Path
) -> None:
    """The case that got *proved*, a clean preflight, an `up` and *no drift*."""
    flat = {"provider:network_type": "flat", "provider:physical_network": "external", "router:external": True}
    with (
        made(operator, "network", "/networks", "network", {"name": "x-external", **flat}) as network,
        made(
            operator, "network", "/subnets", "subnet",
            {"network_id": network, "ip_version": 4, "cidr": "192.0.2.0/24", "enable_dhcp": False},
        ),
    ):  # fmt: skip
        stated = (admitted("external", STATEMENTS["external"]),)
        existing = {"Network/external": network}
        program = Stack(process, "lyon-bob", OWNER, {}, SITE_OWNER, folder, existing, stated)
        told = [fault.message for fault in preflight(program.admission())]
        before_up, in_preview = program.admit(preview=False), program.admit(preview=True)
        audited = replace(theirs, ids={"external": network}).compared(Mirror(operator, listed(operator)), *stated)
    (fault,) = told
    assert f'existing Network/external ({network}): network_type is "flat", and the site states "vlan"' in fault
    assert "segmentation_id is null, and the site states 57" in fault
    assert "it has the subnet 192.0.2.0/24" in fault
    assert any(fault in line for line in in_preview)
    assert before_up == in_preview
    assert audited["external"].wrong in fault


def test_an_id_of_nothing_and_an_object_of_a_stack_are_told(operator: Cloud, theirs: Theirs) -> None:
    gone = "0c2f9a7e-0000-4000-8000-000000000000"
    found = Theirs({"external": gone, "poplar-hosts": "987654"}).compared(
        operator, admitted("external", STATEMENTS["external"]), admitted("poplar-hosts", STATEMENTS["poplar-hosts"])
    )
    assert {item.wrong for item in found.values()} == {
        "there is no Network of this id", "there is no Aggregate of this id",
    }  # fmt: skip
    body = {"name": "x-external", "description": f"interlock:{OWNER}:x-network", "router:external": True}
    segment = {"network_type": "vlan", "physical_network": "external", "segmentation_id": 58}
    body |= {f"provider:{name}": value for name, value in segment.items()}
    with made(operator, "network", "/networks", "network", body) as network:
        stated = admitted("external", STATEMENTS["external"].model_copy(update={"segmentation_id": 58}))
        (item,) = Theirs({"external": network}).compared(operator, stated).values()
    assert "a stack of ours made it" in item.wrong


@pytest.mark.parametrize(
    ("name", "service", "path", "key", "body"),
    [
        ("external-scope", "network", "/address-scopes", "address_scope", {"name": "x-scope", "ip_version": 4}),
        ("external-pool", "network", "/subnetpools", "subnetpool", {"name": "x", "prefixes": ["198.51.100.0/24"]}),
        ("poplar", "image", "/images", "", {"name": "x-image", "disk_format": "raw", "container_format": "bare"}),
    ],
)
def test_whatever_lies_in_a_tenants_project_is_told(
    operator: Cloud, name: str, service: str, path: str, key: str, body: dict[str, Any]
) -> None:
    """A scope of a tenant's takes pools of that tenant, and an image its owner deletes or deactivates."""
    marked = {"name": "x-tenant", "description": f"interlock:{OWNER}:bob-project", "domain_id": "default"}
    with ExitStack() as stack:
        project = stack.enter_context(made(operator, "identity", "/projects", "project", marked))
        theirs = {"owner" if service == "image" else "project_id": project}
        ident = stack.enter_context(made(operator, service, path, key, body | theirs))
        (item,) = Theirs({name: ident}).compared(operator, admitted(name, STATEMENTS[name])).values()
    assert f"it lies in project {project} of another stack, whose members may change it" in item.reasons


def test_a_network_in_a_tenants_project_is_told(operator: Cloud) -> None:
    marked = {"name": "x-tenant", "description": f"interlock:{OWNER}:bob-project", "domain_id": "default"}
    with ExitStack() as stack:
        project = stack.enter_context(made(operator, "identity", "/projects", "project", marked))
        body = {"name": "x-external", "project_id": project, "router:external": True, "provider:segmentation_id": 59}
        body |= {"provider:network_type": "vlan", "provider:physical_network": "external"}
        network = stack.enter_context(made(operator, "network", "/networks", "network", body))
        stated = admitted("external", STATEMENTS["external"].model_copy(update={"segmentation_id": 59}))
        (item,) = Theirs({"external": network}).compared(operator, stated).values()
    assert item.wrong == f"it lies in project {project} of another stack, whose members may change it"


def test_what_the_service_does_not_show_is_no_pass(operator: Cloud, process: Process, folder: Path) -> None:
    """An image whose data is not there has no hash that anybody could compare."""
    body = {"name": "x-image", "disk_format": "raw", "container_format": "bare", "visibility": "public"}
    with made(operator, "image", "/images", "", body) as image:
        stated = (admitted("poplar", STATEMENTS["poplar"]),)
        program = Stack(process, "lyon-bob", OWNER, {}, SITE_OWNER, folder, {"Image/poplar": image}, stated)
        told = [fault.message for fault in preflight(program.admission())]
    assert told == [
        f"existing Image/poplar ({image}): it cannot be used: its state is queued",
        f"existing Image/poplar ({image}): not known to be as stated: image does not show sha512",
    ]


def test_a_kind_whose_list_nobody_may_read_is_unread_in_an_audit(operator: Cloud, theirs: Theirs) -> None:
    found = listed(operator)
    lost = replace(found, objects={**found.objects, "Flavor": {}}, unread={"Flavor": "compute GET: forbidden"})
    (item,) = comparisons(
        Mirror(operator, lost), theirs.known(admitted("half", STATEMENTS["half"])), {"Flavor": "compute GET: forbidden"}
    )
    assert (item.has_drifted, item.unknown) == (False, "compute GET: forbidden")


@pytest.fixture
def router(process: Process, operator: Cloud, theirs: Theirs, folder: Path) -> Iterator[tuple[Stack, str]]:
    """A router whose gateway is on an existing network, and another such network."""
    flat = {"provider:network_type": "flat", "provider:physical_network": "external", "router:external": True}
    with ExitStack() as stack:
        other = stack.enter_context(made(operator, "network", "/networks", "network", {"name": "x-2", **flat}))
        subnet = {"network_id": other, "ip_version": 4, "cidr": "198.51.100.0/24", "enable_dhcp": False}
        stack.enter_context(made(operator, "network", "/subnets", "subnet", subnet))
        objects: dict[str, Resource] = {
            "e-project": Project(name="e-project"),
            "e-router": Router(name="e-router", project="e-project", external_network="site:Network/external"),
        }
        existing = {"Network/external": theirs.ids["external"]}
        program = Stack(process, "lyon-e", OWNER, objects, SITE_OWNER, folder, existing)
        assert program.admit(preview=False) == []
        program.create_all()
        yield program, other
        program.delete_all()


def test_another_id_of_an_existing_object_is_applied_where_the_field_can_change(
    router: tuple[Stack, str], operator: Cloud
) -> None:
    program, other = router
    assert program.diff("e-router") == {}
    program.existing = {"Network/external": other}
    program.process.servicer._parts()[0].resolved.clear()  # another run, another process
    assert program.admit() == []
    assert program.diff("e-router") == {"external_network": False}
    program.update("e-router")
    assert program.diff("e-router") == {}
    gateway = operator.api("network").get(f"/routers/{program.state['e-router'].id}")["router"]["external_gateway_info"]
    assert gateway["network_id"] == other
    assert program.state["e-router"].outputs["resolved"]["external_network"] == other
    assert program.diff("e-router") == {}


def test_what_is_no_longer_existing_is_replaced_by_the_sites_own(router: tuple[Stack, str], operator: Cloud) -> None:
    """The key is taken out, and the site makes a network itself: routers that stay on the old one are not done."""
    program, other = router
    api = operator.api("network")
    api.put(f"/networks/{other}", {"network": {"description": f"interlock:{SITE_OWNER}:external"}})
    program.existing = {}
    program.process.servicer._parts()[0].resolved.clear()
    assert program.admit() == []
    assert program.diff("e-router") == {"external_network": False}
    program.update("e-router")
    gateway = api.get(f"/routers/{program.state['e-router'].id}")["router"]["external_gateway_info"]
    assert gateway["network_id"] == other


def test_another_id_is_refused_where_the_object_would_have_to_be_recreated(
    process: Process, operator: Cloud, theirs: Theirs, folder: Path
) -> None:
    network = theirs.ids["external"]
    with made(
        operator, "network", "/networks", "network",
        {"name": "x-3", "provider:network_type": "vxlan", "provider:segmentation_id": 64101},
    ) as inside:  # fmt: skip
        subnet: dict[str, Resource] = {
            "e-subnet": Subnet(name="e-subnet", network="site:Network/external", cidr="10.99.0.0/24", dhcp=False)
        }
        program = Stack(process, "lyon-e", OWNER, subnet, SITE_OWNER, folder, {"Network/external": inside})
        assert program.admit(preview=False) == []
        program.create_all()
        program.existing = {"Network/external": network}
        assert program.admit() == []
        with pytest.raises(Refused, match=f"was {inside} and is now {network}"):
            program.diff("e-subnet")
        later = Process()
        again = Stack(later, "lyon-e", OWNER, subnet, SITE_OWNER, folder, {"Network/external": inside})
        again.state = program.state
        assert again.admit(preview=False) == []
        assert again.diff("e-subnet") == {}
        again.delete_all()
        later.close()
