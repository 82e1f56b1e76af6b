"""Many processes that do the same thing at the same moment. They are forked from one that has imported it all."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from typing import Any

_PROCESSES = multiprocessing.get_context("forkserver")
#: What takes a second to import takes sixteen where each process does it.
_PROCESSES.set_forkserver_preload(["tests.together.stacks", "interlock.store.s3", "openstack.config"])


def together(action: Callable[..., Any], *arguments: tuple[Any, ...]) -> list[Any]:
    """What `action` returns in one process for each tuple of arguments, all started together."""
    start, answers = _PROCESSES.Barrier(len(arguments)), _PROCESSES.SimpleQueue()
    environment = dict(os.environ)
    processes = [
        _PROCESSES.Process(target=_run, args=(start, answers, number, environment, action, given))
        for number, given in enumerate(arguments)
    ]
    for process in processes:
        process.start()
    found = dict(answers.get() for _ in processes)
    for process in processes:
        process.join()
    return [found[number] for number in range(len(processes))]


def _run(
    start: Any, answers: Any, number: int, environment: dict[str, str], action: Callable[..., Any], given: Any
) -> None:
    # What all are forked from was started with the environment of another test.
    os.environ.clear()
    os.environ.update(environment)
    start.wait()
    try:
        answers.put((number, action(*given)))
    except Exception as error:
        answers.put((number, f"{type(error).__name__}: {error}"))
        raise
