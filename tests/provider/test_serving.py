"""A provider process goes with the engine that started it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

#: Starts a provider as the engine does, in a process group of its own, and says its port and who it is.
ENGINE = """
import subprocess, sys, time
command = [sys.executable, "-P", "-m", "interlock.provider", "127.0.0.1:1"]
provider = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
print(provider.stdout.readline().strip(), provider.pid, flush=True)
time.sleep(600)
"""


def _is_running(pid: int) -> bool:
    try:
        return "interlock.provider" in Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return False


def test_a_killed_engine_leaves_no_provider() -> None:
    engine = subprocess.Popen([sys.executable, "-c", ENGINE], stdout=subprocess.PIPE, text=True)
    assert engine.stdout is not None
    port, provider = map(int, engine.stdout.readline().split())
    assert port > 0
    time.sleep(1.5)
    assert _is_running(provider), "it stays as long as its engine does"
    engine.kill()
    engine.communicate()
    end = time.monotonic() + 30
    while _is_running(provider) and time.monotonic() < end:
        time.sleep(0.1)
    assert not _is_running(provider)


def test_an_engine_that_ends_its_provider_hears_nothing() -> None:
    """It sends SIGINT; what the provider writes to stderr then, it shows to its user."""
    command = [sys.executable, "-P", "-m", "interlock.provider", "127.0.0.1:1"]
    provider = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert provider.stdout is not None
    assert int(provider.stdout.readline()) > 0
    os.killpg(provider.pid, signal.SIGINT)
    _, err = provider.communicate(timeout=60)
    assert (provider.returncode, err) == (0, "")
