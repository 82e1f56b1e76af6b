"""What the supervisor says when it cannot go on."""

from pathlib import Path

TAIL_LINES = 12


class SandboxError(Exception):
    """The environment failed: says what, why, and what to do next. Ends the command with exit code 4."""


def tail(path: Path, lines: int = TAIL_LINES) -> str:
    """The last lines of a log file, indented for a message; says so when there is nothing."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:]
    except FileNotFoundError:
        text = []
    return "\n".join(f"    {line}" for line in text) or "    (nothing was written)"


def with_log(message: str, *paths: Path) -> SandboxError:
    """An error that names log files and quotes the last lines of each."""
    quotes = [f"  log: {path}\n  its last lines:\n{tail(path)}" for path in paths]
    return SandboxError("\n".join([message, *quotes]))
