"""Switches that forward real frames: Open vSwitch in user space, with network namespaces as what is cabled to it.

Needs root and Debian's `openvswitch-switch` and `iproute2`; the system's own Open vSwitch is neither used nor changed.
One instance is one folder; several beside one another do not meet. `fabric` is brought up and set, `prober` sends
frames and sees who gets them.

One `ovs-vswitchd` in one namespace has a bridge for each switch. Bridges of one process share ports, MAC tables and
VLANs as little as those of several do, and cables between them are veth pairs all the same; one transaction sets all of
them, and one process is started instead of four. A process for each switch would need a namespace for each besides,
since two in one fight over the interface `ovs-netdev`.
"""
