"""What must hold between the parts of a site file before anything can be computed from it.

Only faults of writing are found here: names that lead nowhere, one plug used twice. Whether the site keeps
tenants apart is for the proof to say.
"""

from __future__ import annotations

import ipaddress
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from interlock.resources import KINDS

from .errors import Code, InputError
from .faults import Faults
from .guards import ASSUMPTION_GUARDS, SHARING_GUARDS
from .places import Path, places
from .site import Site
from .site_file import SegmentRangeFile, SiteFile
from .source import KEY
from .validation import nearest


def check_site(file: SiteFile, site: Site, others: tuple[str, ...], faults: Faults) -> None:
    """Adds every fault between parts of the file to `faults`."""
    _check_devices(file, others, faults)
    _check_cables(file, site, others, faults)
    _check_physical_networks(file, faults)
    _check_segment_ranges(file, faults)
    _check_external(file, faults)
    _check_subnets(file, faults)
    _check_offers(file, faults)
    _check_guards(file, faults)
    _check_existing(file, faults)


def _check_devices(file: SiteFile, others: tuple[str, ...], faults: Faults) -> None:
    names, serials = dict.fromkeys(others, ""), dict[str, str]()
    for place in places(file):
        if place.name in names:
            hint = "a rack's names can be set: `names:` of machines and poplar, `name:` of a switch"
            faults.add(Code.TWICE, place.name_path, f"two devices are called `{place.name}`", hint)
        if place.serial in serials:
            message = f"`{place.name}` has the serial `{place.serial}` of `{serials[place.serial]}`"
            faults.add(Code.TWICE, place.serial_path, message, "a serial is one device")
        names.setdefault(place.name, place.serial)
        serials.setdefault(place.serial, place.name)


def _check_cables(file: SiteFile, site: Site, others: tuple[str, ...], faults: Faults) -> None:
    known = {*site.machine, *site.host, *site.switch, *others}
    plugs = Counter(str(end) for cable in site.cables for end in (cable.a, cable.b))
    for index, cable in enumerate(file.cables):
        for side, end in enumerate(cable.ends):
            path = ("cables", index, "ends", side)
            faults.need(path, "a device", end.device, known)
            if end.device in site.switch and not _is_port(site, end.device, end.interface):
                count = len(site.switch[end.device].ports)
                faults.add(Code.NO_SUCH, path, f"`{end}`: the switch has ports 1 to {count}")
            if plugs[str(end)] > 1:
                faults.add(
                    Code.TWICE, path, f"`{end}` has more than one cable", "look at the design's port map"
                )


def _is_port(site: Site, switch: str, interface: str) -> bool:
    return interface.isdigit() and int(interface) in site.switch[switch].by_port


def _check_physical_networks(file: SiteFile, faults: Faults) -> None:
    switches = [place.name for place in places(file) if place.section == "switches"]
    for name, members in file.physical_networks.items():
        for index, switch in enumerate(members):
            faults.need(("physical_networks", name, index), "a switch", switch, switches)
    for path, network in _physical_networks_named(file):
        faults.need(path, "a physical network", network, file.physical_networks)


def _physical_networks_named(file: SiteFile) -> Iterator[tuple[Path, str]]:
    """Every place that names a physical network."""
    for pool in ("ipu_data", "storage", "management"):
        yield ("pools", pool, "physical_network"), getattr(file.pools, pool).physical_network
    yield ("external", "physical_network"), file.external.physical_network
    for index, entry in enumerate(file.segment_ranges):
        if entry.physical_network is not None:
            yield ("segment_ranges", index, "physical_network"), entry.physical_network
    for index, rack in enumerate(file.racks):
        yield from (
            (("racks", index, "poplar", "interfaces", name, KEY), name) for name in rack.poplar.interfaces
        )
    for host, entry_of_host in file.hosts.items():
        yield from ((("hosts", host, "interfaces", name, KEY), name) for name in entry_of_host.interfaces)


def _check_segment_ranges(file: SiteFile, faults: Faults) -> None:
    for index, entry in enumerate(file.segment_ranges):
        path = ("segment_ranges", index)
        if (entry.physical_network is None) != (entry.vlans is None) or (entry.vlans is None) == (
            entry.vnis is None
        ):
            hint = "write {physical_network: …, vlans: 3500-3999} or {vnis: 30000-39999}"
            faults.add(Code.CONTRADICTION, path, "neither a range of VLANs nor one of VXLAN ids", hint)
            continue
        for pool in _pools_met(file, entry):
            message = (
                f"the range meets the pool {pool}: Neutron could give a self-made network an id of a lock"
            )
            faults.add(Code.CONTRADICTION, path, message, "keep ranges and pools apart")


def _pools_met(file: SiteFile, entry: SegmentRangeFile) -> list[str]:
    if entry.vnis is not None:
        return ["control"] if _overlap(entry.vnis, file.pools.control.vnis) else []
    pools = {name: getattr(file.pools, name) for name in ("ipu_data", "storage", "management")}
    return [
        name
        for name, pool in pools.items()
        if pool.physical_network == entry.physical_network and _overlap(entry.vlans or (), pool.vlans)
    ]


def _overlap(one: tuple[tuple[int, int], ...], other: tuple[tuple[int, int], ...]) -> bool:
    return any(a <= d and c <= b for a, b in one for c, d in other)


def _check_external(file: SiteFile, faults: Faults) -> None:
    external = file.external
    network = ipaddress.IPv4Network(external.cidr)
    for key, address in (
        ("gateway", external.gateway),
        ("pool", external.pool[0]),
        ("pool", external.pool[1]),
    ):
        if ipaddress.IPv4Address(address) not in network:
            faults.add(Code.CONTRADICTION, ("external", key), f"{address} is not in {external.cidr}")
    first, gateway, last = (
        ipaddress.IPv4Address(text) for text in (external.pool[0], external.gateway, external.pool[1])
    )
    if first <= gateway <= last:
        faults.add(Code.CONTRADICTION, ("external", "pool"), f"the pool holds the gateway {gateway}")
    if (external.network_type == "vlan") != (external.vlan is not None):
        hint = "a VLAN network has `vlan:`, a flat one has none"
        faults.add(Code.CONTRADICTION, ("external", "network_type"), f"{external.network_type} network", hint)


def _check_subnets(file: SiteFile, faults: Faults) -> None:
    for pool in ("ipu_data", "storage", "management", "control"):
        subnets = getattr(file.pools, pool).subnets
        if ipaddress.IPv4Network(subnets.prefix).prefixlen > subnets.each:
            message = f"no subnet of /{subnets.each} can be cut from {subnets.prefix}"
            faults.add(Code.CONTRADICTION, ("pools", pool, "subnets", "each"), message)


def _check_offers(file: SiteFile, faults: Faults) -> None:
    infra = [name for name, flavor in file.flavors.items() if flavor.role == "infra"]
    poplar = [name for name, flavor in file.flavors.items() if flavor.role == "poplar"]
    faults.need(("controller", "flavor"), "an infra flavour", file.controller.flavor, infra)
    faults.need(("controller", "image"), "an image", file.controller.image, file.images)
    defaults = file.tenant_defaults
    for key, name, what, known in (
        ("flavor", defaults.flavor, "a poplar flavour", poplar),
        ("image", defaults.image, "an image", list(file.images)),
        ("volume_type", defaults.volume_type, "a volume type", file.volume_types),
    ):
        if name is not None:
            faults.need(("tenant_defaults", key), what, name, known)
    for name, image in file.images.items():
        parts = PurePosixPath(image.file)
        if parts.is_absolute() or ".." in parts.parts:
            hint = "images are read from below it, so that a checkout is whole"
            faults.add(
                Code.VALUE, ("images", name, "file"), f"`{image.file}` leads out of the site's folder", hint
            )


def _check_guards(file: SiteFile, faults: Faults) -> None:
    for name, entry in file.sharing.items():
        known = SHARING_GUARDS[entry.kind]
        _unknown_guards(("sharing", name, "guards"), entry.guards, known, faults)
    for assumption, guards in file.assumptions.items():
        if assumption not in ASSUMPTION_GUARDS:
            path = ("assumptions", assumption)
            hint = nearest(assumption, ASSUMPTION_GUARDS)
            faults.found.append(_unknown(faults, path, f"`{assumption}` is no assumption of the proof", hint))
            continue
        _unknown_guards(("assumptions", assumption), guards, ASSUMPTION_GUARDS[assumption], faults)


def _check_existing(file: SiteFile, faults: Faults) -> None:
    for name in file.existing:
        kind, slash, rest = name.partition("/")
        if not (slash and rest and kind in KINDS):
            hint = nearest(kind, KINDS) if slash else "write Kind/name, as in Image/poplar"
            faults.add(Code.NO_SUCH, ("existing", name, KEY), f"`{name}` is no object of a site", hint)


def _unknown_guards(path: Path, stated: Iterable[str], known: tuple[str, ...], faults: Faults) -> None:
    for guard in stated:
        if guard not in known:
            hint = nearest(guard, known)
            faults.found.append(_unknown(faults, (*path, guard), f"no rule knows the guard `{guard}`", hint))


def _unknown(faults: Faults, path: Path, message: str, hint: str) -> InputError:
    return faults.source.error(Code.UNKNOWN_KEY, path, message, hint)
