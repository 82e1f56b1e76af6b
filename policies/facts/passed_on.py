"""What the one server on a GPU node below a hypervisor has of the node: the devices that are passed on to it."""

from __future__ import annotations

from collections.abc import Container

from interlock.model.site.gpu import HcaUse
from interlock.model.site.inventory import Site

from . import identities as ids


def passed_on(site: Site, host: str) -> tuple[str, ...]:
    """Its GPUs and NVSwitches, as one node, and the ports of the compute fabric; all else stays the hypervisor's."""
    return (ids.part(site.host[host].serial, ids.PASSED_ON), *infiniband_ports(site, host, ("compute",)))


def infiniband_ports(site: Site, host: str, uses: Container[HcaUse] = ("compute", "storage")) -> tuple[str, ...]:
    """The nodes of a GPU node's ports for these uses, as far as their GUIDs are stated; none of any other host."""
    node = site.gpu_node.get(host)
    guids = (port.guid for port in node.ports if port.use in uses) if node is not None else ()
    return tuple(ids.infiniband_port(guid) for guid in guids if guid is not None)
