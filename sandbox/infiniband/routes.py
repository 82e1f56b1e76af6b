"""Method and path of UFM's REST interface -> what answers. Paths stand behind the prefix."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .discovery import shown_links, shown_systems
from .faults import UfmFault
from .job_list import JobList
from .partition_calls import PartitionCalls
from .requests import UfmRefused, empty_of, guid_of, key_of, members_of
from .subnet import LiveSubnet
from .topology import hex16

#: Sample lifetime of tokens in the vendor's runbook: ten years.
_TOKEN_SECONDS = 315_360_000
NOTICE = "a stand-in of UFM's REST interface; behind it a real OpenSM manages a fabric that ibsim simulates"


@dataclass(frozen=True)
class UfmCall:
    """A request, its prefix taken off."""

    method: str
    path: str
    query: Mapping[str, str]
    body: Any

    def asks(self, flag: str) -> bool:
        """True if the query has this flag set."""
        return self.query.get(flag, "").lower() == "true"


@dataclass(frozen=True)
class UfmReply:
    """Status and JSON; `job`: the id of the job that goes on."""

    status: int
    value: Any
    job: str | None = None


class UfmRoutes:
    """Answers calls for one subnet and one profile."""

    def __init__(
        self,
        subnet: LiveSubnet,
        calls: PartitionCalls,
        jobs: JobList,
        new_token: Callable[[], str],
        *,
        asynchronous: bool,
    ) -> None:
        self._subnet = subnet
        self._calls = calls
        self._jobs = jobs
        self._new_token = new_token
        self._asynchronous = asynchronous

    def answer(self, call: UfmCall, fault: UfmFault | None) -> UfmReply:
        """What is answered. Raises UfmRefused."""
        words = call.path.strip("/").split("/")
        if call.method == "GET":
            return self._read(call, words)
        work = self._write(call, words, half=fault is not None and fault.cut == "middle")
        if callable(work):
            operation = f"{call.method} {call.path}"
            fails = fault is not None and fault.job_fails
            if self._asynchronous or fails:
                job = self._jobs.begin(operation, work, fails=fails)
                return UfmReply(202, {"job_id": job}, job)
            work()
            return UfmReply(200, {})
        return UfmReply(200, work)

    # Reading

    def _read(self, call: UfmCall, words: list[str]) -> UfmReply:
        match words:
            case ["app", "ufm_version"]:
                value: Any = {"ufm_release_version": self._calls.profile.release, "stand_in": NOTICE}
            case ["app", "smconf"]:
                value = self._manager_configuration()
            case ["resources", "ports"]:
                value = self._ports(call)
            case ["resources", "links"]:
                value = shown_links(self._subnet.links(), self._calls.profile, call.query)
            case ["resources", "systems"]:
                value = shown_systems(self._subnet.links(), call.query)
            case ["resources", "pkeys"]:
                value = self._all_partitions(call)
            case ["resources", "pkeys", key]:
                return self._one_partition(call, key)
            case ["jobs"]:
                value = self._jobs.listed(call.query.get("status"))
            case ["jobs", ids] | ["jobs", ids, "info"]:
                value = self._jobs.some(ids)
            case _:
                raise UfmRefused(404, f"The requested URL {call.path} was not found")
        return UfmReply(200, value)

    def _all_partitions(self, call: UfmCall) -> Any:
        guids, qos = call.asks("guids_data"), call.asks("qos_conf")
        if guids and qos:
            raise UfmRefused(400, "guids_data and qos_conf together are for one pkey, not for the list")
        return self._calls.all(qos=qos) if guids or qos else self._calls.keys()

    def _one_partition(self, call: UfmCall, text: str) -> UfmReply:
        key = key_of(text, default_too=True)
        found = self._calls.one(key, guids=call.asks("guids_data"), qos=call.asks("qos_conf"))
        if found is not None:
            return UfmReply(200, found)
        if self._calls.profile.absent == "empty":
            return UfmReply(200, {})
        raise UfmRefused(404, f"PKey {text} not found")

    def _manager_configuration(self) -> dict[str, Any]:
        settings = self._subnet.settings
        return {
            "subnet_prefix": f"{settings.subnet_prefix:#018x}",
            "m_key": f"{settings.m_key:#018x}",
            "sm_key": f"{settings.sm_key:#018x}",
            "sa_key": f"{settings.sa_key:#018x}",
            "m_key_per_port": settings.m_key_per_port,
        }

    def _ports(self, call: UfmCall) -> list[dict[str, Any]]:
        if call.query.get("sys_type", "Computer") != "Computer":
            return []
        found = []
        for link in self._subnet.links():
            if link.here.is_switch:
                continue
            guid, (host, _, device) = hex16(link.here.guid), link.here.description.partition(" ")
            found.append(
                {
                    "guid": guid,
                    "name": f"{guid}_{link.here.port}",
                    "systemID": hex16(link.here.guid - 1),
                    "system_name": host,
                    "dname": device or host,
                    "lid": link.here.lid,
                    "physical_state": "Link Up",
                    "logical_state": "Active" if link.here.lid else "Initialize",
                }
            )
        return sorted(found, key=lambda port: str(port["guid"]))

    # Writing

    def _write(self, call: UfmCall, words: list[str], *, half: bool) -> Callable[[], None] | dict[str, Any]:
        """What is to be done; or, for a token, the answer. All that can be refused of the request is refused here."""
        calls = self._calls
        match call.method, words:
            case "POST", ["app", "tokens"]:
                return self._token()
            case "POST", ["resources", "pkeys", "add"]:
                empty = empty_of(call.body)
                return lambda: calls.add_empty(empty)
            case "POST", ["resources", "pkeys"] | ["actions", "add_guids_to_pkey"]:
                added = members_of(call.body)
                return lambda: calls.add_members(added, half=half)
            case "PUT", ["resources", "pkeys"]:
                replaced = members_of(call.body)
                return lambda: calls.replace_members(replaced, half=half)
            case "POST", ["actions", "remove_guids_from_pkey"]:
                removed = members_of(call.body)
                return lambda: calls.remove_members(removed.key, removed.members, half=half)
            case "DELETE", ["resources", "pkeys", text, "guids", listed]:
                key, guids = key_of(text), [guid_of(guid) for guid in listed.split(",")]
                return lambda: calls.remove_members(key, guids, half=half)
            case "DELETE", ["resources", "pkeys", text]:
                key = key_of(text)
                return lambda: calls.delete(key, half=half)
        raise UfmRefused(404, f"The requested URL {call.path} was not found")

    def _token(self) -> dict[str, Any]:
        return {
            "access_token": self._new_token(),
            "revoked": False,
            "issued_at": int(time.time()),
            "expires_in": _TOKEN_SECONDS,
            "username": "admin",
        }
