"""What things are called by: frozen values with one `parse` and one `str` each, and nothing that reads a file.

The lowest room: everything may use it, and it uses nothing. Text of an identity is taken apart here alone.
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
