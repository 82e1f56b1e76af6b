"""What Neutron's configuration says of the switches: networking-generic-switch, whose stock driver is used as it is.

global_cmd_verify   an option of netmiko. The driver sends commands without waiting for their echo and then waits for
                    two seconds of silence; with this netmiko waits for echo and prompt of each command instead.
ngs_trunk_ports     the trunks that the rack has `filled`, if any: the driver puts the VLAN of every network of the
                    physical network there, and takes it off again. Others carry their whole range already.
ngs_disable_inactive_ports   shuts a port when it is unbound, where the switch's table says so.
ngs_bounce_ports_on_plug     opens a port only when it is in its VLAN. The driver puts it into VLAN 1 on the way.
ngs_max_connections          one port at a time is on that way, then, also on the way back, where the port is open.
ngs_ssh_connect_*   seconds. The driver's own 60 and 10 would let a request to a dead switch wait for minutes.
*_timeout, read_timeout_override    seconds, options of netmiko: for a switch that takes the connection and hangs. Its
                    own 10 to 20 for each step would let a request wait for minutes, too; the driver tries twice.
"""

from pathlib import Path

from sandbox.rack.table import Rack
from sandbox.switches.devices import Switch
from sandbox.switches.keys import WRITER, user_key_file

SECTION = """[genericswitch:{switch.name}]
device_type = netmiko_arista_eos
ip = {switch.address}
port = {port}
username = {user}
use_keys = true
key_file = {key_file}
ssh_strict = true
alt_host_keys = true
alt_key_file = {conf}/known_hosts
global_cmd_verify = true
ngs_mac_address = {switch.mac}
ngs_physical_networks = {switch.physical_network}
ngs_port_default_vlan = {quarantine}
ngs_disable_inactive_ports = {shut_unused}
ngs_bounce_ports_on_plug = true
ngs_ssh_connect_timeout = 3
ngs_ssh_connect_interval = 1
conn_timeout = 3
banner_timeout = 3
auth_timeout = 3
read_timeout_override = 3
ngs_ssh_reuse_connection = true
ngs_max_connections = 1
"""


def sections(rack: Rack, conf: Path, state: Path, port: int) -> str:
    """One section for each switch. `state`: the instance's state folder; `port`: where all of them listen."""
    return "\n".join(section(switch, rack.quarantine_vlan, conf, state, port) for switch in rack.switches)


def section(switch: Switch, quarantine: int, conf: Path, state: Path, port: int) -> str:
    """The section of one switch."""
    return SECTION.format(
        switch=switch,
        port=port,
        user=WRITER,
        key_file=user_key_file(state / "switches", WRITER),
        conf=conf,
        quarantine=quarantine,
        shut_unused=str(switch.shut_unused).lower(),
    ) + (f"ngs_trunk_ports = {', '.join(switch.filled)}\n" if switch.filled else "")
