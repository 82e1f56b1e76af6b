"""What servers mount of shares, in the plan's text: their line of fstab, but for the path that only Manila knows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from interlock.planning.share_mounts import ShareMount

#: Stands for the output `export_path` of a share, which is known once the share is made.
PATH = "EXPORT_PATH"


def mount_lines(mounts: Mapping[str, Sequence[ShareMount]]) -> Iterator[str]:
    """Two lines for each share of each vPOD: where its servers have the path from, and the line that they write."""
    for vpod, found in mounts.items():
        for item in found:
            yield f"  {vpod}: {item.share}, {PATH} is its output `export_path`, which its servers are told"
            yield f"    {item.fstab(PATH)}"
