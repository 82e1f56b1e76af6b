"""How UFM's REST interface behaves where sources disagree: three profiles, each a row of a table.

`nvcm` and `nico` are NVIDIA's own two simulators of UFM (nv-config-manager's mock server, infra-controller's `ufm`
mock); `documented` is what the REST guide and clients say of the real one. No live UFM was at hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

#: What a request for a partition that is not there is answered with: 404, or 200 with an empty object.
WhenAbsent = Literal["404", "empty"]


@dataclass(frozen=True)
class UfmProfile:
    """Behaviour of one version or simulator."""

    name: str
    #: Prefixes that it serves: under /ufmRest one logs in by password, under /ufmRestV3 by token.
    prefixes: tuple[str, ...]
    absent: WhenAbsent
    #: Status for `POST /resources/pkeys/add` of a key that is there.
    duplicate: int
    #: True if a GUID that is not in the subnet is refused with 404; otherwise it is taken.
    refuses_unknown_guids: bool
    #: True if POST heeds `memberships`; otherwise everybody is made full.
    post_heeds_memberships: bool
    #: True if the default partition, called `management`, is in lists.
    lists_default: bool
    #: True if links say the names of both their ports; the REST guides of releases before 6.20 have one name for both.
    names_ports_of_links: bool = True
    release: str = "6.23.1-6"


DOCUMENTED = UfmProfile("documented", ("/ufmRest", "/ufmRestV3"), "404", 400, False, True, lists_default=True)
NVCM = UfmProfile(
    "nvcm", ("/ufmRest",), "404", 409, False, False,
    lists_default=False, names_ports_of_links=False, release="6.19.4-1",
)  # fmt: skip
NICO = UfmProfile("nico", ("/ufmRestV3",), "empty", 409, True, False, lists_default=True)

#: By name.
PROFILES = {profile.name: profile for profile in (DOCUMENTED, NVCM, NICO)}
