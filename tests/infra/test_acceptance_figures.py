"""Acceptance for any figures: it passes exactly if none is less than its limit, in whatever order entries stand."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from interlock.hardware.gpu.acceptance import DIAGNOSTIC_TESTS
from tests.builders.accepted import ACCEPTED, CLEANED, entries
from tests.infra.test_acceptance import lacking, set_to

#: Figures that are at their limit or on the good side, and those that are not, for each knob.
KNOBS: dict[str, tuple[str, st.SearchStrategy[Any], st.SearchStrategy[Any]]] = {
    "all_reduce/busbw": (
        "bandwidth-measured", st.floats(460, 100_000), st.floats(0, 460, exclude_max=True)
    ),
    "all_reduce/message": ("bandwidth-measured", st.integers(16 << 30, 1 << 40), st.integers(1, (16 << 30) - 1)),
    "all_reduce/wrong": ("bandwidth-measured", st.just(0), st.integers(1, 1000)),
    "all_reduce/gpus": ("bandwidth-measured", st.just(8), st.integers(1, 100).filter(lambda n: n != 8)),
    "diagnostics/level": ("diagnosed", st.integers(3, 4), st.integers(1, 2)),
    **{
        f"diagnostics/tests/{test}": ("diagnosed", st.just("pass"), st.sampled_from(["fail", "warn", "skip"]))
        for test in DIAGNOSTIC_TESTS.value
    },
    "firmware/gpu/devices": ("firmware-attested", st.just(8), st.integers(1, 7)),
    **{
        f"fabric/ports/compute{rail}/{key}": ("fabric-checked", good, bad)
        for rail in (1, 8)
        for key, good, bad in (
            ("symbol_errors", st.just(0), st.integers(1, 1 << 30)),
            ("link_downed", st.just(0), st.integers(1, 1 << 30)),
            ("width", st.integers(4, 12), st.integers(1, 3)),
            ("speed", st.integers(400, 1600), st.integers(1, 399)),
        )
    },
}  # fmt: skip


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_it_passes_exactly_if_no_figure_is_less(data: st.DataObject, tmp_path: Path) -> None:
    bad = data.draw(st.sets(st.sampled_from(sorted(KNOBS)), max_size=3))
    seen = copy.deepcopy(entries())
    for path, (step, good, less) in KNOBS.items():
        (entry,) = [one for one in seen if one["step"] == step]
        set_to(path, data.draw(less if path in bad else good))(entry)
    assert set(lacking(tmp_path, seen)) == {KNOBS[path][0] for path in bad}


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(left=st.sets(st.sampled_from([*CLEANED, *ACCEPTED])), order=st.randoms(use_true_random=False))
def test_more_evidence_of_passing_never_takes_away_and_the_order_in_the_file_says_nothing(
    left: set[str], order: Any, tmp_path: Path
) -> None:
    seen = [one for one in entries() if one["step"] in left]
    order.shuffle(seen)
    assert set(lacking(tmp_path, seen)) == {*CLEANED, *ACCEPTED} - left
