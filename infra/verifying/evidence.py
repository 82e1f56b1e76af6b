"""Guards that rest on evidence, derived from its files and the site in full form, and looked at by the clock.

Written from docs/design/semantics.md §7 and docs/reference/evidence-file.md: nothing is used of what the loader made.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from infra.checker import digest, read

from .subnet_managers import said_of_subnets

Json = dict[str, Any]
#: (device, file, when it was read, how old that may be, digest of what it is about); empty where it is absent.
Row = tuple[str, str, str, str, str]
#: Files of evidence by name.
Files = dict[str, Json]
_HOURS = {"d": 24, "h": 1}
_RESULT = "as stated"
#: What a subnet manager says may be that a guard does not hold; a switch that is not as stated has no evidence.
_OF_FABRICS = "assumptions.A6."


@dataclass(frozen=True)
class EvidenceOfSite:
    """What a site's files of evidence come to, of whatever age."""

    #: Guard that the site lets rest on evidence -> one row for each switch of the site, or for each InfiniBand subnet.
    rows: dict[str, list[Row]]
    #: The same guard -> why files say nothing of these devices, one sentence for each.
    misfits: dict[str, list[str]]
    #: Guards that a file says do not hold.
    denied: frozenset[str]

    @property
    def values(self) -> dict[str, bool | None]:
        """What each such guard is: it holds where there is evidence of every device."""
        return {
            guard: False if guard in self.denied else (True if rows and not self.misfits[guard] else None)
            for guard, rows in self.rows.items()
        }


def evidence_of(site: Json, files: Files) -> EvidenceOfSite:
    """What these files say of a site in full form; `files` by their names relative to its folder."""
    rests = {
        f"assumptions.{item['id']}.{guard}": found["max_age_h"]
        for item in site["assumptions"]
        for guard, found in item["evidence"].items()
    }
    rows, misfits, denied = dict[str, list[Row]](), dict[str, list[str]](), set[str]()
    switches = [*_misfits(site, files)] if any(not guard.startswith(_OF_FABRICS) for guard in rests) else []
    for guard, hours in rests.items():
        if guard.startswith(_OF_FABRICS):
            rows[guard] = [_row(item["name"], "fabrics", files, hours, "digest") for item in site["infiniband"]]
            said = said_of_subnets(site, files, guard.removeprefix(_OF_FABRICS))
            misfits[guard] = [why for why in said.values() if isinstance(why, str)]
            denied |= {guard} if False in said.values() else set()
        else:
            rows[guard] = [_row(item["name"], "switches", files, hours, "configuration") for item in site["switches"]]
            misfits[guard] = switches
    return EvidenceOfSite(rows, misfits, frozenset(denied))


def files_of(folder: Path) -> Files:
    """The files of evidence of devices in the folder of a site. Raises Malformed for one that is no JSON."""
    found = sorted(
        file for kind in ("controllers", "fabrics", "switches") for file in (folder / "evidence").glob(f"{kind}-*.json")
    )
    return {f"evidence/{file.name}": read(file.read_bytes()) for file in found}


def _name(kind: str, device: str) -> str:
    return f"evidence/{kind}-{device}.json"


def _row(device: str, kind: str, files: Files, hours: int, about: str) -> Row:
    name, age = _name(kind, device), f"{hours}h" if hours % 24 else f"{hours // 24}d"
    if name not in files:
        return device, "", "", age, ""
    return device, name, files[name]["read"], age, files[name][about]


def _misfits(site: Json, files: Files) -> Iterator[str]:
    cables: defaultdict[str, list[Json]] = defaultdict(list)
    for item in site["cables"]:
        for device in {item[end]["device"] for end in "ab"}:
            cables[device].append(item)
    macs = {item["name"]: item["macs"] for kind in ("machines", "hosts") for item in site[kind]}
    for switch in site["switches"]:
        found = files.get(_name("switches", switch["name"]))
        stated = _stated_of(site, switch, cables[switch["name"]], macs)
        if why := "is not there" if found is None else _misfit(site["name"], switch, stated, found):
            yield f"the evidence of {switch['name']} {why}"


def _misfit(site: str, switch: Json, stated: Json, found: Json) -> str:
    if found["digest"] != digest({key: value for key, value in found.items() if key != "digest"}):
        return "was edited"
    if (found["site"], found["switch"]) != (site, switch["name"]):
        return f"is of {found['switch']} of site {found['site']}"
    if found["serial"] not in (None, switch["serial"]):
        return f"is of serial {found['serial']}"
    if found["configuration"] != digest(stated) or found["result"] != _RESULT:
        return "is about another configuration"
    return ""


def _stated_of(site: Json, switch: Json, cables: list[Json], macs: Json) -> Json:
    """What a reading of a switch is compared with."""
    ends = {item[end]["device"] for item in cables for end in "ab"} & macs.keys()
    return {
        "switch": switch | {"ports": [_of_port(port) for port in switch["ports"]]},
        "cables": cables,
        "lags": [item for item in site["lags"] if item["device"] == switch["name"]],
        "macs": {name: macs[name] for name in ends},
        "reserved_vlans": site["pools"]["reserved_vlans"],
    }


def _of_port(port: Json) -> Json:
    """Evidence of before a port could be filled by Neutron says nothing of it."""
    return {key: value for key, value in port.items() if key != "filled_by" or value}


def outdated(said: Json, made: str, moment: datetime) -> Iterator[str]:
    """What of a statement does not hold by the clock: a guard that holds on evidence which does not count at a moment.

    `made`: the day of the certificate.
    """
    for guard, rows in sorted(said["evidence"].items()):
        if said["guards"].get(guard) is None:
            continue  # the edges that it would keep away are there
        if said["guards"][guard] is False and guard.startswith(_OF_FABRICS) and rows:
            continue  # the same; whoever is unsure of it has to ask again
        if said["guards"][guard] is not True or not rows:
            yield f"{guard} rests on evidence, and is {said['guards'][guard]} in it without any"
        for row in rows:
            yield from (f"{guard}: the evidence of {row[0]} {why}" for why in _by_clock(row, made, moment))


def _by_clock(row: Sequence[str], made: str, moment: datetime) -> Iterator[str]:
    _, _, said, age, _ = row
    try:
        seen = datetime.strptime(said, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
        longest = timedelta(hours=int(age[:-1]) * _HOURS[age[-1]])
    except (ValueError, KeyError, IndexError, OverflowError):
        yield "says in no known form when it was read, or how old it may be" if said else "is not there"
        return
    if seen > moment or said[:10] > made:
        yield f"is of {said}, which is yet to come"
    elif moment - seen > longest:
        yield f"is of {said}, older than {age} by {moment:%Y-%m-%dT%H:%M:%SZ}"


def unlike(said: Json, evidence: EvidenceOfSite) -> Iterator[str]:
    """Where a statement rests on other evidence than there is in the site's folder, or on what says nothing of it."""
    known = evidence.rows
    for guard in sorted(said["evidence"].keys() | known.keys()):
        if guard not in known or guard not in said["evidence"]:
            yield f"{guard} rests on evidence in {'it' if guard in said['evidence'] else 'the site'} alone"
            continue
        yield from _other_rows(guard, [tuple(row) for row in said["evidence"][guard]], known[guard])
        value = said["guards"].get(guard)
        if value is True:
            yield from (f"{guard}: {why}" for why in evidence.misfits[guard])
        if value is not None and value is (guard in evidence.denied):
            yield f"{guard} is {value} in it, and its evidence says otherwise"


def _other_rows(guard: str, theirs: Sequence[Sequence[str]], ours: Sequence[Row]) -> Iterator[str]:
    for row in [item for item in ours if item not in theirs]:
        yield f"{guard}: it does not rest on the evidence of {row[0]} in the site, {_told(row)}"
    names = [row[0] for row in ours]
    what = "InfiniBand subnet" if guard.startswith(_OF_FABRICS) else "switch"
    for name in sorted({row[0] for row in theirs} - {*names}):
        yield f"{guard}: it rests on evidence of {name}, and the site has no such {what}"
    for name in names if len(theirs) > len(ours) else ():
        if sum(row[0] == name for row in theirs) > 1:
            yield f"{guard}: it names evidence of {name} more than once"


def _told(row: Row) -> str:
    _, _, said, age, compared = row
    return f"of {said}, {compared}, no older than {age}" if said else "which is not there"


def moment_of(day: str, today: str) -> datetime:
    """The moment by which evidence is looked at: now, or of another day its end."""
    now = datetime.now(UTC)
    if day == today:
        return now
    return datetime.fromisoformat(day).replace(hour=23, minute=59, second=59, tzinfo=UTC)
