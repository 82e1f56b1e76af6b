"""The Versity S3 gateway for tests: a real server on a folder, with accounts of its own.

An account is an access key here, and nothing else: the policies of buckets name access keys.
"""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config

from toolchain.layout import CheckoutLayout
from toolchain.versity import ensure_versity, release_of

#: The root account of every gateway of tests.
ACCESS, SECRET = "claims", "no-secret"
REGION = "us-east-1"
STYLE = Config(signature_version="s3v4", s3={"addressing_style": "path"}, request_checksum_calculation="when_required")


@dataclass(frozen=True)
class Versity:
    """A running gateway."""

    program: Path
    endpoint: str

    @property
    def release(self) -> str:
        """What the program says of itself, such as `versitygw v1.8.0`."""
        return f"versitygw {release_of(self.program)}"

    def s3(self, access: str = ACCESS, secret: str = SECRET) -> Any:
        """An S3 client with this key; the root account's without one."""
        return s3_at(self.endpoint, access, secret, REGION)

    def add_account(self, access: str, secret: str, role: str = "userplus") -> None:
        """An account. Role `user` uses buckets, `userplus` makes them, too."""
        self._admin("create-user", "--access", access, "--secret", secret, "--role", role)

    def drop_account(self, access: str) -> None:
        """The account is gone, and its key with it."""
        self._admin("delete-user", "--access", access)

    def give(self, bucket: str, access: str) -> None:
        """Another account owns the bucket."""
        self._admin("change-bucket-owner", "--bucket", bucket, "--owner", access)

    def _admin(self, *words: str) -> None:
        environment = {
            **os.environ,
            "ADMIN_ACCESS_KEY_ID": ACCESS,
            "ADMIN_SECRET_ACCESS_KEY": SECRET,
            "ADMIN_REGION": REGION,
            "ADMIN_ENDPOINT_URL": self.endpoint,
        }
        done = subprocess.run(
            [self.program, "admin", *words], env=environment, capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0, f"versitygw admin {words[0]}: {done.stderr or done.stdout}"


def s3_at(endpoint: str, access: str, secret: str, region: str) -> Any:
    """An S3 client of a test: bucket names stand in the path, and each call is tried once."""
    return boto3.client(
        "s3", endpoint_url=endpoint, aws_access_key_id=access, aws_secret_access_key=secret, region_name=region,
        config=STYLE.merge(Config(retries={"mode": "standard", "total_max_attempts": 1})),
    )  # fmt: skip


@contextmanager
def running(folder: Path) -> Iterator[Versity]:
    """A gateway that keeps objects, older versions, attributes and accounts in this folder."""
    program = ensure_versity(CheckoutLayout.here(), os.environ.get("PATH", ""))
    port = _free_port()
    for name in ("objects", "attributes", "versions", "accounts"):
        (folder / name).mkdir()
    options: list[str | Path] = ["--quiet", "--port", f"127.0.0.1:{port}", "--region", REGION]
    # The cache would keep a key alive for two minutes after its account is gone.
    options += ["--iam-dir", folder / "accounts", "--iam-cache-disable"]
    storage: list[str | Path] = ["--sidecar", folder / "attributes", "--versioning-dir", folder / "versions"]
    command = [program, *options, "posix", *storage, folder / "objects"]
    environment = {**os.environ, "ROOT_ACCESS_KEY_ID": ACCESS, "ROOT_SECRET_ACCESS_KEY": SECRET}
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
    try:
        _wait(port, process, folder / "log")
        yield Versity(program, f"http://127.0.0.1:{port}")
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
