"""What `ss -Hltn` would say in a controller's machine: the sockets of the simulated controller, and no others."""

from __future__ import annotations

from collections.abc import Iterable


def listed(endpoints: Iterable[tuple[str, int]]) -> str:
    """A line for each address and port, as ss(8) writes them."""
    return "".join(f"LISTEN 0      128    {_text(host)}:{port}    {_other(host)}:*\n" for host, port in endpoints)


def _text(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _other(host: str) -> str:
    return "[::]" if ":" in host else "0.0.0.0"
