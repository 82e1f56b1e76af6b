"""Certificates: the checker accepts what is true and refuses everything else, however they are altered."""

from __future__ import annotations

import ast
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import infra.checker
from infra.checker import complaints
from interlock.model.site.inventory import Site
from policies.certificate import certificate
from policies.judging import judge, seen_by
from policies.proof import Proof
from tests.builders.pod64 import tenant
from tests.certificate.altering import altered
from tests.certificate.truth import about, sound
from tests.policies.workspace import Made, assumptions, full_site, made, pair, sharing
from tests.support.sampling import Sampling, at_least


def certified(site: Site, one: Made, *others: Made) -> tuple[dict[str, Any], str]:
    """The certificate of one plan as a reader finds it, and the hash of the proof."""
    locks = [other.lock for other in others]
    judgement = judge(site, one.plan, locks)
    found = certificate(seen_by(site, one.plan, locks), judgement)
    return json.loads(found.model_dump_json()), Proof(plan=one.plan, judgement=judgement).hash


@cache
def clean() -> tuple[tuple[dict[str, Any], str], ...]:
    """Several plans that are proved."""
    site = full_site()
    acme, globex = pair(site)
    carol = made(site, tenant("carol", machines=1, servers=1), [acme.lock, globex.lock])
    return (
        certified(site, acme, globex),
        certified(site, globex, acme, carol),
        certified(site, carol, acme, globex),
        certified(site, carol),
    )


def test_a_proved_plan_has_a_sound_certificate() -> None:
    for found, proof in clean():
        assert list(complaints(found, proof)) == []
        assert sound(found)


@pytest.mark.parametrize("end", [".net", ".audience", ".guards.x"])
def test_names_of_what_is_shared_may_hold_dots(end: str) -> None:
    """The checker reads them off guards: `sharing.external.net.guards.no_tenant_ports`."""
    site = full_site(sharing=tuple(item.model_copy(update={"name": item.name + end}) for item in sharing()))
    acme, globex = pair(site)
    found, proof = certified(site, acme, globex)
    assert list(complaints(found, proof)) == []


def test_same_input_same_bytes() -> None:
    site = full_site()
    acme, globex = pair(site)
    assert certified(site, acme, globex) == certified(site, acme, globex)


def test_alterations(sampling: Sampling) -> None:
    """Against the proof only what is true about it passes; alone, only what follows from its own facts."""
    accepted = refused = 0
    seeds = sampling.cases("certificate alterations")
    for seed in seeds:
        known, proof = clean()[seed % len(clean())]
        found = altered(known, seed)
        true = about(found, known) and sound(found)
        said = list(complaints(found, proof))
        assert (not said) == true, (seed, said[:3])
        accepted, refused = accepted + true, refused + (not true)
        if not sound(found):
            assert list(complaints(found)), seed
    assert min(accepted, refused) > at_least(0.1, len(seeds))


@pytest.mark.parametrize("value", [False, None])
def test_a_plan_that_is_not_proved_has_no_sound_certificate(value: bool | None) -> None:
    site = full_site(assumptions=assumptions(no_forwarding=value))
    acme, globex = pair(site)
    found, proof = certified(site, acme, globex)
    assert not sound(found)
    words = list(complaints(found, proof))
    assert any("has the owners" in word for word in words)
    assert any(word.startswith("ISO-02 is ") for word in words)


def test_the_checker_shares_no_code_with_the_proof() -> None:
    files = sorted(Path(infra.checker.__file__).parent.glob("*.py"))
    nodes = [node for file in files for node in ast.walk(ast.parse(file.read_text()))]
    imported = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    imported |= {str(node.module) for node in nodes if isinstance(node, ast.ImportFrom) and node.level == 0}
    beside = {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.level}
    assert beside < {file.stem for file in files}
    assert imported <= {
        "__future__", "bisect", "collections", "collections.abc", "contextlib", "datetime", "functools", "gc",
        "hashlib", "itertools", "json", "operator", "pathlib", "re", "sys", "typing",
    }  # fmt: skip
