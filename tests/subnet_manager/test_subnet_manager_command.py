"""`python -m sandbox.infiniband`, and a machine that lacks something."""

from __future__ import annotations

import json
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import requests

from sandbox.infiniband import __main__ as command
from sandbox.infiniband.needs import PROGRAMS, SubnetLacks, require_subnet
from sandbox.infiniband.partitions import ConfiguredPartition, Membership, PartitionsWrong, read, written
from sandbox.infiniband.subnet import LiveSubnet
from sandbox.infiniband.topology import rails

from .conftest import ROOT, folder


def test_all_of_it_is_here() -> None:
    """The tests of this folder need it, and fail where it is not; nothing is left out."""
    require_subnet()


@pytest.mark.parametrize(
    ("absent", "packages"),
    [({"opensm"}, "opensm"), ({"ibsim"}, "ibsim-utils"), (set(PROGRAMS), "opensm ibsim-utils infiniband-diags")],
)
def test_without_programs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, absent: set[str], packages: str) -> None:
    monkeypatch.setattr("sandbox.infiniband.needs._found", lambda name: None if name in absent else f"/bin/{name}")
    with pytest.raises(SubnetLacks) as told:
        LiveSubnet(rails(2, 1), tmp_path / "none").start()
    assert str(told.value).endswith(f"Run: sudo apt-get install -y --no-install-recommends {packages}")
    assert "\n" not in str(told.value)


def test_help_says_what_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command.main(["--help"])
    said = " ".join(capsys.readouterr().out.split())
    assert "a stand-in of UFM's REST interface" in said
    assert "behind it a real OpenSM manages a fabric that ibsim simulates" in said
    assert "no packet flows" in said


def test_a_wrong_fault_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command.main(["--fault", "PUT /x=200"])
    assert ended.value.code == 2
    assert "'PUT /x=200'" in capsys.readouterr().err


def test_it_serves_until_it_is_ended() -> None:
    """How to log in stands in a file of its owner; nothing secret is printed."""
    place = folder("command")
    words = ["-m", "sandbox.infiniband", "--dir", str(place), "--nodes", "2", "--rails", "1", "--profile", "nvcm"]
    words += ["--fault", "GET /jobs=500"]
    with subprocess.Popen(
        [sys.executable, *words], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        try:
            assert server.stdout is not None
            line = server.stdout.readline()
            file = place / "ufm.json"
            access = json.loads(file.read_text(encoding="utf-8"))
            assert stat.S_IMODE(file.stat().st_mode) == 0o600
            assert "stand-in" in line
            assert "profile nvcm" in line
            assert access["password"] not in line
            with requests.Session() as session:
                session.trust_env, session.verify = False, access["ca_file"]
                session.auth = access["username"], access["password"]
                assert session.get(f"{access['url']}/ufmRest/jobs", timeout=30).status_code == 500
                assert session.get(f"{access['url']}/ufmRest/jobs", timeout=30).json() == []
        finally:
            server.send_signal(signal.SIGTERM)
        assert server.wait(timeout=30) == 0
    assert not place.exists()


def test_a_partition_file_is_read_as_it_was_written() -> None:
    listed = (
        ConfiguredPartition(1, "t1", {16: "full", 32: "limited"}, index0=True, flags={"mtu": 5, "rate": 17}),
        ConfiguredPartition(9, "empty", {}, ip_over_ib=True),
    )
    assert read(written(listed)) == listed


def test_a_partition_of_many_members_has_several_lines_that_opensm_reads_whole() -> None:
    """One of 40 nodes has 320 members, and OpenSM reads 4 095 characters of a line."""
    members: dict[int, Membership] = {0x0002C90000000000 + number: "full" for number in range(320)}
    many = (ConfiguredPartition(1, "many", members, index0=True), ConfiguredPartition(2, "few", {1: "limited"}))
    text = written(many)
    assert max(map(len, text.splitlines())) <= 4000
    assert len(text.splitlines()) == 1 + 3 + 1
    assert read(text) == many
    with pytest.raises(PartitionsWrong, match="is too long for a line"):
        written([ConfiguredPartition(1, "n" * 4000, {1: "full"})])


@pytest.mark.parametrize("line", ["t1=0x1", "t1 : 0x10=full ;", "t1=0x1 : 0x10=both ;", "t1=0x1 : zz=full ;"])
def test_a_partition_file_that_is_none(line: str) -> None:
    with pytest.raises(PartitionsWrong, match="line 2"):
        read(f"Default=0x7fff : ALL=limited, SELF=full ;\n{line}\n")
