"""`interlock schema`: JSON Schema of the files that people write, and of the one that pipelines read."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated, Any

import typer

from infra.cli.formats import encodes_all
from infra.stack.leaving_document import LeavingReport
from interlock.model.schema import SCHEMAS, named
from interlock.planning.wiring import SiteWiring
from interlock.switches.file import switches_schema
from interlock.ufm.file import fabrics_schema
from interlock.vipu.file import vipu_schema


class File(StrEnum):
    """Files that there is a schema of."""

    SITE = "site"
    TENANT = "tenant"
    EVIDENCE = "evidence"
    SWITCH_EVIDENCE = "switch-evidence"
    FABRIC_EVIDENCE = "fabric-evidence"
    CONTROLLER_EVIDENCE = "controller-evidence"
    SWITCHES = "switches"
    FABRICS = "fabrics"
    VIPU = "vipu"
    WIRING = "wiring"
    REPORT = "report"


def wiring_schema() -> dict[str, Any]:
    """Schema of what `interlock wiring --format json` prints."""
    schema = SiteWiring.model_json_schema(mode="serialization")
    for part in (schema, *schema["$defs"].values()):
        del part["additionalProperties"]  # keys may be added without a new version
    return named(schema, File.WIRING, "What the plans of a site of interlock want of its switches")


def report_schema() -> dict[str, Any]:
    """Schema of what `interlock report --format json` prints."""
    schema = LeavingReport.model_json_schema(mode="serialization")
    for part in (schema, *schema["$defs"].values()):
        del part["additionalProperties"]  # keys may be added without a new version
    return named(schema, File.REPORT, "What has become of everything that a tenant of a site of interlock was given")


#: Every schema, by name: files of the model, those beside `clouds.yaml`, and what pipelines read.
ALL_SCHEMAS = {
    **SCHEMAS,
    str(File.SWITCHES): switches_schema,
    str(File.FABRICS): fabrics_schema,
    str(File.VIPU): vipu_schema,
    str(File.WIRING): wiring_schema,
    str(File.REPORT): report_schema,
}


def schema(file: Annotated[File, typer.Argument(metavar="FILE", help="Which file.")]) -> None:
    """Print the JSON Schema of files, and of some answers.

    An editor with a YAML language server completes and checks a file whose first line names its schema:
    `# yaml-language-server: $schema=<path or URL>`. The loader checks more than a schema can say. Wiring files are
    those of `interlock wiring --format json`: a pipeline can check what it reads.

    Exit code: 0 printed.

    \b
    Examples:
      interlock schema tenant
      interlock schema site > docs/schema/site.schema.json
    """
    print(schema_text(file, unicode=encodes_all()), end="")


def schema_text(file: str, *, unicode: bool = True) -> str:
    """The schema as the command prints it and docs/schema holds it; with `unicode` no character is escaped."""
    return json.dumps(ALL_SCHEMAS[file](), indent=2, ensure_ascii=not unicode) + "\n"
