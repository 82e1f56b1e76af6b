"""The wiring of switches as commands to paste: Arista EOS, Cumulus NVUE, and a table for other switches.

Sources of the commands: Arista, EOS User Manual, "VLANs" and "Data Transfer"; NVIDIA, NVUE reference, "Interface",
"Bridge" and "Configuration management".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from interlock.hardware.switches import ARISTA_7010T, ARISTA_7060PX4, ARISTA_7060X
from interlock.model.site.inventory import Endpoint
from interlock.planning.wiring import IronicPort, RestingPort, SiteWiring, SwitchWiring, WiredPort
from interlock.vocabulary import InterlockError
from interlock.vocabulary.errors import ErrorKind


class Syntax(StrEnum):
    """Languages of switches that are known here."""

    EOS = "eos"
    NVUE = "nvue"


#: What the models of the catalogue understand.
SYNTAX_OF: Mapping[str, Syntax] = {
    ARISTA_7060X.name: Syntax.EOS,
    ARISTA_7010T.name: Syntax.EOS,
    ARISTA_7060PX4.name: Syntax.EOS,
}

#: All that may stand in a command: no blank, quote, control character, nor what a shell or a switch reads otherwise.
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@-]*")
_NO_WORD = re.compile(r"[^A-Za-z0-9._:/@-]")
#: EOS takes 240 characters of a description, Cumulus Linux 256. Names that files allow make 171 at most.
LONGEST_DESCRIPTION = 240
QUARANTINE = "quarantine"


class NotPasteable(InterlockError):
    """A name that a switch, or a shell on it, would read as something else than a name."""

    kind = ErrorKind.INPUT


@dataclass(frozen=True)
class _Language:
    """How one switch is told: what begins a comment, and the lines of a switch."""

    comment: str
    lines: Callable[[SwitchWiring], Iterator[str]]


def wiring_text(wiring: SiteWiring, *, syntax: Syntax | None = None) -> str:
    """A block for each switch. `syntax`: of the models that the catalogue does not have.

    Raises NotPasteable if a name could end a command or begin another one.
    """
    return "\n".join("".join(f"{line}\n" for line in _block(switch, syntax)) for switch in wiring.switches)


def _block(switch: SwitchWiring, syntax: Syntax | None) -> Iterator[str]:
    known = SYNTAX_OF.get(switch.model, syntax)
    ports: tuple[WiredPort | RestingPort, ...] = (*switch.ports, *switch.rest)
    nameless = any(port.name is None for port in ports)
    if known is None or nameless:
        yield from _head(switch)
        yield _why_a_table(switch, known)
        yield from _table(switch)
        return
    language = _LANGUAGES[known]
    yield from (f"{language.comment} {line}" for line in _head(switch))
    if switch.ports or switch.vlans or switch.rest:
        yield from language.lines(switch)


def _head(switch: SwitchWiring) -> Iterator[str]:
    """What stands above a block, without a character that could end the comment."""
    counts = [_many(len(switch.ports), "port"), _many(len(switch.vlans), "VLAN")]
    counts += [f"{len(switch.rest)} at rest"] if switch.rest else []
    model = _NO_WORD.sub("?", switch.model)
    yield f"{_word(switch.name)} ({model}, serial {_word(switch.serial)}): {', '.join(counts)}"
    if switch.wired_by == "neutron":
        yield f"Neutron wires {switch.name} by its driver: what is pasted here is undone by it, or fights with it."
    elif switch.wired_by == "export":
        yield f"A pipeline owns the configuration of {switch.name}: its next push undoes what is pasted here."
    for port in switch.ironic:
        yield f"Port {port.number}, {_word(_end(port))}, is left out: Ironic binds it when it deploys the host."


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def is_pasteable(text: str) -> bool:
    """True for a name that may stand in a command of a switch."""
    return _WORD.fullmatch(text) is not None


def _word(text: str) -> str:
    """A name as it may stand in a command. Raises NotPasteable if it may not."""
    if not is_pasteable(text):
        raise NotPasteable(
            f"{text!r} cannot stand in a command of a switch: it is no single word of letters, digits and . _ : / @ -",
            "rename it in the site file or the request",
        )
    return text


def _name(port: WiredPort | RestingPort) -> str:
    return _word(port.name or "")


def _description(port: WiredPort) -> str:
    return _word(f"{port.vpod}:{_end(port)}")[:LONGEST_DESCRIPTION]


def _end(port: WiredPort | RestingPort | IronicPort) -> str:
    """What is behind a port."""
    return str(Endpoint(device=port.device, interface=port.interface))


def _vlans(switch: SwitchWiring) -> dict[int, str]:
    """VLAN -> its label, the one in which ports rest included."""
    found = {vlan.vlan: _word(vlan.name) for vlan in switch.vlans}
    resting = {port.vlan: QUARANTINE for port in switch.rest if port.vlan is not None}
    return dict(sorted((resting | found).items()))


def _eos(switch: SwitchWiring) -> Iterator[str]:
    yield "configure"
    for vlan, label in _vlans(switch).items():
        yield from (f"vlan {vlan}", f"   name {label}")
    for port in switch.ports:
        yield f"interface {_name(port)}"
        yield f"   description {_description(port)}"
        yield "   switchport mode access"
        yield f"   switchport access vlan {port.vlan}"
        yield "   no shutdown"
    for rest in switch.rest:
        yield f"interface {_name(rest)}"
        # First of all: each line takes effect at once, and without a VLAN of its own the port is in VLAN 1.
        yield from () if rest.enabled else ("   shutdown",)
        yield "   no description"
        yield "   switchport mode access"
        yield "   no switchport access vlan" if rest.vlan is None else f"   switchport access vlan {rest.vlan}"
        yield from ("   no shutdown",) if rest.enabled else ()
    yield "end"
    yield "write memory"


def _nvue(switch: SwitchWiring) -> Iterator[str]:
    vlans = ",".join(map(str, _vlans(switch)))
    if vlans:
        yield f"nv set bridge domain br_default vlan {vlans}"
    for port in switch.ports:
        interface = f"interface {_name(port)}"
        yield f"nv set {interface} description {_description(port)}"
        yield f"nv set {interface} bridge domain br_default access {port.vlan}"
        yield f"nv set {interface} link state up"
    for rest in switch.rest:
        interface = f"interface {_name(rest)}"
        yield f"nv unset {interface} description"
        access = f"{interface} bridge domain br_default access"
        yield f"nv unset {access}" if rest.vlan is None else f"nv set {access} {rest.vlan}"
        yield f"nv set {interface} link state {'up' if rest.enabled else 'down'}"
    # Without -y it asks, and takes the next line that is pasted for the answer.
    yield "nv config apply -y"
    yield "nv config save"


_LANGUAGES = {Syntax.EOS: _Language("!", _eos), Syntax.NVUE: _Language("#", _nvue)}


def _why_a_table(switch: SwitchWiring, known: Syntax | None) -> str:
    if known is None:
        return (
            "The catalogue does not have this model, so nobody here knows its commands: set these by yourself, or add "
            f"{' or '.join(f'`--syntax {item}`' for item in Syntax)} if it understands them."
        )
    return (
        f"Nobody states what {switch.name} calls its ports, so there are no commands to paste: state `port_names` "
        'in the site file, as in ["swp{}"], or set these by yourself.'
    )


def _table(switch: SwitchWiring) -> Iterator[str]:
    """Ports of a switch for people, one line each."""
    rows = [("port", "name", "mode", "VLAN", "state", "device", "for")]
    rows += [
        (str(port.number), port.name or "?", port.mode, str(port.vlan), "enabled", _end(port), port.vpod)
        for port in switch.ports
    ]
    for rest in switch.rest:
        state, vlan = "enabled" if rest.enabled else "disabled", "-" if rest.vlan is None else str(rest.vlan)
        rows.append((str(rest.number), rest.name or "?", rest.mode, vlan, state, _end(rest), "nobody: at rest"))
    yield from _aligned(rows)
    yield ""
    yield from _aligned([("VLAN", "name"), *((str(vlan), label) for vlan, label in _vlans(switch).items())])


def _aligned(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
