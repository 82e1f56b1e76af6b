"""Colour on a terminal, and nowhere else: never in a file or a pipe, and never where NO_COLOR is set."""

from __future__ import annotations

import os
import sys

BOLD, DIM, RED, GREEN, YELLOW = "1", "2", "31", "32", "33"


def wanted() -> bool:
    """True if stdout is a terminal that shall have colour."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def painted(text: str, style: str, colour: bool) -> str:
    """The text in an ANSI style if `colour`, else as it is."""
    return f"\033[{style}m{text}\033[0m" if colour and text else text
