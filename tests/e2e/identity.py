"""The identity service of a connection, as the version that it is."""

from __future__ import annotations

from openstack.connection import Connection
from openstack.identity.v3._proxy import Proxy


def identity(cloud: Connection) -> Proxy:
    """Version 3: the SDK's type of `cloud.identity` leaves the version open."""
    found = cloud.identity
    assert isinstance(found, Proxy)
    return found
