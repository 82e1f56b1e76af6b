"""The Pulumi resource provider: one resource at a time, and the proof that allows it.

It knows nothing of tenants' wishes. `lifecycle` is written once and holds adoption, waiting, partial failure
and the guards of deletion; `actuators` hold one small class per kind; `server` is the only module that speaks
Pulumi's protocol, `clouds` the only one that logs in.
"""

from __future__ import annotations

NAME = "interlock"
VERSION = "0.1.0"
