"""NVIDIA UFM Enterprise over REST: who may ask it, what is asked, and what its answers mean.

`file` and `loading` read `fabrics.yaml`; `transport` sends one request over verified TLS; `jobs` waits for what UFM
does later; `answers` and `discovered` turn JSON into frozen types; `client` has the calls. `identified` says which
device of a site a discovered port is, `cabling` what is cabled otherwise. Nothing here knows of OpenStack or of plans.
What UFM does not say is an error or None, never a default: a member whose membership nobody states could be a full
one.
"""
