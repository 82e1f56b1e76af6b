"""Owners that are no tenants: the words that stand where a tenant's id may stand, in labels and in whose a thing is."""

from __future__ import annotations

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
