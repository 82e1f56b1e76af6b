"""Lists every object on a cloud that carries a marker of this project, with one or two list calls for each kind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from interlock.vocabulary.markers import Marker
from interlock.vocabulary.owners import OwnerId

from .clouds import Cloud
from .registers import REGISTERS, Register, kind_of, marker_of, plain_id

#: Lists at once: the calls wait for services, and each service has at most a few of them.
_AT_ONCE = 6


@dataclass(frozen=True)
class Counted:
    """One object of ours."""

    kind: str
    id: str
    owner: OwnerId
    #: Plan name.
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name} ({self.id})"


def census(cloud: Cloud, registers: Iterable[Register] = REGISTERS) -> list[Counted]:
    """Everything that carries a marker, sorted by kind and plan name. Raises `Failure` if a list cannot be had."""
    _ = cloud.login  # once, before the threads
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        lists = list(pool.map(lambda register: list(_listed(cloud, register)), registers))
    found = [item for items in lists for item in items]
    return sorted(found, key=lambda item: (item.kind, item.name, item.id))


def _listed(cloud: Cloud, register: Register) -> Iterator[Counted]:
    for item in register.objects(cloud):
        mark = Marker.named(marker_of(item, register))
        if mark is not None:
            yield Counted(kind_of(item, register), plain_id(item), mark.owner, mark.name)
