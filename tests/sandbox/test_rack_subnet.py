"""The InfiniBand subnet of the rack `hall` is that of the site `hall`, cable by cable; what is no subnet is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from interlock.model.load import load_workspace
from interlock.model.site.inventory import Endpoint
from sandbox.infiniband.racks import port_name
from sandbox.infiniband.topology import SubnetTopology
from sandbox.launcher import commands, racks
from sandbox.launcher.catalogue import processes_of
from sandbox.launcher.errors import SandboxError
from sandbox.rack.reading import WrongRack, named, read, shipped

STACKS = Path(__file__).resolve().parents[2] / "stacks"
TEXT = shipped()["hall"].read_text(encoding="utf-8")


def topology() -> SubnetTopology:
    """That of the rack."""
    subnet = named("hall").infiniband
    assert subnet is not None
    return subnet.topology


def test_it_has_the_cables_of_the_site() -> None:
    site = load_workspace(STACKS, "hall").site
    wired = topology()

    def end(name: str, port: int) -> Endpoint:
        device, _, interface = name.partition(":")
        return Endpoint(device=device, interface=interface or str(port))

    ours = {frozenset((end(cable.a, cable.a_port), end(cable.b, cable.b_port))) for cable in wired.cables}
    stated = {frozenset((cable.a, cable.b)) for cable in site.cables if cable.kind == "infiniband"}
    assert ours == stated
    assert len(ours) == 8 * 8 + 4 + 256


def test_its_ports_have_the_guids_of_the_site() -> None:
    site, subnet = load_workspace(STACKS, "hall").site, named("hall").infiniband
    assert subnet is not None
    assert {(subnet.name, f"{subnet.prefix:016x}")} == {(item.name, item.prefix) for item in site.infiniband}
    ports = [(node, port) for node in site.gpu_nodes for port in node.ports_for("compute")]
    assert {port_name(node.name, port.rail): port.guid for node, port in ports} == {
        hca.name: f"{hca.guid:016x}" for hca in topology().hosts
    }


def test_only_a_rack_with_a_subnet_has_its_process() -> None:
    names = {name: [process.name for process in processes_of(named(name))] for name in shipped()}
    assert [name for name, found in names.items() if "infiniband" in found] == ["hall", "passing"]


def test_a_machine_without_opensm_is_told_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    racks.keep(tmp_path, TEXT)
    commands.require_rack(tmp_path)
    monkeypatch.setattr("sandbox.infiniband.needs.shutil.which", lambda *_, **__: None)
    with pytest.raises(SandboxError, match="apt-get install -y --no-install-recommends opensm ibsim-utils"):
        commands.require_rack(tmp_path)
    racks.keep(tmp_path, shipped()["lyon"].read_text(encoding="utf-8"))
    commands.require_rack(tmp_path)


WRONG = {
    'prefix = "fe80000000000001"': ('prefix = "fe80"', "infiniband.prefix: 16 hex digits"),
    "spines = 4": ("spines = 5", "spines that divide 32"),
    "ports = 64": ("ports = 16", "fewer than 8 nodes"),
    'name = "compute"': ('name = "compute"\nspeed = 400', "infiniband has no key speed"),
    '"0002c903000a0101", ': ("", "each node has as many GUIDs as the others"),
    '"0002c903000a0102"': ('"0002c903000a0101"', "GUID used twice"),
}


@pytest.mark.parametrize("right", WRONG)
def test_what_is_no_subnet_is_told_with_its_file(tmp_path: Path, right: str) -> None:
    wrong, words = WRONG[right]
    assert TEXT.count(right) == 1
    path = tmp_path / "own.toml"
    path.write_text(TEXT.replace(right, wrong), encoding="utf-8")
    with pytest.raises(WrongRack) as told:
        read(path)
    assert str(told.value).startswith(f"{path}: ")
    assert words in str(told.value)
