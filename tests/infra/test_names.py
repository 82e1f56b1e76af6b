"""Pulumi puts `infra/` first on sys.path: no module there may hide another of the same name."""

from __future__ import annotations

import importlib
import importlib.util
import sys

import pytest

from infra.program.places import ROOT

NAMES = sorted(
    {path.stem for path in (ROOT / "infra").iterdir() if path.suffix == ".py" or path.is_dir()}
    - {"__init__", "__main__", "__pycache__"}
)


def test_there_are_modules() -> None:
    assert "program" in NAMES


@pytest.mark.parametrize("name", NAMES)
def test_no_module_hides_one_of_the_standard_library_or_an_installed_one(name: str) -> None:
    assert name not in sys.stdlib_module_names
    assert importlib.util.find_spec(name) is None


def test_importing_the_program_runs_nothing() -> None:
    """Outside of an engine `main` would fail at once."""
    importlib.import_module("infra.__main__")
