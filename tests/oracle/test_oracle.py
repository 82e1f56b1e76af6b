"""The prover against the oracle: random small worlds, and what both say of them.

A failure names its seed; `differences(seed)` shows the world's difference again, `told(seed)` the world.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from interlock.resources import Share, ShareAccess
from policies.proof import Finding
from tests.support.sampling import Sampling, at_least, at_most

from .comparing import FAULTS, answers, compared, differences, differing, judgements
from .completing import decided
from .deciding import ROWS
from .examples_devices import isolated_ports
from .explaining import BY_A_PORT, explained
from .generator import MOST, told, world
from .oracle import leaks
from .sayings import A, G, apart
from .surveying import Survey, surveyed

ROOT = Path(__file__).resolve().parents[2]
#: The share of worlds with an over-report, all explained.
MOST_OVER = 0.03


@pytest.fixture(scope="module")
def seen(sampling: Sampling) -> Survey:
    """Every world of this run, looked at once; only a long run asks about every tenant's stack."""
    worlds, whole = sampling.cases("oracle worlds"), Survey()
    for part in surveyed(worlds, every=sampling.long):
        whole.add(part)
    assert whole.worlds == len(worlds)
    return whole


def test_a_world_is_the_same_each_time() -> None:
    """In another process too, where sets have another order."""
    lines = """if True:
        from tests.oracle.generator import world
        for made in map(world, range(400)):
            print(made.site.model_dump_json(), *(plan.hash for plan in made.plans.values()))
    """
    orders = [os.environ | {"PYTHONHASHSEED": order, "PYTHONPATH": str(ROOT)} for order in ("1", "2")]
    texts = [subprocess.run([sys.executable, "-c", lines], env=env, capture_output=True, check=True) for env in orders]
    assert texts[0].stdout == texts[1].stdout != b""


def test_worlds_are_small() -> None:
    for _, made in map(told, range(200)):
        site = made.site
        planned = [item.resource.KIND for plan in made.plans.values() for item in plan.resources]
        sending = [kind for kind in planned if kind in ("Server", "BareMetalServer", "Router")]
        assert len(sending) + len(site.hosts) + len(site.machines) + len(site.devices) <= MOST


def said(finding: Finding) -> tuple[str, str, tuple[str, ...]]:
    return finding.rule, finding.verdict, finding.witness


def test_quick_answers_are_judgements() -> None:
    """Most worlds are judged without digests and causing entries, which decide no verdict."""
    for made in map(world, range(100)):
        stacks = ["site", *made.plans]
        quick, whole = answers(made, stacks), judgements(made, stacks)
        for stack in stacks:
            assert quick[stack].exit_code == whole[stack].exit_code
            assert list(map(said, quick[stack].findings)) == list(map(said, whole[stack].findings))


def test_over_reports_are_explained_finding_by_finding() -> None:
    draft = apart()
    _, end = draft.link("leaf-1", "leaf-2", {"tagged": ()}, {"tagged": ()})
    known = draft.made()
    del draft.switches["leaf-2"].ports[end]
    unknown = draft.made()
    findings = answers(unknown, ["site"])["site"].findings
    assert {item.rule for item in findings} == {"ISO-01", "ISO-02", "ISO-11"}
    assert compared(leaks(unknown), "site", answers(unknown, ["site"])["site"]) == "over"
    assert explained(unknown, findings) == BY_A_PORT
    other = findings[0].model_copy(update={"witness": ("acme", "globex")})
    assert explained(unknown, [*findings, other]) == ""
    assert explained(known, findings) == ""


def test_an_id_beside_a_named_one_is_looked_at() -> None:
    """Found by a random run: 1052 is in a link's list beside the translated 1051, and A1 is not stated."""
    draft = apart()
    draft.vlan("acme", "acme-a-storage", "data-1", 1050)
    draft.vlan("globex", "globex-a-storage", "data-2", 1051)
    here = {"tagged": ((1051, 1052),), "translations": ((1051, 1050),)}
    draft.link("leaf-1", "leaf-2", here, {"tagged": ((1051, 1099),), "translations": ((1050, 1051),)})
    draft.assumptions["A1"] = {}
    made = draft.made()
    seen = leaks(made)
    assert seen.may
    assert list(differing(1, (), made, seen, decided(made), every=True)) == []


@pytest.mark.parametrize("mode", ["no record", "dot1q-tunnel"])
def test_a_right_over_a_port_that_nobody_knows_is_explained_like_the_packets_there(mode: str) -> None:
    """A share of each tenant: a right is told without the way there; random runs found two."""
    draft = apart()
    for vip, tenant in (("10.21.0.200", A), ("10.21.0.201", G)):
        network, share = f"{tenant}-a-ipu-data-1001", f"{tenant}-share"
        stated = ShareAccess(
            project=draft.project(tenant), share=share, network=network, prefix="10.21.0.0/24", vip=vip
        )
        draft.add(tenant, f"{tenant}-access", stated)
        draft.add(tenant, share, Share(name="share", project=stated.project, size_gib=1, share_type="site:ShareType/x"))
    _, end = draft.link("leaf-1", "leaf-2", {"tagged": ()}, {"tagged": ()})
    if mode == "no record":
        del draft.switches["leaf-2"].ports[end]
    draft.change_port("leaf-2", end, mode=mode)
    made = draft.made()
    findings = answers(made, ["site"])["site"].findings
    assert "AUTH-01" in {item.rule for item in findings}
    assert not leaks(made).may
    assert explained(made, findings) == BY_A_PORT
    others = [item.model_copy(update={"missing": ("assumptions.A11",)}) for item in findings if item.rule == "AUTH-01"]
    assert explained(made, others) == ""


def test_a_cleaned_host_that_may_be_the_operators_is_found() -> None:
    """Found by a random run, where it was proved: clean, it is the operator's, and stands in globex's VLAN."""
    seed = 964726548960
    assert told(seed)[0] == ("bmc_plug_unsaid", "given_up")
    assert answers(world(seed), ["site"])["site"].exit_code == 3
    assert differences(seed) == []


@pytest.mark.parametrize(("vlans", "exits"), [((1099,), 0), ((4000,), 3)])
def test_isolated_ports_beside_an_open_port_without_a_cable(vlans: tuple[int, ...], exits: int) -> None:
    """Found by a random run: whoever is plugged in there hears every member of the private VLAN."""
    draft = isolated_ports()
    draft.port("leaf-1", "trunk", tagged=tuple((vlan, vlan) for vlan in vlans))
    made = draft.made()
    assert answers(made, ["site"])["site"].exit_code == exits
    assert bool(leaks(made).may) == (exits != 0)


@pytest.mark.timeout(100_000)
def test_worlds_leak_and_do_not(seen: Survey) -> None:
    """At least three in ten violate, three in ten are clean, and some rest on what nobody knows."""
    assert seen.verdicts["V"] >= at_least(0.3, seen.worlds)
    assert seen.verdicts["P"] >= at_least(0.3, seen.worlds)
    assert seen.verdicts["N"] >= at_least(0.05, seen.worlds)


@pytest.mark.timeout(100_000)
def test_nearly_every_world_is_decided_by_its_completions(seen: Survey) -> None:
    """Also most of those in which something is unknown: one world in four or more has several completions."""
    assert seen.exact >= at_least(0.97, seen.worlds)
    assert seen.several >= at_least(0.2, seen.worlds)


@pytest.mark.timeout(100_000)
def test_each_row_decides_worlds(seen: Survey) -> None:
    """A row that decides nothing would be tested by nothing: one world in a hundred, as far as a sample can tell."""
    least = at_least(0.01, seen.worlds)
    assert {row: seen.rows[row] for row in ROWS if seen.rows[row] < least} == {}


@pytest.mark.timeout(100_000)
def test_prover_against_oracle(seen: Survey) -> None:
    """What the prover proves is clean, and what it calls violated leaks, in every completion; where it says that
    neither can be proved and the completions agree, the reason has a name.
    """
    wrong = [str(item) for item in seen.differences if item.kind in FAULTS]
    assert not wrong, "\n".join([str(seen), *wrong[:5]])
    assert len({item.seed for item in seen.differences}) <= at_most(MOST_OVER, seen.worlds), str(seen)


COMPARES = {
    "comparing.py", "explaining.py", "test_oracle.py", "test_examples.py", "test_explaining.py", "test_answered_for.py",
    "test_pieces.py",
}  # fmt: skip
"""What sees both the prover and the oracle."""


def _imported(file: Path) -> set[str]:
    """The modules that a file imports by their whole names; all others are beside it."""
    nodes = [*ast.walk(ast.parse(file.read_text(encoding="utf-8")))]
    assert {node.level for node in nodes if isinstance(node, ast.ImportFrom)} <= {0, 1}, file.name
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return names | {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom) and not node.level}


def test_the_oracle_does_not_know_the_prover() -> None:
    """Independence is the point: only what compares the two may import the prover."""
    for file in Path(__file__).parent.glob("*.py"):
        known = {name for name in _imported(file) if name.split(".")[0] == "policies"}
        assert file.name in COMPARES or not known, file.name


def test_the_page_names_every_module_that_the_oracle_shares_with_the_product() -> None:
    """As the page is read: a module more is one more fault that nothing would find, and has to be thought of."""
    ours = {path.name for path in ROOT.iterdir() if (path / "__init__.py").exists()} | {"tests"}
    files = [file for file in Path(__file__).parent.glob("*.py") if file.name not in COMPARES]
    shared = {name for file in files for name in _imported(file) if name.split(".")[0] in ours}
    shared -= {name for name in shared if name.startswith(("tests.oracle", "tests.support"))}
    page = (ROOT / "docs" / "testing.md").read_text(encoding="utf-8")
    section = page.partition("## What prover and oracle share")[2].partition("\n## ")[0]
    assert set(re.findall(r"`([a-z_0-9]+(?:\.[a-z_0-9]+)+)`", section)) == shared
