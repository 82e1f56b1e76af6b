"""Reads switches of a site and compares each with the site and the plans of all stacks."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Collection, Container, Iterable, Mapping
from dataclasses import dataclass

from infra.program.gate import Gate
from infra.stack.handing_over import Handover
from infra.stack.read_back import ReadBack, read_back
from interlock.model.site.inventory import Site
from interlock.model.text.errors import Code, InputError, InputErrors
from interlock.model.text.validation import nearest
from interlock.resources import Network, SwitchPort
from interlock.switches.comparison import PlannedPort, compare
from interlock.switches.errors import SwitchUnread
from interlock.switches.filled import PlannedNetwork
from interlock.switches.findings import DIFFERENCES, FindingKind, SwitchFinding
from interlock.switches.loading import SwitchesRead, load_switches, switches_file
from interlock.switches.names import port_names
from interlock.switches.observed import ObservedSwitch
from interlock.switches.reading import SwitchTarget, read_switches
from interlock.switches.transport import TimeLimits


@dataclass(frozen=True)
class Surveyed:
    """One switch that was read."""

    observed: ObservedSwitch
    #: Port number -> the switch's own name.
    names: Mapping[int, str]
    findings: tuple[SwitchFinding, ...]


@dataclass(frozen=True)
class Survey:
    """The switches that were asked for."""

    site: str
    switches: Mapping[str, Surveyed]
    unread: Mapping[str, SwitchUnread]

    @property
    def findings(self) -> tuple[SwitchFinding, ...]:
        """Those of all switches."""
        return tuple(finding for item in self.switches.values() for finding in item.findings)

    @property
    def differs(self) -> bool:
        """True if a switch says something else than is stated or planned."""
        return any(finding.found in DIFFERENCES for finding in self.findings)

    @property
    def is_unknown(self) -> bool:
        """True if something that is stated or planned could not be compared."""
        return any(finding.found is FindingKind.UNKNOWN for finding in self.findings)


def now() -> datetime.datetime:
    """The time, in UTC."""
    return datetime.datetime.now(datetime.UTC)


def planned_ports(gate: Gate, applied: Container[str] | None = None) -> tuple[PlannedPort, ...]:
    """The switch ports that the plans of all stacks set, or of those that are applied. Raises as `Gate.plan` does."""
    plans = [gate.plan(tenant) for tenant in gate.stacks()]
    return tuple(
        PlannedPort(plan.stack, item.resource)
        for plan in plans
        if applied is None or plan.stack in applied
        for item in plan.resources
        if isinstance(item.resource, SwitchPort)
    )


def planned_networks(gate: Gate, applied: Container[str] | None = None) -> tuple[PlannedNetwork, ...]:
    """The networks with a VLAN of the plans of all stacks. Raises as `Gate.plan` does."""
    return tuple(
        PlannedNetwork(
            plan.stack, spec.physical_network, spec.segmentation_id, applied is None or plan.stack in applied
        )
        for plan in (gate.plan(tenant) for tenant in gate.stacks())
        for spec in (item.resource for item in plan.resources)
        if isinstance(spec, Network) and spec.physical_network is not None and spec.segmentation_id is not None
    )


def survey(
    gate: Gate,
    names: Iterable[str],
    progress: Callable[[str], None] = lambda _: None,
    limits: TimeLimits | None = None,
    applied: Container[str] | None = None,
) -> Survey:
    """Read these switches of the site, or all. Raises `InputErrors` for names and files; a switch that cannot be read
    is part of the result. `applied`: the stacks whose ports are set by now; None: all are meant to be.
    """
    site = gate.workspace.site
    asked = _asked(site, names, gate.workspace.position("switches"))
    planned, networks = planned_ports(gate, applied), planned_networks(gate, applied)
    known = load_switches()
    named, unread = _named(site, asked, known)
    targets = [_target(site, known, name) for name in named]
    surveyed = dict[str, Surveyed]()
    for name, found in read_switches(targets, now, limits, progress).items():
        if isinstance(found, SwitchUnread):
            unread[name] = found
        else:
            findings = compare(site, site.switch[name], planned, found, named[name], named, networks)
            surveyed[name] = Surveyed(found, named[name], findings)
    return Survey(site.name, surveyed, {name: unread[name] for name in asked if name in unread})


def survey_of_audit(gate: Gate, applied: Container[str], progress: Callable[[str], None] = lambda _: None) -> Survey:
    """Read what an audit looks at: each switch that Neutron wires, or that `switches.yaml` knows. Raises as `survey`.

    Switches that people or pipelines wire may be out of our reach; those that Neutron wires are what was applied.
    """
    site, file = gate.workspace.site, switches_file()
    wired = [switch.name for switch in site.switches if switch.wired_by == "neutron"]
    if not file.exists():
        hint = "write it (docs/reference/switches-file.md)"
        return Survey(site.name, {}, {name: SwitchUnread(name, f"there is no {file.name}", hint) for name in wired})
    known = load_switches().switches
    names = [switch.name for switch in site.switches if switch.name in wired or switch.name in known]
    return survey(gate, names, progress, applied=applied) if names else Survey(site.name, {}, {})


def read_back_of(gate: Gate, handover: Handover) -> ReadBack:
    """What the switches that can be asked say of what is handed over. Raises `InputErrors` for `switches.yaml`."""
    if not switches_file().exists():
        return ReadBack()
    site, known = gate.workspace.site, load_switches()

    def ask(names: Collection[str]) -> Mapping[str, ObservedSwitch | SwitchUnread]:
        return read_switches((_target(site, known, name) for name in names), now)

    lock = gate.workspace.site_lock
    recorded = lock.services if lock is not None else {}
    return read_back(site, handover.demands, handover.tenant, ask, known.switches, recorded)


def _target(site: Site, known: SwitchesRead, name: str) -> SwitchTarget:
    return SwitchTarget(known.switches[name], site.switch[name].serial, site.switch[name].mac)


def _asked(site: Site, names: Iterable[str], position: str) -> tuple[str, ...]:
    wrong = [name for name in dict.fromkeys(names) if name not in site.switch]
    if wrong:
        raise InputErrors(
            InputError(Code.NO_SUCH, position, f"`{name}` is not a switch of this site", nearest(name, site.switch))
            for name in wrong
        )
    return tuple(dict.fromkeys(names)) or tuple(site.switch)


def _named(
    site: Site, asked: Iterable[str], known: SwitchesRead
) -> tuple[dict[str, Mapping[int, str]], dict[str, SwitchUnread]]:
    """The port names of each switch that can be asked, and why the others cannot."""
    named, unread = dict[str, Mapping[int, str]](), dict[str, SwitchUnread]()
    for name in asked:
        access = known.switches.get(name)
        try:
            if access is None:
                what, hint = f"{known.file} has no switch of this name", nearest(name, known.switches)
                raise SwitchUnread(name, what, f"add `{name}` under `switches:`; {hint}")
            named[name] = port_names(site.switch[name], access.platform)
        except SwitchUnread as error:
            unread[name] = error
    return named, unread
