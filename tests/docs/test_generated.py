"""The generated parts of the pages, and the files they hold, are as the code and the files have them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from interlock.model.evidence.controller_file import ControllerEvidenceFile
from interlock.model.evidence.fabric_file import FabricEvidenceFile
from interlock.model.evidence.file import EvidenceFile
from interlock.model.evidence.switch_file import SwitchEvidenceFile
from interlock.model.schema import (
    evidence_schema,
    seen_controller_schema,
    seen_fabric_schema,
    seen_switch_schema,
    site_schema,
    tenant_schema,
)
from interlock.model.site.file import SiteFile
from interlock.model.tenant.file import TenantFile
from interlock.model.text.errors import Code
from interlock.provider.markers import CARRIERS
from interlock.resources import KINDS
from interlock.switches.file import SwitchesFile, switches_schema
from interlock.ufm.file import FabricsFile, fabrics_schema
from interlock.vipu.file import VipuFile, vipu_schema
from policies.rules import RULES
from tests.docs.content import CONTENT
from tests.docs.file_keys import keys
from tests.docs.generate import files, filled, parts
from tests.docs.pages import ROOT, pages, text_of
from tests.docs.tables import UNWRITTEN, explained

REMEDY = "run `.interlock/venv/bin/python -m tests.docs.generate`, and write what it marks TODO"


@pytest.mark.parametrize("page", pages())
def test_what_is_generated_is_current(page: str) -> None:
    assert text_of(page) == filled(text_of(page)), REMEDY
    assert f"| {UNWRITTEN} |" not in text_of(page), REMEDY


def test_every_part_has_a_place() -> None:
    placed = {name for page in pages() for name in parts(text_of(page))}
    assert placed == set(CONTENT)


def test_readme_holds_the_tenants_files() -> None:
    assert files(text_of("README.md")) == ["stacks/lyon/tenants/acme.yaml", "stacks/hall/tenants/acme.yaml"]


def test_nothing_is_missing_from_the_tables() -> None:
    """What the tables are made from is read here a second time, in another way."""
    rules, resources, wrong = (
        text_of(f"docs/{page}.md") for page in ("reference/rules", "reference/resources", "how-to/wrong-input")
    )
    assert [rule.id for rule in RULES] == re.findall(r"^\| ([A-Z0-9]+-\d+) ", rules, re.MULTILINE)
    assert list(KINDS) == re.findall(r"^### (\w+)$", resources, re.MULTILINE)
    assert [str(item) for item in Code] == re.findall(r"^\| (IN-\d+) ", wrong, re.MULTILINE)
    assert set(KINDS) - set(CARRIERS) == {name for name, kind in KINDS.items() if not kind.HAS_ACTUATOR}


def test_every_package_of_infra_is_in_the_table() -> None:
    listed = re.findall(r"^\| `(infra/\w+)/` ", text_of("docs/architecture.md"), re.MULTILINE)
    assert sorted(listed) == sorted(f"infra/{path.parent.name}" for path in (ROOT / "infra").glob("*/__init__.py"))


SCHEMAS_OF = [(tenant_schema(), TenantFile), (site_schema(), SiteFile), (evidence_schema(), EvidenceFile),
              (switches_schema(), SwitchesFile), (fabrics_schema(), FabricsFile),
              (vipu_schema(), VipuFile),
              (seen_switch_schema(), SwitchEvidenceFile), (seen_fabric_schema(), FabricEvidenceFile),
              (seen_controller_schema(), ControllerEvidenceFile)]  # fmt: skip


@pytest.mark.parametrize(("schema", "model"), SCHEMAS_OF)
def test_every_key_of_the_schema_is_in_the_table(schema: dict[str, Any], model: Any) -> None:
    listed = {key.path: key for key in keys(model)}
    for path, required in _walk(schema, schema, ""):
        assert path in listed, path
        assert (listed[path].default == "required") == required, path


def _walk(schema: dict[str, Any], whole: dict[str, Any], before: str) -> Iterator[tuple[str, bool]]:
    """(path, whether it is required) of every key below a part of a JSON schema."""
    for name, item in schema.get("properties", {}).items():
        yield before + name, name in schema.get("required", ())
        for place, inner in _inside(item, whole):
            yield from _walk(inner, whole, f"{before}{name}{place}.")


def _inside(item: dict[str, Any], whole: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    if "$ref" in item:
        yield "", whole["$defs"][item["$ref"].rsplit("/", 1)[-1]]
    for key, place in (("items", "[]"), ("additionalProperties", ".<name>")):
        if isinstance(item.get(key), dict):
            yield from ((place + rest, inner) for rest, inner in _inside(item[key], whole))
    options = item.get("anyOf", ())
    several = [option["items"] for option in options if "items" in option]
    # One alone may be short for a list of one: the table has the list.
    yield from (found for option in options if option not in several for found in _inside(option, whole))


def test_words_written_by_hand_are_kept() -> None:
    old = explained(["key", "meaning"], [["`a`"], ["`b`"]], "")
    assert old.count(UNWRITTEN) == 2
    written = old.replace(f"| `a` | {UNWRITTEN} |", "| `a` | the first |")
    assert "| `a` | the first |" in explained(["key", "meaning"], [["`a`"], ["`c`"]], written)
