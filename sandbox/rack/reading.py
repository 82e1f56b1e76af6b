"""Reads the file of a rack: TOML, whose keys sandbox/README.md tells."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sandbox.infiniband.racks import subnet_of
from sandbox.rack.ipu_racks import MANAGEMENT, IpuRack, ipu_racks_of
from sandbox.rack.table import PhysicalNetwork, Rack
from sandbox.services.hosts import SHAPES, Host
from sandbox.switches import vlans
from sandbox.switches.devices import MODELS, Neighbor, Port, Switch, access, chassis, state, trunk
from sandbox.switches.table import PortState

SHIPPED = Path(__file__).resolve().parents[1] / "racks"
#: In the folder of an instance.
FILE = "rack.toml"
DEFAULT = "lyon"

_MAC = re.compile(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}")
_SWITCH = (
    "name",
    "model",
    "serial",
    "mac",
    "address",
    "physical_network",
    "shut_unused",
    "vlans",
    "ports",
    "cables",
    "filled",
)


class WrongRack(ValueError):
    """A file that is no rack; says which and why."""


def shipped() -> dict[str, Path]:
    """The racks that come with the sandbox, by name."""
    return {path.stem: path for path in sorted(SHIPPED.glob("*.toml"))}


def named(name: str) -> Rack:
    """One of them. Raises KeyError."""
    return read(shipped()[name])


def rack_of(folder: Path) -> Rack:
    """The rack of the instance in this folder. Raises WrongRack."""
    own = folder / FILE
    return read(own if own.exists() else shipped()[DEFAULT])


def read(path: Path) -> Rack:
    """The rack in a file. Raises WrongRack, and OSError."""
    try:
        return _rack(tomllib.loads(path.read_text(encoding="utf-8")))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        why = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise WrongRack(f"{path}: {why}") from error


def _rack(data: Mapping[str, Any]) -> Rack:
    _only(data, ("quarantine_vlan", "physical_networks", "hosts", "switches", "infiniband", "ipu_racks"), "the rack")
    networks = tuple(_network(name, item) for name, item in data["physical_networks"].items())
    known = {network.name for network in networks}
    hosts = tuple(_host(name, item, known) for name, item in data["hosts"].items())
    macs = {item["name"]: item["mac"] for item in data["switches"]}
    rest = int(data["quarantine_vlan"])
    switches = tuple(_switch(item, known, macs, rest) for item in data["switches"])
    for what in ("name", "mac", "address"):
        if len({getattr(switch, what) for switch in switches}) < len(switches):
            raise ValueError(f"two switches have the same {what}")
    _both_ends(switches)
    _one_network_on_a_bus(hosts)
    subnet = subnet_of(data["infiniband"]) if "infiniband" in data else None
    ipu_racks = ipu_racks_of(data.get("ipu_racks", {}))
    _all_managed(ipu_racks, switches)
    return Rack(rest, networks, hosts, switches, subnet, ipu_racks)


def _only(data: Mapping[str, Any], keys: tuple[str, ...], where: str) -> None:
    if unknown := sorted({*data} - {*keys}):
        raise ValueError(f"{where} has no key {unknown[0]}; keys are {', '.join(keys)}")


def _network(name: str, item: Mapping[str, Any]) -> PhysicalNetwork:
    _only(item, ("bridge", "flat"), f"physical network {name}")
    return PhysicalNetwork(name, item.get("bridge"), bool(item.get("flat", False)))


def _host(name: str, item: Mapping[str, Any], networks: set[str]) -> Host:
    _only(item, ("shape", "network", "buses"), f"host {name}")
    if item["shape"] not in SHAPES:
        raise ValueError(f"host {name}: no shape {item['shape']}; shapes are {', '.join(SHAPES)}")
    cards = SHAPES[item["shape"]].cards
    network, buses = item.get("network"), tuple(item.get("buses", [bus for bus, _ in cards]))
    if len(buses) != len(cards):
        raise ValueError(f"host {name}: {len(buses)} PCI buses, and a {item['shape']} has {len(cards)} cards")
    if (network is None) == bool(cards) or network not in {None, *networks}:
        raise ValueError(f"host {name}: its cards have to be on one physical network of {', '.join(sorted(networks))}")
    return Host(name, item["shape"], network, buses)


def _switch(item: Mapping[str, Any], networks: set[str], macs: Mapping[str, str], rest: int) -> Switch:
    name = item["name"]
    _only(item, _SWITCH, f"switch {name}")
    if item["model"] not in MODELS:
        raise ValueError(f"switch {name}: no model {item['model']}; models are {', '.join(MODELS)}")
    if item["physical_network"] not in networks:
        raise ValueError(f"switch {name}: no physical network {item['physical_network']}")
    ports = MODELS[item["model"]]()
    settings = {
        number: _setting(text, f"switch {name} port {key}")
        for key, text in item["ports"].items()
        for number in _numbers(key, ports, name)
    }
    filled = [number for key in item.get("filled", []) for number in _numbers(key, ports, name)]
    for number in filled:
        if number not in settings or settings[number].mode != "trunk":
            raise ValueError(f"switch {name}: port {number} is filled, and no trunk")
    ends = {number: text for key, text in item["cables"].items() for number in _numbers(key, ports, name)}
    return Switch(
        name=name,
        model=item["model"],
        serial=item["serial"],
        mac=item["mac"],
        address=item["address"],
        physical_network=item["physical_network"],
        shut_unused=bool(item["shut_unused"]),
        ports=ports,
        initial=state(name, ports, settings, tuple(item["vlans"]), rest),
        neighbors={ports[number - 1].name: _neighbor(text, macs) for number, text in sorted(ends.items())},
        filled=tuple(ports[number - 1].name for number in filled),
    )


def _numbers(key: str, ports: tuple[Port, ...], switch: str) -> Iterator[int]:
    """Port numbers of `17` or `17-24`."""
    first, _, last = key.partition("-")
    found = range(int(first), int(last or first) + 1)
    if not found or found[0] < 1 or found[-1] > len(ports):
        raise ValueError(f"switch {switch}: no port {key}; it has 1-{len(ports)}")
    yield from found


def _setting(text: str, where: str) -> PortState:
    """A port that is not as it was delivered: `access 20`, `trunk 1000-2999`, `trunk none`."""
    mode, _, listed = text.partition(" ")
    ids = () if text == "trunk none" else vlans.parsed(listed)
    if mode == "access" and ids is not None and len(ids) == 1:
        return access(ids[0])
    if mode == "trunk" and ids is not None:
        return trunk(ids)
    raise ValueError(f'{where}: {text!r} is neither "access VLAN" nor "trunk VLANS"')


def _neighbor(text: str, macs: Mapping[str, str]) -> Neighbor:
    """The other end of a cable: `poplar-1:idrac`, or with the MAC address that the device names itself by."""
    end, _, mac = text.partition(" ")
    system, colon, port = end.partition(":")
    if not (system and colon and port) or (mac and _MAC.fullmatch(mac) is None):
        raise ValueError(f'a cable ends at "DEVICE:PORT" or "DEVICE:PORT MAC", not at {text!r}')
    return Neighbor(system, port, mac or macs.get(system) or chassis(system))


def _one_network_on_a_bus(hosts: tuple[Host, ...]) -> None:
    """All hosts share one nova.conf, which tells the physical network of a card by its bus."""
    found = dict[int, str | None]()
    for host in hosts:
        for bus in host.buses:
            if found.setdefault(bus, host.physical_network) != host.physical_network:
                raise ValueError(f"host {host.name}: PCI bus {bus:#x} is on {found[bus]} at another host; name another")


def _all_managed(racks: tuple[IpuRack, ...], switches: tuple[Switch, ...]) -> None:
    """A controller hears a machine by the switch port of its gateway."""
    ends = {(end.system, end.port) for switch in switches for end in switch.neighbors.values()}
    for machine in (name for rack in racks for name in rack.serials):
        if (machine, MANAGEMENT) not in ends:
            raise ValueError(f"ipu_racks: no cable of a switch ends at {machine}:{MANAGEMENT}")


def _both_ends(switches: tuple[Switch, ...]) -> None:
    """A cable between two switches stands at both of them."""
    ends = {
        (switch.name, port): (end.system, end.port) for switch in switches for port, end in switch.neighbors.items()
    }
    names = {switch.name for switch in switches}
    for here, there in ends.items():
        if there[0] in names and ends.get(there) != here:
            raise ValueError(f"the cable of {here[0]} port {here[1]} to {':'.join(there)} does not stand there")
