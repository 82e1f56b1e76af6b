"""Which address of the external network a floating IP has, asked of the cloud."""

from __future__ import annotations

from interlock.vocabulary.owners import OwnerId

from .actuators import ACTUATORS
from .clouds import Cloud
from .errors import Failure, Trouble
from .markers import marker


def public_address(cloud: Cloud, owner: OwnerId, project: str, entry: str) -> str:
    """The address of the floating IP of this plan name, in the project of that one; empty if it is not there.

    A marker counts in the stack's own project only: anybody may write one into a floating IP of another project.
    Raises `Failure` if two carry it, or if the cloud fails.
    """
    where = ACTUATORS["Project"].search(cloud, marker(owner, project), cloud.login.project)
    if len(where) != 1:
        return ""
    mark = marker(owner, entry)
    found = ACTUATORS["FloatingIp"].search(cloud, mark, where[0])
    if len(found) > 1:
        raise Failure(Trouble.CONFLICT, f"{len(found)} floating IPs carry {mark}", "run `interlock audit`")
    seen = ACTUATORS["FloatingIp"].read(cloud, found[0]) if found else None
    return "" if seen is None else str(seen.fields["address"])
