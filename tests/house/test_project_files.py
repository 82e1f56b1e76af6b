"""What editors, hooks and package indexes read beside the code."""

from __future__ import annotations

import tomllib

import pytest
import yaml

from tests.docs.pages import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_the_licence_is_stated_once_and_everywhere_alike() -> None:
    assert PROJECT["license"] == "Apache-2.0"
    assert PROJECT["license-files"] == ["LICENSE"]
    assert "SPDX-License-Identifier: Apache-2.0" in (ROOT / "README.md").read_text()
    assert (ROOT / "LICENSE").read_text().split()[:2] == ["Apache", "License"]


def test_hooks_are_local_and_use_the_environment_of_the_checkout() -> None:
    """Nothing is downloaded for them, and they run what CI runs."""
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
    (local,) = config["repos"]
    assert local["repo"] == "local"
    hooks = {hook["id"]: hook for hook in local["hooks"]}
    assert set(hooks) == {"ruff-format", "ruff-check", "mypy", "lint-imports", "fast-tests"}
    assert {hook["language"] for hook in hooks.values()} == {"system"}
    for hook in hooks.values():
        assert hook["entry"].startswith((".interlock/venv/bin/", "./run "))


@pytest.mark.parametrize("package", ["infra", "components", "policies", "interlock"])
def test_a_package_says_that_it_is_typed(package: str) -> None:
    assert (ROOT / package / "py.typed").is_file()


def test_editors_and_ruff_agree_on_the_line() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["ruff"]
    assert f"max_line_length = {settings['line-length']}" in (ROOT / ".editorconfig").read_text()
