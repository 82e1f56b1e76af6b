"""The provider plugin, where Pulumi looks for it."""

from __future__ import annotations

from pathlib import Path

from toolchain.layout import PLUGIN_VERSION, CheckoutLayout
from toolchain.making import write_executable


def ensure_plugin(layout: CheckoutLayout, pulumi_home: Path) -> bool:
    """Put the provider below `pulumi_home`; True if it was not there yet.

    There, and not on PATH: the engine warns on every run about a plugin that it finds on PATH.
    """
    folder = pulumi_home / "plugins" / f"resource-interlock-v{PLUGIN_VERSION}"
    # SIGINT, which the engine sends, is ignored until Python has a handler: before that it would print a traceback.
    script = f'#!/bin/sh\ntrap "" INT\nexec "{layout.python}" -P -m interlock.provider "$@"\n'
    return write_executable(folder / "pulumi-resource-interlock", script)
