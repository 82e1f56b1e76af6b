"""What a new server is told at its first boot: one cloud-init document, for virtual servers and whole hosts alike.

Readable by every process in the server, so it never holds a secret. A server keeps the document that it was made with:
`Effect.NEW_ONLY` of `interlock.resources`.
"""

from __future__ import annotations

from .document import CloudConfig, Part
from .files import GuestFile
from .servers import controller_user_data, node_user_data, poplar_user_data

__all__ = ["CloudConfig", "GuestFile", "Part", "controller_user_data", "node_user_data", "poplar_user_data"]
