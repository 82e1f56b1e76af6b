"""Everything that an audit looks at, in some twenty lists whoever it belongs to, however many tenants there are."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from interlock.provider.clouds import Cloud
from interlock.provider.errors import Failure, Trouble
from interlock.provider.registers import (
    NOT_EVERYWHERE,
    REGISTERS,
    Register,
    is_ticket,
    kind_of,
    marker_of,
    plain_id,
)
from interlock.vocabulary.pair_ids import CredentialId, RoleAssignmentId

#: What carries no marker and joins others: who has which right, and what is on the wire of a port.
RIGHTS: tuple[Register, ...] = (
    Register("RoleAssignment", "identity", "/role_assignments", "role_assignments"),
    Register("S3Credential", "identity", "/credentials", "credentials", query={"type": "ec2"}),
    Register("RbacPolicy", "network", "/rbac-policies", "rbac_policies"),
    Register("Trunk", "network", "/trunks", "trunks"),
)

#: What allocations of Ironic lead to.
NODES: tuple[Register, ...] = (
    Register("BareMetalNode", "baremetal", "/nodes/detail", "nodes"),
    Register("BareMetalPort", "baremetal", "/ports/detail", "ports"),
)

#: What is made from volumes beside backups; the copies of data that a tenant's images are, images list.
COPIES: tuple[Register, ...] = (
    Register("VolumeSnapshot", "block-storage", "/snapshots/detail", "snapshots", query={"all_tenants": "1"}),
)

#: Who may mount a share; Manila lists them share by share.
ACCESS_RULES = Register("ShareAccess", "shared-file-system", "/share-access-rules", "access_list", one="access")

#: Extensions that a cloud may be without: where Neutron does not know the path, there is no such object.
_OPTIONAL = frozenset({"Trunk", "FloatingIp"})

#: A list that is refused, or not there, hides facts; any other failure is one of the cloud.
_UNREADABLE = (Trouble.FORBIDDEN, Trouble.NOT_FOUND)

#: Kind of object as Neutron's rights name it -> ours.
RBAC_KINDS: Mapping[str, str] = {"network": "Network", "address_scope": "AddressScope", "subnetpool": "SubnetPool"}

#: Lists at once: the calls wait for services, and each service has at most a few of them.
_AT_ONCE = 6

#: What Cinder says of a volume type in an answer of its own; here it lies in the listed type.
ENCRYPTION = "encryption"

#: What Barbican says of a ticket in an answer of its own; here it lies in the listed ticket.
METADATA = "metadata"

#: An object as a service lists it.
Raw = Mapping[str, Any]


@dataclass(frozen=True)
class Listed:
    """What the services listed at one time: kind -> id -> object."""

    objects: Mapping[str, Mapping[str, Raw]]
    #: Id of a flavour that is not public -> projects on its list.
    flavor_access: Mapping[str, tuple[str, ...]]
    #: Kind whose list nobody could read -> why.
    unread: Mapping[str, str]
    #: Requests for lists, pages of one list counted once.
    requests: int

    def of(self, kind: str) -> Mapping[str, Raw]:
        """Id -> object; nothing where the list could not be read."""
        return self.objects.get(kind, {})

    @cached_property
    def marked(self) -> Mapping[tuple[str, str], tuple[str, ...]]:
        """(kind, marker) -> the ids of all objects that carry it."""
        found: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        for kind, ident, mark in self.markers:
            found[kind, mark].append(ident)
        return {key: tuple(ids) for key, ids in found.items()}

    @cached_property
    def markers(self) -> tuple[tuple[str, str, str], ...]:
        """(kind, id, marker) of everything that carries one."""
        found = (
            (kind_of(item, register), ident, marker_of(item, register))
            for register in REGISTERS
            for ident, item in self.of(register.kind).items()
        )
        return tuple(item for item in found if item[2])

    @cached_property
    def marker(self) -> Mapping[tuple[str, str], str]:
        """(kind, id) -> the marker that the object carries."""
        return {(kind, ident): mark for kind, ident, mark in self.markers}

    def __len__(self) -> int:
        return sum(map(len, self.objects.values()))


def listed(
    cloud: Cloud,
    registers: Iterable[Register] = (*REGISTERS, *RIGHTS, *NODES, *COPIES),
    say: Callable[[str], None] = lambda _: None,
) -> Listed:
    """All lists, a few at once. Raises `Failure` if the cloud fails; a list that is refused is in `unread`."""
    _ = cloud.login  # once, before the threads
    registers = tuple(registers)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        lists = list(pool.map(lambda register: _list(cloud, register, say), registers))
        objects = {register.kind: found for register, found in zip(registers, lists, strict=True)}
        types = [ident for ident, _ in _known(objects, "VolumeType")]
        flavors = [ident for ident, item in _known(objects, "Flavor") if not item["os-flavor-access:is_public"]]
        encryption = dict(zip(types, pool.map(lambda kind: _encryption(cloud, kind), types), strict=True))
        access = dict(zip(flavors, pool.map(lambda flavor: _access(cloud, flavor), flavors), strict=True))
        shares = [ident for ident, _ in _known(objects, "Share")]
        tickets = [ident for ident, item in _known(objects, "StoredCredential") if is_ticket(item)]
        written = dict(zip(tickets, pool.map(lambda ticket: _metadata(cloud, ticket), tickets), strict=True))
        objects |= _access_rules(list(pool.map(lambda share: _rules(cloud, share), shares)))
    unread = {kind: found for kind, found in objects.items() if isinstance(found, str)}
    whole = {kind: found for kind, found in objects.items() if not isinstance(found, str)}
    if types:
        whole["VolumeType"] = {
            ident: {**item, ENCRYPTION: encryption[ident]} for ident, item in whole["VolumeType"].items()
        }
    if tickets:
        whole["StoredCredential"] |= {
            ident: {**whole["StoredCredential"][ident], METADATA: written[ident]} for ident in tickets
        }
    one_by_one = len(flavors) + len(types) + len(shares) + len(tickets)
    return Listed(_for_everybody(whole), access, unread, len(registers) + one_by_one)


def lacking(cloud: Cloud, service: str) -> str:
    """Why nothing of a service can be read, where the catalogue has none; empty where it has, or has to."""
    if service not in NOT_EVERYWHERE or cloud.has(service):
        return ""
    return f"the catalogue of cloud {cloud.name!r} has no service {service}"


def planned_unread(found: Listed, cloud: Cloud, kinds: Container[str]) -> Listed:
    """The same, with kinds that are planned or stated as unread where the cloud lacks their service.

    Such a service has no objects as long as nobody plans any. Where somebody does, they may be there, and whoever took
    it out of the catalogue, or logs in elsewhere, has hidden them.
    """
    services = {register.kind: register.service for register in (*REGISTERS, ACCESS_RULES)}
    reasons = {kind: lacking(cloud, service) for kind, service in services.items() if kind in kinds}
    unread = {kind: reason for kind, reason in reasons.items() if reason}
    return replace(found, unread={**found.unread, **unread})


def _for_everybody(objects: Mapping[str, dict[str, Raw]]) -> dict[str, dict[str, Raw]]:
    """The same, with `shared` meaning everybody: Neutron says it of what the caller's own project may use."""
    rights = objects.get("RbacPolicy")
    if rights is None:
        return dict(objects)
    everybody = {
        item["object_id"]
        for item in rights.values()
        if item["target_tenant"] == "*" and item["action"] == "access_as_shared"
    }
    return {
        kind: {
            ident: {**item, "shared": ident in everybody}
            if kind in RBAC_KINDS.values() and item.get("shared")
            else item
            for ident, item in found.items()
        }
        for kind, found in objects.items()
    }


def _known(objects: Mapping[str, dict[str, Raw] | str], kind: str) -> Iterable[tuple[str, Raw]]:
    found = objects.get(kind, {})
    return () if isinstance(found, str) else found.items()


def _list(cloud: Cloud, register: Register, say: Callable[[str], None]) -> dict[str, Raw] | str:
    """Id -> object, or why nobody can tell."""
    try:
        found: dict[str, Raw] = {ident_of(register.kind, item): item for item in register.objects(cloud)}
    except Failure as failure:
        if register.kind in _OPTIONAL and failure.trouble is Trouble.NOT_FOUND:
            return {}
        if failure.trouble in _UNREADABLE:
            return failure.message
        raise
    say(f"{register.service} {register.path}: {len(found)}")
    return found


def ident_of(kind: str, item: Raw) -> str:
    """The id as our actuators have it."""
    if kind == "RoleAssignment":
        return _assignment(item)
    if kind == "S3Credential":
        return str(CredentialId(item["user_id"], json.loads(item["blob"]).get("access", "")))
    return plain_id(item)


def _assignment(item: Raw) -> str:
    """`project/user/role`; a group stands in the user's place, and a domain or the system in the project's."""
    scope, user = item["scope"], item.get("user") or item.get("group") or {}
    where = (scope.get("project") or scope.get("domain") or {}).get("id", "system")
    return str(RoleAssignmentId(where, user.get("id", ""), item["role"]["id"]))


def _encryption(cloud: Cloud, kind: str) -> Raw:
    """As Cinder answers about a volume type; empty where it has none."""
    return dict(cloud.api("block-storage").find(f"/types/{kind}/{ENCRYPTION}") or {})


def _metadata(cloud: Cloud, ticket: str) -> Raw:
    """As Barbican answers about a ticket; empty where it is gone meanwhile."""
    found = cloud.api("key-manager").find(f"/secrets/{ticket}/{METADATA}")
    return {} if found is None else dict(found[METADATA])


def _access(cloud: Cloud, flavor: str) -> tuple[str, ...]:
    found = cloud.api("compute").find(f"/flavors/{flavor}/os-flavor-access")
    return tuple(str(item["tenant_id"]) for item in found["flavor_access"]) if found else ()


def _rules(cloud: Cloud, share: str) -> dict[str, Raw] | str:
    """Id -> who may mount one share, with the share; or why nobody can tell. Nothing where it is gone meanwhile."""
    try:
        found = cloud.api(ACCESS_RULES.service).find(ACCESS_RULES.path, params={"share_id": share})
    except Failure as failure:
        if failure.trouble is Trouble.FORBIDDEN:
            return failure.message
        raise
    rules = found[ACCESS_RULES.key] if found else ()
    return {str(item["id"]): {**item, "share_id": share} for item in rules}


def _access_rules(found: Iterable[dict[str, Raw] | str]) -> dict[str, dict[str, Raw] | str]:
    """The rules of all shares as one list, which nobody can read if one of them is refused."""
    whole: dict[str, Raw] = {}
    for rules in found:
        if isinstance(rules, str):
            return {ACCESS_RULES.kind: rules}
        whole |= rules
    return {ACCESS_RULES.kind: whole}
