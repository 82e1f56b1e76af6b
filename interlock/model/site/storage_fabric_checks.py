"""Storage on InfiniBand: keys that there are to give, and an appliance that is nobody's node."""

from __future__ import annotations

from collections.abc import Iterator

from interlock.model.text.errors import Code

from .networks import InfinibandSubnet, PartitionKeyPool
from .places import Path
from .storage_fabric import StorageFabric, StorageFabricFile
from .view import SiteView

_GIVE = "give the appliance a port of its own, with the GUID that `ibstat -p` prints on it"


def check_storage_fabrics(view: SiteView) -> None:
    """Adds faults of `infiniband.<subnet>.storage`."""
    pools = {pool.infiniband: pool for pool in view.site.pools.partition_keys}
    owners = dict(_ports_of_nodes(view))
    for subnet in view.site.infiniband:
        stated = view.file.infiniband[subnet.name].storage
        if subnet.storage is not None and stated is not None:
            _check_appliance(view, subnet, subnet.storage, owners)
            _check_key(view, subnet, stated, pools.get(subnet.name))
            _check_use(view, subnet)


def _ports_of_nodes(view: SiteView) -> Iterator[tuple[str, str]]:
    """GUID -> the port that has it."""
    for node in view.site.gpu_nodes:
        yield from ((port.guid, f"{port.name} of `{node.name}`") for port in node.ports if port.guid is not None)


def _check_appliance(view: SiteView, subnet: InfinibandSubnet, stated: StorageFabric, owners: dict[str, str]) -> None:
    if not stated.appliance and not view.faults.short_of("infiniband"):
        where = ("infiniband", subnet.name, "storage", "appliance")
        view.faults.add(Code.VALUE, where, "an appliance without a port", "list the GUIDs of its ports on this subnet")
    for number, guid in enumerate(stated.appliance):
        path: Path = ("infiniband", subnet.name, "storage", "appliance", number)
        if guid in owners:
            view.faults.add(Code.TWICE, path, f"{guid} is {owners[guid]}", _GIVE)
        owners.setdefault(guid, f"a port of the appliance on `{subnet.name}`")


def _check_use(view: SiteView, subnet: InfinibandSubnet) -> None:
    """A subnet is for storage or for compute: at index 0 of a port is the key of one use."""
    for node in view.site.gpu_nodes:
        found = next((port for port in node.ports_for("compute") if port.infiniband == subnet.name), None)
        if found is not None:
            what = f"{found.name} of `{node.name}` is a compute port on `{subnet.name}`"
            hint = "storage has a subnet of its own, with a subnet manager of its own"
            view.faults.add(Code.CONTRADICTION, ("infiniband", subnet.name, "storage"), what, hint)
            return


def _check_key(
    view: SiteView, subnet: InfinibandSubnet, stated: StorageFabricFile, pool: PartitionKeyPool | None
) -> None:
    """A shared key is one that is never given out; keys of clusters are given out of the pool."""
    path: Path = ("infiniband", subnet.name, "storage")
    if stated.access == "per-tenant":
        if stated.key:
            hint = "leave `key` out, or write `access: shared`"
            view.faults.add(Code.CONTRADICTION, (*path, "key"), "each cluster has a key of the pool here", hint)
        if pool is None and not _may_be_misspelt(view):
            hint = f"add it: `partition_keys: {{{subnet.name}: {{keys: 0x0001-0x00ff}}}}`"
            view.faults.add(Code.NO_SUCH, (*path, "access"), f"`{subnet.name}` has no pool of P_Keys", hint)
    elif len(stated.key) != 1:
        hint = "name one key that the pool of the subnet holds back, as in `key: 0x7000`"
        view.faults.add(Code.CONTRADICTION, path, "a shared partition has one P_Key", hint)
    elif (pool is None and not _may_be_misspelt(view)) or (pool is not None and stated.key[0] not in pool.reserved):
        key = f"{stated.key[0]:#06x}"
        hint = f"hold it back: `pools: {{partition_keys: {{{subnet.name}: {{…, reserved: {key}}}}}}}`"
        what = f"{key} is not held back from locks, which could give it to one cluster alone"
        view.faults.add(Code.CONTRADICTION, (*path, "key"), what, hint)


def _may_be_misspelt(view: SiteView) -> bool:
    """True if the pool of a subnet may be there: one was lost, or stands under a name that no subnet has."""
    return view.faults.short_of("pools") or any(
        name not in view.file.infiniband for name in view.file.pools.partition_keys
    )
