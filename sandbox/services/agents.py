"""Stand-ins for Neutron's agents on the hosts: their database rows, and "the port is up".

A mechanism driver binds a port only to a host that has a living agent of its kind with
the right bridge, tunnel or device. These rows say so; the binding itself is done by the
real drivers. A port that got bound is reported up at once, as an agent would after it
had wired the port. Ports on switches have no agent: their driver reports them itself.
"""

import queue
import threading
import time
from typing import Any

from sandbox.rack.table import Rack
from sandbox.services import process
from sandbox.services.hosts import Host

HEARTBEAT_SECONDS = 600
NOT_BOUND = (None, "unbound", "binding_failed")

bound: "queue.Queue[tuple[str, str]]" = queue.Queue()


def start(rack: Rack) -> None:
    """Write the rows, then keep them fresh and report bound ports as up."""
    from neutron_lib.callbacks import events, registry, resources

    write_rows(rack)
    registry.subscribe(note_port, resources.PORT, events.AFTER_CREATE)
    registry.subscribe(note_port, resources.PORT, events.AFTER_UPDATE)
    threading.Thread(target=report_up, daemon=True, name="report_up").start()
    threading.Thread(target=keep_fresh, args=(rack,), daemon=True, name="keep_fresh").start()


def bridge_agent(host: Host, bridges: dict[str, str]) -> dict[str, Any]:
    """The row of an Open vSwitch agent: VXLAN tunnels everywhere, and bridges by physical network."""
    return {
        "host": host.name,
        "topic": "N/A",
        "availability_zone": None,
        "agent_type": "Open vSwitch agent",
        "binary": "neutron-openvswitch-agent",
        "configurations": {
            "bridge_mappings": bridges,
            "tunnel_types": ["vxlan"],
            "tunneling_ip": "127.0.0.1",
            "datapath_type": "system",
            "integration_bridge": "br-int",
            "vhostuser_socket_dir": "/var/run",
            "ovs_capabilities": {"datapath_types": ["system"], "iface_types": []},
        },
    }


def device_agent(host: Host) -> dict[str, Any]:
    """The row of an SR-IOV agent: which network cards lead to the fabric."""
    cards = [port.interface for port in host.network_ports]
    return {
        "host": host.name,
        "topic": "N/A",
        "availability_zone": None,
        "agent_type": "NIC Switch agent",
        "binary": "neutron-sriov-nic-agent",
        "configurations": {"device_mappings": {host.physical_network: cards}},
    }


def write_rows(rack: Rack) -> None:
    """Create or refresh the agents of all hosts."""
    from neutron_lib import context
    from neutron_lib.plugins import directory

    plugin, admin = directory.get_plugin(), context.get_admin_context()
    for host in rack.hosts:
        plugin.create_or_update_agent(admin, bridge_agent(host, rack.bridges))
        if host.network_ports:
            plugin.create_or_update_agent(admin, device_agent(host))


def keep_fresh(rack: Rack) -> None:
    """Refresh the rows for as long as the process lives."""
    while True:
        time.sleep(HEARTBEAT_SECONDS)
        try:
            write_rows(rack)
        except Exception as error:  # noqa: BLE001  a later round may succeed
            process.say(f"agent rows: {error!r}")


def note_port(*_: object, payload: Any = None) -> None:
    """Queue a port that is bound and not up; the callback itself must not write to the database."""
    port = payload.latest_state
    if not port or port.get("binding:vnic_type") == "baremetal":
        return
    if port.get("binding:vif_type") not in NOT_BOUND and port.get("status") != "ACTIVE":
        bound.put((port["id"], port.get("binding:host_id")))


def report_up() -> None:
    """Report queued ports as up for as long as the process lives."""
    from neutron_lib import constants, context
    from neutron_lib.plugins import directory

    plugin = directory.get_plugin()
    while True:
        port, host = bound.get()
        try:
            admin = context.get_admin_context()
            plugin.update_port_status(admin, port, constants.PORT_STATUS_ACTIVE, host=host)
        except Exception as error:  # noqa: BLE001  a port may be gone by now
            process.say(f"port {port} up: {error!r}")
