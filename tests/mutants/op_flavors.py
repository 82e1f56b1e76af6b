"""Operators on flavours with accelerators and their access lists."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from interlock.model.site.offers import DeviceUse
from interlock.planning import plan_site
from interlock.resources import FlavorAccess
from policies import Verdict
from tests.builders.pod64 import flavors, site_locked
from tests.mutants.operator import Operator, pick, virtual
from tests.mutants.workspaces import OPERATOR, Workspace

DEVICE = {"pci_passthrough:alias": "c600:1"}
#: What servers of these flavours need besides.
POPLAR = {"hw:cpu_policy": "dedicated", "hw:mem_page_size": "1GB"}
HALF, WHOLE = "poplar.half", "poplar.whole"


def _with_device(space: Workspace, *, public: bool) -> Workspace:
    """The site's plan, in which a flavour hands out a device."""
    return space.edit(OPERATOR, HALF, extra_specs=DEVICE | POPLAR | _fence(), public=public).asking(OPERATOR)


def _fence() -> dict[str, str]:
    return {"aggregate_instance_extra_specs:interlock_role": "poplar"}


def device_for_everybody(space: Workspace, _: Random) -> Workspace | None:
    return _with_device(space, public=True)


def device_for_some(space: Workspace, _: Random) -> Workspace | None:
    return _with_device(space, public=False)


def on_the_cloud_already(space: Workspace, _: Random) -> Workspace | None:
    """Who is on its list is in no file."""
    offered = tuple(
        item.model_copy(update={"extra_specs": DEVICE | POPLAR, "devices": "other"}) if item.name == HALF else item
        for item in flavors()
    )
    return _planned(space.with_site(flavors=offered, existing={f"Flavor/{HALF}": "5d0c"})).asking(OPERATOR)


def _planned(space: Workspace) -> Workspace:
    return replace(space, of_site=plan_site(space.site, site_locked(space.site)))


def _closed(space: Workspace, besides: str = "", **fields: object) -> Workspace:
    """The flavours of Poplar servers are private, with these fields; everybody but one is on their lists."""
    changes = {"public": False} | fields
    offered = tuple(item.model_copy(update=changes) if item.role == "poplar" else item for item in flavors())
    space = _planned(space.with_site(flavors=offered))
    for tenant in space.tenants:
        for name in (HALF, WHOLE) if tenant != besides else ():
            access = FlavorAccess(project=f"{tenant}-project", flavor=f"site:Flavor/{name}")
            space = space.add(tenant, f"{tenant}-flavor-{name}", access)
    return space


def not_on_the_list(space: Workspace, rng: Random) -> Workspace | None:
    pod = pick(rng, virtual(space))
    return None if pod is None else _closed(space, besides=pod.tenant).asking(pod.tenant)


def another_on_the_list(space: Workspace, rng: Random) -> Workspace | None:
    tenant, other = rng.sample(space.tenants, 2)
    access = FlavorAccess(project=f"cloud:Project/{other}", flavor=f"site:Flavor/{HALF}")
    return _closed(space).add(tenant, f"{tenant}-given", access).asking(tenant)


def everybody_on_the_list(space: Workspace, rng: Random) -> Workspace | None:
    return _closed(space).asking(rng.choice(space.tenants))


def _narrow(space: Workspace, rng: Random, spare: int) -> Workspace | None:
    """A host with so many CPUs more than are promised on it."""
    pod = pick(rng, virtual(space))
    if pod is None:
        return None
    name = pod.claims.hosts[0]
    size = {item.name: item.vcpus for item in space.site.flavors}
    taken = sum(size[other.claims.flavor] for other in virtual(space) for host in other.claims.hosts if host == name)
    host = space.site.host[name]
    return space.with_hosts(type(host)(**(host.model_dump() | {"dedicated_cpus": taken + spare}))).asking(pod.tenant)


def host_with_a_cpu_too_few(space: Workspace, rng: Random) -> Workspace | None:
    return _narrow(space, rng, -1)


def host_that_is_full(space: Workspace, rng: Random) -> Workspace | None:
    return _narrow(space, rng, 0)


def _handing_out(space: Workspace, rng: Random, devices: DeviceUse | None) -> Workspace | None:
    """Private flavours of Poplar servers that hand out a device, and a tenant with a server of one of them.

    `devices`: what the site says the device is.
    """
    pod = pick(rng, virtual(space))
    if pod is None:
        return None
    return _closed(space, extra_specs=DEVICE | POPLAR | _fence(), devices=devices).asking(pod.tenant)


def network_function(space: Workspace, rng: Random) -> Workspace | None:
    return _handing_out(space, rng, "network")


def unstated_device(space: Workspace, rng: Random) -> Workspace | None:
    return _handing_out(space, rng, None)


def other_device(space: Workspace, rng: Random) -> Workspace | None:
    return _handing_out(space, rng, "other")


FLAVORS = (
    Operator(
        "flavor-network", "a server of a flavour that hands out a network function of its host",
        network_function, other_device, "ISO-03", ("ISO-01", "ISO-02"),
    ),
    Operator(
        "flavor-unstated", "a server of a flavour that hands out a device, and nobody states which",
        unstated_device, other_device, "ISO-03", ("ISO-01", "ISO-02"), verdict=Verdict.NOT_PROVABLE,
    ),
    Operator(
        "flavor-public", "a flavour with an accelerator that every project may use",
        device_for_everybody, device_for_some, "SEC-09",
    ),
    Operator(
        "flavor-existing", "a flavour with an accelerator, of which nobody states who may use it",
        on_the_cloud_already, device_for_some, "SEC-09", verdict=Verdict.NOT_PROVABLE,
    ),
    Operator(
        "flavor-unlisted", "a server of a private flavour on whose list its tenant is not",
        not_on_the_list, everybody_on_the_list, "SEC-09",
    ),
    Operator(
        "flavor-another", "another's project on the list of a private flavour",
        another_on_the_list, everybody_on_the_list, "SEC-09",
    ),
    Operator(
        "host-promised-twice", "a host with one CPU less than is promised of it",
        host_with_a_cpu_too_few, host_that_is_full, "CAP-02",
    ),
)  # fmt: skip
