"""Limits of acceptance: each has a source, none is invented, and a type of which nobody published one says so."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any

import pytest

from interlock.hardware.facts import Fact, Provenance
from interlock.hardware.gpu import NODE_TYPES, OFFERED, PortRole
from interlock.hardware.gpu import acceptance as limits
from interlock.hardware.gpu.acceptance import AllReduceLimit, limits_of
from interlock.model.evidence.accepting import FIGURES, RUNS
from interlock.model.evidence.measured import MEASURED_KEY
from interlock.model.evidence.steps import ACCEPTANCE

#: GB/s and GiB of messages, as conf/*.conf of Azure/azurehpc-health-checks have them; None: none was found.
PUBLISHED: dict[str, tuple[float, int] | None] = {
    "dgx-a100": (228.0, 4), "gcore-a100": (228.0, 4), "gcore-a100-ib": (228.0, 4),
    "dgx-h100": (460.0, 16), "gcore-h100-ib": (460.0, 16),
    "dgx-h200": (431.0, 16), "gcore-h200-ib": (431.0, 16),
    "dgx-b200": None, "gcore-l40s": None,
}  # fmt: skip


def test_every_type_that_is_offered_is_among_them() -> None:
    assert set(PUBLISHED) == set(OFFERED)


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_bandwidth_is_what_was_published(name: str) -> None:
    found, published = limits_of(name), PUBLISHED[name]
    assert found is not None
    if published is None:
        assert found.all_reduce is None
        return
    assert found.all_reduce is not None
    assert (found.all_reduce.busbw.value, found.all_reduce.message.value) == (published[0], published[1] << 30)
    assert found.all_reduce.busbw.provenance is Provenance.PRACTICE


@pytest.mark.parametrize("name", sorted(NODE_TYPES))
def test_every_limit_has_a_source_and_none_is_remembered(name: str) -> None:
    found = limits_of(name)
    assert found is not None
    facts = list[Fact[Any]]()
    for field in fields(found):
        value = getattr(found, field.name)
        if isinstance(value, AllReduceLimit):
            facts += [value.busbw, value.message]
        elif isinstance(value, Fact):
            facts.append(value)
    assert all(fact.source and not fact.remembered for fact in facts)


def test_ports_are_those_for_compute_and_no_bridges() -> None:
    """The ConnectX-7 that leads to the NVSwitches of a B200 is on no fabric."""
    found = limits_of("dgx-b200")
    assert found is not None
    assert found.ports is not None
    assert found.ports.value == 8
    assert NODE_TYPES["dgx-b200"].ports_for(PortRole.NVLINK_BRIDGE) is not None


def test_a_type_that_is_not_in_the_catalogue_has_no_limits() -> None:
    assert limits_of("dgx-h10") is None


def test_each_step_has_a_form_and_says_what_to_run() -> None:
    assert set(RUNS) == set(FIGURES) == set(MEASURED_KEY) == set(ACCEPTANCE)
    assert all(FIGURES[step].startswith(f"{MEASURED_KEY[step]}: {{") for step in ACCEPTANCE)
    assert all(run.commands and run.source for run in RUNS.values())


def test_the_commands_fit_the_limits() -> None:
    (diagnose,) = limits.DIAGNOSE.commands
    assert f"--run {limits.DIAGNOSTIC_LEVEL.value}" in diagnose
    (measure,) = limits.MEASURE.commands
    message = re.search(r"-b (\d+)G -e \1G", measure)
    h100 = limits_of("dgx-h100")
    assert message is not None
    assert h100 is not None
    assert h100.all_reduce is not None
    assert int(message[1]) << 30 == h100.all_reduce.message.value
