"""The calls about partitions, ports and the subnet. They block, and raise `UfmError`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from .answers import (
    DEFAULT_KEY,
    KEY_BITS,
    FabricPartition,
    Membership,
    UfmMisread,
    partition_of,
    partitions_of,
    ports_of,
    prefix_of,
)
from .discovered import DiscoveredFabric, hosts_of, links_of, switches_of
from .errors import UfmError, UfmTrouble
from .jobs import job_of, wait_for
from .settings import ManagerSaid, manager_of
from .transport import UfmAnswer, UfmTransport

T = TypeVar("T")

_PARTITIONS = "/resources/pkeys"
#: Without a flag the answer is a list of keys alone.
_WITH_GUIDS = {"guids_data": "true"}
#: GUIDs that one path names: 17 characters each, and servers take about 8,000 in a line.
IN_PATH = 64


@dataclass(frozen=True)
class UfmClient:
    """The UFM of one InfiniBand subnet."""

    transport: UfmTransport

    @property
    def infiniband(self) -> str:
        """Name of the subnet."""
        return self.transport.access.infiniband

    def undisturbed(self) -> UfmClient:
        """The same for whoever holds a turn: a job ends before the turn does, also in a run that is cancelled."""
        policy = replace(self.transport.retry_policy, cancelled=None)
        return UfmClient(replace(self.transport, retry_policy=policy))

    def version(self) -> str:
        """Release of UFM."""
        return self._read("/app/ufm_version", lambda value: str(value["ufm_release_version"]))

    def prefix(self) -> str:
        """Prefix of the subnet that it manages, as 16 hex digits."""
        return self._read("/app/smconf", lambda value: prefix_of(value["subnet_prefix"]))

    def settings(self) -> ManagerSaid:
        """How the subnet manager is set, as far as UFM says it."""
        try:
            default = self._read(_path(DEFAULT_KEY), lambda value: value, _WITH_GUIDS)
        except UfmError as error:
            # Not every release shows it, and then nobody says who is in it.
            if error.trouble is not UfmTrouble.NOT_FOUND:
                raise
            default = None
        return self._read("/app/smconf", lambda value: manager_of(value, default))

    def ports(self) -> frozenset[str]:
        """GUIDs of all ports of hosts that the subnet manager has discovered."""
        return self._read("/resources/ports", ports_of, {"sys_type": "Computer"})

    def fabric(self) -> DiscoveredFabric:
        """Links, ports of hosts and switches that the subnet manager has discovered, asked one after the other."""
        links = self._read("/resources/links", links_of)
        hosts = self._read("/resources/ports", hosts_of, {"sys_type": "Computer"})
        return DiscoveredFabric(links, hosts, self._read("/resources/systems", switches_of, {"type": "switch"}))

    def partition(self, key: int) -> FabricPartition | None:
        """The partition with this key; None if there is none."""
        try:
            return self._read(_path(key), lambda value: partition_of(key, value), _WITH_GUIDS)
        except UfmError as error:
            if error.trouble is UfmTrouble.NOT_FOUND:
                return None
            raise

    def partitions(self) -> Mapping[int, FabricPartition]:
        """Key -> partition, of all."""
        return self._read(_PARTITIONS, partitions_of, _WITH_GUIDS)

    def add(self, key: int, guids: Iterable[str], membership: Membership, *, index0: bool, ip_over_ib: bool) -> None:
        """Put members in, all with one membership; those who are in stay. It makes the partition if there is none.

        One membership for all: some releases make everybody full where each has its own.
        """
        body = _body(key, index0=index0, ip_over_ib=ip_over_ib)
        self._change("POST", _PARTITIONS, body | {"guids": sorted(guids), "membership": membership})

    def replace(self, key: int, members: Sequence[tuple[str, Membership]], *, index0: bool, ip_over_ib: bool) -> None:
        """Make these (GUID, membership) all the members there are. It makes the partition if there is none."""
        listed = sorted(members)
        body = _body(key, index0=index0, ip_over_ib=ip_over_ib)
        guids, memberships = [guid for guid, _ in listed], [membership for _, membership in listed]
        self._change("PUT", _PARTITIONS, body | {"guids": guids, "memberships": memberships})

    def remove(self, key: int, guids: Iterable[str]) -> None:
        """Take members out; who is not in counts as taken out. A partition goes with its last member."""
        listed = sorted(guids)
        for start in range(0, len(listed), IN_PATH):
            self._gone(f"{_path(key)}/guids/{','.join(listed[start : start + IN_PATH])}")

    def delete(self, key: int) -> None:
        """Delete a partition, whoever is in it; one that is not there counts as deleted."""
        self._gone(_path(key))

    def _gone(self, path: str) -> None:
        try:
            self._change("DELETE", path)
        except UfmError as error:
            if error.trouble is not UfmTrouble.NOT_FOUND:
                raise

    def _change(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> None:
        answer: UfmAnswer = self.transport.request(method, path, body)
        job = job_of(answer)
        if job is not None:
            wait_for(job, self.infiniband, self._job, self.transport.retry_policy)

    def _job(self, job: str) -> Any:
        return self.transport.request("GET", f"/jobs/{job}").value

    def _read(self, path: str, meaning: Callable[[Any], T], query: Mapping[str, str] | None = None) -> T:
        answer = self.transport.request("GET", path, query=query)
        try:
            return meaning(answer.value)
        except (UfmMisread, KeyError, TypeError, AttributeError) as error:
            why = str(error) if isinstance(error, UfmMisread) else f"it lacks {error}"
            what = f"UFM of {self.infiniband} ({self.transport.access.url}), GET {path}: {why}"
            hint = "see which release of UFM it is, and whether `url` leads to it"
            raise UfmError(UfmTrouble.SERVICE, self.infiniband, what, hint) from error


def _body(key: int, *, index0: bool, ip_over_ib: bool) -> dict[str, Any]:
    return {"pkey": f"{key & KEY_BITS:#x}", "index0": index0, "ip_over_ib": ip_over_ib}


def _path(key: int) -> str:
    return f"{_PARTITIONS}/{key & KEY_BITS:#x}"
