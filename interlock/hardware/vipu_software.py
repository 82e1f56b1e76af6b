"""Which releases of V-IPU and of the Poplar SDK belong together, as far as a public source says it.

Compared are major and minor numbers: patches change no protocol that anybody wrote down.
"""

from __future__ import annotations

from .facts import Fact, practice, primary
from .gpu.software import numbers

#: From this release on users are asked for keys unless told otherwise; before, only with `--secure`.
ASKS_FOR_KEYS: Fact[tuple[int, int]] = primary((1, 18), "", "Graphcore, V-IPU administrator guide, users")

_IMAGES = "Gcore, clients and answers of its cloud API: images with vipu_version 1.18.0 and sdk_version 3.0.0"
#: V-IPU -> releases of the Poplar SDK that were seen with it in one image.
SDKS: dict[tuple[int, int], Fact[frozenset[tuple[int, int]]]] = {
    (1, 18): practice(frozenset({(3, 0)}), "", _IMAGES),
}


def minor_of(release: str) -> tuple[int, int] | None:
    """Major and minor number; None of a release that does not say both."""
    found = numbers(release)
    return (found[0], found[1]) if len(found) > 1 else None


def are_known_together(vipu: str, sdk: str) -> bool:
    """True if a source has this V-IPU and this SDK in one image. That none has says nothing against them."""
    server, client = minor_of(vipu), minor_of(sdk)
    return server in SDKS and client in SDKS[server].value
