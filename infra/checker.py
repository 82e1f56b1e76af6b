"""Checks a certificate by tables of its own: an independent second look that shares no code with the proof.

Written from docs/design/semantics.md alone, with the standard library only, so that it can be read in one sitting and
run anywhere: `python infra/checker.py FILE`. It trusts that the facts are those of the plan: the oracle in the tests
shows that. Whether they are the facts of a certain proof it tells by the proof's hash, which covers them.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

#: Row of the table of edges, with the kind of its second end where that matters -> the assumptions that must hold for
#: an edge of it to be away. Of an empty one a declared sharing answers; named ones must hold besides in every row.
KEPT_AWAY: dict[str, tuple[str, ...]] = {
    "E1": ("A1", "A7"), "E9": (), "E11": (), "E14": ("A13",), "E15": ("A3",), "E16": ("A4",), "E17": ("A8",),
    "E18": ("A5",), "E18 cpu": ("A5 between owners",), "E19": (), "E19 fabric": ("A6",),
    "A1": ("A1",), "A2": ("A2",), "A10": ("A10",),
}  # fmt: skip
_SERVER = (
    "operator_project", "no_tenant_login", "ipv4_forwarding_off", "ipv6_forwarding_off", "no_proxying",
    "listeners_listed",
)  # fmt: skip
_VIPS = ("vips_per_owner", "vlan_per_owner", "no_routing_between_vips", "access_by_vip_and_client")
#: Everything that must hold; a guard that is left out holds nothing back.
GUARDS: dict[str, tuple[str, ...]] = {
    "A1": ("vlan_lists_enforced", "configuration_matches"),
    "A2": ("project_scope_enforced", "default_policies"),
    "A3": ("no_forwarding", "credentials_rotated", "agent_port_operator_only"),
    "A4": ("one_allocation_each", "secure_tls", "operator_run"),
    "A5": ("iommu", "no_host_network", "pages_zeroed"),
    "A5 between owners": ("mitigations",),
    "A6": ("subnet_manager_keys_set", "keys_enforced_at_switch", "default_partition_limited"),
    "A7": ("private_vlan_enforced", "single_trunk"),
    "A8": ("partitions_applied", "default_partition_empty"),
    "A10": ("pools_delegated",),
    "A13": ("in_band_closed",),
    "external-network": ("address_scope_closed", "l3_agent_enforces_scopes", "no_tenant_ports"),
    "storage-appliance": _VIPS, "object-store": _VIPS,
    "routed-back-end": ("default_deny", "permits_service_only"),
    "private-vlan-back-end": ("roles_enforced", "tenants_isolated"),
    **dict.fromkeys(("vipu-controller", "bastion", "monitoring", "name-and-time", "metadata", "registry"), _SERVER),
}  # fmt: skip
#: Way of a grant -> how its source must be held, and how its target is held then.
WAYS = {
    "acts as": ("write", "write"), "reads": ("write", "read"), "writes": ("write", "write"),
    "keeps": ("read", "write"), "serves": ("read", "write"), "controls": ("write", "write"),
}  # fmt: skip


def complaints(found: dict[str, Any], proof: str | None = None) -> Iterator[str]:
    """Everything in a certificate that does not hold; nothing if it is sound, and about this proof.

    Raises KeyError, TypeError or ValueError if it has not the form of a certificate.
    """
    judgement, said = found["judgement"], found["statement"]
    if found["digest"] != digest({key: value for key, value in found.items() if key != "digest"}):
        yield "the digest is not that of the certificate"
    if found["format"] != 1:
        yield f"format {found['format']} is not known"
    if digest(said) != judgement["statement"]:
        yield "the facts are not those that the judgement rests on"
    if digest(found["boundary"]) != judgement["boundary"]:
        yield "the versions of the boundary nodes are not those of the judgement"
    if proof is not None and proof_of(judgement) != proof:
        yield f"it is about proof {proof_of(judgement)}"
    yield from _classes(said, found["classes"])
    yield from _owners(said, found["classes"])
    yield from _held(said, found["classes"])
    yield from _authority(said, found["holds"])
    yield from witnesses(found)
    yield from _verdict(judgement)


def proof_of(judgement: dict[str, Any]) -> str:
    """The hash of the proof that a judgement belongs to."""
    return digest({"plan": judgement["plan_hash"], "judgement": judgement})


def digest(value: object) -> str:
    """`sha256:` and the hash of a value's canonical JSON."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def _classes(said: dict[str, Any], classes: dict[str, Any]) -> Iterator[str]:
    """Both ends of an edge in one class; each class one tree of edges with its least node at the root."""
    edges = [(a, b) for rows in said["facts"].values() for a, b in rows]
    pairs = {frozenset(edge) for edge in edges}
    for a, b in edges:
        if a not in classes or b not in classes or classes[a][0] != classes[b][0]:
            yield f"{a} and {b} are joined, but in different classes"
    for node, (least, towards) in classes.items():
        if towards and frozenset((node, towards)) not in pairs:
            yield f"{node} has no edge to {towards}"
        elif least > node or not _leads(classes, node, least):
            yield f"{node} does not lead to {least}"


def _leads(classes: dict[str, Any], node: str, least: str) -> bool:
    for _ in classes:
        if node not in classes or classes[node][0] != least:
            return False
        if classes[node][1] == "":
            return bool(node == least)
        node = classes[node][1]
    return False


def _owners(said: dict[str, Any], classes: dict[str, Any]) -> Iterator[str]:
    """One owner to a class, and one to an identity."""
    owners: dict[str, set[str]] = {}
    for node, labels in said["labels"].items():
        owners.setdefault(_class_of(classes, node), set()).update(labels)
    for least, who in owners.items():
        if len(who) > 1:
            yield f"the class of {least} has the owners {' and '.join(sorted(who))}"
    for identity, holders in said["exclusive"].items():
        if len(set(holders)) != 1:
            yield f"{identity} is held by {' and '.join(holders) or 'nobody'}"


def _class_of(classes: dict[str, Any], node: str) -> str:
    return str(classes[node][0]) if node in classes else node


def _held(said: dict[str, Any], classes: dict[str, Any]) -> Iterator[str]:
    """An edge may be kept away only by guards that can do that, all of them, and all known to hold."""
    terminals = {item["name"]: item for item in said["terminals"]}
    for row, edges in said["held"].items():
        for a, b, *guards in edges:
            shared = sorted({_sharing(guard) for guard in guards if guard.startswith("sharing.")})
            lacking = {*_required(row, b, shared, terminals)} - {*guards}
            lacking |= {guard for guard in guards if said["guards"].get(guard) is not True}
            if lacking:
                yield f"{row} {a} - {b} is removed without its guards: {', '.join(sorted(lacking))}"
            met = {_class_of(classes, end) for end in (a, b)}
            yield from _audience(said, classes, met, [terminals[name] for name in shared if name in terminals])


def _sharing(guard: str) -> str:
    """The name in `sharing.<name>.guards.<guard>` or `sharing.<name>.audience`; it may hold dots."""
    name = guard.removeprefix("sharing.")
    return name.removesuffix(".audience") if name.endswith(".audience") else name.rpartition(".guards.")[0]


def _required(row: str, b: str, shared: list[str], terminals: dict[str, Any]) -> Iterator[str]:
    assumptions = KEPT_AWAY.get(f"{row} {b.partition(':')[0]}", KEPT_AWAY.get(row))
    if assumptions is None or not (assumptions or shared):
        yield "no guard can remove it"
    for name in assumptions or ():
        yield from (f"assumptions.{name.split()[0]}.{guard}" for guard in GUARDS[name])
    for name in shared:
        kind = terminals.get(name, {}).get("kind", "")
        yield from (f"sharing.{name}.guards.{guard}" for guard in GUARDS.get(kind, ("a kind that is known",)))
        yield from ["external.address_scope"] if kind == "external-network" else []


def _audience(
    said: dict[str, Any], classes: dict[str, Any], met: set[str], terminals: list[dict[str, Any]]
) -> Iterator[str]:
    """Only those whom a terminal is for meet a copy of it."""
    here = {who for node, labels in said["labels"].items() if _class_of(classes, node) in met for who in labels}
    for terminal in terminals:
        if "*" not in terminal["audience"]:
            strangers = sorted(here - set(terminal["audience"]) - {"op", "world"})
            yield from (f"{who} meets {terminal['name']}, and is not in its audience" for who in strangers)


def _authority(said: dict[str, Any], holds: list[str]) -> Iterator[str]:
    """What the owner holds is closed under all grants, and nothing of it is somebody else's."""
    owner, held = said["owner"], {tuple(item.split(" ", 1)) for item in holds}
    if ("write", f"prin:{owner}") not in held:
        yield f"{owner} is not in its own set"
    for way, source, target in said["grants"]:
        needs, gives = WAYS[way]
        reached = ("write", source) in held or (needs == "read" and ("read", source) in held)
        if reached and (gives, target) not in held:
            yield f"{source} {way} {target}, which is not in the set of {owner}"
    for access, node in sorted(held):
        others = set(said["owners"].get(node, ())) - {owner}
        may_read = access == "read" and (node in said["public"] or others == {"op"})
        if others and owner != "op" and not may_read:
            yield f"{owner} holds {node} of {' and '.join(sorted(others))}"


def witnesses(found: dict[str, Any]) -> Iterator[str]:
    """Where a finding's path is none: every step is an edge of the facts, and two owners stand at the ends of Sep's."""
    said = found["statement"]
    pairs = {frozenset(row) for rows in said["facts"].values() for row in rows}
    for item in (item for result in found["judgement"]["results"] for item in result["findings"]):
        path, labels = item["path"], said["labels"]
        on_wires = all(node in found["classes"] for node in path)
        broken = [f"{a} - {b}" for a, b in pairwise(path) if frozenset((a, b)) not in pairs]
        if broken and on_wires:
            yield f"{item['id']}: {', '.join(broken)} is no edge of the facts"
        if item["rule"] == "ISO-02" and len({*labels.get(path[0], ()), *labels.get(path[-1], ())}) < 2:
            yield f"{item['id']}: both ends of its path have one owner"


def _verdict(judgement: dict[str, Any]) -> Iterator[str]:
    """No rule that counts says anything but proved, unless a waiver of severity E lets it."""
    waived = {item["rule"] for item in judgement["waivers"] if item["state"] == "used"}
    for result in judgement["results"]:
        for item in result["findings"]:
            counts = item["severity"] == "B" or (item["severity"] == "E" and item["rule"] not in waived)
            if counts and item["verdict"] in ("violated", "not provable"):
                yield f"{item['rule']} is {item['verdict']}: {item['message']}"


def main() -> int:
    """Check one file."""
    found = list(complaints(json.loads(Path(sys.argv[1]).read_text())))
    print("\n".join(found) or "sound")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
