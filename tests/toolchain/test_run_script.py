"""`./run` as a person meets it."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

import interlock
from sandbox.fabric.needs import PROGRAMS
from sandbox.infiniband.needs import PROGRAMS as SUBNET_PROGRAMS
from tests.access.servers import PACKAGES
from tests.slurm.hall import PROGRAMS as SLURM
from tests.toolchain.conftest import ROOT, Script
from toolchain.layout import PLUGIN_VERSION, CheckoutLayout
from toolchain.missing import MachineLacks, get_packages_of_tests, packages_of_tests, require_packages
from toolchain.variables import DEMO_PASSPHRASE

OURS = ("PULUMI_", "OS_CLIENT_CONFIG_FILE")


def bare_environment(**more: str) -> dict[str, str]:
    """Ours without what a prepared shell has set."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    return {**kept, **more}


def run(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [ROOT.root / "run", *arguments],
        env=bare_environment(**more),
        capture_output=True,
        text=True,
        check=False,
    )


def evaluated(script: str, **more: str) -> dict[str, str]:
    """The environment of a shell after `script`."""
    done = subprocess.run(
        ["sh", "-euc", f"{script}\nenv -0"],
        cwd=ROOT.root, env=bare_environment(**more), capture_output=True, text=True, check=True,
    )  # fmt: skip
    return dict(pair.split("=", 1) for pair in done.stdout.split("\0") if pair)


def test_env_prints_only_export_lines() -> None:
    done = run("env")
    assert done.returncode == 0, done.stderr
    assert all(re.fullmatch(r"export [A-Z_]+=.*", line) for line in done.stdout.splitlines())


def test_env_prepares_a_shell_once_or_twice_alike() -> None:
    once, twice = evaluated('eval "$(./run env)"'), evaluated('eval "$(./run env)"; eval "$(./run env)"')
    assert once == twice
    assert once["PATH"].split(":")[0] == str(ROOT.venv / "bin")
    assert once["PULUMI_BACKEND_URL"] == f"file://{ROOT.state}"
    assert once["PULUMI_CONFIG_PASSPHRASE"] == DEMO_PASSPHRASE
    assert once["OS_CLIENT_CONFIG_FILE"] == str(ROOT.sandbox_clouds)


def test_env_survives_awkward_values(tmp_path: Path) -> None:
    awkward = tmp_path / "it's; $(a) home"
    assert evaluated('eval "$(./run env)"', PULUMI_HOME=str(awkward))["PULUMI_HOME"] == str(awkward)


def test_what_the_user_has_set_wins(tmp_path: Path) -> None:
    mine = {
        "PULUMI_HOME": str(tmp_path),
        "PULUMI_BACKEND_URL": "s3://mine",
        "PULUMI_CONFIG_PASSPHRASE_FILE": "/mine",
        "OS_CLIENT_CONFIG_FILE": "/mine.yaml",
    }
    shell = evaluated('eval "$(./run env)"', **mine)
    assert {name: shell[name] for name in mine} == mine
    assert "PULUMI_CONFIG_PASSPHRASE" not in shell


def test_an_empty_passphrase_is_a_choice_too() -> None:
    assert evaluated('eval "$(./run env)"', PULUMI_CONFIG_PASSPHRASE="")["PULUMI_CONFIG_PASSPHRASE"] == ""


def test_the_plugin_stands_where_pulumi_looks(tmp_path: Path) -> None:
    assert run("env", PULUMI_HOME=str(tmp_path)).returncode == 0
    plugin = tmp_path / "plugins" / f"resource-interlock-v{PLUGIN_VERSION}" / "pulumi-resource-interlock"
    assert os.access(plugin, os.X_OK)
    assert interlock.__version__ == PLUGIN_VERSION


def test_a_second_prepare_makes_nothing() -> None:
    assert run("prepare").returncode == 0
    before = {path: path.stat().st_mtime_ns for path in (ROOT.venv, ROOT.uv, ROOT.pulumi_home / "plugins")}
    again = run("prepare")
    assert again.returncode == 0
    assert again.stderr.count("up to date") == 2
    assert " …" not in again.stderr
    assert before == {path: path.stat().st_mtime_ns for path in before}


def test_pulumi_runs_in_the_root_from_anywhere(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    state = {"PULUMI_BACKEND_URL": f"file://{tmp_path / 'state'}", "PULUMI_HOME": str(tmp_path / "home")}
    done = subprocess.run(
        [ROOT.root / "run", "pulumi", "stack", "ls", "--json"],
        cwd=tmp_path, env=bare_environment(**state), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout.strip()) == (0, "[]"), done.stderr


def test_an_unknown_command_is_named_with_the_usage() -> None:
    done = run("tset")
    assert (done.returncode, done.stdout) == (2, "")
    assert "'tset'" in done.stderr
    assert "./run COMMAND" in done.stderr


def test_without_python_it_says_how_to_get_one(checkout: CheckoutLayout, tool: Script, tools: Path) -> None:
    tool("dirname", 'exec /usr/bin/dirname "$@"')
    tool("python3", "exit 1")  # too old, or a version manager's empty shim
    done = subprocess.run(
        ["/bin/sh", checkout.root / "run", "env"],
        env={"PATH": str(tools)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (4, "")
    assert "Python 3.11 or newer is missing" in done.stderr
    assert "apt-get install" in done.stderr


def test_missing_system_packages_are_named_in_one_line(monkeypatch: pytest.MonkeyPatch, tools: Path) -> None:
    monkeypatch.setenv("PATH", str(tools))
    with pytest.raises(MachineLacks, match=r"sudo apt-get install -y git$"):
        require_packages(install=False)


def test_root_gets_missing_system_packages(monkeypatch: pytest.MonkeyPatch, tool: Script, tools: Path) -> None:
    monkeypatch.setenv("PATH", str(tools))
    monkeypatch.setattr("os.geteuid", lambda: 0)
    tool(
        "apt-get",
        f'echo "$@" >> "{tools}/log"; [ "$1" = update ] || /bin/ln -s /bin/true "{tools}/git"',
    )
    require_packages(install=True)
    assert (tools / "log").read_text().splitlines() == ["update -q", "install -y -q git"]


def without_system(monkeypatch: pytest.MonkeyPatch, tool: Script, tools: Path) -> None:
    """A machine with nothing but an apt-get that writes down what it is asked for."""
    monkeypatch.setenv("PATH", str(tools))
    monkeypatch.setattr("toolchain.missing._SYSTEM", str(tools))
    tool("apt-get", f'echo "$@" >> "{tools}/log"; echo what apt-get says')


def test_root_gets_what_only_tests_need(
    monkeypatch: pytest.MonkeyPatch, tool: Script, tools: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Without what is merely recommended, and in two lines on stderr: that it begins, and how long it took."""
    without_system(monkeypatch, tool, tools)
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr("toolchain.missing._SYSTEMD", tools / "no such folder")
    get_packages_of_tests()
    names = (
        "openvswitch-switch iproute2 openssh-client openssh-server opensm ibsim-utils infiniband-diags munge slurm-wlm "
        "slurmdbd mariadb-server-core"
    )
    asked = ["update -q", f"install -y -q --no-install-recommends {names}"]
    assert (tools / "log").read_text().splitlines() == asked
    said = capfd.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 2)
    assert said.err.startswith(f"  system packages {names} …\n")
    frames, subnets = ("ovs-vswitchd", "ip", "ssh-keygen", "sshd"), ("opensm", "ibsim", "smpquery")
    for program in (*frames, *subnets, "munged", "slurmctld", "slurmd", "srun", "scontrol", "slurmdbd", "mariadbd"):
        tool(program, "exit 0")
    get_packages_of_tests()
    assert (tools / "log").read_text().splitlines() == asked, "nothing is asked for twice"


def test_others_are_left_to_the_tests(
    monkeypatch: pytest.MonkeyPatch, tool: Script, tools: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    without_system(monkeypatch, tool, tools)
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    get_packages_of_tests()
    assert not (tools / "log").exists()
    assert capfd.readouterr() == ("", "")


def test_what_starts_a_service_is_left_to_people_where_systemd_would_start_it(
    monkeypatch: pytest.MonkeyPatch, tool: Script, tools: Path
) -> None:
    without_system(monkeypatch, tool, tools)
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr("toolchain.missing._SYSTEMD", tools)
    get_packages_of_tests()
    assert "openssh-client" in (tools / "log").read_text()
    assert not re.search("openssh-server|opensm|slurm|munge", (tools / "log").read_text())


def test_packages_of_tests_are_those_that_the_tests_name() -> None:
    assert {package.name for package in packages_of_tests()} == {
        *PROGRAMS.values(),
        *SUBNET_PROGRAMS.values(),
        *PACKAGES,
        *SLURM.values(),
    }
