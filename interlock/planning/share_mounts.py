"""What servers mount of their tenant's shares, as `interlock plan` shows it and user data have it. Pure.

The path under which the appliance exports a share is known only once Manila has made it, and a plan is written before.
So a mount names the share by its plan name, and `source` takes the path in when it is known (output `export_path`).
A server learns it from its metadata, by that name.
"""

from __future__ import annotations

from collections.abc import Sequence

from interlock.model.lock.record import ClusterAllocation, VPodAllocation
from interlock.model.site.inventory import Site
from interlock.model.tenant.request import ShareRequest, Tenant
from interlock.resources import Frozen
from interlock.vocabulary.request_parts import RequestPart

from .guest.shares import GuestShare

#: What a boot does without: a share that is not there yet stops no server, and the network comes first.
_OF_EVERY_MOUNT = ("nofail", "_netdev")


class ShareMount(Frozen):
    """One share at one place of a server, by the appliance's address on a network that the server is on."""

    #: Plan name of the `Share`, whose output `export_path` is the path.
    share: str
    #: The appliance's address (VIP) on the storage network of a vPOD, or the in-band network of a cluster.
    address: str
    #: Absolute path on the server.
    mount_point: str
    #: As /etc/fstab has them, in order.
    options: tuple[str, ...]
    #: Type of file system, as /etc/fstab has it.
    kind: str = "nfs"

    def source(self, export_path: str) -> str:
        """What is mounted, as in `10.48.0.2:/export/a`; an IPv6 address stands in brackets."""
        where = f"[{self.address}]" if ":" in self.address else self.address
        return f"{where}:{export_path}"

    def fstab(self, export_path: str) -> str:
        """The line of /etc/fstab."""
        return f"{self.source(export_path)} {self.mount_point} {self.kind} {','.join(self.options)} 0 0"


def share_mounts(
    site: Site, tenant: Tenant, part: str, claims: VPodAllocation | ClusterAllocation
) -> tuple[ShareMount, ...]:
    """What each Poplar server of a vPOD, or each head and node of a cluster, mounts, in the order of the request.

    `part` is its name in the request, `claims` what its lock gives it. Empty where it mounts no share; V-IPU
    controllers, which are the operator's, mount none.
    """
    vip = claims.storage_vip
    if vip is None:
        return ()
    options = {item.name: item.mount_options for item in site.share_types}
    return tuple(
        _mount(tenant, item, vip, options.get(item.share_type, ()))
        for item in tenant.shares
        if part in (*item.vpods, *item.clusters)
    )


def guest_shares(mounts: Sequence[ShareMount]) -> tuple[GuestShare, ...]:
    """The same as a server is told it."""
    return tuple(GuestShare(item.share, item.source(""), item.mount_point, item.kind, item.options) for item in mounts)


def share_name(tenant: Tenant, request: ShareRequest) -> str:
    """Plan name of a share."""
    return str(RequestPart(tenant.id, request.name))


def _mount(tenant: Tenant, request: ShareRequest, vip: str, of_type: tuple[str, ...]) -> ShareMount:
    return ShareMount(
        share=share_name(tenant, request),
        address=vip,
        mount_point=request.mount_point,
        options=(request.access, *of_type, *(word for word in _OF_EVERY_MOUNT if word not in of_type)),
    )
