"""Whose a cloud of the tests is: the end of one run stops no cloud of another that goes on in the same checkout."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.conftest import RUN, Sandbox


def test_a_cloud_is_of_the_run_that_started_it_last(tmp_path: Path) -> None:
    cloud = Sandbox(tmp_path)
    assert not cloud.is_of("")
    (tmp_path / RUN).write_text("first")
    assert cloud.is_of("first")
    assert not cloud.is_of("second")


def test_a_worker_writes_what_its_controller_compares_with(request: pytest.FixtureRequest) -> None:
    told = getattr(request.config, "workerinput", {}).get("testrunuid")
    assert os.environ.get("PYTEST_XDIST_TESTRUNUID") == told
