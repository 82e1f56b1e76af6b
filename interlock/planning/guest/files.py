"""A file that cloud-init writes, and how its mode is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

#: Owner of a file that names none: cloud-init's own default, so the document does not say it.
ROOT = "root:root"


@dataclass(frozen=True)
class GuestFile:
    """One file. `mode`: permission bits; `owner`: `user:group`, both of which must be in the image."""

    path: str
    content: str
    mode: int = 0o644
    owner: str = ROOT

    def canonical(self) -> dict[str, Any]:
        """An item of `write_files`. The mode is a text: as a number YAML would read it as decimal."""
        owner = {} if self.owner == ROOT else {"owner": self.owner}
        return {"path": self.path, **owner, "permissions": f"{self.mode:04o}", "content": self.content}
