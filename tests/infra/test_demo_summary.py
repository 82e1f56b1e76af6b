"""The lines that a demo ends with are true: what it names is there."""

from __future__ import annotations

import shlex

import pytest

from infra.cli.command_group import COMMANDS as INTERLOCK_COMMANDS
from infra.program.places import OPENSTACK, ROOT, SANDBOX
from infra.reports.demo_summary import summary
from sandbox.launcher import layout
from tests.infra.conftest import STACKS, Interlock, Lyon
from toolchain.__main__ import COMMANDS

OUTPUTS = {
    "plan_hash": "sha256:0",
    "not_wired": ["x"],
    "project_id": "p",
    "vpods": {"acme-train": {"s3": "[secret]"}},
}


@pytest.fixture
def text(lyon: Lyon) -> str:
    return summary(lyon.gate(), "acme", OUTPUTS)


def commands(text: str) -> list[list[str]]:
    """The `./run …` lines, without what stands after two spaces."""
    lines = [line.strip() for line in text.splitlines() if "./run " in line]
    return [shlex.split(line[line.index("./run ") :].split("  ")[0]) for line in lines]


def test_every_line_to_run_is_a_command(text: str) -> None:
    known = set(INTERLOCK_COMMANDS)
    assert len(commands(text)) == 8
    for _, command, *rest in commands(text):
        assert command in COMMANDS
        assert command != "interlock" or rest[0] in known


def test_every_site_and_stack_in_them_is_committed(text: str) -> None:
    for line in commands(text):
        if "--site" in line:
            assert (STACKS / line[line.index("--site") + 1] / "site.yaml").is_file()
        if "--stack" in line:
            assert (STACKS / f"Pulumi.{line[line.index('--stack') + 1]}.yaml").is_file()


def test_the_client_is_where_the_sandbox_installs_it(text: str) -> None:
    assert layout.BASE / "venv" / "bin" / "openstack" == OPENSTACK
    assert f"  {OPENSTACK.relative_to(ROOT)} server list" in text
    assert f"OS_CLIENT_CONFIG_FILE=$PWD/{SANDBOX.relative_to(ROOT)}/clouds.yaml" in text
    assert "python-openstackclient" in (ROOT / "sandbox" / "requirements.in").read_text()


def test_what_nothing_makes_and_what_was_proved_is_said(text: str) -> None:
    assert "(`controller.managed_by: hand`): acme-train-allocation." in text
    assert "\nWired: 8 switch ports of mgmt-1 and tor-1, each read back from its switch.\n" in text
    assert "Applied state: proved with the plan, as the claims store has it" in text


def test_ports_that_are_to_be_wired_by_hand_are_counted(lyon: Lyon, interlock: Interlock) -> None:
    text = lyon.file("site.yaml").read_text()
    lyon.file("site.yaml").write_text(text.replace("wired_by: neutron", "wired_by: hand"))
    assert interlock("lock").code == 0
    told = summary(lyon.gate(), "acme", OUTPUTS)
    assert "\n8 switch ports to wire by hand: `interlock wiring acme`.\n" in told
    assert "Wired: " not in told


def test_the_tenants_outputs_stand_there_and_no_secret(text: str) -> None:
    assert '"project_id": "p"' in text
    assert "[secret]" in text
    assert "plan_hash" not in text


def test_what_controllers_were_told_is_counted(lyon: Lyon) -> None:
    text = lyon.file("site.yaml").read_text()
    told = text.replace("user_api_port: 8090}", "user_api_port: 8090, managed_by: interlock}")
    assert told != text
    lyon.file("site.yaml").write_text(told)
    shown = summary(lyon.gate(), "acme", OUTPUTS)
    assert "which the sandbox simulates: 4 agents, 1 allocation, 1 cluster, 2 users.\n" in shown
    assert "Not registered" not in shown
