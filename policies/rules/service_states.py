"""Machines and hosts in service: TOP-24 a plan has none that failed or is in maintenance.

A warning, whether a plan has had the device for long or gets it now: a plan does not say which of its claims are
applied, and a tenant that runs must not be stopped because something of it failed. That nobody new is given one is
the allocator's part (`interlock.planning`), which refuses pins to them, too.
"""

from __future__ import annotations

from collections.abc import Iterator

from interlock.model.site.inventory import Host, Machine
from policies.about import components, devices
from policies.facts.fabric import part_in_words
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.proof import Severity

from .rule import Cause, Of, Polarity, Rule, RuleAnswer

_SAID = {"failed": "has failed", "maintenance": "is in maintenance"}


def _in_service(model: Model, _: Names) -> RuleAnswer:
    found = list(_devices(model))
    causes = (_cause(model, *item) for item in found if not item[1].in_service)
    return RuleAnswer(len(found), violated=tuple(causes))


def _devices(model: Model) -> Iterator[tuple[str, Machine | Host]]:
    """(vPOD or cluster, machine or host) of all that the site lists, each once; one that it does not list is told
    elsewhere.
    """
    site, plan = model.site.site, model.plan
    machines = [(vpod.name, name) for vpod in plan.vpods for name in vpod.machines]
    hosts = [(vpod.name, name) for vpod in plan.vpods for name in vpod.hosts]
    hosts += [(server.vpod, server.host) for server in plan.servers if server.vpod is not None]
    yield from ((vpod, site.machine[name]) for vpod, name in dict.fromkeys(machines) if name in site.machine)
    yield from ((vpod, site.host[name]) for vpod, name in dict.fromkeys(hosts) if name in site.host)


def _cause(model: Model, vpod: str, device: Machine | Host) -> Cause:
    part = part_in_words(model.plan.clusters, vpod)
    said = f"{device.name} {_SAID[device.state]}"
    return Cause(
        key=(vpod, device.name),
        message=f"{device.name} of {part} {_SAID[device.state]}: {device.state_reason}",
        witness=(part, said),
        hint="mend it and take its `state` out of the site file, or pin another and run `interlock lock`",
        specificity=30,
        about=(*components(vpod), *devices(device.name)),
    )


TOP_24 = Rule(
    id="TOP-24",
    title="machines and hosts of a plan are in service",
    severity=Severity.WARN,
    polarity=Polarity.STATED,
    why="what failed does not start, and what is in maintenance is switched off under whoever has it",
    source="derived: a device that its operator took out of service carries nobody's work",
    needs=("machines of vPODs", "hosts", "servers", "machines.state", "hosts.state"),
    ask=_in_service,
    of=Of.TENANT,
)
