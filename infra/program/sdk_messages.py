"""Debug messages of Pulumi's SDK, without what it registers.

The SDK puts the outputs of each component into its debug messages as they go over the wire, where a secret is marked
and not encrypted. `pulumi up --debug` and `--verbose 3` print these messages.
"""

from __future__ import annotations

from typing import Any

import pulumi

#: Where the registered values begin in such a message.
VALUES = "props="


def hide_values() -> None:
    """Cut the values off from now on. Calling it again changes nothing."""
    if getattr(pulumi.log.debug, "cuts_values", False):
        return
    said = pulumi.log.debug

    def debug(msg: str, *arguments: Any, **options: Any) -> None:
        said(shortened(msg), *arguments, **options)

    debug.cuts_values = True  # type: ignore[attr-defined]
    # The SDK looks the function up in its module at each call.
    pulumi.log.debug = debug


def shortened(message: str) -> str:
    """A message up to the values in it."""
    head, found, _ = message.partition(VALUES)
    return f"{head}{VALUES}[left out]" if found else message
