"""Compares what a switch says with what the site states and what plans set. Pure: no file, no network, no clock."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from interlock.model.site.inventory import Site, Switch, SwitchPortConfig
from interlock.model.text.values import Range
from interlock.resources import SwitchPort

from .cabling import FarEnds, cable_findings
from .filled import PlannedNetwork, filled_trunk, networks_at
from .findings import NOBODY, NOT_SAID, SITE_FILE, FindingKind, SwitchFinding
from .observed import ALL_VLANS, NO_VLAN, ObservedPort, ObservedSwitch, joined, ranges_text
from .routing import routing_findings


@dataclass(frozen=True)
class PlannedPort:
    """A switch port of a plan."""

    stack: str
    port: SwitchPort


@dataclass(frozen=True)
class Wanted:
    """How a port should be. None is what nobody states."""

    by: str
    #: Words for all of it.
    words: str
    enabled: bool | None = None
    mode: str | None = None
    #: VLAN of untagged frames; `NO_VLAN` for none.
    untagged: int | None = None
    #: All VLANs of a trunk.
    carries: tuple[Range, ...] | None = None
    tags_native: bool | None = None


def compare(
    site: Site,
    switch: Switch,
    planned: Iterable[PlannedPort],
    observed: ObservedSwitch,
    names: Mapping[int, str],
    far_ends: FarEnds | None = None,
    networks: Iterable[PlannedNetwork] = (),
) -> tuple[SwitchFinding, ...]:
    """Every difference, in the order of the ports, and all that could not be compared.

    `planned`: of all stacks; those of other switches are left out. `names`: port number -> the switch's own name.
    `networks`: of all stacks, for trunks that Neutron fills.
    A port that nothing states rests in any of the site's reserved VLANs: no tenant is ever given one.
    """
    plans, there = dict[int, list[PlannedPort]](), networks_at(site, switch.name, networks)
    for item in planned:
        if item.port.switch == switch.name:
            plans.setdefault(item.port.port, []).append(item)
    findings = list[SwitchFinding]()
    for number in sorted({*names, *switch.by_port, *plans}):
        wanted = [*_planned(plans.get(number, ())), *_stated(switch, number, taken=number in plans)]
        findings += _port(site, switch.name, number, names.get(number, ""), wanted, observed)
        config, port = switch.by_port.get(number), observed.ports.get(names.get(number, ""))
        if config is not None and config.filled_by and port is not None and port.mode == "trunk":
            findings += filled_trunk(switch.name, config, there, port)
    findings += _unnumbered(site, switch.name, names, observed)
    findings += routing_findings(switch, observed)
    findings += cable_findings(site, switch, observed, names, far_ends or {})
    return tuple(findings)


def _planned(plans: Iterable[PlannedPort]) -> Iterator[Wanted]:
    for item in plans:
        port = item.port
        words = f"sets access VLAN {port.vlan} for {port.device}:{port.interface}"
        yield Wanted(f"the plan of {item.stack}", words, enabled=True, mode="access", untagged=port.vlan)


def _stated(switch: Switch, number: int, *, taken: bool) -> Iterator[Wanted]:
    """What the site file states; nothing of an access port without a VLAN, which it leaves to plans.

    `taken`: a plan sets the port. It then is what the plan says, also where the site has a trunk for whoever has no
    plan; that it is disabled, routed or in another VLAN still contradicts the plan, so one of both differs.
    """
    config = switch.by_port.get(number)
    left_to_plans = config is None or (config.mode == "access" and config.untagged is None)
    if config is None or left_to_plans or (taken and config.mode in ("trunk", "dot1q-tunnel")):
        return
    yield _wanted(config)


def _wanted(config: SwitchPortConfig) -> Wanted:
    if config.mode == "disabled":
        return Wanted(SITE_FILE, "has it disabled", enabled=False)
    if config.mode == "routed":
        return Wanted(SITE_FILE, "has it routed", enabled=True, mode="routed")
    if config.mode != "trunk":
        words = f"has {config.mode} VLAN {config.untagged or 'unknown'}"
        return Wanted(SITE_FILE, words, enabled=True, mode=config.mode, untagged=config.untagged)
    if config.filled_by is not None:
        native = NO_VLAN if config.untagged is None or config.tag_native else config.untagged
        words = f"has a trunk that Neutron fills, native {native or 'none'}"
        return Wanted(SITE_FILE, words, True, "trunk", native, None, config.tag_native)
    native = NO_VLAN if config.untagged is None or config.tag_native else config.untagged
    tagged = ALL_VLANS if config.tagged is None else config.tagged
    own = ((config.untagged, config.untagged),) if config.untagged is not None else ()
    carries = joined((*tagged, *own))
    words = f"has trunk {ranges_text(carries)} native {native or 'none'}"
    return Wanted(SITE_FILE, words, True, "trunk", native, carries, config.tag_native)


def _port(
    site: Site, switch: str, number: int, name: str, wanted: list[Wanted], observed: ObservedSwitch
) -> Iterator[SwitchFinding]:
    port = observed.ports.get(name) if name else None
    if port is None:
        said = "no such port" if name else "nothing: the model has no port of this number"
        by, words = (wanted[0].by, wanted[0].words) if wanted else (NOBODY, "states it")
        found = FindingKind.DIFFERENT if any(item.enabled for item in wanted) else FindingKind.UNKNOWN
        yield SwitchFinding(found, switch, number, name, "port", words, said, by)
        return
    if not wanted:
        yield from _at_rest(site, switch, number, port)
    for item in wanted:
        for found, about, said in _differences(item, port, observed):
            yield SwitchFinding(found, switch, number, name, about, item.words, said, item.by)
    yield from _not_read(switch, number, name, observed, site)


Difference = tuple[FindingKind, str, str]


def _differences(wanted: Wanted, port: ObservedPort, observed: ObservedSwitch) -> Iterator[Difference]:
    """(kind, what it is about, what the switch says) of all that is not as wanted."""
    if wanted.enabled is not None and wanted.enabled != port.admin_up:
        state = {True: "enabled", False: "disabled"}
        yield _kind(port.admin_up), "admin state", NOT_SAID if port.admin_up is None else state[port.admin_up]
    if not wanted.enabled:
        return
    if wanted.mode is not None and wanted.mode != port.mode:
        # What it carries in another mode than the wanted one is all told in one.
        yield _kind(port.mode), "mode", NOT_SAID if port.mode is None else setting_text(port)
        return
    if wanted.untagged is not None and wanted.untagged != port.untagged:
        about = "native VLAN" if wanted.mode == "trunk" else "VLAN"
        yield _kind(port.untagged), about, NOT_SAID if port.untagged is None else str(port.untagged or "none")
    if wanted.carries is not None and wanted.carries != port.allowed:
        yield _kind(port.allowed), "trunk", NOT_SAID if port.allowed is None else ranges_text(port.allowed)
    if wanted.tags_native is not None and wanted.tags_native != port.tags_native:
        said = {True: "it is tagged", False: "it is not tagged", None: NOT_SAID}[port.tags_native]
        yield _kind(port.tags_native), "tag of the native VLAN", said
    if wanted.mode == "access" and wanted.untagged and port.access_vlan == wanted.untagged:
        if observed.vlans is None:
            yield FindingKind.UNKNOWN, "VLAN", f"nothing of whether VLAN {wanted.untagged} exists"
        elif wanted.untagged not in observed.vlans:
            yield FindingKind.DIFFERENT, "VLAN", f"that there is no VLAN {wanted.untagged}, so the port carries nothing"


def _kind(said: object) -> FindingKind:
    return FindingKind.UNKNOWN if said is None else FindingKind.DIFFERENT


def _at_rest(site: Site, switch: str, number: int | None, port: ObservedPort) -> Iterator[SwitchFinding]:
    """A port that nothing states: disabled, or in no VLAN that a tenant could be in."""
    if port.admin_up is False:
        return
    if port.mode == "access" and port.access_vlan in site.pools.reserved_vlans:
        return
    if port.mode == "access" and port.access_vlan == NO_VLAN:
        return
    found, about = (FindingKind.UNKNOWN, "mode") if port.mode is None else (FindingKind.UNSTATED, "port")
    said = NOT_SAID if port.mode is None else setting_text(port)
    yield SwitchFinding(found, switch, number, port.name, about, "states it", said, NOBODY)


def _unnumbered(site: Site, switch: str, names: Mapping[int, str], observed: ObservedSwitch) -> Iterator[SwitchFinding]:
    """Interfaces that the site file cannot name: bundles, and parts of split ports."""
    numbered = set(names.values())
    for name, port in observed.ports.items():
        if name not in numbered:
            yield from _at_rest(site, switch, None, port)


def _not_read(switch: str, number: int, name: str, observed: ObservedSwitch, site: Site) -> Iterator[SwitchFinding]:
    """What the site states of a port and no reader asks for."""
    config = site.switch[switch].by_port.get(number)
    if config is None or observed.ports.get(name) is None:
        return
    asked = (("translations", bool(config.translations)), ("private VLAN", config.private_vlan is not None))
    for about, is_stated in asked:
        if is_stated:
            yield SwitchFinding(FindingKind.UNKNOWN, switch, number, name, about, "states one", NOT_SAID, SITE_FILE)


def setting_text(port: ObservedPort) -> str:
    """Mode and VLANs of a port in the words of a site file; `?` where the switch does not say it."""
    if port.mode in ("access", "dot1q-tunnel"):
        return f"{port.mode} {'?' if port.access_vlan is None else port.access_vlan or 'none'}"
    if port.mode == "trunk":
        carried = "?" if port.allowed is None else ranges_text(port.allowed)
        native = "?" if port.native_vlan is None else port.native_vlan or "none"
        return f"trunk {carried} native {native}"
    return port.mode or "?"
