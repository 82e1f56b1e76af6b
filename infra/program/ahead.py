"""What a process can import before it is told which stack its program is for."""

from __future__ import annotations

import infra.__main__  # noqa: F401 - for what it imports
from interlock.garbage import collect_seldom

from .passphrase import cloud_reader, is_demo_passphrase


def import_all() -> None:
    """Import what every run needs, and what this environment's runs need besides."""
    collect_seldom()
    if is_demo_passphrase():
        cloud_reader()
