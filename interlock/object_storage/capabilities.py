"""What each kind of object storage does with a setting of a bucket.

`capabilities.json` holds the answers of real servers: each was asked once, and looked at afterwards (CONTRIBUTING says
how it is asked again). A kind that nobody asked is not in it, and nothing is assumed of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any


class Capability(StrEnum):
    """A setting of a bucket."""

    VERSIONING = "versioning"
    LIFECYCLE = "lifecycle"
    CORS = "cors"
    POLICY = "policy"
    OBJECT_LOCK = "object_lock"
    ENCRYPTION = "encryption"
    PUBLIC_ACCESS_BLOCK = "public_access_block"
    #: Asked of servers only: no key of a request sets tags of a bucket.
    TAGGING = "tagging"


class Support(StrEnum):
    """What a server did with a setting that it was asked for."""

    #: Accepted, and its effect was seen.
    ENFORCED = "enforced"
    #: Accepted and read back; no effect was seen.
    KEPT = "kept"
    #: Answered, without an effect or with another one: some take the removal of a setting for that of the bucket.
    IGNORED = "ignored"
    REFUSED = "refused"


#: What `up` may ask a server for.
TAKEN = frozenset({Support.ENFORCED, Support.KEPT})

_WORDS = {
    Support.ENFORCED: "enforced it",
    Support.KEPT: "kept it, and no effect was seen",
    Support.IGNORED: "ignored it or did something else",
    Support.REFUSED: "refused it",
}


@dataclass(frozen=True)
class Storage:
    """One kind of object storage, and how a server of it answered."""

    kind: str
    #: Day on which it was asked, and what it said of itself; empty of a site that does not state its storage.
    asked: str
    release: str
    capabilities: Mapping[Capability, Support]

    def takes(self, capability: Capability) -> bool:
        """Whether a server of this kind may be asked for it."""
        return self.capabilities.get(capability) in TAKEN

    def answered(self, capability: Capability) -> str:
        """What it did, for people."""
        support = self.capabilities.get(capability)
        if support is None:
            return f"nobody asked {self.kind} for it"
        return f"{self.release} {_WORDS[support]} when asked on {self.asked}"


#: Storage of which the site file says nothing: buckets have versions there, as they always had, and nothing else.
UNSTATED = Storage("", "", "", {Capability.VERSIONING: Support.KEPT})


@cache
def _known() -> Mapping[str, Storage]:
    said = json.loads(files(__package__).joinpath("capabilities.json").read_text(encoding="utf-8"))
    return {kind: _storage(kind, entry) for kind, entry in said.items()}


def _storage(kind: str, entry: Mapping[str, Any]) -> Storage:
    """Raises ValueError for a word that is neither a capability nor an answer."""
    capabilities = {Capability(name): Support(answer) for name, answer in entry["capabilities"].items()}
    return Storage(kind, entry["asked"], entry["release"], capabilities)


def asked_kinds() -> tuple[str, ...]:
    """The kinds of which a server was asked, sorted."""
    return tuple(sorted(_known()))


def object_storage(kind: str) -> Storage:
    """The storage of this kind; empty: of a site that states none. Raises KeyError for a kind that nobody asked."""
    return _known()[kind] if kind else UNSTATED


def able(capability: Capability) -> tuple[str, ...]:
    """The kinds that may be asked for it, sorted."""
    return tuple(kind for kind in asked_kinds() if _known()[kind].takes(capability))


def refusal(kind: str, capability: Capability) -> tuple[str, str] | None:
    """Why a bucket on this kind of storage cannot have the setting, and what to do; None if it can."""
    storage = object_storage(kind)
    if storage.takes(capability):
        return None
    if kind:
        why = f"the site's object storage, {kind}, does not do it: {storage.answered(capability)}"
    else:
        why = "the site file does not state its `object_storage`, so nobody knows whether it would be done"
    others = _listed(able(capability))
    way_out = "leave it out" if kind else "leave it out, or state what holds the site's buckets"
    return why, f"{way_out}; {f'of those that were asked, {others} could' if others else 'none that was asked could'}"


def _listed(names: Iterable[str]) -> str:
    return " and ".join(names)
