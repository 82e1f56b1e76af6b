"""LIF-13: a machine or whole host that stands where another stood was seen self-tested before a plan uses it.

Another serial is another device, whatever it is called; a GPU node that left the site file and came back was out of
sight meanwhile. The lock notes both, and `interlock settle` takes the note away once there is evidence of the test. A
plan that has had the name for long is asked as well: the device is new to it.
"""

from __future__ import annotations

from interlock.planning.plan import UntestedDevice
from interlock.vocabulary.request_parts import RequestPart
from policies.about import SaidFact, components, devices
from policies.facts.kinds import PlanFacts
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.proof import Severity

from .rule import Cause, Of, Polarity, Rule, RuleAnswer
from .storage_fabrics import nodes_of


def _tested(model: Model, _: Names) -> RuleAnswer:
    plan, site = model.plan, model.site.site
    names = {name for vpod in plan.vpods for name in (*vpod.machines, *vpod.hosts)}
    names |= {name for cluster in plan.clusters for name in nodes_of(model, cluster)}
    count = sum(name in site.machine or (name in site.host and model.site.is_whole(name)) for name in names)
    return RuleAnswer(count, unknown=tuple(_cause(plan, one) for one in plan.untested))


def _cause(plan: PlanFacts, one: UntestedDevice) -> Cause:
    clusters = (RequestPart.parse(plan.owner, item.name).name for item in plan.clusters)
    part = f"{'cluster' if one.vpod in clusters else 'vPOD'} {one.vpod}"
    is_back = one.before == one.serial
    how = "left the site file and is back" if is_back else "is another device than before"
    was = f"{one.serial} was not in the site file" if is_back else f"{one.device} was {one.before}"
    return Cause(
        key=(one.vpod, one.device, one.serial),
        message=f"{one.device} of {part} {how}, and nobody is known to have tested it",
        witness=(was, f"{one.device} is {one.serial}"),
        hint=f"test it, write its step `self-tested` into the site's evidence, and run `interlock settle {plan.owner}`",
        missing=(SaidFact(f"that {one.serial} passed its self-test"),),
        specificity=30,
        about=(*components(one.vpod), *devices(one.device)),
    )


LIF_13 = Rule(
    id="LIF-13",
    title="a device that replaced another was tested before it is used",
    severity=Severity.ERROR,
    polarity=Polarity.PRESENCE,
    why="a spare that fails its links or memory takes the whole vPOD down at the first collective",
    source="derived: a repaired unit gets new cables, and the lock knows it by its serial alone",
    needs=("machines of vPODs", "whole hosts", "the lock's notes of what was replaced"),
    ask=_tested,
    of=Of.TENANT,
)
