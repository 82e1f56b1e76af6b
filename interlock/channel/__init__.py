"""How a server gets after its first boot what must not stand in its user data: once, and nobody else gets it.

A secret waits in Barbican, in the operator's project, under a ticket with the id of its server. The server asks its
own metadata; Nova says to the service here which server that is, and hands the answer back to that server alone.
Whoever deletes the secret may tell it: Barbican lets exactly one of many deletions succeed, and nothing else counts.
"""

from __future__ import annotations

from .desk import Desk, Reply
from .tickets import KeyManagerFailed, LeftByAStack, Shelf, Ticket

__all__ = ["Desk", "KeyManagerFailed", "LeftByAStack", "Reply", "Shelf", "Ticket"]
