"""NVIDIA UFM Enterprise over REST: who may ask it, what is asked, and what its answers mean.

`file` and `loading` read `fabrics.yaml`; `transport` sends one request over verified TLS; `jobs` waits for what UFM
does later; `answers` turns JSON into frozen types; `client` has the calls about partitions. Nothing here knows of
OpenStack or of plans. What UFM does not say is an error or None, never a default: a member whose membership nobody
states could be a full one.
"""
