"""`pip install .`: the product and nothing for tests, and it works outside a checkout."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from interlock.project import project_folder
from tests.toolchain.conftest import ROOT
from toolchain.python_environment import _ensure_uv, _trust

PACKAGES = ("infra", "components", "policies", "interlock")
#: What a build reads beside the packages.
BESIDE = ("pyproject.toml", "README.md", "LICENSE")
METADATA = tomllib.loads((ROOT.root / "pyproject.toml").read_text())["project"]
IMPORT = re.compile(r"^\s*(?:from|import) (\w+)", re.MULTILINE)


def run(*command: object, cwd: Path, **environment: str) -> str:
    """What a command prints; it must succeed. Nothing of this process's settings reaches it but PATH and HOME."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("INTERLOCK", "PYTHON"))}
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=kept | environment, check=False, text=True, capture_output=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with the wheel of the packages and what it depends on, in the versions of the lock."""
    folder = tmp_path_factory.mktemp("package")
    source, venv, uv = folder / "source", folder / "venv", _ensure_uv(ROOT)
    source.mkdir()
    for name in PACKAGES:
        shutil.copytree(ROOT.root / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in BESIDE:
        shutil.copy(ROOT.root / name, source / name)
    build = ("-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--no-index", "-q", "-w", folder, ".")
    run(sys.executable, *build, cwd=source)
    (wheel,) = folder.glob("interlock-*.whl")
    shutil.rmtree(source)
    run(uv, "venv", "-q", "--python", sys.executable, venv, cwd=folder)
    options = ("-q", *_trust(), "--python", venv / "bin" / "python", "--constraint", ROOT.root / "requirements.lock")
    run(uv, "pip", "install", *options, wheel, cwd=folder)
    return venv


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of somebody's own, with stacks in it."""
    folder = tmp_path_factory.mktemp("project")
    shutil.copytree(ROOT.root / "stacks", folder / "stacks")
    return folder


def names_of(venv: Path, expression: str) -> set[str]:
    code = f"import importlib.metadata as m, pathlib, sysconfig; print(*{expression}, sep='\\n')"
    return set(run(venv / "bin" / "python", "-c", code, cwd=venv).split())


def test_nothing_for_tests_is_installed(installed: Path) -> None:
    found = {name.lower() for name in names_of(installed, "(d.metadata['Name'] for d in m.distributions())")}
    dev = {re.split(r"[\[=><~]", line)[0].lower() for line in dev_lines()} - {"setuptools", "pip"}
    assert {"interlock", "pulumi", "networkx"} <= found
    assert not found & (dev | {"scipy", "numpy", "jinja2", "netutils"})


def dev_lines() -> list[str]:
    lines = (ROOT.root / "requirements-dev.in").read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def test_what_is_no_python_is_in_the_wheel(installed: Path) -> None:
    site = "pathlib.Path(sysconfig.get_path('purelib'))"
    files = names_of(installed, f"(p.relative_to({site}).as_posix() for p in {site}.glob('[!_]*/**/*'))")
    assert {f"{name}/py.typed" for name in PACKAGES} <= files
    assert {"policies/pack/PulumiPolicy.yaml", "policies/pack/__main__.py"} <= files
    assert not any(name.startswith(("tests/", "toolchain/", "sandbox/", "benchmarks/")) for name in files)


def test_the_command_says_its_version(installed: Path, tmp_path: Path) -> None:
    assert METADATA["version"] in run(installed / "bin" / "interlock", "--version", cwd=tmp_path)


@pytest.mark.parametrize("below", [".", "stacks/lyon"])
def test_it_checks_the_stacks_of_the_folder_that_it_is_run_in(installed: Path, project: Path, below: str) -> None:
    """As the checkout does: the same verdicts from a copy, wherever in it the command is run."""
    said = run(installed / "bin" / "interlock", "check", cwd=project / below)
    again = run(sys.executable, "-m", "infra.cli", "check", cwd=ROOT.root)
    assert "lyon-acme" in said
    assert said == again


def test_it_is_told_the_folder_by_a_variable(installed: Path, project: Path, tmp_path: Path) -> None:
    run(installed / "bin" / "interlock", "check", cwd=tmp_path, INTERLOCK_PROJECT=str(project))
    nowhere = subprocess.run([installed / "bin" / "interlock", "check"], cwd=tmp_path, check=False, capture_output=True)
    assert nowhere.returncode != 0


def test_it_prints_the_schemas(installed: Path, tmp_path: Path) -> None:
    for name in ("site", "tenant"):
        wanted = (ROOT.root / "docs" / "schema" / f"{name}.schema.json").read_text()
        assert run(installed / "bin" / "interlock", "schema", name, cwd=tmp_path) == wanted


def test_the_embedded_cloud_is_not_part_of_it(installed: Path, project: Path) -> None:
    command = [str(installed / "bin" / "interlock"), "sandbox", "status"]
    done = subprocess.run(command, cwd=project, check=False, text=True, capture_output=True)
    assert done.returncode == 4
    assert "part of a checkout" in done.stderr
    assert "Traceback" not in done.stderr


def test_direct_dependencies_are_what_the_packages_import() -> None:
    """Neither more nor less: what comes with another package only is not relied on."""
    files = [file for name in PACKAGES for file in (ROOT.root / name).rglob("*.py")]
    imported = {name for file in files for name in IMPORT.findall(file.read_text())}
    owners = packages_distributions()
    # Namespaces of type stubs and of google have several owners; protobuf is the one that is meant.
    ours = {"protobuf" if name == "google" else owners[name][0].lower() for name in imported if name in owners}
    wanted = METADATA["dependencies"] + METADATA["optional-dependencies"]["fleet"]
    stated = {re.split(r"[\[=><~]", line)[0].lower().replace("_", "-") for line in wanted}
    assert {name.replace("_", "-") for name in ours} - {"interlock", "mypy-boto3-s3"} == stated


def test_the_project_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable, a checkout, the nearest parent with a mark, the current directory: in this order."""
    installed, checkout, mine = tmp_path / "site-packages", tmp_path / "checkout", tmp_path / "mine"
    (mine / "stacks" / "lyon").mkdir(parents=True)
    for folder in (installed, checkout):
        folder.mkdir()
    (checkout / "Pulumi.yaml").touch()
    monkeypatch.chdir(mine / "stacks" / "lyon")
    assert project_folder({}, installed) == mine
    assert project_folder({}, checkout) == checkout
    assert project_folder({"INTERLOCK_PROJECT": str(installed)}, checkout) == installed
    monkeypatch.chdir(installed)
    assert project_folder({}, installed) == installed
