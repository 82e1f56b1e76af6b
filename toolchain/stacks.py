"""The committed stacks on the default, local backend: made where they are missing, mended after a kill."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from toolchain.layout import CheckoutLayout
from toolchain.making import exclusive
from toolchain.missing import MachineLacks
from toolchain.progress import say
from toolchain.pulumi_cli import Pulumi

PROJECT = "clusters"


def ensure_stacks(layout: CheckoutLayout, pulumi: Pulumi, values: Mapping[str, str]) -> list[str]:
    """Make the stacks of `stacks/Pulumi.<stack>.yaml` that the default backend lacks; which ones.

    Another backend is the user's own: which stacks exist there is not ours to decide.
    """
    if values["PULUMI_BACKEND_URL"] != f"file://{layout.state}":
        return []
    if not _missing(layout):
        return []
    with exclusive(layout.lock):
        # Asked again: whoever held the lock may have made them.
        missing = _missing(layout)
        for stack in missing:
            _init(layout, pulumi, values, stack)
    return missing


def mend_stacks(layout: CheckoutLayout, values: Mapping[str, str]) -> None:
    """Let `interlock unlock` look at each stack that a killed run may have left locked or in the middle."""
    for stack in interrupted(layout):
        command = [str(layout.python), "-P", "-m", "infra.cli", "unlock", stack]
        subprocess.run(command, env={**os.environ, **values}, check=False)


def committed(layout: CheckoutLayout) -> Iterator[str]:
    """Names of the stacks whose configuration is in the repository."""
    for path in sorted((layout.root / "stacks").glob("Pulumi.*.yaml")):
        yield path.name.removeprefix("Pulumi.").removesuffix(".yaml")


def _missing(layout: CheckoutLayout) -> list[str]:
    """Committed stacks without a state file on the default backend."""
    return [stack for stack in committed(layout) if not checkpoint(layout, stack).exists()]


def interrupted(layout: CheckoutLayout) -> list[str]:
    """Stacks with a lock on the default backend, or with operations that never ended."""
    locked = {path.parent.name for path in layout.state.glob(f".pulumi/locks/**/{PROJECT}/*/*.json")}
    pending = {stack for stack in committed(layout) if _has_pending(checkpoint(layout, stack))}
    return sorted(locked | pending)


def checkpoint(layout: CheckoutLayout, stack: str) -> Path:
    """State file of a stack on the default backend."""
    return layout.state / ".pulumi" / "stacks" / PROJECT / f"{stack}.json"


def _has_pending(path: Path) -> bool:
    """Read as text: the key is there only while operations are pending, and states can be large."""
    return path.exists() and '"pending_operations"' in path.read_text()


def _init(layout: CheckoutLayout, pulumi: Pulumi, values: Mapping[str, str], stack: str) -> None:
    command = [str(pulumi.executable), "stack", "init", stack, "--no-select", "--non-interactive"]
    done = subprocess.run(
        command, cwd=layout.root, env={**os.environ, **values}, check=False, capture_output=True, text=True
    )
    if done.returncode:
        raise MachineLacks(f"stack {stack} could not be made: {done.stderr.strip()}")
    say(f"stack {stack} made on the local backend")
