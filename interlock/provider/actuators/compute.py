"""Nova: flavours, aggregates, key pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from interlock.provider.clouds import Cloud
from interlock.provider.errors import Failure, Trouble
from interlock.provider.markers import join, marker, split
from interlock.resources import Aggregate, Flavor, FlavorAccess, Keypair, Resource
from interlock.vocabulary.markers import KeypairName
from interlock.vocabulary.pair_ids import FlavorAccessId

from .base import Actuator, Observed, Target

#: Key of Nova's and Cinder's metadata, and of Glance's properties, that holds the marker.
KEY = "interlock"


class FlavorActuator(Actuator[Flavor]):
    """Flavours. Who may use one that is not public is a resource of its own for each project (`FlavorAccess`)."""

    KIND: ClassVar[type[Resource]] = Flavor
    SERVICE: ClassVar[str] = "compute"

    def search(self, cloud: Cloud, mark: str, project: str) -> Sequence[str]:
        found = cloud.api("compute").items("/flavors/detail", "flavors", is_public="None")
        return [str(item["id"]) for item in found if item["description"] == mark]

    def create(self, cloud: Cloud, target: Target[Flavor]) -> str:
        spec = target.spec
        body = {
            "name": spec.name,
            "vcpus": spec.vcpus,
            "ram": spec.ram_mib,
            "disk": spec.disk_gib,
            "description": target.marker,
            "os-flavor-access:is_public": spec.public,
        }
        return str(cloud.api("compute").post("/flavors", {"flavor": body})["flavor"]["id"])

    def read(self, cloud: Cloud, ident: str, target: Target[Flavor] | None = None) -> Observed | None:
        found = cloud.api("compute").find(f"/flavors/{ident}")
        if found is None:
            return None
        raw = found["flavor"]
        fields = {
            "name": raw["name"],
            "vcpus": raw["vcpus"],
            "ram_mib": raw["ram"],
            "disk_gib": raw["disk"],
            "extra_specs": raw["extra_specs"],
            "public": raw["os-flavor-access:is_public"],
        }
        return Observed(ident, raw["description"] or "", fields)

    def update(self, cloud: Cloud, target: Target[Flavor], seen: Observed, changed: frozenset[str]) -> None:
        api, path = cloud.api("compute"), f"/flavors/{seen.id}"
        if "marker" in changed:
            api.put(path, {"flavor": {"description": target.marker}})
        wanted = target.spec.extra_specs
        for key in seen.fields["extra_specs"].keys() - wanted.keys():
            api.delete(f"{path}/os-extra_specs/{key}")
        if wanted and "extra_specs" in changed:
            api.post(f"{path}/os-extra_specs", {"extra_specs": wanted}, idempotent=True)

    def delete(self, cloud: Cloud, ident: str, target: Target[Flavor]) -> None:
        cloud.api("compute").delete(f"/flavors/{ident}")


class FlavorAccessActuator(Actuator[FlavorAccess]):
    """A project on the access list of a flavour. The id is `flavor/project`; there is nothing else to it."""

    KIND: ClassVar[type[Resource]] = FlavorAccess
    SERVICE: ClassVar[str] = "compute"

    def find(self, cloud: Cloud, target: Target[FlavorAccess]) -> Sequence[str]:
        ident = self._id(target)
        return [ident] if self.read(cloud, ident) is not None else []

    def create(self, cloud: Cloud, target: Target[FlavorAccess]) -> str:
        body = {"addTenantAccess": {"tenant": target.one("project")}}
        cloud.api("compute").post(f"/flavors/{target.one('flavor')}/action", body)
        return self._id(target)

    def read(self, cloud: Cloud, ident: str, target: Target[FlavorAccess] | None = None) -> Observed | None:
        pair = FlavorAccessId.parse(ident)
        # Nova knows no list of a public flavour: nobody is on it.
        found = cloud.api("compute").find(f"/flavors/{pair.flavor}/os-flavor-access")
        listed = found["flavor_access"] if found else []
        if all(item["tenant_id"] != pair.project for item in listed):
            return None
        return Observed(ident, "", references={"project": pair.project, "flavor": pair.flavor})

    def delete(self, cloud: Cloud, ident: str, target: Target[FlavorAccess]) -> None:
        pair = FlavorAccessId.parse(ident)
        try:
            body = {"removeTenantAccess": {"tenant": pair.project}}
            cloud.api("compute").post(f"/flavors/{pair.flavor}/action", body)
        except Failure as failure:
            if failure.trouble is not Trouble.NOT_FOUND:
                raise

    @staticmethod
    def _id(target: Target[FlavorAccess]) -> str:
        return str(FlavorAccessId(target.one("flavor"), target.one("project")))


class AggregateActuator(Actuator[Aggregate]):
    """Host aggregates without an availability zone of their own."""

    KIND: ClassVar[type[Resource]] = Aggregate
    SERVICE: ClassVar[str] = "compute"

    def search(self, cloud: Cloud, mark: str, project: str) -> Sequence[str]:
        found = cloud.api("compute").get("/os-aggregates")["aggregates"]
        return [str(item["id"]) for item in found if mark in (item["metadata"].get(KEY), split(item["name"])[1])]

    def create(self, cloud: Cloud, target: Target[Aggregate]) -> str:
        # Nova takes metadata only by a second request: until then the name carries the marker.
        name = join(target.spec.name, target.marker)
        answer = cloud.api("compute").post("/os-aggregates", {"aggregate": {"name": name}})
        return str(answer["aggregate"]["id"])

    def read(self, cloud: Cloud, ident: str, target: Target[Aggregate] | None = None) -> Observed | None:
        found = cloud.api("compute").find(f"/os-aggregates/{ident}")
        if found is None:
            return None
        raw = found["aggregate"]
        metadata = {key: value for key, value in raw["metadata"].items() if key != KEY}
        fields = {"name": raw["name"], "hosts": raw["hosts"], "metadata": metadata}
        # Until it has metadata, the name carries the marker: see `create`.
        return Observed(ident, raw["metadata"].get(KEY) or split(raw["name"])[1], fields)

    def update(self, cloud: Cloud, target: Target[Aggregate], seen: Observed, changed: frozenset[str]) -> None:
        api, path = cloud.api("compute"), f"/os-aggregates/{seen.id}"
        if changed & {"marker", "metadata", "name"}:
            gone: dict[str, Any] = dict.fromkeys(seen.fields["metadata"].keys() - target.spec.metadata.keys())
            metadata = gone | target.spec.metadata | {KEY: target.marker}
            api.post(f"{path}/action", {"set_metadata": {"metadata": metadata}}, idempotent=True)
        if "name" in changed:
            api.put(path, {"aggregate": {"name": target.spec.name}})
        have, wanted = set(seen.fields["hosts"]), set(target.spec.hosts)
        for host in sorted(have - wanted):
            api.post(f"{path}/action", {"remove_host": {"host": host}})
        for host in sorted(wanted - have):
            api.post(f"{path}/action", {"add_host": {"host": host}})

    def delete(self, cloud: Cloud, ident: str, target: Target[Aggregate]) -> None:
        seen = self.read(cloud, ident)
        for host in seen.fields["hosts"] if seen else ():
            cloud.api("compute").post(f"/os-aggregates/{ident}/action", {"remove_host": {"host": host}})
        cloud.api("compute").delete(f"/os-aggregates/{ident}")


class KeypairActuator(Actuator[Keypair]):
    """Public keys under the operator's user. On the cloud they are named `<name>-<owner id>`."""

    KIND: ClassVar[type[Resource]] = Keypair
    SERVICE: ClassVar[str] = "compute"

    def find(self, cloud: Cloud, target: Target[Keypair]) -> Sequence[str]:
        ident = self._name(target)
        return [ident] if cloud.api("compute").find(f"/os-keypairs/{ident}") else []

    def create(self, cloud: Cloud, target: Target[Keypair]) -> str:
        body = {"name": self._name(target), "public_key": target.spec.public_key, "type": "ssh"}
        return str(cloud.api("compute").post("/os-keypairs", {"keypair": body})["keypair"]["name"])

    def read(self, cloud: Cloud, ident: str, target: Target[Keypair] | None = None) -> Observed | None:
        found = cloud.api("compute").find(f"/os-keypairs/{ident}")
        if found is None:
            return None
        named = KeypairName.parse(ident)
        fields = {"name": named.name, "public_key": found["keypair"]["public_key"]}
        return Observed(ident, marker(named.owner, named.name), fields)

    def delete(self, cloud: Cloud, ident: str, target: Target[Keypair]) -> None:
        cloud.api("compute").delete(f"/os-keypairs/{ident}")

    @staticmethod
    def _name(target: Target[Keypair]) -> str:
        return str(KeypairName(target.spec.name, target.owner))
