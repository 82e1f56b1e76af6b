"""What a person does with commands that `interlock break-glass plan` printed: they are pasted into a shell."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable

from infra.program.places import OPENSTACK


def paste(commands: Iterable[str], **variables: str) -> str:
    """Run the lines, word for word, and return what they say; the `openstack` client is on the PATH."""
    lines, path = list(commands), f"{OPENSTACK.parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-eu", "-c", "\n".join(lines)], env=os.environ | {"PATH": path} | variables,
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, f"{lines}:\n{done.stdout}{done.stderr}"
    return done.stdout
