"""Compiles what a fresh clone has not compiled, and rewrites assertions, once before processes would each do it.

All processes of a run import the same files at the same moment, and each would compile them for itself.
"""

from __future__ import annotations

import importlib.util
import os
import py_compile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from _pytest.assertion import rewrite

ROOT = Path(__file__).resolve().parents[2]
#: Folders with modules that tests import.
FOLDERS = ("benchmarks", "components", "infra", "interlock", "policies", "sandbox", "tests", "toolchain")


def modules(folder: Path) -> list[Path]:
    """All modules below a folder's `FOLDERS`, in an order that is always the same."""
    return sorted(path for name in FOLDERS for path in (folder / name).rglob("*.py"))


def kept_at(path: Path) -> Path:
    """Where its compiled form is kept: that of a test is another one, pytest's."""
    if is_rewritten(path):
        return rewrite.get_cache_dir(path) / f"{path.stem}{rewrite.PYC_TAIL}"
    return Path(importlib.util.cache_from_source(str(path)))


def is_rewritten(path: Path) -> bool:
    """True for a file whose assertions pytest rewrites."""
    return path.name == "conftest.py" or path.name.startswith("test_")


def is_stale(path: Path) -> bool:
    """True unless something newer than the file is kept. A wrong guess costs time, and nothing else."""
    try:
        kept = kept_at(path)
    except AttributeError:
        # Another release of pytest, which calls it otherwise: each process rewrites the file for itself, as usual.
        return False
    return not kept.exists() or kept.stat().st_mtime < path.stat().st_mtime


def compile_stale(config: pytest.Config, paths: Sequence[Path]) -> int:
    """Compile those that are stale, on all cores. Returns how many; what cannot be compiled its import will tell."""
    stale, children = [path for path in paths if is_stale(path)], list[int]()
    cores = os.cpu_count() or 1
    for number in range(cores if stale else 0):
        child = os.fork()
        if child == 0:
            try:
                for path in stale[number::cores]:
                    with suppress(Exception):
                        _compile(config, path)
            finally:
                os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    return len(stale)


def _compile(config: pytest.Config, path: Path) -> None:
    if not is_rewritten(path):
        py_compile.compile(str(path), doraise=True)
        return
    kept = kept_at(path)
    rewrite.try_makedirs(kept.parent)
    source, code = rewrite._rewrite_test(path, config)
    rewrite._write_pyc(config.stash[rewrite.assertstate_key], code, source, kept)
