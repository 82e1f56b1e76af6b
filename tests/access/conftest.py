"""Three servers with a real sshd, of two tenants, for each process that runs these tests."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from .authorities import Signer, key_pair, signer
from .servers import RealServer, real_server, ssh_files


@dataclass(frozen=True)
class Hall:
    """acme with two vPODs, globex with one; and a folder for keys."""

    acme: Signer
    globex: Signer
    train: RealServer
    serve: RealServer
    strangers: RealServer
    keys: Path
    #: A key of somebody's.
    anne: Path


@pytest.fixture(scope="session")
def hall() -> Iterator[Hall]:
    """Without root or sshd an error names the line to run."""
    # Not pytest's folder: that is below one which only root may pass, and sshd reads as the account.
    with tempfile.TemporaryDirectory(prefix="interlock-logins-") as made, ExitStack() as running:
        folder = Path(made)
        acme, globex = signer(folder / "ca-acme", "acme"), signer(folder / "ca-globex", "globex")
        documents = acme.user_data()
        wanted = {
            "train": documents["train"],
            "serve": documents["serve"],
            "strangers": globex.user_data()["train"],
        }
        servers = {
            name: running.enter_context(real_server(folder / name, ssh_files(document)))
            for name, document in wanted.items()
        }
        yield Hall(acme=acme, globex=globex, keys=folder / "keys", anne=key_pair(folder / "keys", "anne"), **servers)
