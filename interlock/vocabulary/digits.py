"""Numbers as text: ASCII digits alone. Python takes `\u0663` for 3 as well, and services and switches do not."""

from __future__ import annotations


def is_number(text: str) -> bool:
    """True of one or more of the digits 0 to 9 and nothing else: what `int` reads as a reader does."""
    return text.isascii() and text.isdecimal()
