"""A provider process goes with the engine that started it."""

from __future__ import annotations

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
