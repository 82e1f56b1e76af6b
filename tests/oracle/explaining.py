"""Why the prover refuses what the oracle finds clean. Each reason is looked for in the oracle's own model of the world:
what a finding says of itself explains nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

from interlock.model.site.inventory import Site, Switch
from interlock.resources import Router, RouterInterface, Subnet
from interlock.vocabulary.nodes import VlanNode, parse
from policies.proof import Finding, Verdict

from .oracle import Pair, leaks, terrain_of
from .readings import Facts, PortId
from .second_tags import both_ways, meetings_both_ways
from .terrain import Place, Terrain, flood
from .world import FOREIGN, OP, OUTSIDE, World

M = TypeVar("M", Site, Switch)

SECOND_TAGS = "by second tags, which the graph takes for both ways"
BEHIND_A_PORT = "by second tags behind a port that may join all"
BY_A_PORT = "through a port that may join all"
LOST = "of a record between two things that nobody has"

#: A way by a port that nobody knows, or of which nobody can say what it carries (Q-in-Q): it may join everything at
#: both its ends, whatever the other end of its cable takes. In brackets: what is known of it, as its translations.
_UNKNOWN_PORT = re.compile(r"– \? \S+ (port \d+|\w+ VLAN \d+)( \([^()]*\))? – \?")
#: The fact that a port has no record, or carries tags inside tags.
_PORT_FACT = re.compile(r"switches\.\S+\.ports\.\d+(\.mode)?")
_WORD = re.compile(r"[\w-]+")


def explained(world: World, findings: Sequence[Finding]) -> str:
    """Why the prover refuses what the oracle finds clean; empty unless every single finding has a reason.

    A port that nobody knows: acme and globex have VLAN 1001, each on its own leaf. The uplink of leaf-2 has no record,
    that of leaf-1 lets nothing pass. The oracle sends a frame into leaf-1's port and it is gone: clean. The prover
    looks at the end that nobody knows, says that it may join everything at both, whatever the other end takes, and
    finds ISO-01, ISO-02 and ISO-11 not provable. Each of the three goes by that cable, and the oracle itself says
    *perhaps* once it does not know leaf-1's port either, so each is explained. A fourth finding by any other way, or
    one that is violated for certain, would leave the world unexplained: `over`, which no run may have.

    Second tags (E21): acme's VLAN 1001 leaves leaf-1 untagged, globex's 1002 leaf-2, and the spine takes 1099 of both.
    Either may write into 1099, and neither hears the other. The graph has no direction and joins all three. A finding
    is explained if the oracle, which then takes its own ways for both ways, gets along the VLANs that the finding
    names and has the owners meet that it names. A way that is none, or that nobody may take, is not explained.

    A record of a plan that leads from nothing to nothing: each is a stranger's, and the record itself joins no one. The
    page wants it refused for whose plan it is in.
    """
    both = _Joined(world), _Joined(_loosened(world))
    kinds = {_kind(world, both, finding) for finding in findings}
    return "" if "" in kinds else " and ".join(sorted(kinds))


def _kind(world: World, both: tuple[_Joined, _Joined], finding: Finding) -> str:
    """The kind of over-report that a finding is; empty: none that is known."""
    if finding.verdict is not Verdict.NOT_PROVABLE:
        return ""
    if finding.rule == "FACT-01":
        return LOST if finding.witness[-1] in _leading_nowhere(world) else ""
    if any("second tag" in fact for fact in finding.missing):
        return SECOND_TAGS if both[0].says(finding) else BEHIND_A_PORT if both[1].says(finding) else ""
    # Who may call a controller, or use a share from its addresses, is found by the same cable, and told without the
    # way there: then the facts say it.
    is_right = finding.rule == "AUTH-01" and {*map(bool, map(_PORT_FACT.fullmatch, finding.missing))} == {True}
    is_by_port = is_right or _UNKNOWN_PORT.search(" – ".join(finding.witness))
    return BY_A_PORT if is_by_port and leaks(_loosened(world)).may else ""


@dataclass(frozen=True)
class _Joined:
    """A world, and what the oracle sees of it where second tags join both their ends."""

    world: World

    @cached_property
    def terrain(self) -> Terrain:
        return both_ways(terrain_of(self.world))

    @cached_property
    def pairs(self) -> frozenset[Pair]:
        return meetings_both_ways(self.world)

    def says(self, finding: Finding) -> bool:
        """The oracle gets along all VLANs that the finding names, and each owner of it meets another one of it."""
        owners = self._owners(finding)
        met = {owner for pair in self.pairs if pair <= owners for owner in pair}
        return len(owners) > 1 and owners == met and self._is_one_wire(list(_places(finding)))

    def _is_one_wire(self, places: list[Place]) -> bool:
        reached = flood(self.terrain, places[:1], must=False)
        return all(place in reached for place in places)

    def _owners(self, finding: Finding) -> set[str]:
        """The owners, or vPODs, that the finding speaks of; where it names only one, those at its steps as well."""
        plans = self.world.plans
        known = {OP, OUTSIDE, FOREIGN, *plans, *(item.name for plan in plans.values() for item in plan.components)}
        named = known.intersection(_WORD.findall(finding.message))
        return named if len(named) > 1 else named | known.intersection(_WORD.findall(" ".join(finding.witness)))


def _places(finding: Finding) -> Iterator[Place]:
    """The VLANs on a finding's way as the oracle calls them, but those as members of a private VLAN meet them."""
    for node in map(parse, finding.path):
        if isinstance(node, VlanNode) and node.group is None:
            serial, on_host, interface = node.bridge.partition("/")
            yield ("nic", serial, interface, node.number) if on_host else ("bridge", serial, node.number)


def _leading_nowhere(world: World) -> set[str]:
    """References of router interfaces both ends of which lead nowhere."""
    return {
        name
        for stack in world.stacks
        for _, leg in stack.all(RouterInterface)
        if stack.find(Router, leg.router) is None and stack.find(Subnet, leg.subnet) is None
        for name in (leg.router, leg.subnet)
    }


def _loosened(world: World) -> World:
    """The same world, where nobody knows the other end either of a cable between switches with one unknown end."""
    facts = Facts(world)
    beside = {pair[::step][0] for pair in facts.ends[0] for step in (1, -1) if _is_unknown(facts, pair[::step][1])}
    switches = (
        _with(item, ports=tuple(port for port in item.ports if (item.name, port.port) not in beside))
        for item in world.site.switches
    )
    return replace(world, site=_with(world.site, switches=tuple(switches)))


def _is_unknown(facts: Facts, at: PortId) -> bool:
    return any(setting.mode in ("unknown", "dot1q-tunnel") for setting in facts.of_port(*at))


def _with(model: M, **fields: object) -> M:
    """Recreated, for a copy would keep what the old one cached."""
    return type(model)(**{name: getattr(model, name) for name in type(model).model_fields} | fields)
