"""What a sandbox is made of, as data: switches, hosts and physical networks, read from one file for each instance.

`table` has the types and `reading` the file. `racks/` holds the files that are shipped; an instance that was told
nothing has the rack `lyon`. Needs nothing beyond the standard library: the supervisor reads it before anything is
installed.
"""
