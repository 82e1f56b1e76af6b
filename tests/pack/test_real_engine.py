"""Program, components and pack under the real engine, with a provider that would let everything pass."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from infra.program.places import PACK, PROOFS, ROOT
from toolchain.layout import CheckoutLayout
from toolchain.making import write_executable
from toolchain.pulumi_cli import find_pulumi
from toolchain.variables import foreign_path, variables

TENANT, STACK = "packed", "lyon-packed"
PROGRAMS = ROOT / "tests" / "e2e" / "programs"
REQUEST = """\
name: Packed
access:
  ssh_public_key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKr02uEjnP4eKInAoZpd9RjVn5+oETOPEk/TeADGI9jM
vpods: {lab: {machines: 1, poplar: {servers: 1, flavor: poplar.quarter, volume: 10GiB}}}
buckets: {results: {versioning: true, on_delete: erase}}
"""


@dataclass(frozen=True)
class Project:
    """A project with a site, one tenant, a state and a home of its own."""

    folder: Path
    pulumi: Path
    environment: dict[str, str]

    def run(self, *command: str | Path) -> str:
        """Run a command that must succeed; all it says."""
        code, told = self.attempt(*command)
        assert code == 0, told
        return told

    def attempt(self, *command: str | Path) -> tuple[int, str]:
        done = subprocess.run(
            command, cwd=self.folder, env=self.environment, check=False, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300,
        )  # fmt: skip
        return done.returncode, done.stdout

    def judged(self, verb: str, *options: str) -> tuple[int, str]:
        """`pulumi preview` or `up` with the pack."""
        common = ("--stack", STACK, "--policy-pack", str(PACK), "--non-interactive", "--color", "never")
        return self.attempt(self.pulumi, verb, *common, *options)

    def use(self, program: Path) -> None:
        """Run another program from now on."""
        option = f"{{name: python, options: {{toolchain: pip, virtualenv: {CheckoutLayout.here().venv}}}}}"
        text = f"name: clusters\nmain: {program}\nstackConfigDir: stacks\nruntime: {option}\n"
        (self.folder / "Pulumi.yaml").write_text(text)

    def lock(self) -> None:
        self.run(CheckoutLayout.here().python, "-P", "-m", "infra.cli", "lock", TENANT)

    def objects(self) -> set[str]:
        """Names of all cloud objects in the state."""
        state = json.loads(self.run(self.pulumi, "stack", "export", "--stack", STACK))
        resources = state["deployment"].get("resources", [])
        return {item["urn"].rsplit("::", 1)[1] for item in resources if "interlock:index:" in item["type"]}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """The project, locked, its stack made and empty."""
    folder = tmp_path_factory.mktemp("packed")
    made = Project(folder, *_engine(folder))
    tenants = folder / "stacks" / "lyon" / "tenants"
    shutil.copytree(ROOT / "stacks" / "lyon", tenants.parent, ignore=shutil.ignore_patterns("*.lock.json"))
    shutil.copy(ROOT / "stacks" / "fleet.yaml", folder / "stacks")
    (tenants / f"{TENANT}.yaml").write_text(REQUEST)
    config = f"config:\n  clusters:site: lyon\n  clusters:tenant: {TENANT}\n"
    (folder / "stacks" / f"Pulumi.{STACK}.yaml").write_text(config)
    made.use(ROOT / "infra")
    made.lock()
    made.run(made.pulumi, "stack", "init", STACK, "--no-select", "--non-interactive")
    yield made
    shutil.rmtree(PROOFS / STACK)


@pytest.fixture
def project(made: Project) -> Iterator[Project]:
    """The project, with the committed program again afterwards."""
    yield made
    made.use(ROOT / "infra")


def _engine(folder: Path) -> tuple[Path, dict[str, str]]:
    layout = CheckoutLayout.here()
    pulumi = find_pulumi(layout, foreign_path(layout, os.environ))
    assert pulumi, "no Pulumi here: ./run prepare"
    plugin = folder / "home" / "plugins" / "resource-interlock-v0.1.0" / "pulumi-resource-interlock"
    plugin.parent.mkdir(parents=True)
    (folder / "state").mkdir()
    provider = ROOT / "tests" / "pack" / "permissive.py"
    write_executable(plugin, f'#!/bin/sh\nexec "{layout.python}" "{provider}" "$@"\n')
    own = {
        "PULUMI_HOME": str(folder / "home"),
        "PULUMI_BACKEND_URL": f"file://{folder / 'state'}",
        "PULUMI_CONFIG_PASSPHRASE": "not the demo's",
        "INTERLOCK_STACKS": str(folder / "stacks"),
    }
    return pulumi.executable, {**os.environ, **variables(layout, os.environ, pulumi), **own}


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("beside", "Network beside is in the stack and not in its proof"),
        ("altered", f"Network {TENANT}-lab-ipu-data: segmentation_id not as proved"),
    ],
)
def test_what_is_not_as_proved_stops_at_preview(project: Project, program: str, said: str) -> None:
    project.use(PROGRAMS / program)
    code, told = project.judged("up", "--yes")
    assert code != 0
    assert said in told
    assert "[mandatory]" in told
    assert project.objects() == set()


def test_the_committed_program_passes_whole_and_not_in_part(project: Project) -> None:
    code, told = project.judged("preview", "--target", f"urn:pulumi:{STACK}::clusters::*::{TENANT}-project")
    assert code != 0, told
    assert "a mix of old and new, as --target leaves it, was not proved" in told

    code, told = project.judged("up", "--yes")
    assert code == 0, told
    assert "registered-is-proved" not in told
    assert "interlock@" in told.split("Policies:")[1]
    assert {f"{TENANT}-lab-poplar-0", f"{TENANT}-results"} <= project.objects()
    outputs = json.loads(project.run(project.pulumi, "stack", "output", "--json", "--stack", STACK))
    # Its switch ports are Neutron's; a person tells its V-IPU controller.
    by_hand = ("agent-ipum-01", "cluster", "allocation", "poplar-0-vipu")
    assert outputs["not_wired"] == [f"{TENANT}-lab-{name}" for name in by_hand]
    assert outputs["vpods"][f"{TENANT}-lab"]["s3_secret_key"] == "[secret]"


def test_what_a_smaller_plan_takes_away_is_not_held_against_it(project: Project) -> None:
    request = project.folder / "stacks" / "lyon" / "tenants" / f"{TENANT}.yaml"
    request.write_text(request.read_text().replace("buckets: {results: {versioning: true, on_delete: erase}}\n", ""))
    project.lock()
    code, told = project.judged("up", "--yes")
    assert code == 0, told
    assert f"{TENANT}-results" not in project.objects()
