"""Provider processes that can be killed, each with its own words on stderr."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import grpc
from pulumi.runtime.proto import provider_pb2, provider_pb2_grpc

from interlock.provider.codec import encode
from tests.conftest import ROOT
from tests.support.engine.process import Process

#: Seconds that a killed process may take to be gone.
DYING = 10.0


class Victim(Process):
    """A provider in an operating-system process of its own."""

    def __init__(self, pid: int, port: int, folder: Path, cloud: str = "sandbox") -> None:
        self.pid = pid
        self._watched = os.pidfd_open(pid)
        self._errors = folder / "stderr"
        self.tokens = tempfile.mkdtemp(dir=folder)
        self._channel = grpc.insecure_channel(f"127.0.0.1:{port}")
        self.stub = provider_pb2_grpc.ResourceProviderStub(self._channel)
        self.stub.Configure(provider_pb2.ConfigureRequest(args=encode({"cloud": cloud}), acceptSecrets=True))

    def kill(self) -> None:
        """SIGKILL; returns when it is really gone."""
        signal.pidfd_send_signal(self._watched, signal.SIGKILL)
        assert self.ends(), f"process {self.pid} lives on after SIGKILL"

    def ends(self, seconds: float = DYING) -> bool:
        """True once it is gone. Its connections break a moment before that."""
        gone, _, _ = select.select([self._watched], [], [], seconds)
        return bool(gone)

    @property
    def said(self) -> str:
        """What it said on stderr, which the engine shows to people."""
        return self._errors.read_text()

    def close(self) -> None:
        self._channel.close()
        if not self.ends(0):
            self.kill()
        os.close(self._watched)


class Zygote:
    """Where provider processes come from. They find their cloud in `clouds`."""

    def __init__(self, clouds: Path, folder: Path) -> None:
        self._folder = folder
        self._number = 0
        environment = os.environ | {"OS_CLIENT_CONFIG_FILE": str(clouds)}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.kills.zygote"],
            cwd=ROOT, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def victim(self) -> Victim:
        """A new provider process."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._number += 1
        folder = self._folder / f"process-{self._number}"
        folder.mkdir()
        self._process.stdin.write(f"{folder / 'stderr'}\n")
        self._process.stdin.flush()
        pid, port = map(int, self._process.stdout.readline().split())
        return Victim(pid, port, folder)

    def close(self) -> None:
        """No more of them."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(30)
