"""Switches that forward real frames: Open vSwitch in user space, with network namespaces as what is cabled to it.

Needs root and Debian's `openvswitch-switch` and `iproute2`; nothing of the system's own Open vSwitch is used or changed.
One instance is one folder; several beside one another do not meet.

One `ovs-vswitchd` in one namespace has a bridge for each switch. Bridges of one process share ports, MAC tables and VLANs
as little as those of several do, and cables between them are veth pairs all the same; one transaction of one database sets
all of them, and three processes of 30 MiB less are started. A process for each switch would need a namespace for each,
since two in one fight over the interface `ovs-netdev`.
"""
