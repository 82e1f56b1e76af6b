"""`python -m tests.kills.zygote`: has imported the provider, and forks one for every line on stdin.

The imports take seconds and a fork takes milliseconds, so every point of the matrix can have a provider process of its
own that really dies. A line is the path of the file that takes the new process's stderr; the answer on stdout is a line
with its process id and its port.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import sys
import tempfile
import warnings
from datetime import timedelta
from pathlib import Path

import asyncssh
import boto3
from keystoneauth1.loading import get_plugin_loader
from openstack.config import OpenStackConfig

from interlock.provider.actuators.stored_credential import StoredCredentialActuator
from interlock.provider.serving import serve
from interlock.vipu import client, loading, own_folder

#: What the provider imports when it first needs it: once here, not in every child.
LATE = (asyncssh, boto3, OpenStackConfig, client, loading)


def main() -> None:
    """Forks until stdin ends."""
    # Looks through all that is installed for kinds of login, which is kept.
    get_plugin_loader("password")
    # Nobody asks how a child ended: the kernel clears it away.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    # What waits for a server does not expire while a long run, which takes hours, compares what is there.
    StoredCredentialActuator.LASTS = timedelta(days=3)
    # Where a test looks for what a killed command left, and not where all of the machine's commands leave it.
    own_folder.MEMORY = Path(tempfile.gettempdir())
    for line in iter(sys.stdin.readline, ""):
        if os.fork() == 0:
            _provide(line.strip())


def _provide(errors: str) -> None:
    """As `interlock.provider.__main__` does, and never back into the loop."""
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(os.open(errors, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
        logging.basicConfig(stream=sys.stderr, level=logging.ERROR)
        warnings.simplefilter("ignore")
        sys.stdout.write(f"{os.getpid()} ")
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(serve(sys.stdout))
    finally:
        os._exit(1)


if __name__ == "__main__":
    main()
