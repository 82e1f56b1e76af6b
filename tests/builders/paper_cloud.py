"""A simulator: a cloud on paper, which lists what plans hold in the words of the services. It says nothing else.

For audits of sites that no embedded cloud could hold, and for what no real service does on demand. That real services
list objects like this is shown in tests/provider/test_audit.py.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast

from interlock.provider.actuators.quotas import QUOTA_PATHS
from interlock.provider.actuators.shares import SERVICE as SHARES
from interlock.provider.calls import Answer, Api
from interlock.provider.clouds import Cloud, Login
from interlock.provider.errors import Failure, Trouble
from interlock.provider.regions import Catalogue

from .paper import LOGIN, Paper

#: Service -> (path, key of the body), under which limits of a project are told.
_QUOTA_PATHS = {**QUOTA_PATHS, SHARES: ("/quota-sets", "quota_set")}


class PaperCloud(Cloud):
    """Answers from paper; the JSON of each list is read again, as an answer of a service is."""

    def __init__(self, paper: Paper) -> None:
        super().__init__("paper")
        self.paper = paper
        self.texts: dict[str, str] = {}

    @cached_property
    def login(self) -> Login:
        if not self.paper.lists["BareMetalNode"]:
            return LOGIN
        return replace(LOGIN, catalogue=Catalogue({**LOGIN.catalogue.regions, "baremetal": ()}))

    def domain(self, name: str) -> str:
        return name

    def endpoint(self, service: str, project: str | None = None) -> str:
        return ""

    def api(self, service: str, project: str | None = None) -> Api:
        return cast("Api", _PaperApi(self, service, project))


@dataclass
class _PaperApi:
    cloud: PaperCloud
    service: str
    project: str | None

    def pages(self, path: str, key: str, params: Mapping[str, Any], **options: Any) -> Iterator[Answer]:
        from interlock.provider.audit.listing import COPIES, NODES, RIGHTS
        from interlock.provider.registers import REGISTERS

        known = (*REGISTERS, *RIGHTS, *NODES, *COPIES)
        register = next(item for item in known if (item.service, item.path) == (self.service, path))
        found = self.cloud.paper.lists[register.kind]
        if register.kind not in self.cloud.texts:
            self.cloud.texts[register.kind] = json.dumps(found)
        for item in json.loads(self.cloud.texts[register.kind]):
            yield Answer(
                {register.inside: item} if register.inside else item, lambda why: Failure(Trouble.SERVICE, why)
            )

    def get(self, path: str) -> Any:
        """Limits of a project."""
        (wanted, key), project = _QUOTA_PATHS[self.service], path.rpartition("/")[2]
        if not path.startswith(f"{wanted}/"):
            raise Failure(Trouble.NOT_FOUND, f"GET {path}: status 404")
        return {key: self.cloud.paper.quotas[project][self.service]}

    def find(self, path: str, *, params: Mapping[str, str] | None = None) -> Any:
        """A project; who may use a flavour, who may mount a share, how volumes of a type are encrypted."""
        if params:
            return {"access_list": self.cloud.paper.share_access.get(params["share_id"], [])}
        if path.startswith("/secrets/"):
            return {"metadata": self.cloud.paper.one("StoredCredential", path.split("/")[2])["metadata"]}
        if path.startswith("/projects/"):
            return next((item for item in self.cloud.paper.lists["Project"] if path.endswith(item["id"])), None)
        _, collection, flavor, _ = path.split("/")
        if collection == "types":
            return self.cloud.paper.one("VolumeType", flavor)["encryption"]
        projects = self.cloud.paper.flavor_access.get(flavor, [])
        return {"flavor_access": [{"flavor_id": flavor, "tenant_id": one} for one in projects]}

    def request(self, method: str, path: str) -> Any:
        if f"{self.project}{path}" not in self.cloud.paper.buckets:
            raise Failure(Trouble.NOT_FOUND, f"{method} {path}: status 404")
        return _Headers()


@dataclass(frozen=True)
class _Headers:
    headers: Mapping[str, str] = field(default_factory=lambda: {"X-Versions-Enabled": "True"})
