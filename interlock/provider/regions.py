"""Which region of a cloud is meant: the one that is stated, or the only one in which its catalogue has anything.

One Keystone may serve several regions. Projects, users and roles are the same in each; networks, servers and volumes
are not, and an id of one region is unknown in the other. So a region that nobody stated is never chosen by the order
of a catalogue.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .errors import Failure, Trouble

#: Services whose objects make a region: what a region lacks of these is no region of ours.
_OF_A_REGION = frozenset({"network", "compute"})

_STATE_IT = "state `region:` in site.yaml, or `region_name` of this cloud in clouds.yaml"


#: What catalogues call a service that has another name by now.
_OLD_NAMES = {"sharev2": "shared-file-system"}


@dataclass(frozen=True)
class Catalogue:
    """Service type -> the regions in which the catalogue has an endpoint of it, sorted."""

    regions: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, entries: Iterable[Mapping[str, Any]]) -> Catalogue:
        """From a token's catalogue."""
        found: dict[str, set[str]] = {}
        for entry in entries:
            named = (end.get("region_id") or end.get("region") for end in entry.get("endpoints") or ())
            kind = str(entry["type"])
            found.setdefault(_OLD_NAMES.get(kind, kind), set()).update(str(name) for name in named if name)
        return cls({kind: tuple(sorted(names)) for kind, names in found.items()})

    @property
    def choices(self) -> tuple[str, ...]:
        """The regions in which networks or servers can lie; of a cloud without either, those of anything else."""
        kinds = [kind for kind in _OF_A_REGION if self.regions.get(kind)] or [*self.regions.keys() - {"identity"}]
        return tuple(sorted({name for kind in kinds for name in self.regions[kind]}))

    def chosen(self, cloud: str, stated: str) -> str:
        """The region in use; empty where the catalogue names none. Raises `Failure` if that is open, or not there."""
        choices = self.choices
        if stated:
            if choices and stated not in choices:
                raise Failure(
                    Trouble.REFUSED,
                    f"cloud {cloud!r} has no region {stated}: its catalogue has {', '.join(choices)}",
                    "correct `region:` in site.yaml or `region_name` of this cloud in clouds.yaml",
                )
            return stated
        if len(choices) > 1:
            raise Failure(
                Trouble.REFUSED,
                f"cloud {cloud!r} has the regions {', '.join(choices)}, and nobody states which one is meant",
                _STATE_IT,
            )
        return choices[0] if choices else ""

    def region_for(self, service: str, region: str, *, stated: bool) -> str | None:
        """Where to look for a service: in the region in use, and anywhere for what all regions share.

        A service that is in one other region alone may be used where nobody stated a region: it is the only one.
        """
        there = self.regions.get(service, ())
        if not region or region in there:
            return region or None
        shared = service == "identity" or (not stated and len(there) == 1)
        return None if shared else region
