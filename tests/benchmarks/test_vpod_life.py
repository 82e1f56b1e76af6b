"""The benchmark of a whole vPOD in its cheapest form: the script can make all of it, and says to V-IPU what we say."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchmarks import bare, removal
from benchmarks.bare_operator import Operator
from benchmarks.measure import BenchmarkFailed, Measured
from benchmarks.report import PAGE
from benchmarks.values import values_of
from benchmarks.vpod_life import BY_HAND, Whole, ask, prepared, ratios
from infra.program.gate import Gate
from interlock.model.load import load_workspace
from interlock.vipu.commands import VipuLines
from interlock.vipu.flags import VipuSpelling
from tests.e2e.project import Project

MACHINES = 16
#: Writes down what it is asked.
RECORDER = "import json, sys; json.dump(sys.argv[2:], open(sys.argv[1], 'w'))"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    folder = tmp_path_factory.mktemp("whole")
    made = Project.make(folder / "project", folder / "clouds.yaml")
    prepared(1)(made)
    return made


@pytest.fixture(scope="module")
def values(project: Project) -> dict[str, Any]:
    """What the script is given of a vPOD of all machines of the rack."""
    ask(project, MACHINES)
    return values_of(Gate(load_workspace(project.folder / "stacks", "lyon")), "acme")


def test_the_script_makes_and_removes_a_vpod_with_everything(values: dict[str, Any]) -> None:
    kinds = [item["kind"] for item in values["objects"]]
    assert {*kinds} <= bare.MAKERS.keys() & {*removal.REMOVERS, *removal.WITH_OTHERS}
    whole = {"Volume": 2, "Share": 1, "Bucket": 1, "FloatingIp": 1, "VipuAgent": 16, "VipuPartition": 1}
    assert {kind: kinds.count(kind) for kind in whole} == whole
    (partition,) = (item["spec"] for item in values["objects"] if item["kind"] == "VipuPartition")
    assert partition["ipus"] == 4 * MACHINES
    assert {bare.MAKERS[kind][0] for kind in kinds} <= values["threads"].keys()


def test_the_script_tells_a_controller_what_interlock_tells_it(
    values: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = tmp_path / "told.json"
    command = [sys.executable, "-c", RECORDER, str(told)]
    entry = {"command": [*command, "{server}", "admin"], "user_command": [*command, "{server}", "user"]}
    (tmp_path / "vipu.yaml").write_text(yaml.safe_dump({"controllers": {"default": entry}}))
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(tmp_path / "clouds.yaml"))
    lines, ids = VipuLines(VipuSpelling({})), {"acme-train-controller": "uuid"}
    said = {}
    for item in values["objects"]:
        kind, spec = item["kind"], item["spec"]
        if kind.startswith("Vipu"):
            ids[item["name"]] = bare.MAKERS[kind][1](Operator(None), spec, ids)
            said[kind] = json.loads(told.read_text()), spec
    assert {kind: words[0] for kind, (words, _) in said.items()} == dict.fromkeys(said, "uuid")

    def ours(kind: str, spec: dict[str, Any]) -> list[str]:
        name = spec["name"]
        of_kind = {
            "VipuAgent": lambda: lines.agent(name, spec["host"], spec["port"]),
            "VipuCluster": lambda: lines.cluster(name, spec["agents"], spec["link_domains"], spec["topology"], "none"),
            "VipuAllocation": lambda: lines.allocation(name, spec["cluster"]),
            "VipuUser": lambda: lines.user(name, spec["allocations"]),
            "VipuPartition": lambda: lines.partition(
                name, **{key: spec[key] for key in ("allocation", "ipus", "gcds", "replicas", "reconfigurable",
                                                    "sync_type", "routing")}
            ),
        }  # fmt: skip
        line = of_kind[kind]()
        return ["uuid", "user" if line.as_user else "admin", *line.words]

    assert {kind: words for kind, (words, _) in said.items()} == {
        kind: ours(kind, spec) for kind, (_, spec) in said.items()
    }
    assert len(said) == 5


def test_a_site_that_says_it_otherwise_has_no_figure(project: Project) -> None:
    site = project.folder / "stacks" / "lyon" / "site.yaml"
    assert BY_HAND not in site.read_text()
    with pytest.raises(BenchmarkFailed, match="does not say who tells"):
        prepared(1)(project)


def test_ratios_are_ours_by_the_scripts_and_how_both_grow() -> None:
    def of(machines: int, script: float, ours: float) -> Whole:
        return Whole(machines, Measured(script, 0, 1), Measured(ours, 0, 100 + machines), Measured(2, 0, 1))

    found = ratios([of(1, 10, 15), of(16, 40, 240)])
    assert found["pulumi up / script, 1 machines"] == 1.5
    assert found["pulumi up / script, 16 machines"] == 6
    assert found["pulumi up, slope from 1 to 16 machines"] == pytest.approx(1.0)
    assert found["audit, slope from 1 to 16 machines"] == 0
    assert found["peak memory of pulumi up, 16 machines / 1"] == pytest.approx(116 / 101)


def test_the_page_has_a_place_for_it() -> None:
    text = PAGE.read_text()
    assert "<!-- begin vpod_life -->" in text
    assert "<!-- end vpod_life -->" in text
