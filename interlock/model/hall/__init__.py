"""Halls of a site file: the short form `design: h100-superpod`, its inventory, its checks, and its full form."""
