"""JSON Schema of the files that people write, for editors; the loader checks more than a schema can say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from interlock.model.evidence.controller_file import ControllerEvidenceFile
from interlock.model.evidence.fabric_file import FabricEvidenceFile
from interlock.model.evidence.file import EvidenceFile
from interlock.model.evidence.switch_file import SwitchEvidenceFile
from interlock.model.site.file import SiteFile
from interlock.model.tenant.file import OwnVolumeFile, ShareFile, TenantFile, VolumeFile
from interlock.model.tenant.scheduler_file import SCHEDULERS, SchedulerFile
from interlock.model.text.validation import FileModel

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_SIZE = {"type": "string", "pattern": "^[0-9]+ *[KMGT]iB$", "examples": ["100GiB"]}
#: Models that a size alone is short for.
_SIZED = (VolumeFile, OwnVolumeFile, ShareFile)


def tenant_schema() -> dict[str, Any]:
    """Schema of `tenants/<id>.yaml`."""
    schema = schema_of(TenantFile, "tenant", "A tenant's request to interlock")
    for model in _SIZED:
        _allow(schema, model, {**_SIZE, "description": "The size alone; all the rest is defaults."})
    _allow(schema, "BucketFile", {"type": "null", "description": "All defaults."})
    pattern = "^[0-9]+(\\.[0-9]{1,2})? +[A-Z]{3} +per +month$"
    for name in ("SlurmFile", "KubernetesFile"):
        _allow(schema, name, {"type": "null", "description": "All as usual."})
    _allow(schema, SchedulerFile, {"enum": list(SCHEDULERS), "description": "All of it as usual."})
    _allow(schema, "BudgetFile", {"type": "string", "pattern": pattern, "examples": ["5000 EUR per month"]})
    _close(schema)
    return schema


def site_schema() -> dict[str, Any]:
    """Schema of `site.yaml`."""
    return schema_of(SiteFile, "site", "A site of interlock")


def evidence_schema() -> dict[str, Any]:
    """Schema of `evidence/<any name>.yaml`."""
    return schema_of(EvidenceFile, "evidence", "Evidence for interlock that what was released is clean")


def seen_switch_schema() -> dict[str, Any]:
    """Schema of `evidence/switches-<switch>.json`, which `interlock switches --record` writes."""
    return schema_of(SwitchEvidenceFile, "switch-evidence", "Evidence of interlock that a switch is as stated")


def seen_fabric_schema() -> dict[str, Any]:
    """Schema of `evidence/fabrics-<subnet>.json`, which `interlock fabrics --record` writes."""
    return schema_of(FabricEvidenceFile, "fabric-evidence", "Evidence of interlock of how a subnet manager is set")


def seen_controller_schema() -> dict[str, Any]:
    """Schema of `evidence/controllers-<name>.json`, which `interlock controllers --record` writes."""
    title = "Evidence of interlock of how a V-IPU controller is set"
    return schema_of(ControllerEvidenceFile, "controller-evidence", title)


#: What `interlock schema` knows, by name.
SCHEMAS: Mapping[str, Callable[[], dict[str, Any]]] = {
    "site": site_schema,
    "tenant": tenant_schema,
    "evidence": evidence_schema,
    "switch-evidence": seen_switch_schema,
    "fabric-evidence": seen_fabric_schema,
    "controller-evidence": seen_controller_schema,
}


def schema_of(model: type[FileModel], name: str, title: str) -> dict[str, Any]:
    """The schema of a whole file, with its name and title."""
    return named(model.model_json_schema(), name, title)


def named(schema: dict[str, Any], name: str, title: str) -> dict[str, Any]:
    """A schema of ours: with its dialect, its identity and its title."""
    head = {"$schema": _DIALECT, "$id": f"urn:interlock:schema:{name}"}
    return head | schema | {"title": title}


def _close(value: Any) -> None:
    """Mappings whose keys follow a pattern have no others; pydantic leaves that open."""
    below = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if isinstance(value, dict) and "patternProperties" in value:
        value.setdefault("additionalProperties", False)
    for item in below:
        _close(item)


def _allow(schema: dict[str, Any], model: type[FileModel] | str, short: dict[str, Any]) -> None:
    """Lets a short form stand wherever the mapping of a model may."""
    definitions = schema["$defs"]
    name = model if isinstance(model, str) else model.__name__
    full = definitions[name]
    definitions[name] = {"description": full.get("description", ""), "anyOf": [short, full]}
