"""`interlock schema`: JSON Schema of the files that people write, for their editors."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated

import typer

from infra.cli.formats import encodes_all
from interlock.model.schema import SCHEMAS
from interlock.switches.file import switches_schema


class File(StrEnum):
    """Files that there is a schema of."""

    SITE = "site"
    TENANT = "tenant"
    EVIDENCE = "evidence"
    SWITCHES = "switches"


#: Every file, by name: those of the model, and the one beside `clouds.yaml`.
ALL_SCHEMAS = {**SCHEMAS, File.SWITCHES.value: switches_schema}


def schema(file: Annotated[File, typer.Argument(metavar="FILE", help="Which file.")]) -> None:
    """Print the JSON Schema of site, tenant, evidence or switches files.

    An editor with a YAML language server completes and checks a file whose first line names its schema:
    `# yaml-language-server: $schema=<path or URL>`. The loader checks more than a schema can say.

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
