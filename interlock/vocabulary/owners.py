"""Owners: the id that a stack's objects carry, and the words for owners that are no tenants."""

from __future__ import annotations

import secrets
from typing import NewType

OwnerId = NewType("OwnerId", str)
"""Random text that is minted with a lock: every object of its stack carries it, and nobody reads anything in it."""


def minted() -> OwnerId:
    """A new one, for a stack that has no lock yet."""
    return OwnerId(secrets.token_hex(16))


#: The operator.
OPERATOR = "op"
#: Everybody who is outside.
WORLD = "world"
#: What a plan refers to and nobody of this site has.
FOREIGN = "foreign"
#: What the cloud itself knows, such as the persons among its users.
CLOUD = "cloud"

#: Labels of nodes that are no tenant's.
RESERVED_LABELS = frozenset({OPERATOR, WORLD, FOREIGN})
#: What no tenant may be called.
RESERVED_OWNERS = RESERVED_LABELS | {CLOUD}
