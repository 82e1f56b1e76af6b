"""A forger makes a certificate of a violated plan sound in itself: beside the site and the plans it is told.

Each forgery seals the certificate again and lets every rule say *proved*, so that the checker alone is content.
"""

from __future__ import annotations

import ast
import base64
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import infra.verifying
from infra.checker import GROUND, complaints, edges, grounded
from infra.verifying.comparing import Comparing
from interlock.model.site.inventory import Site
from interlock.model.tenant.request import Access
from interlock.planning.guest import poplar_user_data
from interlock.planning.guest.login import login_files
from interlock.planning.guest.poplar import VipuApi
from interlock.vocabulary import StackName
from policies.certificate import certificate
from policies.judging import judge, seen_by
from tests.builders.pod64 import ssh_key
from tests.certificate.altering import sealed
from tests.policies.workspace import Made, assumptions, edited, full_site, pair, sharing, with_footprint

Found = dict[str, Any]
Forge = Callable[[Found], None]
VERIFYING = Path(infra.verifying.__file__ or "").parent


def beside(site: Site, *everybody: Made) -> Comparing:
    """What the site and the plans say."""
    plans = {item.plan.stack: json.loads(json.dumps(item.plan.canonical())) for item in everybody}
    full = json.loads(site.model_dump_json())
    return Comparing(full, plans)


def certified(site: Site, one: Made, other: Made) -> Found:
    """The certificate of one of two."""
    judgement = judge(site, one.plan, [other.lock])
    return json.loads(certificate(seen_by(site, one.plan, [other.lock]), judgement).model_dump_json())  # type: ignore[no-any-return]


@cache
def one_vlan() -> tuple[Comparing, Found]:
    """globex's data network has the VLAN of acme's; the certificate is acme's."""
    site = full_site()
    acme, globex = pair(site)
    vlan = next(
        item.resource.model_dump()["segmentation_id"]
        for item in acme.plan.resources
        if item.name == "acme-train-ipu-data"
    )
    ports = [item.name for item in globex.plan.resources if item.resource.KIND == "SwitchPort" and "rnic" in item.name]
    plan = edited(globex.plan, "globex-train-ipu-data", segmentation_id=vlan)
    for name in ports:
        plan = edited(plan, name, vlan=vlan)
    globex = with_footprint(site, plan, globex.lock)
    return beside(site, acme, globex), certified(site, acme, globex)


@cache
def one_guard(value: bool | None = False) -> tuple[Comparing, Found]:
    """The machines forward between RNIC and management, or nobody says that they do not."""
    site = full_site(assumptions=assumptions(no_forwarding=value))
    acme, globex = pair(site)
    return beside(site, acme, globex), certified(site, acme, globex)


def grown(found: Found) -> Found:
    """With classes that fit its edges, one owner of each thing, calls that lead nowhere, answers that are all *proved*,
    and digests.
    """
    said = found["statement"]
    for part in ("labels", "exclusive"):
        said[part] = {thing: who if len(who) == 1 else ["acme"] for thing, who in said[part].items()}
    said |= {"grants": [], "owners": {}, "public": []}
    found["holds"] = [f"write prin:{said['owner']}"]
    near: dict[str, set[str]] = {node: set() for node in found["classes"]}
    for a, b in edges(said):
        near.setdefault(a, set()).add(b)
    found["classes"] = {}
    for least in sorted(near):
        waiting = [] if least in found["classes"] else [(least, "")]
        for node, towards in waiting:
            if node not in found["classes"]:
                found["classes"][node] = [least, towards]
                waiting += [(other, node) for other in sorted(near[node])]
    for result in found["judgement"]["results"]:
        result |= {"verdict": "proved", "findings": []}
    return sealed(found)


def _of(found: Found, label: str) -> list[str]:
    return [node for node, who in found["statement"]["labels"].items() if label in who]


def _empty(found: Found) -> None:
    _no_facts(found)
    found["statement"] |= {"labels": {}, "exclusive": {}, "unknown": {}, "guards": {}}
    found["statement"]["terminals"], found["classes"] = [], {}


def _no_facts(found: Found) -> None:
    found["statement"] |= {"facts": {}, "ground": {table: [] for table in GROUND}}


def _ends(said: Found) -> set[str]:
    return {node for _, a, b, _ in grounded(said) for node in (a, b)}


def _no_labels(found: Found) -> None:
    found["statement"]["labels"] = {}


def _others_merged(found: Found, into: str = "acme") -> None:
    """Everybody is one owner."""
    for part in ("labels", "exclusive"):
        found["statement"][part] = {node: [into] for node in found["statement"][part]}


def _others_unnamed(found: Found) -> None:
    for other in ("globex", "op"):
        for node in _of(found, other):
            del found["statement"]["labels"][node]
    _others_merged(found)


def _own_unnamed(found: Found) -> None:
    for node in _of(found, "acme"):
        del found["statement"]["labels"][node]


def _cut(found: Found, table: str = "", declared: tuple[str, ...] = ()) -> None:
    """Every edge at something of another owner's is gone, or is said to follow from a fact of a table."""
    said = found["statement"]
    others = {node for node in said["labels"] if said["labels"][node] != ["acme"]}
    for name, rows in [*said["facts"].items()]:
        away = [edge for edge in rows if others & set(edge)]
        said["facts"][name] = [edge for edge in rows if edge not in away]
        if table:
            said["ground"][table] += [[*edge, *declared] for edge in away]
    for name, rows in said["ground"].items():
        # What is another owner's at either end of what follows from it.
        alone = {**said, "ground": {other: [] for other in said["ground"]}}
        kept = [row for row in rows if not others & _ends({**alone, "ground": {**alone["ground"], name: [row]}})]
        said["ground"][name] = rows if table == name else kept
    said["exclusive"] = {name: ["acme"] for name in said["exclusive"]}


def _cut_as_controllers(found: Found) -> None:
    """The guards of another node: what keeps controllers apart is said to keep machines apart."""
    _cut(found, "terminals", ("vipu-controller",))


def _cut_as_machines(found: Found) -> None:
    """Nodes of another owner's are parts of machines, which A3 keeps apart."""
    _cut(found)
    found["statement"]["ground"]["machines"] += [[f"SN-forged-{number}"] for number in range(3)]


def _cut_as_declared(found: Found) -> None:
    """A declaration that the site does not have."""
    guards = {"default_deny": True, "permits_service_only": True}
    found["statement"]["guards"] |= {f"sharing.mine.guards.{name}": value for name, value in guards.items()}
    terminal = {"name": "mine", "kind": "routed-back-end", "node": "tor-1", "audience": ["*"], "rule": "L3-06"}
    found["statement"]["terminals"].append(terminal)
    _cut(found, "terminals", ("mine",))


def _split(found: Found) -> None:
    """What others are joined by is another node of nearly the same name."""
    said = found["statement"]
    for name, rows in said["facts"].items():
        shared = [edge for edge in rows if any(said["labels"].get(node, ["acme"]) != ["acme"] for node in edge)]
        renamed = [[edge[0], edge[1] + "0"] if said["labels"].get(edge[1]) == ["acme"] else edge for edge in shared]
        said["facts"][name] = [edge for edge in rows if edge not in shared] + renamed
    said["exclusive"] = {name: ["acme"] for name in said["exclusive"]}
    _cut(found)


def _as_operator(found: Found) -> None:
    """The owner is one whom nothing is forbidden."""
    found["statement"]["owner"] = "op"
    _others_merged(found, "op")


FORGERIES: tuple[Forge, ...] = (
    _empty, _no_facts, _no_labels, _others_merged, _others_unnamed, _own_unnamed, _cut, _cut_as_controllers,
    _cut_as_machines, _cut_as_declared, _split, _as_operator,
)  # fmt: skip


@pytest.mark.parametrize("forge", FORGERIES)
def test_forged_from_two_owners_on_one_vlan(forge: Forge) -> None:
    comparing, known = one_vlan()
    _told(comparing, known, forge)


@pytest.mark.parametrize("forge", [item for item in FORGERIES if item is not _own_unnamed])
def test_forged_from_a_guard_that_fails(forge: Forge) -> None:
    comparing, known = one_guard()
    _told(comparing, known, forge)


def _hold_again(found: Found) -> None:
    """A guard that the site says fails, or does not state, is said to hold."""
    said = found["statement"]
    name = "assumptions.A3.no_forwarding"
    said["guards"][name], said["unknown"] = True, {}


@pytest.mark.parametrize("value", [False, None])
def test_a_guard_that_the_site_does_not_say_holds(value: bool | None) -> None:
    comparing, known = one_guard(value)
    _told(comparing, known, _hold_again)


def _told(comparing: Comparing, known: Found, forge: Forge) -> None:
    """The checker alone is content with it, or it is no forgery; beside the files it is told."""
    assert comparing.compare(known, "acme").complaints == ()
    found: Found = json.loads(json.dumps(known))
    forge(found)
    found = grown(found)
    if forge is _as_operator:
        kinds = {"not asked, or not with this severity"}
        assert {text.split(":")[0] for text in complaints(found)} <= kinds
    elif forge is not _own_unnamed:
        assert list(complaints(found)) == []
    assert comparing.compare(found, "acme").complaints


def test_every_single_statement_of_a_tenant_that_is_left_out_is_told() -> None:
    """Each edge, label, guard and exclusive identity of a proved plan, one at a time."""
    site = full_site(sharing=sharing())
    acme, globex = pair(site)
    comparing, known = beside(site, acme, globex), certified(site, acme, globex)
    said = known["statement"]
    for part in ("facts", "ground"):
        for row, rows in said[part].items():
            for edge in rows:
                fewer = said | {part: said[part] | {row: [other for other in rows if other != edge]}}
                assert comparing.compare(known | {"statement": fewer}, "acme").complaints, (row, edge)
    for part in ("labels", "guards", "exclusive"):
        for key in said[part]:
            fewer = said | {part: {other: value for other, value in said[part].items() if other != key}}
            assert comparing.compare(known | {"statement": fewer}, "acme").complaints, key


@pytest.mark.parametrize("module", sorted(path.stem for path in VERIFYING.glob("*.py")))
def test_the_second_derivation_shares_nothing_with_the_first(module: str) -> None:
    tree = ast.parse((VERIFYING / f"{module}.py").read_text())
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and not node.level}
    ours = {name for name in imported if name.partition(".")[0] in ("infra", "interlock", "policies")}
    # `inputs` loads and plans the files as an apply does, and hands them on as JSON.
    assert ours <= {"infra.checker"} | ({"infra.program.gate"} if module == "inputs" else set())


def _public_key(kind: bytes, *numbers: bytes) -> str:
    body = b"".join(len(part).to_bytes(4, "big") + part for part in (kind, *numbers))
    return f"{kind.decode()} {base64.b64encode(body).decode()} anne@acme"


@cache
def one_login(kind: bytes) -> tuple[Comparing, Found]:
    """acme and globex have one key of numbers, which globex writes with zeros before them."""
    site = full_site()
    acme, globex = pair(site)
    number = b"\x70" * 64
    mine, theirs = (_public_key(kind, b"\x01\x00\x01", zeros + number) for zeros in (b"", b"\0\0\0"))
    acme = with_footprint(site, edited(acme.plan, "acme-key", public_key=mine), acme.lock)
    globex = with_footprint(site, edited(globex.plan, "globex-key", public_key=theirs), globex.lock)
    return beside(site, acme, globex), certified(site, acme, globex)


@pytest.mark.parametrize("kind", [b"ssh-rsa", b"ssh-dss"])
def test_one_login_of_two_tenants_that_is_a_key_of_numbers(kind: bytes) -> None:
    """However the key is written, it is one identity; a forger takes globex off it, or leaves the key out."""
    comparing, known = one_login(kind)
    (key,) = (name for name in known["statement"]["exclusive"] if name.startswith("ssh-key:"))
    for holders in (None, ["acme"]):
        found: Found = json.loads(json.dumps(known))
        found["statement"]["exclusive"] |= {key: holders or []}
        if holders is None:
            del found["statement"]["exclusive"][key]
        found = grown(found)
        assert list(complaints(found)) == []
        assert any(key in text for text in comparing.compare(found, "acme").complaints)
    assert comparing.compare(known, "acme").complaints == ()


@cache
def one_authority() -> tuple[Comparing, Found]:
    """acme's servers trust what globex's key signs."""
    site = full_site()
    acme, globex = pair(site)
    access = Access(members=(), ssh_public_key=None, ssh_from=(), ca=ssh_key("globex"))
    login = login_files(StackName(site.name, "acme"), "train", access)
    document = poplar_user_data("a", VipuApi("10.0.0.1", 8090, "10.1.0.0/24"), login=login)
    acme = with_footprint(site, edited(acme.plan, "acme-train-poplar-0", user_data=document), acme.lock)
    return beside(site, acme, globex), certified(site, acme, globex)


def test_a_key_that_signs_certificates_is_told_from_the_user_data() -> None:
    """A forger takes it off acme, whose key pair is another."""
    comparing, known = one_authority()
    held = {key: owners for key, owners in known["statement"]["exclusive"].items() if key.startswith("ssh-key:")}
    (key,) = (key for key, owners in held.items() if sorted(owners) == ["acme", "globex"])
    found: Found = json.loads(json.dumps(known))
    found["statement"]["exclusive"][key] = ["globex"]
    found = grown(found)
    assert list(complaints(found)) == []
    assert any(key in text for text in comparing.compare(found, "acme").complaints)
    assert comparing.compare(known, "acme").complaints == ()


@pytest.mark.parametrize("word", ["A" * 25, "A" * 24, base64.b64encode(b"\0\0\0\7ssh-dss\0\0\0\1\1xxxxxx").decode()])
def test_a_login_key_that_cannot_be_read_is_said(word: str) -> None:
    site = full_site()
    acme, globex = pair(site)
    acme = with_footprint(site, edited(acme.plan, "acme-key", public_key=f"ssh-rsa {word}"), acme.lock)
    compared = beside(site, acme, globex).compare(certified(site, acme, globex), "acme")
    assert compared.complaints == ()
    assert "a login key of type ssh-rsa that cannot be read (1)" in compared.untied
