"""A session at a switch: lines in, answers out, in the words of EOS. What is not modelled is refused as unknown."""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sandbox.switches import configuring, showing, texts, vlans
from sandbox.switches.configuring import Context, port_named
from sandbox.switches.devices import Port, Switch
from sandbox.switches.grammar import INVALID, Command, find
from sandbox.switches.showing import Data
from sandbox.switches.table import Backend, SwitchState


@dataclass(frozen=True)
class Answer:
    """What a `show` command makes: data, and how it is printed for people."""

    data: Data
    text: Callable[[Data], str]


class Device:
    """A switch that runs: what it is, its state, and what the state is applied to. All sessions share it."""

    def __init__(self, switch: Switch, backend: Backend) -> None:
        self.switch = switch
        self.backend = backend
        self.state: SwitchState = backend.load()
        self.booted = time.time()

    def change(self, after: SwitchState) -> None:
        """Apply a new state. When that fails, the old one stays, and the error goes on."""
        if after != self.state:
            self.backend.apply(self.state, after)
            self.state = after

    def ports(self, text: str) -> tuple[Port, ...]:
        """The port of a name in any of its forms; all of them for none given."""
        wanted = port_named(self.state, text)
        return tuple(port for port in self.switch.ports if not text or port.name == wanted)


Show = Callable[[Device, Mapping[str, str]], Answer | str]


def show_version(device: Device, _: Mapping[str, str]) -> Answer:
    """Model, version, system MAC."""
    return Answer(showing.version(device.switch, device.booted), texts.version)


def show_vlan(*, configured: bool) -> Show:
    """VLANs and their ports."""

    def show(device: Device, values: Mapping[str, str]) -> Answer | str:
        wanted = vlans.parsed(values.get("<vlans>", "")) or vlans.EVERY
        if "<vlans>" in values and not set(wanted) & set(device.state.vlans):
            return f"% VLAN {values['<vlans>']} not found in current VLAN database"
        return Answer(showing.vlan(device.switch, device.state, wanted, configured=configured), texts.vlan)

    return show


def show_switchport(device: Device, values: Mapping[str, str]) -> Answer | str:
    """Mode and VLANs of ports."""
    ports = device.ports(values.get("<interface>", ""))
    return Answer(showing.switchport(device.state, ports), texts.switchport) if ports else INVALID


def show_status(device: Device, values: Mapping[str, str]) -> Answer | str:
    """Links of ports."""
    ports = device.ports(values.get("<interface>", ""))
    return Answer(showing.status(device.switch, device.state, ports), texts.status) if ports else INVALID


def show_addresses(*_: object) -> Answer:
    """Addresses of the switch."""
    return Answer(showing.addresses(), texts.addresses)


def show_neighbors(device: Device, _: Mapping[str, str]) -> Answer:
    """What LLDP sees."""
    return Answer(showing.neighbors(device.switch, device.state), texts.neighbors)


def show_neighbors_detail(device: Device, _: Mapping[str, str]) -> Answer:
    """What LLDP sees, in full."""
    return Answer(showing.neighbors_detail(device.switch, device.state, device.booted), texts.neighbors_detail)


def show_running_config(device: Device, _: Mapping[str, str]) -> str:
    """The configuration as commands."""
    return texts.running_config(device.switch, device.state)


SHOWS: tuple[Command[Show], ...] = (
    Command("show version", show_version, "model, version, system MAC"),
    Command("show vlan", show_vlan(configured=False), "VLANs and their ports that have a link"),
    Command("show vlan <vlans>", show_vlan(configured=False)),
    Command("show vlan id <vlans>", show_vlan(configured=False)),
    Command("show vlan configured-ports", show_vlan(configured=True), "VLANs and all their ports"),
    Command("show vlan id <vlans> configured-ports", show_vlan(configured=True)),
    Command("show interfaces switchport", show_switchport, "mode and VLANs of ports"),
    Command("show interfaces <interface> switchport", show_switchport),
    Command("show interfaces status", show_status, "links of ports"),
    Command("show interfaces <interface> status", show_status),
    Command("show ip interface", show_addresses, "addresses of the switch: none"),
    Command("show lldp neighbors", show_neighbors, "who is at the other end"),
    Command("show lldp neighbors detail", show_neighbors_detail),
    Command("show running-config", show_running_config, "the configuration as commands"),
)

Say = Callable[["Session", Mapping[str, str]], str]


def say(text: str) -> Say:
    """A command that only answers."""
    return lambda _, __: text


def configure(session: "Session", _: Mapping[str, str]) -> str:
    """Enter the configuration."""
    if session.reads_only:
        return "% Authorization denied for command 'configure'"
    session.context = Context()
    return ""


def end(session: "Session", _: Mapping[str, str]) -> str:
    """Leave the configuration."""
    session.context = None
    return ""


def leave(session: "Session", _: Mapping[str, str]) -> str:
    """Go up by one: from a VLAN or a port to the top of the configuration, from there out of it, from there home."""
    if session.context is None:
        session.ended = True
    elif session.context == Context():
        session.context = None
    else:
        session.context = Context()
    return ""


def show_help(*_: object) -> str:
    """Every command."""
    rows = [(row.pattern, row.help) for row in SHOWS] + [(row.pattern, row.help) for row in EXEC]
    rows += [(row.pattern, row.help) for row in (*configuring.TOP, *configuring.IN_VLAN, *configuring.IN_PORT)]
    return "\n".join([f"{showing.NOTICE}. What it knows:", *(f"  {words:44} {text}".rstrip() for words, text in rows)])


#: `running-config startup-config`: the running configuration survives a restart here, so there is nothing to save.
SAVED = say("Copy completed successfully.")

EXEC: tuple[Command[Say], ...] = (
    Command("enable", say("")),
    Command("terminal width <number>", lambda _, values: f"Width set to {values['<number>']} columns."),
    Command("terminal length <number>", say("Pagination disabled.")),
    Command("configure", configure, "change the configuration"),
    Command("configure terminal", configure),
    Command("end", end, "leave the configuration"),
    Command("exit", leave),
    Command("logout", leave),
    Command("write memory", SAVED),
    Command("write", SAVED),
    Command("copy running-config startup-config", SAVED, "nothing to do: all is saved at once"),
    Command("help", show_help),
    Command("?", show_help, "this list"),
)


@dataclass
class Session:
    """One login. `context` None: not in the configuration. `reads_only`: a user who may look and change nothing."""

    device: Device
    reads_only: bool = False
    context: Context | None = None
    ended: bool = False
    failed: bool = field(default=False, init=False)

    @property
    def prompt(self) -> str:
        """As EOS writes it for a user of privilege level 15, who needs no `enable`."""
        mode = f"({self.context.mode})" if self.context else ""
        return f"{self.device.state.name}{mode}#"

    def run(self, line: str) -> str:
        """Run one line; returns what is printed, without the last line break."""
        line = " ".join(line.replace("\0", "").split())
        if not line or line.startswith("!"):
            return ""
        said = self.dispatch(line)
        self.failed = said.startswith("%")
        return said

    def dispatch(self, line: str) -> str:
        """Configuration commands where there is a configuration, then all others."""
        said = self.configured(line, self.context) if self.context else INVALID
        if said == INVALID:
            said = self.shown(line)
        if said == INVALID:
            match = find(line, EXEC)
            said = match if isinstance(match, str) else match.command.run(self, match.values)
        return said

    def configured(self, line: str, context: Context) -> str:
        """Change the configuration, wholly or not at all."""
        match = find(line, configuring.commands(context))
        if isinstance(match, str):
            return match
        done = match.command.run(self.device.state, context, match.values)
        if done.error:
            return done.error
        try:
            self.device.change(done.state)
        except Exception as error:  # noqa: BLE001  whatever the backend met: the driver must see that nothing was done
            return f"{INVALID} (not applied: {error})"
        self.context = done.context
        return ""

    def shown(self, line: str) -> str:
        """Show something, as text or as data."""
        words, pipe, form = (part.strip() for part in line.partition("|"))
        match = find(words, SHOWS)
        if isinstance(match, str):
            return match
        answer = match.command.run(self.device, match.values)
        if isinstance(answer, str):
            return INVALID if pipe and not answer.startswith("%") else answer
        if pipe and form != "json":
            return INVALID
        return json.dumps(answer.data, indent=4) if pipe else answer.text(answer.data)
