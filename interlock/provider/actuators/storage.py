"""Cinder: volume types, volumes; and their attachments, which Nova makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from interlock.provider.clouds import Cloud
from interlock.provider.errors import refused
from interlock.provider.markers import join, split
from interlock.resources import Resource, Volume, VolumeAttachment, VolumeEncryption, VolumeType
from interlock.vocabulary.pair_ids import AttachmentId

from .base import Actuator, DataCopy, Ids, Observed, Phase, Target
from .compute import KEY
from .sizes import rename_and_grow

_PHASES = {"available": Phase.READY, "in-use": Phase.READY, "error": Phase.BROKEN}

#: Of backups. One that is being restored is whole; one on its way out is none any more.
_COPIED = {"available": Phase.READY, "restoring": Phase.READY, "creating": Phase.PENDING, "error": Phase.BROKEN}


class VolumeTypeActuator(Actuator[VolumeType]):
    """Volume types. Cinder takes encryption by a request of its own: until then the type is private, and nobody but an
    administrator can make volumes of it."""

    KIND: ClassVar[type[Resource]] = VolumeType
    SERVICE: ClassVar[str] = "block-storage"

    def search(self, cloud: Cloud, mark: str, project: str) -> Sequence[str]:
        found = cloud.api("block-storage").items("/types", "volume_types", is_public="None")
        return [str(item["id"]) for item in found if split(item["description"])[1] == mark]

    def create(self, cloud: Cloud, target: Target[VolumeType]) -> str:
        spec = target.spec
        body = {
            "name": spec.name,
            "description": join(spec.description, target.marker),
            "extra_specs": spec.extra_specs,
            "os-volume-type-access:is_public": spec.public and spec.encryption is None,
        }
        answer = cloud.api("block-storage").post("/types", {"volume_type": body})
        return str(answer["volume_type"]["id"])

    def read(self, cloud: Cloud, ident: str, target: Target[VolumeType] | None = None) -> Observed | None:
        found = cloud.api("block-storage").find(f"/types/{ident}")
        if found is None:
            return None
        raw = found["volume_type"]
        text, mark = split(raw["description"])
        fields = {
            "name": raw["name"],
            "description": text,
            "extra_specs": raw["extra_specs"],
            "encryption": encryption_of(cloud, ident),
            "public": raw["is_public"],
        }
        return Observed(ident, mark, fields)

    def update(self, cloud: Cloud, target: Target[VolumeType], seen: Observed, changed: frozenset[str]) -> None:
        api, path, spec = cloud.api("block-storage"), f"/types/{seen.id}", target.spec
        if changed & {"name", "description", "marker"}:
            body = {"name": spec.name, "description": join(spec.description, target.marker)}
            api.put(path, {"volume_type": body})
        for key in seen.fields["extra_specs"].keys() - spec.extra_specs.keys():
            api.delete(f"{path}/extra_specs/{key}")
        if "extra_specs" in changed and spec.extra_specs:
            api.post(f"{path}/extra_specs", {"extra_specs": spec.extra_specs}, idempotent=True)
        if "encryption" in changed:
            self._encrypt(cloud, seen.id, spec)
        if "public" in changed:
            # Last: what is made of it from now on is encrypted.
            api.put(path, {"volume_type": {"is_public": spec.public}})

    def _encrypt(self, cloud: Cloud, ident: str, spec: VolumeType) -> None:
        """Cinder refuses each of these while there is a volume of the type."""
        api, path = cloud.api("block-storage"), f"/types/{ident}/encryption"
        there, wanted = api.get(path), spec.canonical()["encryption"]
        if "encryption_id" not in there:
            api.post(path, {"encryption": wanted})
        elif wanted:
            api.put(f"/types/{ident}/encryption/{there['encryption_id']}", {"encryption": wanted})
        else:
            api.delete(f"/types/{ident}/encryption/{there['encryption_id']}")

    def delete(self, cloud: Cloud, ident: str, target: Target[VolumeType]) -> None:
        cloud.api("block-storage").delete(f"/types/{ident}")


class VolumeActuator(Actuator[Volume]):
    """Volumes, made with a token of the owning project."""

    KIND: ClassVar[type[Resource]] = Volume
    SERVICE: ClassVar[str] = "block-storage"
    PATIENCE: ClassVar[float] = 300.0

    def search(self, cloud: Cloud, mark: str, project: str) -> Sequence[str]:
        found = cloud.api("block-storage").items("/volumes/detail", "volumes", all_tenants=1, project_id=project)
        return [str(item["id"]) for item in found if item["metadata"].get(KEY) == mark and _project(item) == project]

    def create(self, cloud: Cloud, target: Target[Volume]) -> str:
        kind = target.one("volume_type")
        if target.spec.encrypted and encryption_of(cloud, kind) is None:
            raise refused(
                f"volume {target.name} is to be encrypted, and its volume type {kind} has no encryption on the cloud",
                "run `pulumi up` of the site's stack first: it gives the type its encryption",
            )
        body = {
            "name": target.spec.name,
            "size": target.spec.size_gib,
            "volume_type": kind,
            "metadata": {KEY: target.marker},
        }
        api = cloud.api("block-storage", target.one("project"))
        return str(api.post("/volumes", {"volume": body})["volume"]["id"])

    def read(self, cloud: Cloud, ident: str, target: Target[Volume] | None = None) -> Observed | None:
        found = cloud.api("block-storage").find(f"/volumes/{ident}")
        if found is None:
            return None
        raw = found["volume"]
        status = raw["status"]
        references: dict[str, Ids] = {"project": _project(raw)}
        if target is not None:
            references["volume_type"] = _type_id(cloud, raw["volume_type"])
        return Observed(
            id=ident,
            marker=raw["metadata"].get(KEY, ""),
            fields={"name": raw["name"], "size_gib": raw["size"], "encrypted": raw["encrypted"]},
            references=references,
            phase=_PHASES.get(status, Phase.PENDING),
            reason=f"Cinder says: {status}",
        )

    def update(self, cloud: Cloud, target: Target[Volume], seen: Observed, changed: frozenset[str]) -> None:
        rename_and_grow(
            cloud, target, seen, changed, service="block-storage", name_key="name", extend="os-extend"
        )  # fmt: skip

    def delete(self, cloud: Cloud, ident: str, target: Target[Volume]) -> None:
        cloud.api("block-storage").delete(f"/volumes/{ident}")

    def holds_data(self, cloud: Cloud, target: Target[Volume], seen: Observed) -> bool:
        # Cinder's `error` is a volume that was never made.
        return seen.phase is not Phase.BROKEN

    def copies(self, cloud: Cloud, target: Target[Volume], ident: str) -> Sequence[DataCopy]:
        """Backups. A snapshot would go with the volume, or rather: Cinder deletes no volume that has one."""
        api = cloud.api("block-storage", target.one("project"))
        volume = api.find(f"/volumes/{ident}")
        changed = volume["volume"]["updated_at"] if volume else ""
        found = [
            item
            for item in api.items("/backups/detail", "backups", volume_id=ident)
            if item["metadata"].get(KEY) == target.marker and item["status"] in _COPIED
        ]
        found.sort(key=lambda item: str(item["created_at"]), reverse=True)
        return [_copy(item, changed) for item in found]

    def copy(self, cloud: Cloud, target: Target[Volume], ident: str) -> str:
        body = {
            "volume_id": ident,
            "name": target.spec.name,
            "description": f"Last data of volume {target.spec.name} ({ident})",
            "metadata": {KEY: target.marker},
        }
        api = cloud.api("block-storage", target.one("project"))
        return str(api.post("/backups", {"backup": body})["backup"]["id"])

    def discard(self, cloud: Cloud, target: Target[Volume], copy: DataCopy) -> None:
        cloud.api("block-storage", target.one("project")).delete(f"/backups/{copy.id}")


class VolumeAttachmentActuator(Actuator[VolumeAttachment]):
    """A volume at a server. The id is `server/volume`; there is nothing else to it."""

    KIND: ClassVar[type[Resource]] = VolumeAttachment
    SERVICE: ClassVar[str] = "compute"
    PATIENCE: ClassVar[float] = 180.0
    OUTPUTS: ClassVar[Mapping[str, str]] = {"device": "device name that Nova proposes to the guest"}

    def find(self, cloud: Cloud, target: Target[VolumeAttachment]) -> Sequence[str]:
        ident = str(AttachmentId(target.one("server"), target.one("volume")))
        return [ident] if self.read(cloud, ident) is not None else []

    def create(self, cloud: Cloud, target: Target[VolumeAttachment]) -> str:
        server, volume = target.one("server"), target.one("volume")
        api = cloud.api("compute", target.one("project"))
        # By the tag the server finds out which of its disks this is.
        body = {"volumeAttachment": {"volumeId": volume, "tag": target.spec.device_tag}}
        answer = api.post(f"/servers/{server}/os-volume_attachments", body)
        return str(AttachmentId(server, answer["volumeAttachment"]["volumeId"]))

    def read(self, cloud: Cloud, ident: str, target: Target[VolumeAttachment] | None = None) -> Observed | None:
        pair = AttachmentId.parse(ident)
        found = cloud.api("compute").find(f"/servers/{pair.server}/os-volume_attachments/{pair.volume}")
        answer = cloud.api("block-storage").find(f"/volumes/{pair.volume}")
        status = answer["volume"]["status"] if answer else ""
        if found is None and status != "detaching":
            return None
        device = found["volumeAttachment"]["device"] if found else ""
        return Observed(
            ident,
            "",
            references={"server": pair.server, "volume": pair.volume},
            outputs={"device": device or ""},
            phase=Phase.READY if status == "in-use" else Phase.PENDING,
            reason=f"the volume's state is {status}",
        )

    def delete(self, cloud: Cloud, ident: str, target: Target[VolumeAttachment]) -> None:
        pair = AttachmentId.parse(ident)
        cloud.api("compute").delete(f"/servers/{pair.server}/os-volume_attachments/{pair.volume}")


def _copy(raw: dict[str, Any], changed: str | None) -> DataCopy:
    # Cinder touches the volume when a backup begins and ends, and the backup after it: whatever touches the volume
    # later (somebody may have attached it and written) makes this date the later one.
    current = not changed or str(raw["updated_at"] or "") >= changed
    reason = raw["fail_reason"] or "Cinder says: error"
    return DataCopy(str(raw["id"]), f"backup {raw['name']} ({raw['id']})", _COPIED[raw["status"]], current, reason)


def encryption_of(cloud: Cloud, ident: str) -> dict[str, Any] | None:
    """How volumes of a type are encrypted; None where they are not, or where there is no such type."""
    found = cloud.api("block-storage").find(f"/types/{ident}/encryption")
    if found is None or "provider" not in found:
        return None
    return {name: found[name] for name in VolumeEncryption.model_fields}


def _project(raw: dict[str, Any]) -> str:
    return str(raw["os-vol-tenant-attr:tenant_id"])


def _type_id(cloud: Cloud, name: str) -> str:
    """The id of a volume type by its name, which is all that a volume shows; the name if there is none."""
    types = cloud.api("block-storage").items("/types", "volume_types", is_public="None")
    return next((str(item["id"]) for item in types if name in (item["name"], item["id"])), name)
