"""What nobody states, stated in every way there is: the completions of a world, each of which may be the real one.

A world leaks if all its completions leak, and is clean if none does. An answer so found rests on no rule about which
unknown adds what: each completion is a world of its own, in which every fact is known. In it no table lacks a record
but those that an adversary put there, where nobody says that a table is complete.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import NamedTuple, TypeVar

from interlock.model.site.completeness import TABLES, Completeness, Table
from interlock.model.site.inventory import Host, Site, Switch, SwitchPortConfig, Vtep
from interlock.resources import Frozen

from .oracle import Leaks, Pair, leaks
from .readings import SPARE, Facts
from .relevance import guards_that_matter, matters
from .servers import hands_out
from .world import World

M = TypeVar("M", bound=Frozen)
Change = Callable[[World], World]

#: Unknowns, and completions, up to which a world is decided.
MOST_UNKNOWNS = 6
MOST_COMPLETIONS = 128


class Unknown(NamedTuple):
    """A fact that nobody states, or a table that may lack a record, and how each way to complete it is made."""

    fact: str
    ways: tuple[Change, ...]


@dataclass(frozen=True)
class Decision:
    """What holds in every completion, and what in some. `each`: pairs that meet, for every completion."""

    each: tuple[Leaks, ...]

    @property
    def always(self) -> bool:
        """Whatever is so, somebody meets somebody; not always the same ones."""
        return all(found.must for found in self.each)

    @property
    def some(self) -> frozenset[Pair]:
        """Pairs that meet if it is as bad as it can be."""
        return frozenset(pair for found in self.each for pair in found.may)

    @property
    def verdict(self) -> str:
        """V violated, P proved, N neither."""
        return "V" if self.always else "N" if self.some else "P"


def decided(world: World, without: frozenset[str] = frozenset()) -> Decision | None:
    """The exact answer of a world; None if too much of it is unknown. `without`: rows of the page that are left out."""
    found = unknowns(world)
    if len(found) > MOST_UNKNOWNS or prod(len(item.ways) for item in found) > MOST_COMPLETIONS:
        return None
    return Decision(tuple(leaks(item, without) for item in completions(world, found)))


def completions(world: World, found: Iterable[Unknown]) -> Iterator[World]:
    """Every world that this one may be."""
    for ways in product(*(item.ways for item in found)):
        made = world
        for way in ways:
            made = way(made)
        yield listed(made)


def unknowns(world: World) -> list[Unknown]:
    """Everything that is not said and can matter."""
    facts = Facts(world)
    found = [*_guards(world, facts), *_shared(world)]
    for switch in world.site.switches:
        found += _of_switch(facts, switch)
    found += _ports(facts)
    found += [item for host in world.site.hosts for item in _of_host(facts, host)]
    found += _tables(facts)
    for number, underlay in enumerate(world.site.underlays):
        if underlay.neutron is None:
            found.append(_in_list(f"underlays.{underlay.name}.neutron", "underlays", number, "neutron", (True, False)))
    for number, flavor in enumerate(world.site.flavors):
        if flavor.devices is None and any(map(hands_out, flavor.extra_specs)):
            ways = ("network", "other")
            found.append(_in_list(f"flavors.{flavor.name}.devices", "flavors", number, "devices", ways))
    return found


# Guards.


def _guards(world: World, facts: Facts) -> Iterator[Unknown]:
    for assumption, guards in guards_that_matter(world).items():
        for guard in guards:
            if facts.holds(assumption, guard) is None:
                ways = tuple(_guard(assumption, guard, value) for value in (True, False))
                yield Unknown(f"assumptions.{assumption}.{guard}", ways)


def _guard(assumption: str, guard: str, value: bool) -> Change:
    def change(world: World) -> World:
        known = world.site.assumptions
        if not any(item.id == assumption for item in known):
            raise ValueError(f"a draft lists every assumption, and {assumption} is none of them")
        return _site(
            world,
            assumptions=tuple(
                made(item, guards={**item.guards, guard: value}) if item.id == assumption else item for item in known
            ),
        )

    return change


def _shared(world: World) -> Iterator[Unknown]:
    for number, item in enumerate(world.site.sharing):
        for guard, value in item.guards.items():
            if value is None and matters(world, item):
                states = tuple({**item.guards, guard: state} for state in (True, False))
                yield Unknown(
                    f"sharing.{item.name}.guards.{guard}", tuple(_guard_of_sharing(number, guard, s) for s in states)
                )


def _guard_of_sharing(number: int, guard: str, states: dict[str, bool | None]) -> Change:
    def change(world: World) -> World:
        known = list(world.site.sharing)
        known[number] = made(known[number], guards={**known[number].guards, guard: states[guard]})
        return _site(world, sharing=tuple(known))

    return change


# Switches.


def _of_switch(facts: Facts, switch: Switch) -> Iterator[Unknown]:
    place = f"switches.{switch.name}"
    if switch.routed_vlans is None:
        vlans: tuple[tuple[int, ...], ...] = ((), *((vlan,) for vlan in facts.ids), facts.ids)
        yield Unknown(f"{place}.routed_vlans", tuple(_of(switch.name, routed_vlans=item) for item in vlans))
    if switch.ip_routing is None:
        yield Unknown(f"{place}.ip_routing", tuple(_of(switch.name, ip_routing=value) for value in (True, False)))
    for item in switch.vteps:
        if item.encapsulation is None:
            ways = tuple(_encapsulated(switch.name, item.vlan, way) for way in ("vxlan", "geneve"))
            yield Unknown(f"{place}.vteps.{item.vlan}.encapsulation", ways)
    for port in switch.ports:
        if port.mode == "trunk" and port.untagged is not None and port.tag_native is None:
            natives = tuple(_port(switch.name, made(port, tag_native=value)) for value in (True, False))
            yield Unknown(f"{place}.ports.{port.port}.tag_native", natives)


def _ports(facts: Facts) -> Iterator[Unknown]:
    """Cabled ports without a record: disabled, in any VLAN, a trunk of all with any native VLAN, or none."""
    cabled = {at for pair in facts.ends[0] for at in pair} | {(plug.switch, plug.port) for plug in facts.ends[1]}
    recorded = {(switch.name, port.port) for switch in facts.site.switches for port in switch.ports}
    for switch, number in sorted(cabled - recorded):
        if facts.more("switch_ports", switch) is None:
            settings: list[dict[str, object]] = [{"mode": "disabled"}, {"mode": "trunk", "tagged": None}]
            settings += [{"mode": "access", "untagged": vlan} for vlan in facts.ids]
            settings += [{"mode": "trunk", "tagged": None, "untagged": vlan, "tag_native": False} for vlan in facts.ids]
            ways = tuple(_port(switch, SwitchPortConfig(port=number, **item)) for item in settings)  # type: ignore[arg-type]
            yield Unknown(f"switches.{switch}.ports.{number}", ways)


def _of(name: str, **fields: object) -> Change:
    return lambda world: _site(
        world, switches=tuple(made(item, **fields) if item.name == name else item for item in world.site.switches)
    )


def _encapsulated(name: str, vlan: int, way: str) -> Change:
    def said(item: Vtep) -> Vtep:
        return made(item, encapsulation=way) if item.vlan == vlan and item.encapsulation is None else item

    return lambda world: _of(name, vteps=tuple(map(said, world.site.switch[name].vteps)))(world)


def _port(name: str, port: SwitchPortConfig) -> Change:
    def change(world: World) -> World:
        others = [item for item in world.site.switch[name].ports if item.port != port.port]
        return _of(name, ports=tuple(sorted([*others, port], key=lambda item: item.port)))(world)

    return change


# Hosts and tables.


def _of_host(facts: Facts, host: Host) -> Iterator[Unknown]:
    plugs = facts.doubtful_plugs(host)
    if plugs:
        number = facts.site.hosts.index(host)
        yield _in_list(f"hosts.{host.name}.bmc", "hosts", number, "bmc", (*plugs, "no plug that is listed"))


def _tables(facts: Facts) -> Iterator[Unknown]:
    """Tables that may lack a record: complete, or with one of an adversary; ports with or without something in them."""
    site = facts.site
    for table in TABLES:
        for name in site.subjects(table) if table != "switch_ports" else ():
            if facts.more(table, name) is None:
                yield Unknown(f"complete.{table}.{name}", (_said, _adding((table, name))))
    for switch, number in facts.spare_ports:
        if any(setting.mode != "disabled" for setting in facts.of_port(switch, number)):
            yield Unknown(f"switches.{switch}.ports.{number}", (_said, _adding((SPARE, f"{switch}:{number}"))))


def _said(world: World) -> World:
    return world


def _adding(record: tuple[str, str]) -> Change:
    return lambda world: replace(world, unlisted=world.unlisted | {record})


def listed(world: World) -> World:
    """The same, where every table is complete, but for what is unlisted by name."""
    site, plugged = world.site, {place for table, place in world.unlisted if table == SPARE}
    complete = tuple(_declared(table, site.subjects(table)) for table in TABLES)
    spare = {at for at in Facts(world).spare_ports if f"{at[0]}:{at[1]}" not in plugged}
    closed = tuple(
        made(item, ports=tuple(made(port, empty=port.empty or (item.name, port.port) in spare) for port in item.ports))
        for item in site.switches
    )
    return _site(world, complete=complete, switches=closed)


def _declared(table: Table, devices: tuple[str, ...]) -> Completeness:
    return Completeness(table=table, devices=devices, seen="2026-11-20", by="the completion")


# Copies.


def _in_list(fact: str, section: str, number: int, key: str, values: Iterable[object]) -> Unknown:
    def way(value: object) -> Change:
        def change(world: World) -> World:
            known = list(getattr(world.site, section))
            known[number] = made(known[number], **{key: value})
            return _site(world, **{section: tuple(known)})

        return change

    return Unknown(fact, tuple(map(way, values)))


def _site(world: World, **fields: object) -> World:
    return replace(world, site=made(world.site, **fields))


def made(model: M, **fields: object) -> M:
    """A copy with other fields. Recreated, for a copy would keep what the old one cached."""
    return type(model)(**{name: getattr(model, name) for name in type(model).model_fields} | fields)


__all__ = ["Decision", "Site", "Unknown", "completions", "decided", "listed", "made", "unknowns"]
