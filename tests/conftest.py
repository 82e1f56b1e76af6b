"""What all tests share: the embedded cloud of the tests, and how to multiply random ones."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import hypothesis
import pytest

ROOT = Path(__file__).resolve().parents[1]

hypothesis.settings.register_profile("default", deadline=None, print_blob=True)
hypothesis.settings.register_profile("long", deadline=None, print_blob=True, max_examples=2000)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="more rounds of random tests, and more points of kill tests")


def pytest_configure(config: pytest.Config) -> None:
    hypothesis.settings.load_profile("long" if config.getoption("--long") else "default")
    # A shell's background jobs are started with SIGINT ignored, and what the tests start would ignore Ctrl-C, too.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def long(request: pytest.FixtureRequest) -> bool:
    """True if the run was asked for more rounds."""
    return bool(request.config.getoption("--long"))


@dataclass(frozen=True)
class Sandbox:
    """A running instance of the embedded cloud."""

    dir: Path
    cloud: str = "sandbox"

    @property
    def clouds_yaml(self) -> Path:
        return self.dir / "clouds.yaml"

    def supervise(self, command: str) -> None:
        """Run the supervisor; its words are shown if it fails."""
        program = str(ROOT / "sandbox" / "supervisor.py")
        done = subprocess.run(
            [sys.executable, program, command, "--dir", str(self.dir)],
            check=False,
            text=True,
            capture_output=True,
        )
        assert done.returncode == 0, f"sandbox {command} failed:\n{done.stderr}"


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    """An embedded cloud of the tests' own, fresh, on ports of its own.

    INTERLOCK_TEST_SANDBOX names another folder for it, so that two runs of one checkout do not meet.
    """
    instance = Sandbox(Path(os.environ.get("INTERLOCK_TEST_SANDBOX") or ROOT / ".interlock" / "test-sandbox"))
    instance.supervise("reset")
    before = os.environ.get("OS_CLIENT_CONFIG_FILE")
    os.environ["OS_CLIENT_CONFIG_FILE"] = str(instance.clouds_yaml)
    yield instance
    instance.supervise("down")
    if before is not None:
        os.environ["OS_CLIENT_CONFIG_FILE"] = before
