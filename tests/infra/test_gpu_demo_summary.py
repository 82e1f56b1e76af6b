"""What the GPU demo ends with is true: what it names is there, and partitions are told as they were read."""

from __future__ import annotations

import pytest

from infra.cli.command_group import COMMANDS as INTERLOCK_COMMANDS
from infra.program.gate import Gate
from infra.program.places import GPU_SANDBOX
from infra.reports.gpu_demo_summary import gpu_summary
from interlock.ufm.answers import DEFAULT_KEY, FabricMember, FabricPartition
from tests.infra.conftest import STACKS
from tests.infra.test_demo_summary import commands
from toolchain.__main__ import COMMANDS


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Gate:
    monkeypatch.setenv("INTERLOCK_STACKS", str(STACKS))
    return Gate.open("hall")


def told(gate: Gate, *partitions: FabricPartition) -> str:
    """The text, with these partitions of the subnet."""
    outputs = {"acme": {"clusters": {"acme-train": {}}, "vpods": {}, "not_wired": ["x"]}}
    return gpu_summary(gate, outputs, {"compute": {item.key: item for item in partitions}}, GPU_SANDBOX)


def member(guid: str, *, full: bool = True, index0: bool = True) -> FabricMember:
    """A member of a partition."""
    return FabricMember(guid, "full" if full else "limited", index0)


def test_every_line_to_run_is_a_command_and_every_stack_is_committed(gate: Gate) -> None:
    lines = commands(told(gate))
    assert len(lines) == 5
    for _, command, *rest in lines:
        assert command in COMMANDS
        assert command != "interlock" or rest[0] in INTERLOCK_COMMANDS
        if "--stack" in rest:
            assert (STACKS / f"Pulumi.{rest[rest.index('--stack') + 1]}.yaml").is_file()


def test_partitions_are_told_by_node_and_what_is_empty_is_not_told(gate: Gate) -> None:
    ours = FabricPartition(1, (member("0002c903000a0101"), member("0002c903000a0102")), None)
    stranger = FabricPartition(2, (member("0002c903000a0501"), member("00000000000000ff", index0=False)), None)
    everybody = FabricPartition(DEFAULT_KEY, (member("0002c903000a0101", full=False),), None)
    text = told(gate, everybody, stranger, ours)
    assert "  0x0001  2 full at index 0: hall-1-su01-n01\n" in text
    assert "  0x0002  2 full: hall-1-su01-n05, an unknown port\n" in text
    assert "  0x7fff  1 limited: the default partition, which nobody leaves\n" in text
    assert '"vpods"' not in text
