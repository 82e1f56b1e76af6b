"""Identities and references: frozen values with one `parse` and one `str` each, and nothing that reads a file.

The lowest package: everything may use it, and it uses nothing. Only here is the text of an identity parsed.
"""

from .claimants import Claimant, ClaimsId
from .errors import InterlockError
from .fingerprints import CloudFingerprint
from .partition_keys import SubnetKey
from .persons import Person
from .positions import Position
from .references import CloudId, ExistingObject, Reference, Scheme
from .roles import CLAIMS_OF, ROLE_OF, NetworkRole, RoleClaims
from .routing_instances import RoutingInstance
from .segments import Overlay, Segment, Vlan
from .stacks import StackName

__all__ = [
    "CLAIMS_OF",
    "ROLE_OF",
    "Claimant",
    "ClaimsId",
    "CloudFingerprint",
    "CloudId",
    "ExistingObject",
    "InterlockError",
    "NetworkRole",
    "Overlay",
    "Person",
    "Position",
    "Reference",
    "RoleClaims",
    "RoutingInstance",
    "Scheme",
    "Segment",
    "StackName",
    "SubnetKey",
    "Vlan",
]
