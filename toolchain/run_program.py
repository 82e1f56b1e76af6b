"""Runs one Pulumi program for `language_host`: what `pulumi-language-python-exec` is to the official host.

`run_program.py [--preload]`, with the program as JSON on stdin. A process that was started ahead imports what this
project's program imports while it waits for that.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import json
import logging
import os
import runpy
import signal
import sys
import traceback
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import grpc
import pulumi
import pulumi.runtime

ALREADY_EXPLAINED = 32
"""Exit code for a failure that the user has been told about; `language_host` knows it."""

AHEAD = "infra.program.ahead"
"""Imports what this project's program needs; for any other nothing is imported ahead but the SDK."""

THREADS_PER_RESOURCE = 4
"""Threads for the SDK's blocking calls, per resource that may be in work at once; as in the official host."""


@dataclass(frozen=True)
class Program:
    """What to run, and the engine it belongs to."""

    program: str
    arguments: list[str]
    folder: str
    root: str
    project: str
    stack: str
    organization: str
    dry_run: bool
    parallel: int
    monitor: str
    engine: str
    config: dict[str, str]
    secret_keys: list[str]


def configure(program: Program) -> None:
    """Connect the SDK with the engine, and take over the stack's configuration."""
    # Where the official host puts it, and programs may look.
    os.environ["PULUMI_CONFIG"] = json.dumps(program.config)
    os.environ["PULUMI_CONFIG_SECRET_KEYS"] = json.dumps(program.secret_keys)
    pulumi.runtime.set_all_config(pulumi.runtime.get_config_env(), pulumi.runtime.get_config_secret_keys_env())
    pulumi.runtime.configure(
        pulumi.runtime.Settings(
            monitor=program.monitor,
            engine=program.engine,
            project=program.project,
            stack=program.stack,
            organization=program.organization,
            root_directory=program.root,
            parallel=program.parallel,
            dry_run=program.dry_run,
        )
    )


def run(program: Program) -> int:
    """Run the program within its stack, as if it had been started itself; returns the exit code."""
    os.chdir(program.folder)
    sys.argv = [program.program, *program.arguments]
    # When a program fails, futures stay unobserved; asyncio would print each below the one true message.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    loop.set_default_executor(ThreadPoolExecutor(max(program.parallel, 1) * THREADS_PER_RESOURCE))

    def body() -> None:
        runpy.run_path(program.program, run_name="__main__")

    try:
        loop.run_until_complete(pulumi.runtime.run_in_stack(body))
    except pulumi.RunError as error:
        _tell(str(error))
        return ALREADY_EXPLAINED
    except Exception:  # noqa: BLE001 - whatever a user's program raises is shown to the user
        _tell("Program failed with an unhandled exception:\n" + traceback.format_exc())
        return ALREADY_EXPLAINED
    return 0


def _tell(error: str) -> None:
    """Tell the engine; one that was interrupted twice is gone by now, and its user knows why."""
    with contextlib.suppress(grpc.RpcError):
        pulumi.log.error(error)


def preload() -> None:
    """Import what the program imports, without running it; another project's environment may not have it.

    Whatever goes wrong here goes wrong again when the program runs, and is told then.
    """
    with contextlib.suppress(Exception):
        importlib.import_module(AHEAD).import_all()


def main() -> int:
    """Run the program that stdin describes, in JSON; none if stdin ends before that."""
    if "--preload" in sys.argv[1:]:
        preload()
    document = sys.stdin.read()
    if not document:
        return 0
    # The host started this with SIGINT ignored, see there. From here it ends the process, as SIGTERM does, and
    # Python's handler would print a traceback of where the program stood.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    program = Program(**json.loads(document))
    configure(program)
    return run(program)


if __name__ == "__main__":
    sys.exit(main())
