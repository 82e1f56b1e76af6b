"""Answers of rules that follow from no fact of a statement, found again from plan and site.

Each says what must not be there, or what nobody knows: where it finds something, a certificate may not call the rule
proved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from ipaddress import ip_network
from itertools import combinations

from infra.checker import ASKED

from . import references
from .address_ranges import inside, ip_ranges
from .cluster_answers import foreign_ports, left_out, without_storage
from .controllers import called_elsewhere, keys_told, not_backed_up, skewed, without_keys
from .gpu_groups import parts_of_nodes
from .ground import EVERYBODY, Json
from .plans import PlanOfStack
from .whole_nodes import parts_and_reused

#: Rules that a statement answers by itself: the checker finds what they look for in the facts, and in what calls allow.
BY_FACTS = frozenset({"AUTH-01", "ISO-01", "ISO-02", "ISO-11", "SEC-05", "TOP-06"})
#: Whose stack is asked -> the rules of severity W or I: without them a certificate is sound, and says less.
WARNING = {
    "both": "ISO-10 ISO-26 L3-07 L3-12",
    "tenant": "SW-02 SW-04 SW-10 SW-15 SW-18 SW-19 TOP-04 TOP-24",
    "site": "PWR-06 TOP-25",
}
#: What rules that find something say, and what their findings say.
_FOUND = ("violated", "not provable")
#: Machines of a logical rack.
_RACK = 16


def _entries(plan: PlanOfStack) -> Iterator[str]:
    """Expo: what is open to everybody is what the request declares."""
    for name, item in plan.all("FloatingIp").items():
        if item["external_network"] != references.EXTERNAL:
            yield f"{name} is an address of {item['external_network']}"
    policies = plan.all("BucketPolicy").values()
    is_open = {
        item["bucket"]
        for item in policies
        if any(EVERYBODY in statement["principals"] for statement in item["statements"])
    }
    found = {*plan.all("FloatingIp")} | is_open
    yield from (f"{name} is open and not declared" for name in sorted(found - {*plan.public}))
    yield from (f"{name} is declared and not open" for name in sorted({*plan.public} - found))
    for name in plan.all("FloatingIp").keys() & {*plan.public}:
        yield from _let_in(plan, name)


def _let_in(plan: PlanOfStack, entry: str) -> Iterator[str]:
    """Whoever gets in by a public address is of the prefixes stated for it, or has a port of the plan."""
    port = plan.all("Port").get(plan.all("FloatingIp")[entry]["port"])
    if port is None:
        return
    if port["vnic_type"] != "normal" or not port["port_security"]:
        yield f"nothing filters behind {entry}"
        return
    stated = ip_ranges([*plan.public_from.get(entry, []), *_beside(plan, port)])
    for name in port["security_groups"]:
        group = plan.all("SecurityGroup").get(name)
        if group is None:
            yield f"nobody states what {name} lets in behind {entry}"
            continue
        for rule in group["rules"]:
            prefix = rule["remote_prefix"]
            outward = rule["direction"] != "ingress" or (prefix is None and rule["remote_group"] is not None)
            if not outward and (prefix is None or not inside(prefix, stated)):
                yield f"{name} lets in {prefix or 'everybody'} behind {entry}, which is not stated"


def _beside(plan: PlanOfStack, port: Json) -> list[str]:
    """The prefix of the port's own subnet if it is the site's to give: its addresses are those of ports of the plan."""
    beside, pools = plan.all("Subnet").get(port["subnet"]), plan.inventory.site["pools"]
    given = [pools[name][0] for name in pools if name.endswith("_subnets") and pools[name] is not None]
    return (
        [beside["cidr"]]
        if beside is not None and any(inside(beside["cidr"], ip_ranges([one])) for one in given)
        else []
    )


def _targets(plan: PlanOfStack) -> Iterator[str]:
    """A floating address leads to a server of its owner's alone, and to no controller."""
    holders = {port: name for name, item in plan.servers.items() for port in plan.ports_of(item)}
    for name, item in plan.all("FloatingIp").items():
        server = holders.get(item["port"])
        if server is None:
            yield f"{name} leads to no server"
        elif plan.is_controller(server) or plan.owner_of(item["project"]) != plan.owner:
            yield f"{name} leads to {server}"
        elif (others := plan.controllers_of(plan.servers[server])) != {plan.owner}:
            yield f"{name} leads to {server} of {' and '.join(sorted(others))}"


def _subnets(plan: PlanOfStack) -> Iterator[str]:
    """Subnets that one router or one server has a part in are disjoint."""
    prefixes = {name: item["cidr"] for name, item in plan.all("Subnet").items()}
    prefixes[references.EXTERNAL_SUBNET] = plan.inventory.site["external"]["cidr"]
    for where, names in _meeting(plan):
        for name in names:
            if len(names) > 1 and name not in prefixes:
                yield f"nobody states the addresses of {name}, met at {where}"
        known = [(name, ip_network(prefixes[name], strict=False)) for name in names if name in prefixes]
        yield from (f"{a} and {b} overlap at {where}" for (a, x), (b, y) in combinations(known, 2) if x.overlaps(y))


def _meeting(plan: PlanOfStack) -> Iterator[tuple[str, list[str]]]:
    for name, router in plan.all("Router").items():
        inside = [item["subnet"] for item in plan.all("RouterInterface").values() if item["router"] == name]
        is_out = router["external_network"] == references.EXTERNAL
        yield name, [*dict.fromkeys(inside), *([references.EXTERNAL_SUBNET] if is_out else [])]
    ports = plan.all("Port")
    for name, server in plan.servers.items():
        yield name, list(dict.fromkeys(ports[port]["subnet"] for port in plan.ports_of(server) if port in ports))


def _sizes(plan: PlanOfStack) -> Iterator[str]:
    for vpod, machines in plan.vpods.items():
        if not machines or len(machines) & (len(machines) - 1):
            yield f"{vpod} has {len(machines)} machines"


def _runs(plan: PlanOfStack) -> Iterator[str]:
    """The machines of a vPOD hang together by IPU-Links, in one logical rack; larger ones are whole racks."""
    known = plan.inventory.machines
    for vpod, names in plan.vpods.items():
        yield from (f"{name} of {vpod} is no machine of the site" for name in names if name not in known)
        machines = {name for name in names if name in known}
        if machines and len(machines) <= _RACK:
            racks = {known[name]["logical_rack"] for name in machines}
            if len(racks) > 1 or not _hang_together(machines, plan.inventory.ipu_links):
                yield f"the machines of {vpod} are no run: {', '.join(sorted(machines))}"


def _pieces(plan: PlanOfStack) -> Iterator[str]:
    """What has not failed hangs together, in each rack and from rack to rack, unless the whole never did."""
    known, links = plan.inventory.machines, plan.inventory.ipu_links
    for vpod, names in plan.vpods.items():
        racks: dict[str, set[str]] = {}
        for name in names:
            if name in known:
                racks.setdefault(known[name]["logical_rack"], set()).add(name)
        left = {rack: {name for name in found if known[name]["state"] != "failed"} for rack, found in racks.items()}
        if racks and not any(left.values()):
            yield f"nothing is left of {vpod}: {', '.join(sorted(name for found in racks.values() for name in found))}"
        for rack, machines in racks.items():
            if left[rack] and _hang_together(machines, links) and not _hang_together(left[rack], links):
                yield f"what is left of {vpod} is in pieces: {', '.join(sorted(left[rack]))}"
        whole, some = set[str]().union(*racks.values()), set[str]().union(*left.values())
        if len(racks) > 1 and some and _by_gateways(plan, racks, whole) and not _by_gateways(plan, left, some):
            yield f"what is left of {vpod} is in racks that no GW-Link joins: {', '.join(sorted(some))}"


def _by_gateways(plan: PlanOfStack, racks: dict[str, set[str]], machines: set[str]) -> bool:
    """Racks hang together by GW-Links, as if each were one piece."""
    near: dict[str, set[str]] = {}
    for found in racks.values():
        near.update({name: set(found) for name in found})
    for one, other in plan.inventory.gateway_links:
        if {one, other} <= machines | plan.inventory.switches.keys():
            near.setdefault(one, set()).add(other)
            near.setdefault(other, set()).add(one)
    reached, waiting = {min(machines)}, [min(machines)]
    while waiting:
        more = near.get(waiting.pop(), set()) - reached
        reached |= more
        waiting += more
    return machines <= reached


def _hang_together(machines: set[str], links: dict[str, list[str]]) -> bool:
    reached, waiting = {min(machines)}, [min(machines)]
    while waiting:
        near = machines.intersection(links.get(waiting.pop(), ())) - reached
        reached |= near
        waiting += near
    return reached == machines


def _replaced(plan: PlanOfStack) -> Iterator[str]:
    """Devices that stand where others stood, and that nobody is known to have tested."""
    found = dict.fromkeys((item["device"], item["serial"]) for item in plan.untested)
    yield from (f"{device} ({serial}) was not seen self-tested" for device, serial in found)


#: Rule -> what it finds in a plan.
ANEW: dict[str, Callable[[PlanOfStack], Iterator[str]]] = {
    "EXPO-01": _entries, "ISO-22": parts_of_nodes, "ISO-29": foreign_ports, "L3-04": _subnets, "L3-08": _targets,
    "LIF-03": parts_and_reused, "LIF-08": skewed, "LIF-12": not_backed_up, "LIF-13": _replaced, "SEC-01": without_keys,
    "TOP-02": _sizes, "TOP-03": _runs, "TOP-26": left_out,
    "TOP-27": without_storage, "TOP-28": _pieces,
}  # fmt: skip

#: The same of rules that look at more: what nothing here finds of them is taken for granted.
IN_PART: dict[str, Callable[[PlanOfStack], Iterator[str]]] = {"SEC-02": called_elsewhere, "SEC-04": keys_told}


def found_in(plan: PlanOfStack) -> dict[str, list[str]]:
    """Rule -> what it finds, of those that find something."""
    found = {rule: list(ask(plan)) for rule, ask in (ANEW | IN_PART).items()}
    return {rule: words for rule, words in found.items() if words}


def untrue(found: dict[str, list[str]], results: list[Json]) -> Iterator[str]:
    """Rules that find something here, and of which the certificate shows no finding, whatever it calls them."""
    for item in results:
        rule, said = item["rule"], item["verdict"]
        if said not in _FOUND or not any(finding["verdict"] in _FOUND for finding in item["findings"]):
            yield from (f"{rule} is {said} in it, and does not show: {words}" for words in found.get(rule, ()))


def taken_for_granted(results: list[Json]) -> list[str]:
    """The rules asked whose answers nothing here finds again, or not all of them."""
    return sorted({item["rule"] for item in results} - BY_FACTS - ANEW.keys())


def not_asked(results: list[Json], *, is_tenant: bool) -> Iterator[str]:
    """Rules that such a stack is asked about and that are not there, and names of rules that there are not."""
    of = ("both", "tenant" if is_tenant else "site")
    tables = [*((whose, names) for (_, whose), names in ASKED.items()), *WARNING.items()]
    wanted = {name for whose, names in tables if whose in of for name in names.split()}
    said = {item["rule"] for item in results}
    yield from (f"it was not asked about {rule}" for rule in sorted(wanted - said))
    yield from (f"{rule} is no rule that it is asked about" for rule in sorted(said - wanted))
