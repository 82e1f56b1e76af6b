"""The example of docs/how-to/acceptance.md is evidence that passes by the site file on that page, and only by it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from interlock.hardware.gpu.acceptance import DIAGNOSTIC_TESTS
from interlock.model.site.inventory import Site
from interlock.model.site.terms_of_evidence import EvidenceTermsFile
from tests.builders.accepted import ACCEPTED, entries
from tests.builders.gpu_sites import gpu_site
from tests.docs.pages import blocks, text_of
from tests.infra.test_acceptance import lacking

PAGE = "docs/how-to/acceptance.md"


def example(key: str) -> dict[str, Any]:
    """The one example in YAML that has this key."""
    found = [yaml.safe_load(block.text) for block in blocks(PAGE) if block.language == "yaml"]
    (one,) = [document for document in found if key in document]
    assert isinstance(one, dict)
    return one


def hall() -> Site:
    stated = EvidenceTermsFile.model_validate(example("evidence")["evidence"])
    return gpu_site(1, 2, evidence=stated.terms(), name="hall")


def test_the_example_passes_by_the_site_file_beside_it(tmp_path: Path) -> None:
    seen = example("seen")["seen"]
    assert {one["step"] for one in seen} >= set(ACCEPTED)
    assert lacking(tmp_path, _as_text(seen), hall()) == {}


def test_without_the_site_file_no_firmware_counts(tmp_path: Path) -> None:
    site = hall()
    bare = site.with_parts(evidence=site.evidence.model_copy(update={"acceptance": ()}))
    assert list(lacking(tmp_path, _as_text(example("seen")["seen"]), bare)) == ["firmware-attested"]


@pytest.mark.parametrize("number", range(7))
def test_no_entry_of_the_example_is_idle(number: int, tmp_path: Path) -> None:
    seen = _as_text(example("seen")["seen"])
    left = [one for index, one in enumerate(seen) if index != number]
    assert seen[number]["step"] in lacking(tmp_path, left, hall())


def test_the_page_names_every_test_of_the_diagnostics() -> None:
    assert all(f"`{test}`" in text_of(PAGE) for test in DIAGNOSTIC_TESTS.value)


def test_the_example_of_a_refusal_is_what_is_said(tmp_path: Path) -> None:
    slow = [
        one if one["step"] != "bandwidth-measured" else one | {"all_reduce": {**one["all_reduce"], "busbw": 431.2}}
        for one in entries()
    ]
    said = lacking(tmp_path, slow, hall())["bandwidth-measured"]
    assert said.split(" ", 1)[1] == "says 431.2 GB/s, and 460 are wanted"
    assert said.split(" ", 1)[1] in text_of(PAGE)


def _as_text(seen: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """With moments as JSON has them."""
    return [{key: _moments(value) if key in ("at", "fabric") else value for key, value in one.items()} for one in seen]


def _moments(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _moments(item) for key, item in value.items()}
    return value.isoformat() if hasattr(value, "isoformat") else value
