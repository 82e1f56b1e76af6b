"""Whose a cloud of the tests is: the end of one run stops no cloud of another that goes on in the same checkout, and
the cloud of one that is killed ends by itself.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sandbox.services.owner import owned_by
from tests.conftest import ROOT, RUN, Sandbox


def test_a_cloud_is_of_the_run_that_started_it_last(tmp_path: Path) -> None:
    cloud = Sandbox(tmp_path)
    assert not cloud.is_of("")
    (tmp_path / RUN).write_text("first")
    assert cloud.is_of("first")
    assert not cloud.is_of("second")


def test_a_worker_writes_what_its_controller_compares_with(request: pytest.FixtureRequest) -> None:
    told = getattr(request.config, "workerinput", {}).get("testrunuid")
    assert os.environ.get("PYTEST_XDIST_TESTRUNUID") == told


@pytest.mark.parametrize("owned", [True, False], ids=["owned", "by-hand"])
def test_a_process_of_a_cloud_ends_with_the_run_that_asked_for_it(tmp_path: Path, owned: bool) -> None:
    """As each process of the cloud begins: it finds its instance. Where nobody owns the cloud it stays."""
    (tmp_path / "ports.json").write_text("{}")
    program = "import time; from sandbox.services.process import here; print(here(), flush=True); time.sleep(600)"
    with subprocess.Popen(["sleep", "600"]) as run:
        owner = owned_by(run.pid) if owned else {}
        environment = {**os.environ, **owner, "SANDBOX_INSTANCE": str(tmp_path)}
        with subprocess.Popen(
            [sys.executable, "-c", program], cwd=ROOT, env=environment, stdout=subprocess.PIPE
        ) as one:
            assert one.stdout is not None
            assert str(tmp_path) in one.stdout.readline().decode()
            time.sleep(1.5)
            assert one.poll() is None, "its owner runs"
            run.send_signal(signal.SIGKILL)
            try:
                # A busy machine takes its time; that nothing happens is waited for only so long.
                assert one.wait(60 if owned else 4) == -signal.SIGTERM
                assert owned
            except subprocess.TimeoutExpired:
                assert not owned
                one.kill()
