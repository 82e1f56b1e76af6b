"""An InfiniBand subnet with a real subnet manager: OpenSM on a simulated fabric, behind a stand-in of UFM.

Needs Debian's `opensm`, `ibsim-utils` and `infiniband-diags`; neither root nor a kernel module. One instance is one
folder; several beside one another do not meet. No packet flows: what a P_Key does is what OpenSM wrote into the tables
of host ports and leaf ports, and they are read from there.

    topology = rails(nodes=8, count=2)                  # `topology`: switches, HCAs with GUIDs of your own, cables
    with LiveSubnet(topology, folder).running() as subnet, StandIn(subnet).serving() as ufm:
        ufm.url, ufm.user, ufm.password, ufm.token, ufm.ca_file   # for a client, which verifies the certificate
        topology.guid("n0-r1")                          # port GUID as a number; `hex16` writes one as 16 hex digits
        subnet.host_table(guid)                         # P_Keys of the HCA's port as it holds them: (0x8001, 0x7fff)
        subnet.leaf_table(guid)                         # those of the switch port that it is cabled to
        subnet.paths(a, b)                              # P_Keys of path records between two ports; () if there is none
        subnet.links()                                  # cables as discovered, by `ibnetdiscover`
        subnet.apply(partitions)                        # behind UFM's back: partitions.conf, SIGHUP, wait
        subnet.swap_cables("n0-r0", "n1-r0")            # behind everybody's back, live
        subnet.replace_hca("n0-r0", guid)               # another adapter at the same cable, live
        subnet.stop_manager(); subnet.start_manager()   # killed, started again
        subnet.start_standby(); subnet.stop_manager(); subnet.wait_for_takeover()

`StandIn(subnet, profile=…, asynchronous=False)` answers as one of `profiles.PROFILES`: `documented`, `nvcm` (prefix
/ufmRest alone), `nico` (prefix /ufmRestV3 and token alone). `ufm.faults.add(UfmFault(…))` makes the next requests fail:
`status`, `cut` ("before", "middle", "after": the connection is closed before anything is done, with half of the members
done, with everything done) or `job_fails`. `python -m sandbox.infiniband --help` serves one until it is ended.
"""
