"""What things are called by: frozen values with one `parse` and one `str` each, and nothing that reads a file.

The lowest room: everything may use it, and it uses nothing. Text of an identity is taken apart here alone.
"""

from .roles import CLAIMS_OF, NetworkRole, RoleClaims

__all__ = ["CLAIMS_OF", "NetworkRole", "RoleClaims"]
