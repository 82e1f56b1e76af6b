"""JSON Schemas for editors: well-formed, described, committed, and in agreement with the loader."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from infra.commands.schema import ALL_SCHEMAS, File, schema_text
from interlock.model.schema import evidence_schema, site_schema, tenant_schema
from tests.model.test_tenant import EVERYTHING, TEN_LINES

ROOT = Path(__file__).parents[2]
LYON = ROOT / "stacks/lyon"
REQUESTS = sorted((LYON / "tenants").glob("*.yaml"))
SHIPPED = [(site_schema(), LYON / "site.yaml")] + [(tenant_schema(), file) for file in REQUESTS]
EDITOR_LINE = re.compile(r"# yaml-language-server: \$schema=(\S+)")


def as_json(text: str) -> Any:
    """A file as an editor sees it: dates are texts to it."""
    return json.loads(json.dumps(yaml.safe_load(text), default=str))


def errors(schema: dict[str, Any], text: str) -> list[str]:
    return [error.message for error in Draft202012Validator(schema).iter_errors(as_json(text))]


@pytest.mark.parametrize(("schema", "file"), SHIPPED, ids=[file.stem for _, file in SHIPPED])
def test_shipped_files_are_valid(schema: dict[str, Any], file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert errors(schema, text) == []
    assert errors(schema, f"{text}\nunknown: 1\n") != []


@pytest.mark.parametrize("name", ALL_SCHEMAS)
def test_the_schema_is_one(name: str) -> None:
    schema = ALL_SCHEMAS[name]()
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"] == f"urn:interlock:schema:{name}"
    assert schema["title"]


@pytest.mark.parametrize("name", ALL_SCHEMAS)
def test_every_key_is_described(name: str) -> None:
    assert [path for path, entry in properties(ALL_SCHEMAS[name]()) if not entry.get("description")] == []


def properties(value: Any, path: str = "", *, names: bool = False) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every key of every mapping that a schema knows, wherever it stands. `names`: those of `value` are such keys."""
    if isinstance(value, dict):
        found = {} if names else value.get("properties", {})
        yield from ((f"{path}/{key}", entry) for key, entry in found.items())
        for key, below in value.items():
            yield from properties(below, f"{path}/{key}", names=not names and key == "properties")
    elif isinstance(value, list):
        for below in value:
            yield from properties(below, path)


@pytest.mark.parametrize("name", ALL_SCHEMAS)
def test_the_committed_schema_is_what_the_command_prints(name: str) -> None:
    file = ROOT / f"docs/schema/{name}.schema.json"
    hint = f"run `interlock schema {name} > docs/schema/{name}.schema.json`"
    assert file.read_text(encoding="utf-8") == schema_text(File(name)), hint


@pytest.mark.parametrize("file", REQUESTS, ids=[file.stem for file in REQUESTS])
def test_examples_tell_editors_their_schema(file: Path) -> None:
    found = EDITOR_LINE.fullmatch(file.read_text(encoding="utf-8").splitlines()[0])
    assert found is not None
    assert (file.parent / found[1]).resolve() == ROOT / "docs/schema/tenant.schema.json"


@pytest.mark.parametrize(
    "text",
    [
        TEN_LINES,
        EVERYTHING,
        f"{TEN_LINES}volumes: {{scratch: 1TiB}}\nbuckets:\n  plain:\n  empty: {{}}\n",
        f"{TEN_LINES}shares: {{datasets: 20TiB}}\nbudget: {{per_month: 5000, currency: EUR}}\n",
        f"{TEN_LINES}separate: 'no'\n",
        f"{TEN_LINES}    poplar: {{volume: 100GiB}}\n",
    ],
)
def test_what_the_loader_reads_the_schema_allows(text: str) -> None:
    assert errors(tenant_schema(), text) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("waivers: {ISO-7: {owner: a, reason: b, expires: 2027-01-31}}", "does not match any of the regexes"),
        ("waivers: {ISO-07: {owner: a, reason: b}}", "'expires' is a required property"),
        ("volumes: {a: 100GB}", "is not valid under any of the given schemas"),
        ("budget: 5000 EUR", "is not valid under any of the given schemas"),
        ("separate: true", "is not one of"),
        ("state: absent", "is not one of"),
        ("on_delete: delete", "is not one of"),
    ],
)
def test_what_the_schema_refuses(text: str, words: str) -> None:
    found = errors(tenant_schema(), f"{TEN_LINES}{text}\n")
    assert len(found) == 1
    assert words in found[0]


SEEN = "{machine: ipum-03, serial: M2000-03, step: wiped, at: 2026-11-23T10:05:00Z, by: Anne}"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"released_by: acme\nseen: [{SEEN}]", ""),
        (f"seen: [{SEEN}]", "'released_by' is a required property"),
        ("released_by: acme\nseen: [{machine: ipum-03, serial: M-3, step: wiped, by: Anne}]", "'at' is a required"),
        (f"released_by: acme\nseen: [{SEEN.replace('wiped', 'wipe')}]", "is not one of"),
        (f"released_by: acme\nseen: [{SEEN.replace('machine', 'maschine')}]", "Additional properties"),
    ],
)
def test_the_schema_of_evidence(text: str, words: str) -> None:
    # An editor leaves the date a text, as it was written.
    value = yaml.load(text, Loader=yaml.BaseLoader)
    found = [error.message for error in Draft202012Validator(evidence_schema()).iter_errors(value)]
    assert len(found) == bool(words)
    assert not found or words in found[0]
