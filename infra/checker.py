"""Checks a certificate by tables of its own: a second look that shares no code with the proof, in one file.

Written from docs/design/semantics.md, with the standard library only: `python infra/checker.py FILE`. Edges along
cables and those that guards can remove it derives by table; all others are stated, and it says of which rows. That the
facts are those of a certain proof it tells by the proof's hash; that they are those of the plan the oracle in the tests
shows. Whoever wrote the file is not trusted with anything: what has not exactly the form below is refused in one line.
"""

from __future__ import annotations

import gc
import hashlib
import json
import re
import sys
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import UTC, date, datetime
from functools import cache
from itertools import chain, groupby, pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any

#: Row of the table of edges, with the kind of its second end where that matters -> the assumptions that must hold for
#: an edge of it to be away. Of an empty one a declared sharing answers; named ones must hold besides in every row.
KEPT_AWAY: dict[str, tuple[str, ...]] = {
    "E1": ("A1", "A7"), "E9": (), "E11": (), "E14": ("A13",), "E15": ("A3",), "E16": ("A4",), "E17": ("A8",),
    "E18": ("A5",), "E18 cpu": ("A5 between owners",), "E19": (), "E19 fabric": ("A6",),
    **{name: (name,) for name in ("A1", "A2", "A9", "A10", *(f"A{number}" for number in range(16, 25)))},
}  # fmt: skip
_OF_A_SERVER = "operator_project no_tenant_login ipv4_forwarding_off ipv6_forwarding_off no_proxying listeners_listed"
_SERVER_KINDS = ("vipu-controller", "bastion", "monitoring", "name-and-time", "metadata", "registry")
_VIPS = ("vips_per_owner", "vlan_per_owner", "no_routing_between_vips", "access_by_vip_and_client")
#: Assumption -> everything that must hold; a guard that is left out holds nothing back.
GUARDS: dict[str, tuple[str, ...]] = {
    "A1": ("vlan_lists_enforced", "configuration_matches"), "A2": ("project_scope_enforced", "default_policies"),
    "A3": ("no_forwarding", "credentials_rotated", "agent_port_operator_only"),
    "A4": ("one_allocation_each", "secure_tls", "operator_run"),
    "A5": ("iommu", "no_host_network", "pages_zeroed"), "A5 between owners": ("mitigations",),
    "A6": ("subnet_manager_keys_set", "keys_enforced_at_switch", "default_partition_limited"),
    "A7": ("private_vlan_enforced", "single_trunk"), "A8": ("partitions_applied", "default_partition_empty"),
    "A9": ("steps_erase",), "A10": ("pools_delegated",), "A13": ("in_band_closed",), "A23": ("firmware_restored",),
    "A16": ("load_balancers_apart",), "A17": ("underlay_closed",), "A18": ("namespaces_apart", "metadata_signed"),
    "A19": ("migration_closed", "consoles_closed"), "A20": ("volumes_apart",), "A21": ("upstream_filtered",),
    "A22": ("vlan_protocols_off",), "A24": ("bmc_answers_only", "conductor_forwards_nothing"),
}  # fmt: skip
#: The same of each kind of declared sharing.
SHARING: dict[str, tuple[str, ...]] = {
    "external-network": ("address_scope_closed", "l3_agent_enforces_scopes", "no_tenant_ports"),
    "storage-appliance": _VIPS, "object-store": _VIPS, "routed-back-end": ("default_deny", "permits_service_only"),
    "private-vlan-back-end": ("roles_enforced", "tenants_isolated"),
    **dict.fromkeys(_SERVER_KINDS, tuple(_OF_A_SERVER.split())),
}  # fmt: skip
#: Way of a grant -> how its source must be held, and how its target is held then.
WAYS = {
    "acts as": ("write", "write"), "reads": ("write", "read"), "writes": ("write", "write"), "keeps": ("read", "write"),
    "serves": ("read", "write"), "controls": ("write", "write"),
}  # fmt: skip
#: The format that is read, and the version of docs/design/semantics.md that these tables are of.
FORMAT, SEMANTICS = 5, 7
#: Severity and whose stack is asked -> the rules. Of these none may be missing; what else was asked can only find more.
ASKED: dict[tuple[str, str], str] = {
    ("B", "both"): "AUTH-01 EXPO-01 FACT-01 ISO-01 ISO-02 ISO-03 ISO-05 ISO-08 ISO-11 ISO-12 ISO-17 ISO-18 ISO-19 "
    "ISO-20 ISO-22 ISO-24 ISO-27 ISO-28 L3-01 L3-02 L3-04 L3-08 L3-10 L3-13 SEC-03 SEC-04 SEC-05 SEC-16 SEC-21 TOP-02 "
    "TOP-03 TOP-06 TOP-07",
    ("B", "tenant"): "ISO-04 ISO-29 ISO-30 SEC-01 SEC-02 SEC-11 SEC-14 TOP-05 TOP-10 TOP-11 TOP-13",
    ("E", "both"): "CAP-02 CAP-05 ISO-07 ISO-09 ISO-14 ISO-15 ISO-16 ISO-21 ISO-23 ISO-25 L3-05 L3-06 L3-11 L3-15 "
    "SEC-09 SEC-10 SEC-15 TOP-23",
    ("E", "tenant"): "CST-01 ISO-06 L3-03 L3-09 L3-14 LIF-03 LIF-08 LIF-12 LIF-13 SEC-12 SW-01 SW-03 SW-05 "
    "SW-06 SW-07 SW-08 SW-09 SW-11 SW-12 SW-13 SW-14 SW-16 SW-17 TOP-26 TOP-27 TOP-28",
    ("E", "site"): "CAP-03 ISO-13 PWR-01 PWR-02 PWR-03 PWR-04 PWR-05 PWR-07 SEC-08 TOP-08 TOP-09 TOP-14 TOP-15 TOP-17 "
    "TOP-18 TOP-19 TOP-21 TOP-22",
}  # fmt: skip
#: Those of them of which a finding with this verdict may be a warning only.
MAY_WARN = {
    "violated": {"CAP-03", "L3-10", "PWR-02", "SW-03"},
    "not provable": {"LIF-08", "LIF-12", "SEC-08", "SW-03", "TOP-14"} | {f"PWR-0{n}" for n in (1, 2, 3, 4, 5, 7)},
}
_KNOWN = {name for names in ASKED.values() for name in names.split()}
_FINE, _SEVERE = {"proved", "not applicable"}, {"B", "E", "W", "I"}
_VERDICTS, _TEXTS, _ROW = {*_FINE, *MAY_WARN}, [str], (str, str)
_FINDING = {
    "rule": str, "severity": _SEVERE, "verdict": _VERDICTS, "message": str, "witness": _TEXTS,
    "missing": _TEXTS, "hint": str, "specificity": int, "id": str, "path": _TEXTS, "about": _TEXTS, "fix": _TEXTS,
    "fix_kind": {None, "smallest", "minimal"},
}  # fmt: skip
_RESULT = {"rule": str, "title": str, "severity": _SEVERE, "verdict": _VERDICTS, "count": int, "findings": [_FINDING]}
_WAIVER = {
    "rule": str, "owner": str, "reason": str, "expires": date, "findings": int, "hint": str,
    "state": {"used", "unused", "expired", "unknown rule"},
}  # fmt: skip
#: Tables of facts from which edges follow, with the form of a row. What stands in a row besides its columns names the
#: declarations of sharing whose guards are asked.
GROUND: dict[str, list[tuple[Any, ...]]] = {
    "machines": [(str,)], "vlans": [(str,)], "groups": [(str, ...)], "gateways": [(str, ...)],
    "terminals": [(str, str, ...)], "members": [(str, str, ...)], "carried": [(str, str, str)],
    **{name: [_ROW] for name in (
        "links", "guests", "in_band", "partitions", "keys", "projects", "claims", "cleaned", "firmware", "balanced",
        "encapsulated", "served", "migrating", "backed", "routed_out", "talking", "managed", "cables", "uplinks",
    )},
}  # fmt: skip
#: Of tables with two columns the row of the table of edges, and the edge's second end around the second column.
_JOINING: dict[str, tuple[str, ...]] = {
    "in_band": ("E14", "dev"), "partitions": ("E17", "fabric"), "keys": ("E19", "fabric"), "members": ("E19", "K"),
    "firmware": ("A23", "former"), "projects": ("A2", "cloud"), "claims": ("A10", "foreign"),
    "cleaned": ("A9", "former"), "balanced": ("A16", "ops", "load-balancers"), "managed": ("A24", "ops", "bmc-access"),
    "encapsulated": ("A17", "ops", "underlay"), "served": ("A18", "ops", "network-nodes"),
    "migrating": ("A19", "ops", "migration-and-consoles"), "backed": ("A20", "ops", "back-end-storage"),
    "routed_out": ("A21", "ops", "behind-external"), "talking": ("A22", "ops", "vlan-protocols"),
}  # fmt: skip
#: The form of a certificate, as values: a type (`date`: a day, as text), a set of constants, `[form]` for a list, a
#: tuple for a row (`...`: more texts), `{str: form}` for an object with any keys, any other dict for one with these.
FORM: dict[Any, Any] = {
    "format": int, "date": date,
    "judgement": {
        "site": str, "stack": str, "plan_hash": str, "footprints": str, "results": [_RESULT], "waivers": [_WAIVER],
        "without_actuator": _TEXTS, "applied_state": str, "boundary": str, "rule_set": str, "statement": str,
    },
    "statement": {
        "semantics": int, "owner": str, "facts": {str: [_ROW]}, "ground": GROUND, "unknown": {str: _TEXTS},
        "guards": {str: {True, False, None}}, "evidence": {str: [(str,) * 5]}, "labels": {str: _TEXTS},
        "terminals": [{"name": str, "kind": {*SHARING}, "node": str, "audience": _TEXTS, "rule": str}],
        "exclusive": {str: _TEXTS}, "grants": [(set(WAYS), str, str)], "owners": {str: _TEXTS}, "public": _TEXTS,
    },
    "boundary": {str: str}, "classes": {str: _ROW}, "holds": [re.compile(r"(read|write) .+", re.DOTALL)],
    "digest": str,
}  # fmt: skip


class Malformed(Exception):
    """Not a certificate; the text says where and why, on one line."""


def read(raw: bytes) -> Any:
    """A JSON document, strictly: UTF-8, no key twice, no NaN. Raises Malformed."""
    try:
        text = raw.decode()
        found = json.loads(text, object_pairs_hook=_object, parse_constant=_refuse)
        if re.search(r"\\u[dD][89a-fA-F]", text):
            json.dumps(found, ensure_ascii=False).encode()
    except UnicodeError:
        raise Malformed("not text: it is no UTF-8, or holds half of a surrogate pair") from None
    except RecursionError:
        raise Malformed("not JSON: nested too deeply") from None
    except ValueError as error:
        raise Malformed(printable(f"not JSON: {error}")) from None
    return found


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        ((key, _),) = Counter(key for key, _ in pairs).most_common(1)
        raise Malformed(printable(f"the key {key} stands twice"))
    return found


def _refuse(constant: str) -> None:
    raise Malformed(f"not JSON: {constant} is no number")


def printable(text: str) -> str:
    """On one line, with no character that a terminal acts on; what is very long is cut."""
    text = text if len(text) <= 1000 else text[:1000] + "…"
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def require_form(value: Any, form: Any = FORM, place: str = "it") -> None:
    """Raises Malformed where a value has not a form, or lacks or has a key too many."""
    if isinstance(form, dict) and type(value) is dict:
        if str not in form and value.keys() != form.keys():
            words = sorted(map(str, value.keys() ^ form.keys()))
            raise Malformed(printable(f"{place}: missing, or not known: {', '.join(words)}"))
        _require_each(value.items(), form, place)
    elif isinstance(form, list) and type(value) is list:
        _require_each(enumerate(value), {str: form[0]}, place)
    elif not _fits(value, form):
        raise Malformed(printable(f"{place}: not of its form"))


def _require_each(items: Iterable[tuple[Any, Any]], forms: dict[Any, Any], place: str) -> None:
    for key, item in items:
        form = forms[str] if str in forms else forms[key]
        if isinstance(form, dict | list) or not _fits(item, form):
            require_form(item, form, f"{place}.{key}")


def _fits(value: Any, form: Any) -> bool:
    if isinstance(form, tuple):
        least = len(form) - (form[-1] is ...)
        fits = type(value) is list and least <= len(value) and (form[-1] is ... or len(value) == least)
        return fits and {*map(type, value)} == {str} and (form[0] is str or value[0] in form[0])
    if isinstance(form, set):
        return any(type(value) is type(item) and value == item for item in form)
    if isinstance(form, re.Pattern):
        return type(value) is str and form.fullmatch(value) is not None
    if form is date:
        with suppress(TypeError, ValueError):
            return bool(date.fromisoformat(value).isoformat() == value)
    return type(value) is form


def complaints(found: dict[str, Any], proof: str | None = None, day: str = "") -> Iterator[str]:
    """Everything in a certificate that does not hold; nothing if it is sound, and about this proof.

    `day`, an ISO date: that as of which waivers count, if any is given. Raises Malformed if it is no certificate.
    """
    require_form(found)
    yield from map(printable, _complaints(found, proof, day or found["date"]))


def _complaints(found: dict[str, Any], proof: str | None, day: str) -> Iterator[str]:
    judgement, said = found["judgement"], found["statement"]
    if found["digest"] != digest({key: value for key, value in found.items() if key != "digest"}):
        yield "the digest is not that of the certificate"
    if found["format"] != FORMAT:
        yield f"format {found['format']} is not known"
    if said["semantics"] != SEMANTICS:
        yield f"version {said['semantics']} of the semantics is not that of this checker, which is {SEMANTICS}"
    if found["date"] > day:
        yield f"it is of {found['date']}, after {day}"
    if digest(said) != judgement["statement"]:
        yield "the facts are not those that the judgement rests on"
    if digest(found["boundary"]) != judgement["boundary"]:
        yield "the versions of the boundary nodes are not those of the judgement"
    if proof is not None and proof_of(judgement) != proof:
        yield f"it is about proof {proof_of(judgement)}"
    owners = _owners_of(said, found["classes"])
    pairs = edges(said)
    yield from _classes(pairs, found["classes"])
    yield from _owners(said, owners)
    yield from _audiences(said, found["classes"], owners)
    yield from _authority(said, found["holds"])
    yield from witnesses(found, pairs)
    yield from _asked(judgement, "site" if said["owner"] == "op" else "tenant")
    yield from _verdict(judgement, day)


def proof_of(judgement: dict[str, Any]) -> str:
    """The hash of the proof that a judgement belongs to."""
    return digest({"plan": judgement["plan_hash"], "judgement": judgement})


def digest(value: object) -> str:
    """`sha256:` and the hash of a value's canonical JSON."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def grounded(said: dict[str, Any]) -> Iterator[tuple[str, str, str, tuple[str, ...]]]:
    """(row, end, end, declarations) of each edge that follows from a table, there or kept away."""
    ground = said["ground"]
    for (serial,) in ground["machines"]:
        yield from (("E15", f"dev:{serial}/gw", f"dev:{serial}/{part}", ()) for part in ("rnic", "bmc"))
    for a, b in ground["links"]:
        yield "E16", f"dev:{a}/rnic", f"dev:{b}/rnic", ()
    for server, serial in ground["guests"]:
        yield from (("E18", server, f"{kind}:{serial}", ()) for kind in ("dev", "cpu"))
    for (vlan,) in ground["vlans"]:
        yield "A1", vlan, f"fabric:{_bridge(vlan)}", ()
    for group, *names in ground["groups"]:
        yield "E1", group, f"L:{_bridge(group)}:{group.rpartition(':')[2]}", tuple(names)
    for copy, *names in ground["gateways"]:
        yield "E11", copy, copy.partition("@")[0], tuple(names)
    for copy, device, *names in ground["terminals"]:
        yield "E9", copy, device, tuple(names)
    for table, (row, kind, *service) in _JOINING.items():
        yield from ((row, a, ":".join((kind, b, *service)), tuple(names)) for a, b, *names in ground[table])


def wired(said: dict[str, Any]) -> list[tuple[str, str, str]]:
    """(row, end, end) of each edge along a cable: frames with one tag, or with none ("0"), are in a VLAN at each end.

    Raises Malformed where they are many more than the facts: no port takes one tag into a hundred VLANs.
    """
    carried: dict[str, dict[str, list[str]]] = {}
    for port, tag, vlan in said["ground"]["carried"]:
        carried.setdefault(port, {}).setdefault(tag, []).append(vlan)
    cables = (
        ("E2" if tag == "0" else "E1", carried[a][tag], carried[b][tag])
        for a, b in {*map(tuple, said["ground"]["cables"])}
        for tag in carried.get(a, {}).keys() & carried.get(b, {}).keys()
    )
    uplinks = (
        ("E4", [host], carried.get(port, {}).get(host.rpartition(":")[2] if host.partition(":")[0] == "L" else "0", []))
        for port, host in said["ground"]["uplinks"]
    )
    found, most = list[tuple[str, str, str]](), 10_000 + 100 * len(said["ground"]["carried"])
    for row, near, far in chain(cables, uplinks):
        if len(found) + len(near) * len(far) > most:
            raise Malformed("statement.ground.carried: too many VLANs by one tag")
        found += ((row, x, y) for x in near for y in far)
    return found


def _bridge(vlan: str) -> str:
    """The switch of `L:<serial>:<vlan>`, or of a group of a private VLAN in it, `L:<serial>~<group>:<vlan>`."""
    return vlan.partition(":")[2].rpartition(":")[0].partition("~")[0]


def guarded(said: dict[str, Any]) -> Iterator[tuple[str, str, str, tuple[str, ...], frozenset[frozenset[str]], bool]]:
    """The same with the guards that keep the edge away, by assumption and declaration, and whether all of them do."""
    held, known = _required(said), dict[tuple[str, ...], tuple[frozenset[frozenset[str]], bool]]()
    for row, a, b, names in grounded(said):
        case = (row, b.partition(":")[0], *names)
        if case not in known:
            asked = {held(name, False) for name in KEPT_AWAY.get(f"{row} {case[1]}", KEPT_AWAY[row])}
            asked |= {held(name, True) for name in names}
            known[case] = frozenset(filter(None, asked)), bool(asked) and None not in asked
        yield row, a, b, names, *known[case]


def _required(said: dict[str, Any]) -> Callable[[str, bool], frozenset[str] | None]:
    """Asks for the guards of an assumption or a declaration, of the tables and all others stated; None: one fails."""
    kinds = {item["name"]: item["kind"] for item in said["terminals"]}
    stated = sorted({*said["guards"]} - {f"assumptions.A5.{guard}" for guard in GUARDS["A5 between owners"]})

    @cache
    def held(name: str, is_declared: bool) -> frozenset[str] | None:
        if is_declared and name not in kinds:
            raise Malformed(printable(f"statement.ground: {name} is no declaration"))
        head = f"sharing.{name}.guards." if is_declared else f"assumptions.{name.split()[0]}."
        found = {head + guard for guard in (SHARING[kinds[name]] if is_declared else GUARDS[name])}
        if is_declared or " " not in name:
            # All that begins with it: the next character after a dot is a slash.
            found |= {*stated[bisect_left(stated, head) : bisect_left(stated, head[:-1] + "/")]}
        found |= {"external.address_scope"} if is_declared and kinds[name] == "external-network" else set()
        return frozenset(found) if all(said["guards"].get(guard) is True for guard in found) else None

    return held


def edges(said: dict[str, Any]) -> set[tuple[str, str]]:
    """Every edge, in both directions: what is stated as one, and what follows and is not kept away."""
    stated = [(a, b) for rows in said["facts"].values() for a, b in rows] + [ends[1:] for ends in wired(said)]
    there = ((a, b) for _, a, b, _, _, is_away in guarded(said) if not is_away)
    return {ends for a, b in (*stated, *there) for ends in ((a, b), (b, a))}


def told(said: dict[str, Any]) -> str:
    """Which rows of the table of edges it derives, and of which rows edges are stated, in words."""
    derived = sorted({row for row, *_ in grounded(said)} | {row for row, *_ in wired(said)})
    stated = sorted(row for row, pairs in said["facts"].items() if pairs)
    return f"edges derived from facts: {', '.join(derived) or 'none'}; stated as edges: {', '.join(stated) or 'none'}"


def _classes(pairs: set[tuple[str, str]], classes: dict[str, Any]) -> Iterator[str]:
    """Both ends of an edge in one class; each class one tree of edges with its least node at the root."""
    rooted = dict[str, bool]()
    top = {node: least for node, (least, _) in classes.items()}
    for a, b in sorted((a, b) for a, b in pairs if a <= b and (a not in top or top[a] != top.get(b))):
        yield f"{a} and {b} are joined, but in different classes"
    for node, (least, towards) in classes.items():
        if towards and (node, towards) not in pairs:
            yield f"{node} has no edge to {towards}"
        elif least > node or not _leads(classes, node, rooted):
            yield f"{node} does not lead to {least}"


def _leads(classes: dict[str, Any], node: str, known: dict[str, bool]) -> bool:
    """Whether the steps from a node end at the least node of its class; `known` is what earlier ways have shown."""
    least, way = classes[node][0], dict[str, None]()
    while node not in known and node not in way and node in classes and classes[node][0] == least:
        way[node] = None
        if classes[node][1] == "":
            known[node] = node == least
            break
        node = classes[node][1]
    answer = node in classes and classes[node][0] == least and known.get(node, False)
    known.update(dict.fromkeys(way, answer))
    return answer


def _owners_of(said: dict[str, Any], classes: dict[str, Any]) -> dict[str, set[str]]:
    """Least node of a class -> everybody with a label in it."""
    owners: dict[str, set[str]] = {}
    for node, labels in said["labels"].items():
        owners.setdefault(classes.get(node, [node])[0], set()).update(labels)
    return owners


def _owners(said: dict[str, Any], owners: dict[str, set[str]]) -> Iterator[str]:
    """One owner to a class, and one to an identity."""
    for least, who in owners.items():
        if len(who) > 1:
            yield f"the class of {least} has the owners {' and '.join(sorted(who))}"
    for identity, holders in said["exclusive"].items():
        if len(set(holders)) != 1:
            yield f"{identity} is held by {' and '.join(holders) or 'nobody'}"


def _audiences(said: dict[str, Any], classes: dict[str, Any], owners: dict[str, set[str]]) -> Iterator[str]:
    """Only those whom a terminal is for meet a copy of it."""
    terminals = {item["name"]: (item["node"], item["name"], {*item["audience"]}) for item in said["terminals"]}
    # A class of many owners is told as that: a few of them stand for all.
    few = {least: sorted(who - {"op", "world"})[:9] for least, who in owners.items()}
    for _, a, b, names, _, is_away in guarded(said):
        if is_away and names:
            here = {who for node in (a, b) for who in few.get(classes.get(node, [node])[0], ())}
            yield from _strangers(sorted(here), [terminals[name] for name in names])


def _strangers(here: list[str], terminals: list[tuple[str, str, set[str]]]) -> Iterator[str]:
    """Who is here, and in no audience; of one device that is declared twice, either one's counts."""
    for _, of_one in groupby(sorted(terminals, key=itemgetter(0)), itemgetter(0)):
        declared = [*of_one]
        for who in here:
            if not any({"*", who} & audience for _, _, audience in declared):
                yield f"{who} meets {' and '.join(name for _, name, _ in declared)}, and is not in its audience"


def _authority(said: dict[str, Any], holds: list[str]) -> Iterator[str]:
    """What the owner holds is closed under all grants, and nothing of it is somebody else's."""
    owner, public, held = said["owner"], {*said["public"]}, {tuple(item.split(" ", 1)) for item in holds}
    if ("write", f"prin:{owner}") not in held:
        yield f"{owner} is not in its own set"
    for way, source, target in said["grants"]:
        needs, gives = WAYS[way]
        reached = ("write", source) in held or (needs == "read" and ("read", source) in held)
        if reached and (gives, target) not in held:
            yield f"{source} {way} {target}, which is not in the set of {owner}"
    for access, node in sorted(held):
        others = set(said["owners"].get(node, ())) - {owner}
        may_read = access == "read" and (node in public or others == {"op"})
        if others and owner != "op" and not may_read:
            yield f"{owner} holds {node} of {' and '.join(sorted(others))}"


def witnesses(found: dict[str, Any], known: set[tuple[str, str]] | None = None) -> Iterator[str]:
    """Where a finding's path is none: every step is an edge of the facts, and two owners stand at the ends of Sep's."""
    said = found["statement"]
    pairs = edges(said) if known is None else known
    for item in (item for result in found["judgement"]["results"] for item in result["findings"]):
        path, labels = item["path"], said["labels"]
        on_wires = all(node in found["classes"] for node in path)
        broken = [f"{a} - {b}" for a, b in pairwise(path) if (a, b) not in pairs]
        if broken and on_wires:
            yield f"{item['id']}: {', '.join(broken)} is no edge of the facts"
        ends = {who for node in (*path[:1], *path[-1:]) for who in labels.get(node, ())}
        if item["rule"] == "ISO-02" and len(ends) < 2:
            yield f"{item['id']}: both ends of its path have one owner"


def _asked(judgement: dict[str, Any], stack: str) -> Iterator[str]:
    """Every rule that such a stack is asked about was asked, once and as severely as it is meant."""
    said = [(result["rule"], result["severity"]) for result in judgement["results"]]
    asked = ((severe, names) for (severe, of), names in ASKED.items() if of in ("both", stack))
    wanted = {(name, severe) for severe, names in asked for name in names.split()}
    if lacking := sorted(f"{name} ({severity})" for name, severity in wanted - {*said}):
        yield f"not asked, or not with this severity: {', '.join(lacking)}"
    if len({name for name, _ in said}) < len(said):
        yield "a rule was asked twice"


def _verdict(judgement: dict[str, Any], day: str) -> Iterator[str]:
    """No rule that counts says anything but proved, unless a waiver of severity E lets it, which counts on that day."""
    used = [item for item in judgement["waivers"] if item["state"] == "used"]
    for item in (item for item in used if item["expires"] < day):
        yield f"the waiver of {item['rule']} counts up to {item['expires']}, which is before {day}"
    waived = {item["rule"] for item in used}
    for result in judgement["results"]:
        rule, found = result["rule"], {item["verdict"] for item in result["findings"]}
        if found & _FINE or result["verdict"] not in ({"violated"} & found or found or _FINE):
            yield f"{rule} is {result['verdict']}, and its findings say {' and '.join(sorted(found)) or 'nothing'}"
        for item in result["findings"]:
            may_warn = rule not in _KNOWN or rule in MAY_WARN.get(item["verdict"], ())
            severity = item["severity"] if may_warn else result["severity"]
            if item["verdict"] not in _FINE and (severity == "B" or (severity == "E" and rule not in waived)):
                yield f"{rule} is {item['verdict']}: {item['message']}"


def today() -> str:
    """The day in UTC, which waivers go by."""
    return datetime.now(UTC).date().isoformat()


def main(words: list[str]) -> int:
    """Check one file: 0 sound, 1 not, 2 no certificate."""
    if len(words) != 1:
        print("name one file: python checker.py FILE", file=sys.stderr)
        return 2
    try:
        found = read(Path(words[0]).read_bytes())
        said = list(complaints(found, day=today()))
    except (Malformed, OSError) as error:
        print(printable(f"{words[0]}: {getattr(error, 'strerror', None) or error}"), file=sys.stderr)
        return 2
    print("\n".join(said) or f"sound; {printable(told(found['statement']))}")
    return 1 if said else 0


if __name__ == "__main__":
    gc.disable()  # a certificate has no cycles, and each collection walks through all of it that is read so far
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    sys.exit(main(sys.argv[1:]))
