"""Debug messages of Pulumi's SDK, which no run needs to send.

For each resource the SDK tells the engine four times what it is doing and waits for the answer each time: 218 calls for
a tenant of 47 resources. Some hold the outputs of components as they go over the wire, where a secret is marked and not
encrypted. `pulumi up --debug` goes on to show what the engine and the provider say.
"""

from __future__ import annotations

from typing import Any

import pulumi


def silence_sdk() -> None:
    """Send none of them from now on. Calling it again changes nothing."""
    # The SDK looks the function up in its module at each call.
    pulumi.log.debug = _unsaid


def _unsaid(*_message: Any, **_options: Any) -> None:
    """In place of `pulumi.log.debug`."""
