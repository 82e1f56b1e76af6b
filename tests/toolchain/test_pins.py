"""What is installed is pinned by hash, and by nothing that ties it to one network."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import version

import pytest

from tests.toolchain.conftest import ROOT
from toolchain import language_host, run_program
from toolchain.pulumi_cli import _BUILT

LOCKS = ("requirements.lock", "toolchain/uv.lock")


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_file_holds_names_versions_and_hashes_only(name: str) -> None:
    for line in (ROOT.root / name).read_text().splitlines():
        pin = r"[a-z0-9-]+(\[[a-z0-9,-]+\])?==[A-Za-z0-9.+]+( ; [^/:]+)? \\"
        assert re.fullmatch(rf"{pin}|    --hash=sha256:[0-9a-f]{{64}}( \\)?", line), line


@pytest.mark.parametrize("name", LOCKS)
def test_every_pin_has_a_hash(name: str) -> None:
    for block in re.split(r"\n(?=\S)", (ROOT.root / name).read_text().strip()):
        assert "--hash=sha256:" in block, block


def test_every_direct_dependency_is_locked() -> None:
    project = tomllib.loads((ROOT.root / "pyproject.toml").read_text())["project"]
    wanted = (ROOT.root / "requirements-dev.in").read_text().splitlines()
    wanted += project["dependencies"] + project["optional-dependencies"]["fleet"]
    names = {re.split(r"[\[=><~]", line)[0].lower() for line in wanted if line and not line.startswith("#")}
    locked = set(re.findall(r"^([a-z0-9-]+)==", (ROOT.root / "requirements.lock").read_text(), re.MULTILINE))
    assert names <= locked


def test_command_line_sdk_and_language_host_are_of_one_version() -> None:
    assert f"v{version('pulumi')}" == _BUILT == f"v{language_host.VERSION}"
    assert f"github.com/pulumi/pulumi/pkg/v3 {_BUILT}" in (ROOT.go_module / "go.mod").read_text()


def test_host_and_runner_agree_on_the_exit_code() -> None:
    assert language_host.ALREADY_EXPLAINED == run_program.ALREADY_EXPLAINED
