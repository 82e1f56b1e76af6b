"""Several processes that do the same thing at the same moment."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from typing import Any

_PROCESSES = multiprocessing.get_context("spawn")


def race(action: Callable[..., Any], *arguments: tuple[Any, ...]) -> list[Any]:
    """What `action` returns in one process for each tuple of arguments, all started together."""
    start, answers = _PROCESSES.Barrier(len(arguments)), _PROCESSES.SimpleQueue()
    processes = [
        _PROCESSES.Process(target=_run, args=(start, answers, number, action, given))
        for number, given in enumerate(arguments)
    ]
    for process in processes:
        process.start()
    found = dict(answers.get() for _ in processes)
    for process in processes:
        process.join()
    return [found[number] for number in range(len(processes))]


def _run(start: Any, answers: Any, number: int, action: Callable[..., Any], given: tuple[Any, ...]) -> None:
    start.wait()
    try:
        answers.put((number, action(*given)))
    except Exception as error:
        answers.put((number, f"{type(error).__name__}: {error}"))
        raise
