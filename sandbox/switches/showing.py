"""What `show` answers: data in the shapes of EOS's `| json`, made from the state and from what the switch is.

Where each shape was seen:

version     napalm, test/eos/mocked_data/test_get_facts/normal/show_version.json
vlan        napalm, test/eos/mocked_data/test_get_vlans/normal/show_vlan.json
switchport  fake-switches, tests/arista/test_arista_rest_api.py; goeapi, module/interfaces_switchport.go. `NONE` for no
            VLAN: netman, netman/adapters/switches/arista.py. Not seen: `trunkingNativeVlanId` 0 for `native vlan tag`.
status      cnquery, providers/arista/resources/eos/arista.go, and answers in docstrings of eAPI clients
ip          napalm, test/eos/mocked_data/test_get_interfaces_ip/normal/show_ip_interface.json
lldp        napalm, test/eos/mocked_data/test_get_lldp_neighbors_detail/normal; goeapi, module/lldp.go
config      napalm, test/eos/mocked_data/test_get_config/normal

As on a switch, a port that is shut has no link, so that no neighbour is seen there, and `show vlan` lists only ports
with a link, while `show vlan configured-ports` lists all.
"""

from typing import Any

from sandbox.switches import vlans
from sandbox.switches.devices import Neighbor, Port, Switch
from sandbox.switches.table import PortState, SwitchState

Data = dict[str, Any]

#: Says in every answer that knows a version that no Arista software runs here.
VERSION = "4.0.0-simulated"
NOTICE = "Simulator of the interlock sandbox: no Arista software"


def version(switch: Switch, booted: float) -> Data:
    """`show version`. `booted`: seconds since the epoch."""
    return {
        "modelName": switch.model,
        "internalVersion": f"{VERSION} ({NOTICE})",
        "systemMacAddress": switch.mac,
        "serialNumber": switch.serial,
        "memTotal": 0,
        "bootupTimestamp": booted,
        "memFree": 0,
        "version": VERSION,
        "architecture": "simulated",
        "internalBuildId": "",
        "hardwareRevision": "",
    }


def carried(port: PortState) -> tuple[int, ...]:
    """The VLANs of a port as configured."""
    return port.allowed if port.mode == "trunk" else (port.access_vlan,)


def linked(switch: Switch, state: SwitchState, port: str) -> bool:
    """Whether a port has a link: enabled, and with something at the end of its cable."""
    return state.ports[port].enabled and port in switch.neighbors


def vlan(switch: Switch, state: SwitchState, ids: tuple[int, ...], *, configured: bool) -> Data:
    """`show vlan`, and with `configured` its `configured-ports`."""
    shown = [name for name in state.ports if configured or linked(switch, state, name)]
    members = {name: set(carried(state.ports[name])) for name in shown}
    return {
        "sourceDetail": "",
        "vlans": {
            str(one): {
                "status": "active",
                "name": name,
                "interfaces": {port: {"privatePromoted": False} for port in shown if one in members[port]},
                "dynamic": False,
            }
            for one, name in sorted(state.vlans.items())
            if one in ids
        },
    }


def allowed(port: PortState) -> str:
    """A trunk's VLANs in EOS's words."""
    return "ALL" if port.allowed == vlans.EVERY else vlans.listed(port.allowed) or "NONE"


def name_of(state: SwitchState, one: int | None) -> str:
    """A VLAN's name; nothing when it is not there."""
    return state.vlans.get(one or 0, "")


def switchport(state: SwitchState, ports: tuple[Port, ...]) -> Data:
    """`show interfaces switchport`."""
    return {"sourceDetail": "", "switchports": {port.name: port_switchport(state, port.name) for port in ports}}


def port_switchport(state: SwitchState, name: str) -> Data:
    """One port of it. `enabled` says that the port switches, not that it is up: it is true of a port that is shut."""
    port = state.ports[name]
    return {
        "enabled": True,
        "switchportInfo": {
            "accessVlanId": port.access_vlan,
            "accessVlanName": name_of(state, port.access_vlan),
            "dot1qVlanTagRequired": False,
            "dot1qVlanTagRequiredStatus": False,
            "dynamicAllowedVlans": {},
            "dynamicTrunkGroups": [],
            "macLearning": True,
            "mode": port.mode,
            "sourceportFilterMode": "enabled",
            "staticTrunkGroups": [],
            "tpid": "0x8100",
            "tpidStatus": True,
            "trunkAllowedVlans": allowed(port),
            "trunkingNativeVlanId": port.native_vlan or 0,
            "trunkingNativeVlanName": name_of(state, port.native_vlan),
        },
    }


def status(switch: Switch, state: SwitchState, ports: tuple[Port, ...]) -> Data:
    """`show interfaces status`."""
    return {"interfaceStatuses": {port.name: port_status(switch, state, port) for port in ports}}


def port_status(switch: Switch, state: SwitchState, port: Port) -> Data:
    """One port of it. `disabled` is a port that is shut, `notconnect` one with nothing at its cable's end."""
    setting = state.ports[port.name]
    up = linked(switch, state, port.name)
    mode: Data = {"interfaceMode": "trunk"}
    if setting.mode == "access":
        mode = {"interfaceMode": "bridged", "vlanId": setting.access_vlan}
    return {
        "vlanInformation": {**mode, "interfaceForwardingModel": "bridged"},
        "bandwidth": port.bandwidth,
        "interfaceType": port.medium,
        "description": "",
        "autoNegotiateActive": False,
        "duplex": "duplexFull",
        "autoNegotigateActive": False,  # so EOS writes it, beside the right spelling
        "linkStatus": "connected" if up else "notconnect" if setting.enabled else "disabled",
        "lineProtocolStatus": "up" if up else "down",
    }


def addresses() -> Data:
    """`show ip interface`: these switches do not route, and have no address in any VLAN."""
    return {"interfaces": {}}


def seen(switch: Switch, state: SwitchState) -> dict[str, Neighbor]:
    """Neighbours on ports with a link."""
    return {port: end for port, end in switch.neighbors.items() if linked(switch, state, port)}


def neighbors(switch: Switch, state: SwitchState) -> Data:
    """`show lldp neighbors`."""
    known = seen(switch, state)
    return {
        "tablesLastChangeTime": 0.0,
        "tablesAgeOuts": 0,
        "tablesInserts": len(known),
        "lldpNeighbors": [
            {"port": port, "neighborDevice": end.system, "neighborPort": end.port, "ttl": 120}
            for port, end in known.items()
        ],
        "tablesDeletes": 0,
        "tablesDrops": 0,
    }


def neighbors_detail(switch: Switch, state: SwitchState, now: float) -> Data:
    """`show lldp neighbors detail`: every port, with nothing in its list where no neighbour is seen."""
    known = seen(switch, state)
    return {
        "lldpNeighbors": {
            port.name: {"lldpNeighborInfo": [detail(known[port.name], now)] if port.name in known else []}
            for port in switch.ports
        }
    }


def dotted(mac: str) -> str:
    """`02:1c:73:00:00:01` as `021c.7300.0001`."""
    digits = mac.replace(":", "")
    return ".".join(digits[place : place + 4] for place in (0, 4, 8))


def detail(end: Neighbor, now: float) -> Data:
    """One neighbour."""
    return {
        "systemCapabilities": {},
        "lastChangeTime": now,
        "neighborInterfaceInfo": {
            "interfaceIdType": "interfaceName",
            "interfaceId": f'"{end.port}"',
            "interfaceId_v2": end.port,
            "interfaceDescription": end.port,
            "unknownTlvs": [],
            "unknownOrgDefinedTlvs": [],
        },
        "neighborDiscoveryTime": now,
        "lastContactTime": now,
        "chassisId": dotted(end.chassis),
        "chassisIdType": "macAddress",
        "systemName": end.system,
        "systemDescription": "simulated",
        "ttl": 120,
        "managementAddresses": [],
    }
