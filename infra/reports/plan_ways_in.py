"""Who gets in to a tenant's servers from outside, as lines for people."""

from __future__ import annotations

from collections.abc import Iterator

from interlock.planning.ways_in import NAME_THEM, WaysIn, why_nobody


def ways_lines(found: WaysIn) -> list[str]:
    """A line for each public server, or that nobody gets in and what to do; none without virtual servers."""
    nobody = why_nobody(found)
    return [f"  {nobody}", f"  next: {NAME_THEM}"] if nobody else list(_servers(found))


def _servers(found: WaysIn) -> Iterator[str]:
    through = f", through {found.bastion.host}" if found.bastion is not None else ""
    for way in found.servers:
        yield f"  {way.server}: ssh from {', '.join(way.prefixes)}{through}"
