"""A site on one screen: how much of each kind there is, the pools, what is shared, and what is not stated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from interlock.hardware import PRICE_ITEMS
from interlock.hardware.prices import GPU_ITEM
from interlock.model.evidence.accepting import ASSUMED_FACT, Acceptance
from interlock.model.evidence.values import age_text
from interlock.model.site.completeness import TABLES, too_old
from interlock.model.site.inventory import Placement, Sharing, Site, Switch
from interlock.model.site.networks import Ranges
from interlock.model.site.rests import BY_EVIDENCE, RestsOnEvidence

#: Names that a line lists before it only counts.
SHOWN = 4


def summary(site: Site) -> str:
    """The screen, for people: lines without colour."""
    heads = (
        f"site {site.name} on cloud {site.cloud}",
        "pools",
        "shared",
        "out of service: given to nobody new, kept by whoever has it",
        "switches are as stated: who says so",
        "evidence of what was released: what counts",
        "complete: what rests on it that nothing else is there",
        "not stated: what rests on it is unknown",
    )
    sections = zip(heads, _sections(site), strict=True)
    return "\n\n".join("\n".join([head, *_columns(rows)]) for head, rows in sections if rows) + "\n"


def document(site: Site) -> dict[str, Any]:
    """The same as JSON values: a list of rows for each part of the screen, the cells as the screen has them."""
    names = ("counts", "pools", "shared", "out_of_service", "switches_as_stated", "evidence", "complete", "not_stated")
    parts = dict(zip(names, _sections(site), strict=True))
    rows = {name: [[cell.strip() for cell in row] for row in found] for name, found in parts.items()}
    return {"site": site.name, "cloud": site.cloud, **rows}


def _sections(site: Site) -> tuple[list[tuple[str, ...]], ...]:
    shared = [_shared(item) for item in site.sharing]
    idle = list(_out_of_service(site))
    said = [list(_as_stated(site)), list(_what_counts(site))]
    return _counts(site), list(_pools(site)), shared, idle, *said, list(_complete(site)), list(_unknown(site))


def _columns(rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """Rows under each other; all columns but the last as wide as their widest cell."""
    table = list(rows)
    widths = [max(len(row[index]) for row in table) for index in range(len(table[0]) - 1)]
    for row in table:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        yield "  ".join(["", *cells, row[-1]]).rstrip()


def _counts(site: Site) -> list[tuple[str, ...]]:
    fabric = len(site.fabric_switches)
    rows = (
        ("rooms", _names(item.name for item in site.rooms), len(site.rooms)),
        ("physical racks", _names(item.name for item in site.physical_racks), len(site.physical_racks)),
        ("logical racks", _names(item.name for item in site.logical_racks), len(site.logical_racks)),
        ("machines", _by(item.generation for item in site.machines), len(site.machines)),
        ("GPU nodes", _by(f"{item.node_type} in {item.hall}" for item in site.gpu_nodes), len(site.gpu_nodes)),
        ("hosts", _by(f"{item.role} {item.provisioning}" for item in site.hosts), len(site.hosts)),
        ("switches", _by(item.role for item in site.switches), len(site.switches)),
        ("InfiniBand", _by(f"{item.tier} of {item.infiniband}" for item in site.fabric_switches), fabric),
        ("other devices", _by(item.role for item in site.devices), len(site.devices)),
        ("cables", _by(item.kind for item in site.cables), len(site.cables)),
        ("bundles", _by(item.mode for item in site.lags), len(site.lags)),
        ("networks", _names(item.name for item in site.physical_networks), len(site.physical_networks)),
        ("flavours", _names(item.name for item in site.flavors), len(site.flavors)),
    )
    return [(name, str(count).rjust(6), words) for name, words, count in rows if count]


def _by(kinds: Iterable[str]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in Counter(kinds).items())


def _names(names: Iterable[str], shown: int = SHOWN) -> str:
    found = list(names)
    return ", ".join(found[:shown]) + (f" and {len(found) - shown} more" if len(found) > shown else "")


def _pools(site: Site) -> list[tuple[str, ...]]:
    pools = site.pools
    rows: list[tuple[str, ...]] = []
    for name, pool in pools.vlans_by_name.items():
        where = f"VLAN {_ranges(pool.vlans)} on {_names(pool.physical_networks)}"
        rows.append((name, where, _subnets(pools.subnets_by_name.get(name))))
    if pools.control:
        rows.append(("control", f"VNI {_ranges(pools.control)}", _subnets(pools.control_subnets)))
    rows += [
        ("partition_keys", f"P_Key {_ranges(keys.keys, '#06x')} on {keys.infiniband}", "")
        for keys in pools.partition_keys
    ]
    if pools.storage_vips is not None:
        rows.append(("storage_vips", f"offsets {_ranges((pools.storage_vips,))} in every storage subnet", ""))
    return rows


def _ranges(ranges: Ranges, form: str = "") -> str:
    return ", ".join(f"{first:{form}}" if first == last else f"{first:{form}}-{last:{form}}" for first, last in ranges)


def _subnets(subnets: tuple[str, int] | None) -> str:
    return "" if subnets is None else f"/{subnets[1]} from {subnets[0]}"


def _shared(item: Sharing) -> tuple[str, ...]:
    false = [name for name, value in item.guards.items() if value is False]
    unknown = [name for name, value in item.guards.items() if value is None]
    words = [f"does not hold: {', '.join(false)}"] if false else []
    words += [f"unknown: {', '.join(unknown)}"] if unknown else []
    state = "; ".join(words) or f"all {len(item.guards)} guards hold"
    audience = "any tenant" if item.audience == ("*",) else _names(item.audience)
    return item.name, item.kind, audience, f"rule {item.rule}", state


def _out_of_service(site: Site) -> Iterator[tuple[str, ...]]:
    for kind, devices in (("machine", site.machines), ("host", site.hosts)):
        yield from ((item.name, kind, item.state, item.state_reason) for item in devices if not item.in_service)


def _as_stated(site: Site) -> Iterator[tuple[str, ...]]:
    """Guards that may rest on evidence: what a person stated, or each device with its evidence."""
    now = datetime.now(UTC)
    for assumption in site.assumptions:
        for guard in BY_EVIDENCE.get(assumption.id, ()):
            rests, value = assumption.evidence.get(guard), assumption.guards.get(guard)
            name = f"{assumption.id}.{guard}"
            if rests is not None:
                yield from ((name, *cells) for cells in _evidence(rests, now))
            elif value is not None:
                yield name, str(value).lower(), "stated by a person", ""


def _evidence(rests: RestsOnEvidence, now: datetime) -> Iterator[tuple[str, ...]]:
    for seen in rests.devices:
        counts = f"{'' if seen.holds else 'it is not so; '}counts for {age_text(rests.max_age_h)} from then"
        words = rests.lacking_of(seen, now) or counts
        yield seen.device, f"{seen.read} by {seen.by}" if seen.read else "no evidence", words


def _what_counts(site: Site) -> Iterator[tuple[str, ...]]:
    """Nothing where the site does not say how old it may be: then none counts."""
    terms = site.evidence
    if terms.max_age_h is not None:
        unsigned = "nobody has to: `evidence.signers` names no list, so `by` is only a name"
        yield "no older than", age_text(terms.max_age_h)
        yield "signed by", unsigned if terms.signers is None else f"who saw it, if the file {terms.signers} lists them"
    yield from _accepted(site)


def _accepted(site: Site) -> Iterator[tuple[str, ...]]:
    """Each type of GPU node on the site, and what has to be stated before one of them can be accepted."""
    for node_type, name in sorted({node.node_type: node.name for node in site.gpu_nodes}.items()):
        node = Acceptance(site, name)
        facts = [fact for step in node.steps for fact in node.missing(step) if fact.startswith("evidence.")]
        after = f"accepted by {', '.join(node.steps)}"
        without = f"; firmware by {ASSUMED_FACT}" if node.rests_on_assumption else ""
        unknown = f"; not provable until stated: {', '.join(dict.fromkeys(facts))}" if facts else ""
        yield node_type, f"{after}{without}{unknown}"


def _draws_unknown(site: Site, placement: Placement) -> bool:
    """PDUs only pass on what others draw."""
    pdus = {device.name for device in site.devices if device.role == "pdu"}
    return placement.nameplate_w is None and placement.device not in pdus


def _tags_unknown(switch: Switch) -> bool:
    natives = (port for port in switch.ports if port.mode == "trunk" and port.untagged is not None)
    return any(port.tag_native is None for port in natives)


def _wraps_unknown(switch: Switch) -> bool:
    return any(vtep.encapsulation is None for vtep in switch.vteps)


#: Table -> what its declaration takes away where it is given.
_RESTS = {
    "switch_ports": "ports without a line are disabled",
    "cables": "no further cable at them",
    "routing": "no further address, VRF or VTEP",
    "external_attachments": "the external network is not on them",
    "attachments": "no further interface in use",
    "rights": "no further right to them",
    "members": "no further member of a project",
    "logins": "no server has a further ssh key",
    "scopes": "no further subnet or scope outside",
    "networks": "no further network on their ids",
}


def _complete(site: Site) -> Iterator[tuple[str, ...]]:
    """Each declaration, and the devices that no declaration of the table has."""
    today = datetime.now(UTC).date()
    by_role = {item.name for item in site.devices if item.role not in ("appliance", "other")}
    for table in TABLES:
        declared = [item for item in site.complete if item.table == table]
        old = [item for item in declared if too_old(item, site.complete_max_age_h, today)]
        for item in declared:
            rests = f"too old to count: {_RESTS[table]}" if item in old else _RESTS[table]
            yield table, _names(item.devices, 2), f"{item.seen} by {item.by}", rests
        covered = {device for item in declared for device in item.devices}
        lacking = [name for name in site.subjects(table) if name not in covered | by_role]
        if lacking:
            yield table, _names(lacking, 2), "not declared", f"not provable: {_RESTS[table]}"


def _unknown(site: Site) -> Iterator[tuple[str, ...]]:
    for assumption in site.assumptions:
        guards = [name for name, value in assumption.guards.items() if value is None]
        if guards:
            # More than that go over the edge of the screen.
            words = ", ".join(guards) if len(guards) <= SHOWN else f"{len(guards)} of {len(assumption.guards)} guards"
            yield f"assumptions.{assumption.id}", words
    for fact, names in (
        ("switches: ports", [item.name for item in site.switches if not item.ports]),
        ("switches: ip_routing", [item.name for item in site.switches if item.ip_routing is None]),
        ("switches: routed_vlans", [item.name for item in site.switches if item.routed_vlans is None]),
        ("switches: tag_native of trunks", [item.name for item in site.switches if _tags_unknown(item)]),
        ("switches: encapsulation of VTEPs", [item.name for item in site.switches if _wraps_unknown(item)]),
        ("logical racks: address_plan", [item.name for item in site.logical_racks if item.address_plan is None]),
        ("machines: macs", [item.name for item in site.machines if len(item.macs) < 3]),
        ("physical networks: mtu", [item.name for item in site.physical_networks if item.mtu is None]),
        ("physical networks: profile", [item.name for item in site.physical_networks if item.profile is None]),
        ("placements: nameplate", [item.device for item in site.placements if _draws_unknown(site, item)]),
        ("prices", [item for item in _priced(site) if site.prices is None or item not in site.prices.prices]),
    ):
        if names:
            yield fact, _names(names)


def _priced(site: Site) -> list[str]:
    """Items that the site has something of: GPUs of the types of its nodes alone."""
    types = {f"{GPU_ITEM}{node.node_type}" for node in site.gpu_nodes}
    return [item for item in PRICE_ITEMS if not item.startswith(GPU_ITEM) or item in types]
