"""Commands of EOS's configuration mode: each makes a new state of a state.

What networking-generic-switch sends is here, and what an operator of these switches needs besides: VLANs, access ports,
trunks, native VLANs, shutdown. The syntax is that of Arista's EOS user manual, chapters "VLANs" and "Ethernet Ports".
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from sandbox.switches import vlans
from sandbox.switches.grammar import INTERFACE, INVALID, Command
from sandbox.switches.table import PortState, SwitchState

Values = Mapping[str, str]


@dataclass(frozen=True)
class Context:
    """Where in the configuration a session is: at its top, in some VLANs, or in a port."""

    vlans: tuple[int, ...] = ()
    port: str = ""

    @property
    def mode(self) -> str:
        """What the prompt says in brackets."""
        if self.port:
            return f"config-if-{short(self.port)}"
        return f"config-vlan-{vlans.listed(self.vlans)}" if self.vlans else "config"


@dataclass(frozen=True)
class Done:
    """What a command made: state and place, or an error and nothing."""

    state: SwitchState
    context: Context
    error: str = ""


Run = Callable[[SwitchState, Context, Values], Done]
Change = Callable[[PortState, Values], PortState]


def short(port: str) -> str:
    """`Ethernet1/1` as `Et1/1`."""
    return port.replace("Ethernet", "Et")


def port_named(state: SwitchState, text: str) -> str | None:
    """The switch's own name of a port: `et1/1` is `Ethernet1/1`. None when it has no such port."""
    match = INTERFACE.fullmatch(text)
    name = f"Ethernet{match[1]}" if match else ""
    return name if name in state.ports else None


def enter_vlans(state: SwitchState, _: Context, values: Values) -> Done:
    """Make VLANs that are not there, and enter them."""
    wanted = vlans.parsed(values["<vlans>"]) or ()
    named = {vlan: vlans.default_name(vlan) for vlan in wanted} | dict(state.vlans)
    return Done(replace(state, vlans=dict(sorted(named.items()))), Context(vlans=wanted))


def remove_vlans(state: SwitchState, _: Context, values: Values) -> Done:
    """Remove VLANs; ports that name them forward nothing there. The default VLAN stays."""
    gone = set(vlans.parsed(values["<vlans>"]) or ())
    if vlans.DEFAULT in gone:
        return Done(state, Context(), f"{INVALID} (VLAN {vlans.DEFAULT} is the default VLAN)")
    kept = {vlan: name for vlan, name in state.vlans.items() if vlan not in gone}
    return Done(replace(state, vlans=kept), Context())


def name_vlans(state: SwitchState, context: Context, values: Values) -> Done:
    """Name the VLANs in which the session is."""
    return Done(replace(state, vlans={**state.vlans, **dict.fromkeys(context.vlans, values["<name>"])}), context)


def unname_vlans(state: SwitchState, context: Context, _: Values) -> Done:
    """Give the VLANs in which the session is their default names."""
    return Done(replace(state, vlans={**state.vlans, **{v: vlans.default_name(v) for v in context.vlans}}), context)


def enter_port(state: SwitchState, context: Context, values: Values) -> Done:
    """Enter a port. A name that the switch does not have changes nothing, not even where the session is."""
    name = port_named(state, values["<interface>"])
    return Done(state, Context(port=name)) if name else Done(state, context, INVALID)


def on_port(change: Change) -> Run:
    """A command that changes the port in which the session is."""

    def run(state: SwitchState, context: Context, values: Values) -> Done:
        changed = change(state.ports[context.port], values)
        return Done(replace(state, ports={**state.ports, context.port: changed}), context)

    return run


def enabled(value: bool) -> Run:
    """`shutdown` and its opposite."""
    return on_port(lambda port, _: replace(port, enabled=value))


def mode(value: Literal["access", "trunk"]) -> Run:
    """Access port or trunk."""
    return on_port(lambda port, _: replace(port, mode=value))


def access_vlan(port: PortState, values: Values) -> PortState:
    """The VLAN of an access port."""
    return replace(port, access_vlan=int(values["<vlan>"]))


def no_access_vlan(port: PortState, _: Values) -> PortState:
    """Back to the default VLAN, whatever is named: so EOS does."""
    return replace(port, access_vlan=vlans.DEFAULT)


def native_vlan(port: PortState, values: Values) -> PortState:
    """The VLAN of a trunk's untagged frames."""
    return replace(port, native_vlan=int(values["<vlan>"]))


def default_native_vlan(port: PortState, _: Values) -> PortState:
    """Untagged frames belong to the default VLAN, if the trunk allows it."""
    return replace(port, native_vlan=vlans.DEFAULT)


def no_native_vlan(port: PortState, _: Values) -> PortState:
    """`native vlan tag`: untagged frames are dropped."""
    return replace(port, native_vlan=None)


def allow_only(port: PortState, values: Values) -> PortState:
    """A trunk's VLANs."""
    return replace(port, allowed=vlans.parsed(values["<vlans>"]) or ())


def allow_more(port: PortState, values: Values) -> PortState:
    """Add to a trunk's VLANs."""
    return replace(port, allowed=tuple(sorted({*port.allowed, *(vlans.parsed(values["<vlans>"]) or ())})))


def allow_less(port: PortState, values: Values) -> PortState:
    """Take from a trunk's VLANs."""
    gone = set(vlans.parsed(values["<vlans>"]) or ())
    return replace(port, allowed=tuple(vlan for vlan in port.allowed if vlan not in gone))


def allow(every: tuple[int, ...]) -> Run:
    """All VLANs, or none."""
    return on_port(lambda port, _: replace(port, allowed=every))


#: At the top of the configuration, and from any place in it.
TOP: tuple[Command[Run], ...] = (
    Command("vlan <vlans>", enter_vlans, "make and enter VLANs"),
    Command("no vlan <vlans>", remove_vlans),
    Command("interface <interface>", enter_port, "enter a port"),
)

IN_VLAN: tuple[Command[Run], ...] = (
    Command("name <name>", name_vlans, "name these VLANs"),
    Command("no name", unname_vlans),
    Command("no name <name>", unname_vlans),
)

IN_PORT: tuple[Command[Run], ...] = (
    Command("shutdown", enabled(False), "disable the port"),
    Command("no shutdown", enabled(True), "enable the port"),
    Command("switchport mode access", mode("access")),
    Command("switchport mode trunk", mode("trunk")),
    Command("no switchport mode", mode("access")),
    Command("no switchport mode access", mode("access")),
    Command("no switchport mode trunk", mode("access")),
    Command("switchport access vlan <vlan>", on_port(access_vlan)),
    Command("no switchport access vlan", on_port(no_access_vlan)),
    Command("no switchport access vlan <vlan>", on_port(no_access_vlan)),
    Command("switchport trunk native vlan <vlan>", on_port(native_vlan)),
    Command("switchport trunk native vlan tag", on_port(no_native_vlan), "drop untagged frames"),
    Command("no switchport trunk native vlan", on_port(default_native_vlan)),
    Command("no switchport trunk native vlan <vlan>", on_port(default_native_vlan)),
    Command("switchport trunk allowed vlan <vlans>", on_port(allow_only)),
    Command("switchport trunk allowed vlan add <vlans>", on_port(allow_more)),
    Command("switchport trunk allowed vlan remove <vlans>", on_port(allow_less)),
    Command("switchport trunk allowed vlan all", allow(vlans.EVERY)),
    Command("switchport trunk allowed vlan none", allow(())),
    Command("no switchport trunk allowed vlan", allow(vlans.EVERY)),
)


def commands(context: Context) -> tuple[Command[Run], ...]:
    """What can be said at a place of the configuration."""
    return (*(IN_VLAN if context.vlans else IN_PORT if context.port else ()), *TOP)
