"""Identities and references: frozen values with one `parse` and one `str` each, and nothing that reads a file.

The lowest package: everything may use it, and it uses nothing. Only here is the text of an identity parsed.
"""

from .claimants import Claimant
from .errors import InterlockError
from .references import Reference, Scheme
from .roles import CLAIMS_OF, ROLE_OF, NetworkRole, RoleClaims
from .segments import Overlay, Segment, Vlan
from .stacks import StackName

__all__ = [
    "CLAIMS_OF",
    "ROLE_OF",
    "Claimant",
    "InterlockError",
    "NetworkRole",
    "Overlay",
    "Reference",
    "RoleClaims",
    "Scheme",
    "Segment",
    "StackName",
    "Vlan",
]
