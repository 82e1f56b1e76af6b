"""Nova servers, pinned to a host. Ports come and go in place; a server is never replaced for a port."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from interlock.provider.clouds import Cloud
from interlock.provider.registers import SHOWS_FLAVOR_ID
from interlock.resources import Resource, Server

from .base import Actuator, Ids, Observed, Phase, Target
from .compute import KEY
from .told_shares import add_told, metadata_of_shares, outdated

#: States in which a server is as the plan wants it or one command away from it.
READY = frozenset({"ACTIVE", "SHUTOFF", "PAUSED", "SUSPENDED", "SHELVED", "SHELVED_OFFLOADED", "RESCUE"})


class ServerActuator(Actuator[Server]):
    """Servers, made with a token of the owning project; reading takes the administrator's view."""

    KIND: ClassVar[type[Resource]] = Server
    SERVICE: ClassVar[str] = "compute"
    PATIENCE: ClassVar[float] = 600.0
    OUTPUTS: ClassVar[Mapping[str, str]] = {
        "status": "Nova's state of the server",
        "hypervisor": "host on which it really is",
    }

    def search(self, cloud: Cloud, mark: str, project: str) -> Sequence[str]:
        found = cloud.api("compute").items("/servers/detail", "servers", all_tenants=1, project_id=project)
        return [str(item["id"]) for item in found if item["metadata"].get(KEY) == mark and item["tenant_id"] == project]

    def create(self, cloud: Cloud, target: Target[Server]) -> str:
        spec = target.spec
        body: dict[str, Any] = {
            "name": spec.name,
            "flavorRef": target.one("flavor"),
            "imageRef": target.one("image"),
            # Runs the scheduler's filters, unlike `availability_zone: nova:<host>`, so the claim is checked.
            "host": spec.host,
            # `none` spelled out: an empty list makes Nova choose a network by itself.
            "networks": [{"port": port} for port in target.many("ports")] or "none",
            "metadata": {KEY: target.marker, **metadata_of_shares(cloud, target)},
        }
        if target.refs.get("keypair"):
            body["key_name"] = target.one("keypair")
        if spec.user_data:
            body["user_data"] = base64.b64encode(spec.user_data.encode()).decode()
        answer = self._own(cloud, target).post("/servers", {"server": body})
        return str(answer["server"]["id"])

    def read(self, cloud: Cloud, ident: str, target: Target[Server] | None = None) -> Observed | None:
        found = cloud.api("compute").find(f"/servers/{ident}", microversion=SHOWS_FLAVOR_ID)
        # One that is `DELETED` is not gone yet: Nova says so before it gives back what the server has taken.
        if found is None:
            return None
        raw = found["server"]
        phase = _phase(raw)
        host = raw["OS-EXT-SRV-ATTR:host"]
        fields: dict[str, Any] = {"name": raw["name"]}
        if host and phase is Phase.READY:
            fields["host"] = host
        if phase is Phase.READY:
            add_told(cloud, raw["metadata"], target, fields)
        if raw.get("OS-EXT-SRV-ATTR:user_data"):
            fields["user_data"] = _text(raw["OS-EXT-SRV-ATTR:user_data"])
        references = self._references(cloud, raw, phase)
        outputs = {"status": raw["status"], "hypervisor": host or ""}
        mark = raw["metadata"].get(KEY, "")
        return Observed(ident, mark, fields, references, outputs, phase, _reason(raw))

    def update(self, cloud: Cloud, target: Target[Server], seen: Observed, changed: frozenset[str]) -> None:
        api, path = self._own(cloud, target), f"/servers/{seen.id}"
        if "name" in changed:
            api.put(path, {"server": {"name": target.spec.name}})
        if "marker" in changed:
            api.post(f"{path}/metadata", {"metadata": {KEY: target.marker}}, idempotent=True)
        if "shares" in changed:
            self._tell_shares(cloud, target, seen)
        if "ports" in changed:
            self._ports(cloud, target, seen)

    def delete(self, cloud: Cloud, ident: str, target: Target[Server]) -> None:
        cloud.api("compute").delete(f"/servers/{ident}")

    def _tell_shares(self, cloud: Cloud, target: Target[Server], seen: Observed) -> None:
        """What is missing or wrong, then takes away what the plan does not list. Other metadata stay."""
        api, path = self._own(cloud, target), f"/servers/{seen.id}/metadata"
        wanted, told = metadata_of_shares(cloud, target), api.get(path)["metadata"]
        if wanted:
            api.post(path, {"metadata": wanted}, idempotent=True)
        for key in outdated(told, wanted):
            api.delete(f"{path}/{key}")

    def _ports(self, cloud: Cloud, target: Target[Server], seen: Observed) -> None:
        """Detaches what the plan does not list, then attaches what is missing, in the plan's order."""
        api, path = self._own(cloud, target), f"/servers/{seen.id}/os-interface"
        have, wanted = seen.references.get("ports") or (), target.many("ports")
        for port in have:
            if port not in wanted:
                api.delete(f"{path}/{port}")
        for port in wanted:
            if port not in have:
                api.post(path, {"interfaceAttachment": {"port_id": port}})

    def _references(self, cloud: Cloud, raw: dict[str, Any], phase: Phase) -> dict[str, Ids]:
        references: dict[str, Ids] = {
            "project": raw["tenant_id"],
            "flavor": raw["flavor"]["id"],
            "image": raw["image"]["id"] if raw["image"] else None,
            "keypair": raw["key_name"],
        }
        if phase is Phase.READY:
            ports = cloud.api("network").items("/ports", "ports", device_id=raw["id"], fields=["id"])
            references["ports"] = tuple(str(port["id"]) for port in ports)
        return references

    @staticmethod
    def _own(cloud: Cloud, target: Target[Server]) -> Any:
        return cloud.api("compute", target.one("project"))


def _phase(raw: dict[str, Any]) -> Phase:
    if raw["OS-EXT-STS:task_state"]:
        return Phase.PENDING
    if raw["status"] == "ERROR":
        return Phase.BROKEN
    return Phase.READY if raw["status"] in READY else Phase.PENDING


def _reason(raw: dict[str, Any]) -> str:
    fault = raw.get("fault")
    return f"Nova says: {fault['message']}" if fault else f"its state is {raw['status']}"


def _text(encoded: str) -> str:
    try:
        return base64.b64decode(encoded).decode()
    except (binascii.Error, UnicodeDecodeError):
        # Someone else's bytes: shown as they are, so that the difference is seen.
        return encoded
