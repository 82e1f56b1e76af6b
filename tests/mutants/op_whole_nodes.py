"""Operators on a GPU node below a hypervisor: a virtual server of the first tenant's has it whole.

The nodes of `op_clusters`, of which the third is a hypervisor behind a trunk with the VLANs of clusters.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

from interlock.model.site.inventory import Host, SwitchPortConfig
from interlock.planning import plan_site
from interlock.resources import FlavorAccess
from policies import Verdict
from tests.builders.pod64 import site_locked
from tests.builders.virtual_nodes import FLAVOR, whole_flavor
from tests.mutants.op_clusters import hall, with_cluster
from tests.mutants.operator import Operator
from tests.mutants.workspaces import Workspace

_NODE = 3


def _virtual(space: Workspace, *, one_time_use: bool | None) -> Workspace | None:
    """The workspace with a virtual node; asked about its tenant."""
    if not space.site.infiniband:
        return None
    node = whole_flavor().whole_node
    assert node is not None
    flavor = whole_flavor(whole_node=node.model_copy(update={"one_time_use": one_time_use}))
    space = space.with_site(**hall(space.site))
    trunk = SwitchPortConfig(port=_NODE, mode="trunk", tagged=((3500, 3599),))
    switches = tuple(
        item.model_copy(update={"ports": tuple(trunk if port.port == _NODE else port for port in item.ports)})
        if item.name == "gpu-1"
        else item
        for item in space.site.switches
    )
    hosts = tuple(_hypervisor(host) if host.name == f"gpu-node-{_NODE}" else host for host in space.site.hosts)
    space = space.with_site(hosts=hosts, switches=switches, flavors=(*space.site.flavors, flavor))
    # The operator's plan has the flavour, and an aggregate with the node.
    space = replace(space, of_site=plan_site(space.site, site_locked(space.site)))
    first = space.tenants[0]
    space = with_cluster(space, first, "gpu-v", 0, (_NODE,), "vm")
    access = FlavorAccess(project=f"{first}-project", flavor=f"site:Flavor/{FLAVOR}")
    return space.add(first, f"{first}-flavor-{FLAVOR}", access).asking(first)


def _hypervisor(host: Host) -> Host:
    room = {"dedicated_cpus": 208, "huge_pages_gib": 1900, "ram_gib": 2048}
    return host.model_copy(update={"provisioning": "hypervisor"} | room)


def _with(one_time_use: bool | None) -> Callable[[Workspace, Random], Workspace | None]:
    return lambda space, _: _virtual(space, one_time_use=one_time_use)


WHOLE_NODES = (
    Operator(
        "whole-node-reused", "devices of a virtual GPU node go to the next server at once",
        _with(False), _with(True), "LIF-03",
    ),
    Operator(
        "whole-node-unstated", "nobody states whether devices of a virtual GPU node are kept back",
        _with(None), _with(True), "LIF-03", verdict=Verdict.NOT_PROVABLE,
    ),
)  # fmt: skip
