"""The site's links: TOP-08 IPU-Links, TOP-09 GW-Links, TOP-15 legs of a host, CAP-03 switch ports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from interlock.hardware import MACHINES, PortBudget, management_verdict
from interlock.model.site.inventory import Cable, Endpoint, Host, Machine, Switch
from interlock.vocabulary.digits import is_number
from policies.about import devices
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.proof import Severity

from .racks import by_rack
from .rule import Cause, Of, Polarity, Rule, RuleAnswer


def _cables(model: Model, kind: str) -> list[Cable]:
    return [cable for cable in model.site.site.cables if cable.kind == kind]


# TOP-08


def _chain(model: Model, _: Names) -> RuleAnswer:
    cables = _cables(model, "ipu-link")
    causes = [*_used_twice(cables), *_astray(model, cables), *_bundles(model)]
    return RuleAnswer(len(cables), violated=tuple(causes))


def _used_twice(cables: list[Cable]) -> Iterator[Cause]:
    plugs = Counter(end for cable in cables for end in (cable.a, cable.b))
    for plug, times in sorted(plugs.items(), key=lambda item: str(item[0])):
        if times > 1:
            what = f"{times} cables are in the IPU-Link port {plug}"
            yield _link_cause(str(plug), what, (str(plug),), plug.device)


def _astray(model: Model, cables: list[Cable]) -> Iterator[Cause]:
    """Links that are none of a chain: out of the rack, past a neighbour, or to something that is no machine."""
    for cable in cables:
        a, b = (model.site.site.machine.get(end.device) for end in (cable.a, cable.b))
        where = f"{cable.a} – {cable.b}"
        if a is None or b is None:
            yield _link_cause(where, f"the IPU-Link {where} does not join two machines", (where,), *_ends(cable))
        elif a.logical_rack != b.logical_rack:
            racks = (f"{a.name} in {a.logical_rack}", f"{b.name} in {b.logical_rack}")
            yield _link_cause(where, f"the IPU-Link {where} leaves its logical rack", racks, *_ends(cable))
        elif abs(a.position - b.position) != 1 and not _closes(model, a, b):
            steps = (f"{a.name} at {a.position}", f"{b.name} at {b.position}")
            yield _link_cause(where, f"the IPU-Link {where} joins no neighbours", steps, *_ends(cable))


def _ends(cable: Cable) -> tuple[str, str]:
    """The devices that a cable joins."""
    return cable.a.device, cable.b.device


def _closes(model: Model, a: Machine, b: Machine) -> bool:
    positions = [item.position for item in model.site.site.machines if item.logical_rack == a.logical_rack]
    return {a.position, b.position} == {min(positions), max(positions)}


def _bundles(model: Model) -> Iterator[Cause]:
    """Neighbours have all the cables of a neighbour; the pair that closes a ring has all of them or none."""
    counted = model.site.hall.ipu_links
    for rack, machines in by_rack(list(model.site.site.machines)).items():
        for a, b in pairwise(machines):
            wanted = MACHINES[a.generation].ipu_links_per_neighbour.value
            number = counted[frozenset((a.name, b.name))]
            if b.position == a.position + 1 and number != wanted:
                yield _bundle_cause(rack, a, b, number, wanted)
        first, last = machines[0], machines[-1]
        around = counted[frozenset((first.name, last.name))]
        wanted = MACHINES[first.generation].ipu_links_per_neighbour.value
        if len(machines) > 2 and around not in (0, wanted):
            yield _bundle_cause(rack, last, first, around, wanted)


def _bundle_cause(rack: str, a: Machine, b: Machine, number: int, wanted: int) -> Cause:
    what = f"{a.name} and {b.name} of logical rack {rack} have {number} IPU-Link cables, not {wanted}"
    return _link_cause(f"{a.name} {b.name}", what, (f"{a.name} – {b.name}: {number} of {wanted}",), a.name, b.name)


def _link_cause(key: str, message: str, witness: tuple[str, ...], *named: str) -> Cause:
    """`named`: the devices that message and witness name."""
    hint = "correct the cable in the site file, or in the rack"
    return Cause(key, message, witness, hint, specificity=35, about=devices(*named))


# TOP-09


def _gateways(model: Model, _: Names) -> RuleAnswer:
    cables = _cables(model, "gw-link")
    causes = [*_too_many_links(model, cables), *_wrong_links(model, cables), *_too_many_racks(model, cables)]
    return RuleAnswer(len(cables), violated=tuple(causes))


def _too_many_links(model: Model, cables: list[Cable]) -> Iterator[Cause]:
    degree = Counter(end.device for cable in cables for end in (cable.a, cable.b))
    for machine in model.site.site.machines:
        ports = MACHINES[machine.generation].gw_link_ports.value
        if degree[machine.name] > ports:
            found = [item for item in cables if machine.name in _ends(item)]
            what = f"{machine.name} has {degree[machine.name]} GW-Links on {ports} ports"
            joined = (device for item in found for device in _ends(item))
            yield _link_cause(
                machine.name, what, tuple(f"{item.a} – {item.b}" for item in found), machine.name, *joined
            )


def _wrong_links(model: Model, cables: list[Cable]) -> Iterator[Cause]:
    for cable in cables:
        where = f"{cable.a} – {cable.b}"
        machines = [model.site.site.machine.get(end.device) for end in (cable.a, cable.b)]
        switches = [model.site.site.switch.get(end.device) for end in (cable.a, cable.b)]
        a, b = machines
        if a is not None and b is not None:
            why = _unequal(a, b)
        else:
            switched = any(machines) and any(switch is not None and switch.role == "gw-link" for switch in switches)
            why = "" if switched else "ends neither at a machine nor at a GW-Link switch"
        if why:
            yield _link_cause(where, f"the GW-Link {where} {why}", (where,), *_ends(cable))


def _unequal(a: Machine, b: Machine) -> str:
    if a.logical_rack == b.logical_rack:
        return f"stays in logical rack {a.logical_rack}"
    return "" if a.position == b.position else f"joins positions {a.position} and {b.position}"


def _too_many_racks(model: Model, cables: list[Cable]) -> Iterator[Cause]:
    """Two ports on each machine make a path or a ring of logical racks, and nothing else."""
    machine = model.site.site.machine
    pairs = {
        frozenset((machine[cable.a.device].logical_rack, machine[cable.b.device].logical_rack))
        for cable in cables
        if cable.a.device in machine and cable.b.device in machine
    }
    peers = Counter(rack for pair in pairs if len(pair) == 2 for rack in pair)
    for rack, number in sorted(peers.items()):
        if number > 2:
            others = tuple(sorted(other for pair in pairs if rack in pair for other in pair - {rack}))
            yield _link_cause(rack, f"logical rack {rack} has GW-Links to {number} others: no path, no ring", others)


# TOP-15


def _legs_together(model: Model, _: Names) -> RuleAnswer:
    pairs = [
        (host, network, names)
        for host in model.site.site.hosts
        for network, names in sorted(host.interfaces.items())
        if len(names) > 1 and host.provisioning == "hypervisor"
    ]
    causes = (_parted(model, host, network, names) for host, network, names in pairs)
    return RuleAnswer(len(pairs), violated=tuple(cause for cause in causes if cause is not None))


def _parted(model: Model, host: Host, network: str, names: tuple[str, ...]) -> Cause | None:
    ends = {name: model.site.site.far_end(host.name, name) for name in names}
    switches = {end.device for end in ends.values() if end is not None}
    if len(switches) < 2:
        return None
    legs = {Endpoint(device=host.name, interface=name): end for name, end in ends.items() if end is not None}
    return Cause(
        key=(host.name, network),
        message=f"the legs of {host.name} on {network} end at {' and '.join(sorted(switches))}",
        witness=tuple(f"{leg} – {end}" for leg, end in legs.items()),
        hint="virtual functions lie on the pair: cable both legs to one switch",
        specificity=34,
        about=devices(host.name, *sorted(switches)),
    )


# CAP-03


def _ports_suffice(model: Model, _: Names) -> RuleAnswer:
    causes = [cause for switch in model.site.site.switches for cause in _port_faults(model, switch)]
    return RuleAnswer(len(model.site.site.switches), violated=tuple(causes))


def _port_faults(model: Model, switch: Switch) -> Iterator[Cause]:
    cabled = model.site.hall.plugs_of.get(switch.name, frozenset())
    numbers = {int(name) for name in cabled if is_number(name)}
    total = sum(count for _, count in switch.port_groups)
    beyond = sorted(number for number in numbers if not 1 <= number <= total)
    if beyond:
        ports = ", ".join(map(str, beyond))
        yield _port_cause(switch, f"has no port {ports}: there are {total}", Severity.ERROR)
    if switch.role == "management":
        # A full ToR is how it is meant. What lies beyond the last port is told above, so no port is ever missing here.
        first = sum(count for _, count in switch.port_groups[:1])
        verdict = management_verdict(PortBudget(sum(1 <= number <= first for number in numbers), first))
        if verdict.reason:
            yield _port_cause(switch, verdict.reason, Severity.WARN)


def _port_cause(switch: Switch, why: str, severity: Severity) -> Cause:
    return Cause(
        key=(switch.name, why),
        message=f"{switch.name}: {why}",
        witness=(f"{switch.name}, {switch.model}",),
        hint="cable less to it, or put in a second switch",
        specificity=30,
        severity=severity,
        about=devices(switch.name),
    )


TOP_08 = Rule(
    id="TOP-08",
    title="IPU-Link cables make the chain of each logical rack",
    severity=Severity.ERROR,
    polarity=Polarity.BOTH,
    why="partitions are cut from the links that there are, not from those that the list should have",
    source="Graphcore, Bow Pod64 build and test guide, front panel: 8 IPU-Link ports; derived: 4 to each neighbour",
    needs=("machines", "IPU-Link cables"),
    ask=_chain,
    of=Of.SITE,
)
TOP_09 = Rule(
    id="TOP-09",
    title="GW-Link cables join equal positions of logical racks, two on each machine",
    severity=Severity.ERROR,
    polarity=Polarity.ABSENCE,
    why="a GW-Link between unequal positions carries nothing that V-IPU knows",
    source="Graphcore, IPU-POD direct-attach guide, overview: GW-Links join same-numbered machines",
    needs=("machines", "GW-Link cables", "switches.role"),
    ask=_gateways,
    of=Of.SITE,
)
TOP_15 = Rule(
    id="TOP-15",
    title="both 100G legs of a hypervisor end at one switch",
    severity=Severity.ERROR,
    polarity=Polarity.ABSENCE,
    why="a virtual function lies on both legs as one link, and two switches do not make one link",
    source="reference design, v-pods §4.1.1: VF-LAG, both legs on one ToR",
    needs=("hosts.interfaces", "cables"),
    ask=_legs_together,
    of=Of.SITE,
)
CAP_03 = Rule(
    id="CAP-03",
    title="switches have the ports that are cabled",
    severity=Severity.ERROR,
    polarity=Polarity.STATED,
    why="a port too many is found when the rack is built",
    source="Graphcore, IPU-POD64 datasheet: 7060X with 32×100G and 2×10G, 7010T with 48×1G and 4×10G",
    needs=("switches.port_groups", "cables"),
    ask=_ports_suffice,
    of=Of.SITE,
)
