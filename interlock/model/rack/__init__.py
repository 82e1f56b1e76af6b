"""Racks of a site file: the short form `design: ipu-pod64`, its checks, and its expansion to the full form."""
