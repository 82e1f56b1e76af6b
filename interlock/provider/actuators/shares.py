"""Manila: share types, shares, and the networks that may mount them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from interlock.provider.clouds import Cloud
from interlock.provider.errors import Failure, Trouble, refused
from interlock.provider.markers import join, split
from interlock.resources import Resource, Share, ShareAccess, ShareQuota, ShareType

from .base import Actuator, Ids, Observed, Phase, Target
from .compute import KEY
from .sizes import rename_and_grow

SERVICE = "shared-file-system"

#: States that a share leaves only by an operator's hand or by being deleted by force.
_STUCK = frozenset({"error_deleting", "extending_error", "shrinking_error", "unmanage_error", "manage_error"})
#: States from which Manila takes no second deletion, and needs none.
_GOING = frozenset({"deleting"})
#: Seconds that a share may stand in a state that says `error` before it counts as one that does not end.
_ERROR_LASTS = 10.0

#: Field of `ShareQuota` -> Manila's name of it.
_LIMITS = {"shares": "shares", "share_gib": "gigabytes"}

_RULE_PHASES = {"active": Phase.READY, "error": Phase.BROKEN}


class ShareTypeActuator(Actuator[ShareType]):
    """Public share types."""

    KIND: ClassVar[type[Resource]] = ShareType
    SERVICE: ClassVar[str] = SERVICE

    def search(self, cloud: Cloud, mark: str, project: str) -> Sequence[str]:
        found = cloud.api(SERVICE).items("/types", "share_types", is_public="all")
        return [str(item["id"]) for item in found if split(item["description"])[1] == mark]

    def create(self, cloud: Cloud, target: Target[ShareType]) -> str:
        body = {
            "name": target.spec.name,
            "description": join("", target.marker),
            "extra_specs": target.spec.extra_specs,
            "share_type_access:is_public": True,
        }
        return str(cloud.api(SERVICE).post("/types", {"share_type": body})["share_type"]["id"])

    def read(self, cloud: Cloud, ident: str, target: Target[ShareType] | None = None) -> Observed | None:
        found = cloud.api(SERVICE).find(f"/types/{ident}")
        if found is None:
            return None
        raw = found["share_type"]
        fields = {"name": raw["name"], "extra_specs": dict(raw["extra_specs"])}
        return Observed(ident, split(raw["description"])[1], fields)

    def update(self, cloud: Cloud, target: Target[ShareType], seen: Observed, changed: frozenset[str]) -> None:
        api, path, spec = cloud.api(SERVICE), f"/types/{seen.id}", target.spec
        if changed & {"name", "marker"}:
            api.put(path, {"share_type": {"name": spec.name, "description": join("", target.marker)}})
        if "extra_specs" in changed:
            if spec.extra_specs:
                api.post(f"{path}/extra_specs", {"extra_specs": spec.extra_specs}, idempotent=True)
            for key in seen.fields["extra_specs"].keys() - spec.extra_specs.keys():
                api.delete(f"{path}/extra_specs/{key}")

    def delete(self, cloud: Cloud, ident: str, target: Target[ShareType]) -> None:
        cloud.api(SERVICE).delete(f"/types/{ident}")


class ShareActuator(Actuator[Share]):
    """Shares, made by the operator's user with a token of the owning project.

    Its metadata can be written by members of the project, so a marker there says nothing alone: what is adopted was
    made by the operator's own user besides, which Manila records and nobody can change.
    """

    KIND: ClassVar[type[Resource]] = Share
    SERVICE: ClassVar[str] = SERVICE
    PATIENCE: ClassVar[float] = 300.0
    ASKS_AGAIN: ClassVar[bool] = True
    OUTPUTS: ClassVar[Mapping[str, str]] = {"export_path": "path under which the appliance exports it"}

    def search(self, cloud: Cloud, mark: str, project: str) -> Sequence[str]:
        listed = cloud.api(SERVICE).items("/shares/detail", "shares", all_tenants=1, project_id=project)
        carrying = [item for item in listed if item["metadata"].get(KEY) == mark and item["project_id"] == project]
        ours = [str(item["id"]) for item in carrying if item["user_id"] == cloud.login.user]
        if carrying and not ours:
            first = carrying[0]
            raise refused(
                f"share {first['name']} ({first['id']}) carries {mark}, and user {first['user_id']} made it, "
                f"not {cloud.login.user} of cloud {cloud.name!r}",
                "run as the user who made it, or take `interlock` out of its metadata: then another one is made",
            )
        return ours

    def create(self, cloud: Cloud, target: Target[Share]) -> str:
        body = {
            "name": target.spec.name,
            "size": target.spec.size_gib,
            "share_type": target.one("share_type"),
            "share_proto": target.spec.protocol,
            "is_public": False,
            "metadata": {KEY: target.marker},
        }
        return str(cloud.api(SERVICE, target.one("project")).post("/shares", {"share": body})["share"]["id"])

    def read(self, cloud: Cloud, ident: str, target: Target[Share] | None = None) -> Observed | None:
        api = cloud.api(SERVICE)
        found = api.find(f"/shares/{ident}")
        if found is None:
            return None
        raw = found["share"]
        status = str(raw["status"])
        exports: Sequence[Mapping[str, Any]] = ()
        if target is not None or status == "error":
            answer = api.find(f"/shares/{ident}/export_locations")
            exports = answer["export_locations"] if answer else ()
        references: dict[str, Ids] = {"project": str(raw["project_id"]), "share_type": str(raw["share_type"])}
        return Observed(
            id=ident,
            marker=raw["metadata"].get(KEY, ""),
            fields={"name": raw["name"], "size_gib": raw["size"], "protocol": raw["share_proto"]},
            references=references,
            outputs={"export_path": export_path(exports)},
            phase=_phase(status, exports),
            reason=f"Manila says: {status}",
            patience=_ERROR_LASTS if "error" in status else None,
        )

    def update(self, cloud: Cloud, target: Target[Share], seen: Observed, changed: frozenset[str]) -> None:
        rename_and_grow(
            cloud, target, seen, changed, service=SERVICE, name_key="display_name", extend="extend"
        )  # fmt: skip

    def delete(self, cloud: Cloud, ident: str, target: Target[Share]) -> None:
        api = cloud.api(SERVICE)
        found = api.find(f"/shares/{ident}")
        status = str(found["share"]["status"]) if found else ""
        if status in _STUCK:
            # Manila refuses the plain request in these states, and there is no way out of them but this one.
            _unless_gone(lambda: api.post(f"/shares/{ident}/action", {"force_delete": None}, idempotent=True))
        elif status and status not in _GOING:
            api.delete(f"/shares/{ident}")

    def holds_data(self, cloud: Cloud, target: Target[Share], seen: Observed) -> bool:
        # Manila's `error` without an export is a share that was never made.
        return seen.phase is not Phase.BROKEN


class ShareAccessActuator(Actuator[ShareAccess]):
    """A network that may mount a share: of a share and a prefix Manila has one rule at most."""

    KIND: ClassVar[type[Resource]] = ShareAccess
    SERVICE: ClassVar[str] = SERVICE
    PATIENCE: ClassVar[float] = 120.0

    def find(self, cloud: Cloud, target: Target[ShareAccess]) -> Sequence[str]:
        share = target.one("share")
        answer = cloud.api(SERVICE).find("/share-access-rules", params={"share_id": share})
        return [
            str(item["id"])
            for item in (answer["access_list"] if answer else ())
            if (item["access_type"], item["access_to"]) == ("ip", target.spec.prefix)
            and item.get("share_id", share) == share
        ]

    def create(self, cloud: Cloud, target: Target[ShareAccess]) -> str:
        body = {"access_type": "ip", "access_to": target.spec.prefix, "access_level": target.spec.level}
        api = cloud.api(SERVICE, target.one("project"))
        answer = api.post(f"/shares/{target.one('share')}/action", {"allow_access": body})
        return str(answer["access"]["id"])

    def read(self, cloud: Cloud, ident: str, target: Target[ShareAccess] | None = None) -> Observed | None:
        found = cloud.api(SERVICE).find(f"/share-access-rules/{ident}")
        if found is None:
            return None
        raw = found["access"]
        return Observed(
            ident,
            "",
            fields={"prefix": raw["access_to"], "level": raw["access_level"]},
            references={"share": str(raw["share_id"])},
            phase=_RULE_PHASES.get(raw["state"], Phase.PENDING),
            reason=f"Manila says: {raw['state']}",
        )

    def delete(self, cloud: Cloud, ident: str, target: Target[ShareAccess]) -> None:
        path, body = f"/shares/{target.one('share')}/action", {"deny_access": {"access_id": ident}}
        _unless_gone(lambda: cloud.api(SERVICE).post(path, body, idempotent=True))


class ShareQuotaActuator(Actuator[ShareQuota]):
    """Limits of a project. They always exist, so one is always adopted; deleting it restores the defaults."""

    KIND: ClassVar[type[Resource]] = ShareQuota
    SERVICE: ClassVar[str] = SERVICE
    VANISHES: ClassVar[bool] = False

    def find(self, cloud: Cloud, target: Target[ShareQuota]) -> Sequence[str]:
        return [target.one("project")]

    def create(self, cloud: Cloud, target: Target[ShareQuota]) -> str:
        return target.one("project")

    def read(self, cloud: Cloud, ident: str, target: Target[ShareQuota] | None = None) -> Observed | None:
        if cloud.api("identity").find(f"/projects/{ident}") is None:
            return None
        raw = cloud.api(SERVICE).get(f"/quota-sets/{ident}")["quota_set"]
        return Observed(ident, "", {name: raw[theirs] for name, theirs in _LIMITS.items()}, {"project": ident})

    def update(self, cloud: Cloud, target: Target[ShareQuota], seen: Observed, changed: frozenset[str]) -> None:
        body = {theirs: getattr(target.spec, name) for name, theirs in _LIMITS.items() if name in changed}
        if body:
            # Also below what is in use: see quotas.py.
            cloud.api(SERVICE).put(f"/quota-sets/{seen.id}", {"quota_set": body | {"force": True}})

    def delete(self, cloud: Cloud, ident: str, target: Target[ShareQuota]) -> None:
        cloud.api(SERVICE).delete(f"/quota-sets/{ident}")


def export_path(exports: Sequence[Mapping[str, Any]]) -> str:
    """The path of the preferred export that is for clients; empty while there is none.

    Of an export `192.0.2.1:/a/b` only the path counts: the address that a client mounts from is the appliance's on the
    client's own storage network, which the lock gives.
    """
    for_clients = (item for item in exports if not item.get("is_admin_only"))
    found = sorted(for_clients, key=lambda item: (not item.get("preferred"), str(item["path"])))
    _, _, path = str(found[0]["path"]).partition(":/") if found else ("", "", "")
    return f"/{path}" if path else ""


def _phase(status: str, exports: Sequence[Mapping[str, Any]]) -> Phase:
    if status == "available":
        return Phase.READY
    # Manila sets `error` on shares with data too, when a later step fails: those are waited for and told, and kept.
    return Phase.BROKEN if status == "error" and not exports else Phase.PENDING


def _unless_gone(call: Any) -> None:
    """Makes a request about something; that it is not there any more counts as done."""
    try:
        call()
    except Failure as failure:
        if failure.trouble is not Trouble.NOT_FOUND:
            raise
