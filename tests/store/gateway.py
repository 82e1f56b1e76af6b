"""The Versity S3 gateway for tests: found on PATH, else built once from its Go module; started on a folder."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: The first version in which condition and write are one step (pull request 2288 of versity/versitygw).
VERSION = "v1.8.0"
BUILT = ROOT / ".interlock" / "versitygw" / VERSION / "versitygw"
GO_PLACES = ("/usr/local/go/bin", "/usr/lib/go/bin", "/snap/bin")
ACCESS, SECRET = "claims", "no-secret"


def gateway() -> Path:
    """The executable, made if it is missing."""
    if BUILT.is_file():
        return BUILT
    go = shutil.which("go", path=os.pathsep.join((os.environ.get("PATH", ""), *GO_PLACES)))
    assert go, f"to build the Versity gateway {VERSION}, Go is needed: https://go.dev/doc/install, then run again"
    fresh = BUILT.parent.with_suffix(f".{os.getpid()}")
    environment = {**os.environ, "GOBIN": str(fresh), "CGO_ENABLED": "0", "GOFLAGS": "-buildvcs=false"}
    done = subprocess.run(
        [go, "install", "-trimpath", "-ldflags=-s -w", f"github.com/versity/versitygw/cmd/versitygw@{VERSION}"],
        env=environment, cwd="/", text=True, capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"the Versity gateway could not be built:\n{done.stderr}"
    BUILT.parent.mkdir(parents=True, exist_ok=True)
    (fresh / "versitygw").replace(BUILT)
    fresh.rmdir()
    return BUILT


@contextmanager
def running(folder: Path) -> Iterator[str]:
    """The address of a gateway on this folder."""
    port = _free_port()
    (folder / "objects").mkdir()
    (folder / "attributes").mkdir()
    options = ["--quiet", "--access", ACCESS, "--secret", SECRET, "--port", f"127.0.0.1:{port}"]
    command: list[str | Path] = [gateway(), *options, "posix", "--sidecar", folder / "attributes", folder / "objects"]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
    try:
        _wait(port, process, folder / "log")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(30)


def _wait(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(600):
        assert process.poll() is None, log.read_text()
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError(f"the gateway does not answer:\n{log.read_text()}")


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
