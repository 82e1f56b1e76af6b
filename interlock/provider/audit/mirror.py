"""A cloud as it was listed: actuators read their objects out of the lists, each as if it had been asked for alone.

So what an object means stands in one place, its actuator, whether it is read alone or with ten thousand others.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from interlock.provider.calls import Answer, Api
from interlock.provider.clouds import Cloud, Login
from interlock.provider.errors import Failure, Trouble
from interlock.provider.redaction import REDACTOR
from interlock.provider.registers import REGISTERS, Register
from interlock.vocabulary.pair_ids import RoleAssignmentId

from .listing import ACCESS_RULES, ENCRYPTION, METADATA, NODES, Listed, Raw

_BY_COLLECTION: Mapping[tuple[str, str], Register] = {
    (register.service, register.collection): register for register in (*REGISTERS, *NODES, ACCESS_RULES)
}

#: Parameters that say what a list holds, and not what its elements are.
_NO_FILTERS = ("visibility", "fields", "limit")


class Mirror(Cloud):
    """Answers reading calls from lists. Who logs in, names of domains and addresses are the real cloud's."""

    def __init__(self, cloud: Cloud, found: Listed) -> None:
        super().__init__(cloud.name, cloud.retry_policy)
        self._real = cloud
        self.switches = None
        self._answers = {service: _Lists(service, found) for service in {item.service for item in REGISTERS}}

    @cached_property
    def login(self) -> Login:
        """As the real cloud's."""
        return self._real.login

    def api(self, service: str, project: str | None = None) -> Api:
        """What was listed of a service."""
        return self._answers[service]

    def endpoint(self, service: str, project: str | None = None) -> str:
        """As the real cloud's."""
        return self._real.endpoint(service, project)

    def domain(self, name: str) -> str:
        """As the real cloud's."""
        return self._real.domain(name)


class _Lists(Api):
    """One service. What was not listed cannot be asked for, and nothing can be changed."""

    def __init__(self, service: str, found: Listed) -> None:
        self.service = service
        self._listed = found
        self._sorted: dict[tuple[str, str], Mapping[str, list[Raw]]] = {}

    def items(self, path: str, key: str, **params: Any) -> Iterator[Answer]:
        """Elements that agree in every filter that is a member of theirs; our actuators look at them once more."""
        del key
        register = _BY_COLLECTION[self.service, path.split("/")[1]]
        owner = params.pop("device_id", None)
        filters = {name: str(value) for name, value in params.items() if name not in (*register.query, *_NO_FILTERS)}
        every = self._by(register.kind, "device_id", owner) if owner else self._listed.of(register.kind).values()
        for item in every:
            if all(name not in item or str(item[name]) == value for name, value in filters.items()):
                yield self._answer(path, {register.inside: item} if register.inside else item)

    def get(self, path: str, **params: Any) -> Answer:
        found = self.find(path, **params)
        if found is None:
            raise Failure(Trouble.NOT_FOUND, f"{self.service} GET {path}: it is in no list", service=self.service)
        return found

    def find(self, path: str, **options: Any) -> Answer | None:
        del options
        _, collection, *rest = path.split("/")
        register = _BY_COLLECTION[self.service, collection]
        if not rest:
            return self._answer(path, {register.key: list(self._listed.of(register.kind).values())})
        found = self._lying_in(path, *rest) if len(rest) > 1 else self._one(register, rest[0])
        return None if found is None else self._answer(path, found)

    def request(self, method: str, path: str, *, idempotent: bool | None = None, **options: Any) -> Any:
        """Of all requests only the question whether somebody has a role on a project."""
        del idempotent, options
        if method != "HEAD":
            raise TypeError(f"{method} {path}: nothing is changed through lists")
        _, _, project, _, user, _, role = path.split("/")
        if str(RoleAssignmentId(project, user, role)) not in self._listed.of("RoleAssignment"):
            raise Failure(Trouble.NOT_FOUND, f"{path}: nobody lists it")

    def _json(self, method: str, path: str, *, idempotent: bool | None = None, **options: Any) -> Answer:
        del idempotent, options
        raise TypeError(f"{method} {path}: nothing is changed through lists")

    def _one(self, register: Register, ident: str) -> Raw | None:
        item = self._listed.of(register.kind).get(ident)
        return item if item is None or not register.one else {register.one: item}

    def _lying_in(self, path: str, ident: str, inside: str, *rest: str) -> Raw | None:
        """What services answer about something that lies inside another object."""
        if inside == "os-volume_attachments":
            return self._attachment(ident, *rest)
        if inside == "os-flavor-access":
            return {"flavor_access": [{"tenant_id": one} for one in self._listed.flavor_access.get(ident, ())]}
        if inside == ENCRYPTION:
            return dict(self._listed.of("VolumeType").get(ident, {}).get(ENCRYPTION, {}))
        if inside == METADATA:
            return {METADATA: self._listed.of("StoredCredential").get(ident, {}).get(METADATA, {})}
        if inside == "export_locations":
            return {"export_locations": []}  # where it is mounted from is an output, and compared with nothing
        if inside == "credentials":
            return self._credentials(ident, *rest[1:])
        raise TypeError(f"{path}: no list holds it")

    def _attachment(self, server: str, volume: str) -> Raw | None:
        attachments = self._listed.of("Volume").get(volume, {}).get("attachments", ())
        devices = [item["device"] for item in attachments if item["server_id"] == server]
        return {"volumeAttachment": {"volumeId": volume, "device": devices[0]}} if devices else None

    def _credentials(self, user: str, access: str | None = None) -> Raw | None:
        keys = [_key(item) for item in self._by("S3Credential", "user_id", user)]
        if access is None:
            return {"credentials": keys}
        return next(({"credential": key} for key in keys if key["access"] == access), None)

    def _by(self, kind: str, member: str, value: str) -> list[Raw]:
        """The objects of a kind by one of their members, sorted out once."""
        if (kind, member) not in self._sorted:
            found: defaultdict[str, list[Raw]] = defaultdict(list)
            for item in self._listed.of(kind).values():
                found[str(item[member])].append(item)
            self._sorted[kind, member] = found
        return self._sorted[kind, member].get(value, [])

    def _answer(self, path: str, values: Raw) -> Answer:
        unread = lambda why: Failure(Trouble.SERVICE, f"{self.service} {path}: {why}", service=self.service)  # noqa: E731
        return Answer(dict(values), unread)


def _key(item: Raw) -> dict[str, Any]:
    """An EC2 credential as Keystone answers about one of them; its secret is said nowhere."""
    blob = json.loads(item["blob"])
    REDACTOR.add(blob["secret"])
    return {
        "access": blob["access"],
        "secret": blob["secret"],
        "user_id": item["user_id"],
        "tenant_id": item["project_id"],
    }
