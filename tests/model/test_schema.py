"""JSON Schemas for editors agree with the loader on the shipped files and on unknown keys."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from interlock.model.schema import site_schema, tenant_schema

LYON = Path(__file__).parents[2] / "stacks/lyon"
SHIPPED = [(site_schema(), LYON / "site.yaml")] + [
    (tenant_schema(), file) for file in sorted((LYON / "tenants").glob("*.yaml"))
]


@pytest.mark.parametrize(("schema", "file"), SHIPPED, ids=[file.stem for _, file in SHIPPED])
def test_shipped_files_are_valid(schema: dict[str, Any], file: Path) -> None:
    Draft202012Validator.check_schema(schema)
    value = json.loads(json.dumps(yaml.safe_load(file.read_text(encoding="utf-8"))))
    assert list(Draft202012Validator(schema).iter_errors(value)) == []
    assert list(Draft202012Validator(schema).iter_errors(value | {"unknown": 1})) != []
