"""What cannot be planned is told with the line of the request that asks for it, whatever the rest of the file says."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from infra.program.gate import Gate
from tests.infra.conftest import STACKS, Interlock, Lyon

_POPLAR = "poplar: {servers: 2, flavor: poplar.half, image: poplar, volume: 100GiB}"
_PINS = "pins: {{train: {{hosts: [{}]}}}}"
#: Four nodes, the first of which another tenant has.
_OF_GLOBEX = "hall-1-su01-n05, hall-1-su01-n06, hall-1-su01-n07, hall-1-su01-n08"
_ROLL = "roll: {image: gpu-head, drained: [hall-1-su01-n01, hall-1-su01-n08]}"


class Hall(Lyon):
    """A site of another name."""

    @property
    def folder(self) -> Path:
        return self.stacks / "hall"

    def gate(self) -> Gate:
        return Gate.open("hall")


@pytest.fixture
def hall(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lyon:
    """The shipped site with GPU nodes, and its locks."""
    stacks = tmp_path / "stacks"
    shutil.copytree(STACKS / "hall", stacks / "hall")
    (stacks / "hall/fleet.yaml").rename(stacks / "fleet.yaml")
    monkeypatch.setenv("INTERLOCK_STACKS", str(stacks))
    return Hall(stacks)


def pointed_at(site: Lyon, err: str, code: str) -> str:
    """What stands at the place of the error, to the end of its line."""
    found = re.match(rf"stacks/\w+/(tenants/acme\.yaml):(\d+):(\d+): {code} ", err)
    assert found, err
    return site.file(found[1]).read_text().splitlines()[int(found[2]) - 1][int(found[3]) - 1 :]


@pytest.mark.parametrize(
    ("old", "new", "code", "expected"),
    [
        pytest.param("machines: 4 # or `ipus: 16`", "machines: 16", "PL-002", "16", id="machines"),
        pytest.param("machines: 4 # or `ipus: 16`", "ipus: 64", "PL-002", "64", id="in-another-unit"),
        pytest.param("servers: 2", "servers: 9", "PL-002", "9, flavor: poplar.half", id="servers"),
        pytest.param(_POPLAR, "poplar: {servers: 1, kind: bare-metal}", "PL-001", "bare-metal}", id="kind"),
        pytest.param(
            _POPLAR, f"{_POPLAR}\n{_PINS.format('poplar-3, poplar-3')}", "PL-002", "[poplar-3, poplar-3]", id="pins"
        ),
    ],
)
def test_a_vpod_is_refused_at_the_key_that_asks(
    lyon: Lyon, interlock: Interlock, old: str, new: str, code: str, expected: str
) -> None:
    lyon.file("tenants/acme.lock.json").unlink()
    lyon.replace("tenants/acme.yaml", old, new)
    done = interlock("lock", "acme")
    assert done.code == 2
    assert pointed_at(lyon, done.err, code).startswith(expected)


@pytest.mark.parametrize(
    ("old", "new", "code", "expected"),
    [
        pytest.param("nodes: 4", "nodes: 8", "PL-002", "8", id="nodes"),
        pytest.param("nodes: 4", "gpus: 64", "PL-002", "64", id="gpus"),
        pytest.param("shares:\n", f"{_PINS.format(_OF_GLOBEX)}\nshares:\n", "PL-002", f"[{_OF_GLOBEX}]", id="pins"),
        pytest.param("gpu-node\n", f"gpu-node\n    {_ROLL}\n", "PL-001", "hall-1-su01-n08", id="drained"),
        pytest.param("slurm\n", "{slurm: {munge_key: 2}}\n", "PL-001", "2}}", id="munge-key"),
    ],
)
def test_a_cluster_is_refused_at_the_key_that_asks(
    hall: Lyon, interlock: Interlock, old: str, new: str, code: str, expected: str
) -> None:
    hall.file("tenants/acme.lock.json").unlink()
    hall.replace("tenants/acme.yaml", old, new)
    done = interlock("lock", "acme")
    assert done.code == 2
    assert pointed_at(hall, done.err, code).startswith(expected)


def test_what_no_key_asks_for_is_told_at_the_name_of_the_vpod(unlocked: Lyon, interlock: Interlock) -> None:
    """A network needs an id, and nobody wrote that down: the pool of the site has none left."""
    unlocked.replace("site.yaml", "vnis: 10000-14999", "vnis: 10000-10000")
    unlocked.file("tenants/globex.yaml").unlink()
    unlocked.replace("tenants/acme.yaml", "\nshares:\n", "\n  second: {machines: 2, poplar: {servers: 1}}\nshares:\n")
    done = interlock("lock", "acme")
    assert done.code == 2
    assert pointed_at(unlocked, done.err, "PL-002").startswith("second: {machines: 2")
