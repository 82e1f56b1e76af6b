"""What `show` prints for people, in the columns of EOS: the same data as `showing`, which programs ask for."""

from sandbox.switches import showing, vlans
from sandbox.switches.configuring import short
from sandbox.switches.devices import GIGABIT, Switch
from sandbox.switches.showing import Data
from sandbox.switches.table import PortState, SwitchState


def version(data: Data) -> str:
    """`show version`."""
    return "\n".join(
        (
            f"Arista {data['modelName']}",
            f"{showing.NOTICE}.",
            "Hardware version:",
            f"Serial number: {data['serialNumber']}",
            f"System MAC address: {showing.dotted(data['systemMacAddress'])}",
            f"Software image version: {data['version']}",
            f"Architecture: {data['architecture']}",
        )
    )


def vlan(data: Data) -> str:
    """`show vlan`."""
    lines = [f"{'VLAN':5} {'Name':32} {'Status':9} Ports", f"{'-' * 5} {'-' * 32} {'-' * 9} {'-' * 31}"]
    for one, row in data["vlans"].items():
        ports = ", ".join(short(port) for port in row["interfaces"])
        lines.append(f"{one:5} {row['name'][:32]:32} {row['status']:9} {ports}".rstrip())
    return "\n".join(lines)


def switchport(data: Data) -> str:
    """`show interfaces switchport`."""
    return "\n\n".join(one_switchport(name, row["switchportInfo"]) for name, row in data["switchports"].items())


def one_switchport(name: str, info: Data) -> str:
    """One port of it."""
    mode = "static access" if info["mode"] == "access" else "trunk"
    native, name_of_native = info["trunkingNativeVlanId"], info["trunkingNativeVlanName"] or "Inactive"
    tagging = "disabled" if native else "enabled"
    return "\n".join(
        (
            f"Name: {short(name)}",
            "Switchport: Enabled",
            f"Administrative Mode: {mode}",
            f"Operational Mode: {mode}",
            "MAC Address Learning: enabled",
            "Dot1q ethertype/TPID: 0x8100 (active)",
            "Dot1q Vlan Tag Required (Administrative/Operational): No/No",
            f"Access Mode VLAN: {info['accessVlanId']} ({info['accessVlanName'] or 'Inactive'})",
            f"Trunking Native Mode VLAN: {native} ({name_of_native})",
            f"Administrative Native VLAN tagging: {tagging}",
            f"Trunking VLANs Enabled: {info['trunkAllowedVlans']}",
            "Static Trunk Groups:",
            "Dynamic Trunk Groups:",
            "Source interface filtering: enabled",
        )
    )


def status(data: Data) -> str:
    """`show interfaces status`."""
    lines = [f"{'Port':10} {'Name':14} {'Status':12} {'Vlan':8} {'Duplex':6} {'Speed':6} Type"]
    for name, row in data["interfaceStatuses"].items():
        where = row["vlanInformation"].get("vlanId", "trunk")
        speed = f"{row['bandwidth'] // GIGABIT}G"
        lines.append(
            f"{short(name):10} {'':14} {row['linkStatus']:12} {where:<8} full   {speed:6} {row['interfaceType']}"
        )
    return "\n".join(lines)


def addresses(_: Data) -> str:
    """`show ip interface`."""
    return ""


def neighbors(data: Data) -> str:
    """`show lldp neighbors`."""
    lines = [
        f"{'Port':10} {'Neighbor Device ID':36} {'Neighbor Port ID':22} TTL",
        f"{'-' * 10} {'-' * 36} {'-' * 22} ---",
    ]
    lines += [
        f"{short(row['port']):10} {row['neighborDevice']:36} {row['neighborPort']:22} {row['ttl']}"
        for row in data["lldpNeighbors"]
    ]
    return "\n".join(lines)


def neighbors_detail(data: Data) -> str:
    """`show lldp neighbors detail`, as far as the data goes."""
    lines: list[str] = []
    for port, row in data["lldpNeighbors"].items():
        lines.append(f"Interface {port} detected {len(row['lldpNeighborInfo'])} LLDP neighbors:")
        for end in row["lldpNeighborInfo"]:
            port_id = end["neighborInterfaceInfo"]["interfaceId"]
            lines += [
                f"  - Chassis ID type: MAC address (4)\n    Chassis ID     : {end['chassisId']}",
                f"  - Port ID type: Interface name (5)\n    Port ID     : {port_id}",
                f'  - System Name: "{end["systemName"]}"',
            ]
    return "\n".join(lines)


def running_config(switch: Switch, state: SwitchState) -> str:
    """`show running-config`: what differs from EOS's defaults."""
    lines = [f"! device: {state.name} ({switch.model}, {showing.VERSION})", f"! {showing.NOTICE}", "!"]
    lines += [f"hostname {state.name}", "!"]
    for one, name in sorted(state.vlans.items()):
        if one != vlans.DEFAULT:
            lines += [f"vlan {one}", *([f"   name {name}"] if name != vlans.default_name(one) else []), "!"]
    for name, port in state.ports.items():
        lines += [f"interface {name}", *(f"   {line}" for line in port_config(port)), "!"]
    return "\n".join([*lines, "end"])


def port_config(port: PortState) -> list[str]:
    """A port's lines in the running configuration."""
    native = "tag" if port.native_vlan is None else str(port.native_vlan)
    said = {
        "shutdown": not port.enabled,
        f"switchport access vlan {port.access_vlan}": port.access_vlan != vlans.DEFAULT,
        f"switchport trunk native vlan {native}": port.native_vlan != vlans.DEFAULT,
        f"switchport trunk allowed vlan {showing.allowed(port).lower()}": port.allowed != vlans.EVERY,
        "switchport mode trunk": port.mode == "trunk",
    }
    return [line for line, differs in said.items() if differs]
