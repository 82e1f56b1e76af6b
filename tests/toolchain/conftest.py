"""Checkouts to prepare and tiny Pulumi projects to run, all in temporary folders."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from toolchain.layout import CheckoutLayout
from toolchain.making import write_executable
from toolchain.pulumi_cli import find_pulumi, language_host_script
from toolchain.variables import foreign_path, variables

ROOT = CheckoutLayout.here()

PROGRAM = """\
import os, pathlib, sys, time
import pulumi

class Box(pulumi.ComponentResource):
    def __init__(self, name):
        super().__init__("tiny:index:Box", name)
        self.register_outputs({"size": 3})

case = pulumi.Config().get("case")
if case == "refused":
    raise pulumi.RunError("ISO-01: two tenants share vlan:1101")
if case == "crashed":
    raise ValueError("a bug")
Box("a")
pulumi.export("secret", pulumi.Config().get_secret("key"))
pulumi.export("folder", os.getcwd())
if case == "ahead":
    pathlib.Path("ahead").write_text(" ".join(sys.argv[1:]) + str("infra.program.ahead" in sys.modules))
if case == "slow":
    pathlib.Path("started").write_text(str(os.getpid()))
    time.sleep(120)
"""

PACK = """\
from pulumi_policy import EnforcementLevel, PolicyPack, StackValidationPolicy

PolicyPack("tiny", policies=[
    StackValidationPolicy(
        name="never", description="Never.", enforcement_level=EnforcementLevel.MANDATORY,
        validate=lambda args, report: report(f"found {len(args.resources)} resources"),
    ),
])
"""


@dataclass(frozen=True)
class Project:
    """A Pulumi project in a temporary folder, with a state and a home of its own and our language host."""

    folder: Path
    executable: Path
    environment: dict[str, str]

    def pulumi(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run pulumi to its end."""
        return subprocess.run(
            [self.executable, *arguments, "--non-interactive"],
            cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start pulumi in a session of its own, as a terminal's foreground job."""
        return subprocess.Popen(
            [self.executable, *arguments, "--non-interactive"],
            cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, start_new_session=True,
        )  # fmt: skip


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """The tiny project with its stack `dev`."""
    folder = tmp_path / "project"
    folder.mkdir()
    option = f"{{name: python, options: {{toolchain: pip, virtualenv: {ROOT.venv}}}}}"
    (folder / "Pulumi.yaml").write_text(f"name: tiny\nruntime: {option}\n")
    (folder / "__main__.py").write_text(PROGRAM)
    pack = tmp_path / "pack"
    pack.mkdir()
    (pack / "PulumiPolicy.yaml").write_text(f"runtime: {option}\n")
    (pack / "__main__.py").write_text(PACK)
    made = Project(folder, _executable(), _environment(tmp_path))
    created = made.pulumi("stack", "init", "dev")
    assert created.returncode == 0, created.stderr
    return made


def _executable() -> Path:
    found = find_pulumi(ROOT, foreign_path(ROOT, os.environ))
    assert found, "no Pulumi here: ./run prepare"
    return found.executable


def _environment(tmp_path: Path) -> dict[str, str]:
    """Our language host comes first on PATH, so that it is tested where an official one is installed too."""
    write_executable(tmp_path / "bin" / "pulumi-language-python", language_host_script(ROOT))
    (tmp_path / "state").mkdir()
    values = variables(ROOT, {"PATH": os.environ["PATH"]}, None)
    return {
        **os.environ,
        **values,
        "PATH": f"{tmp_path / 'bin'}{os.pathsep}{values['PATH']}",
        "PULUMI_HOME": str(tmp_path / "home"),
        "PULUMI_BACKEND_URL": f"file://{tmp_path / 'state'}",
    }


@pytest.fixture
def checkout(tmp_path: Path) -> CheckoutLayout:
    """A copy of what preparing needs, with nothing made yet; its path holds a space."""
    root = tmp_path / "a checkout"
    shutil.copytree(ROOT.root / "toolchain", root / "toolchain", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("run", "pyproject.toml", "README.md", "LICENSE", "requirements.lock"):
        shutil.copy2(ROOT.root / name, root / name)
    return CheckoutLayout(root)


Script = Callable[[str, str], Path]


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """An empty folder to stand as the whole PATH."""
    folder = tmp_path / "tools"
    folder.mkdir()
    return folder


@pytest.fixture
def tool(tools: Path) -> Script:
    """Puts a shell script, given its name and body, into `tools`."""

    def put(name: str, body: str) -> Path:
        write_executable(tools / name, f"#!/bin/sh\n{body}\n")
        return tools / name

    return put
