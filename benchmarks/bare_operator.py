"""Who makes things in the bare script: connections of openstacksdk, and what one object is made from."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

#: A connection of openstacksdk, whose types are unions over all versions of each service.
Connection = Any

Spec = dict[str, Any]
#: Reference -> id on the cloud.
Ids = Mapping[str, str]


@dataclass
class Operator:
    """The administrator's connection, and others of the same user for single projects."""

    cloud: Connection
    _scoped: dict[str, Connection] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    #: Access key -> secret.
    secrets: dict[str, str] = field(default_factory=dict)

    def within(self, project: str) -> Connection:
        """A connection whose token is for one project: Nova and Cinder take the owner from the token."""
        with self._lock:
            if project not in self._scoped:
                self._scoped[project] = self.cloud.connect_as_project({"id": project})
            return self._scoped[project]
