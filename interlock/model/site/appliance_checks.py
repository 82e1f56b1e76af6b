"""Switch ports of a storage appliance: storage VLANs, and none that another pool gives out."""

from __future__ import annotations

from collections.abc import Iterator

from interlock.model.text.errors import Code
from interlock.vocabulary.digits import is_number

from .inventory import Switch, SwitchPortConfig
from .networks import VlanPool
from .places import Path
from .view import SiteView

Range = tuple[int, int]

#: Pools of VLANs that tenants and controllers are on, but for that of the storage networks.
_OTHER_POOLS = ("ipu_data", "management", "bare_metal_control", "roce")


def check_appliance(view: SiteView, name: str, stated: str | None) -> None:
    """Adds a fault for each port behind an appliance that carries VLANs of another pool than `storage`."""
    path: Path = ("sharing", name) if stated is None else ("sharing", name, "node")
    for switch, port in _ports_of(view, name if stated is None else stated):
        for pool in _OTHER_POOLS:
            found = getattr(view.site.pools, pool)
            if found is None:
                continue
            shared = [span for span in _carried(port, found) if _reaches(view, found, switch, span)]
            for first, last in shared:
                what = f"{first}" if first == last else f"{first}-{last}"
                message = (
                    f"port {port.port} of {switch.name} carries VLAN {what} to the appliance, and `pools.{pool}` gives "
                    "out some of these"
                )
                hint = "let its ports carry VLANs of `pools.storage` alone, as in `25-26: trunk 2000-2999`"
                view.faults.add(Code.CONTRADICTION, path, message, hint)


def _ports_of(view: SiteView, device: str) -> Iterator[tuple[Switch, SwitchPortConfig]]:
    for cable in view.site.cables:
        for near, far in ((cable.a, cable.b), (cable.b, cable.a)):
            switch = view.site.switch.get(far.device)
            if near.device == device and switch is not None and is_number(far.interface):
                port = switch.by_port.get(int(far.interface))
                if port is not None:
                    yield switch, port


def _carried(port: SwitchPortConfig, pool: VlanPool) -> Iterator[Range]:
    """What it may carry of a pool's VLANs; a driver that fills it puts there whatever the pool gives out."""
    if port.filled_by is not None:
        yield from pool.vlans
        return
    yield from ((1, 4094),) if port.tagged is None else port.tagged
    if port.untagged is not None:
        yield port.untagged, port.untagged


def _reaches(view: SiteView, pool: VlanPool, switch: Switch, span: Range) -> bool:
    """True if the pool gives out an id of the span on this switch that is not one of the storage networks' besides."""
    networks = (view.site.physical_network.get(name) for name in pool.physical_networks)
    if not any(network is not None and switch.name in network.switches for network in networks):
        return False
    storage = view.site.pools.storage
    own = set[int]() if storage is None else _ids(storage.vlans)
    return bool((_ids((span,)) & _ids(pool.vlans)) - own)


def _ids(spans: tuple[Range, ...]) -> set[int]:
    return {ident for first, last in spans for ident in range(first, last + 1)}
