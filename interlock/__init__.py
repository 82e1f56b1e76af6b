"""The core of interlock: what a cluster is, what a tenant gets, and how one resource is made.

The model does no I/O beyond reading its own files; a plan is a pure function of those files; only
`interlock.provider` talks to a cloud, and it knows one resource at a time and the proof that allows it.
Imports go one way: `provider`, `planning` -> `model` -> `hardware`; all may use `resources`.
"""

__version__ = "0.1.0"
