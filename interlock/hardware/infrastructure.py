"""Nodes of the operator that the reference design counts: controllers, storage, control plane, deployment."""

from __future__ import annotations

from dataclasses import dataclass

from .facts import Fact, derived, primary

_CONTENTS = "Graphcore, OpenStack reference design, 3.2 physical installation, infrastructure"


@dataclass(frozen=True)
class InfrastructureRole:
    """What a node of the operator is for, and how many of it the design has (`per` what)."""

    name: str
    per: str
    count: Fact[int]
    #: Networks that it must reach, in the words of the reference design.
    reaches: Fact[tuple[str, ...]]


#: Every role of the operator's own nodes.
INFRASTRUCTURE = {
    role.name: role
    for role in (
        InfrastructureRole(
            "vipu-controller",
            "vPOD",
            primary(1, "", "Graphcore, OpenStack reference design, overview: each vPOD has its own controller"),
            primary(
                ("ipum-mgmt", "control", "operator-ssh"),
                "",
                "Graphcore, OpenStack reference design, 8.1: reaches BMC and IPU-Gateway ports",
            ),
        ),
        InfrastructureRole(
            "openstack-control",
            "cloud",
            primary(3, "", f"{_CONTENTS}: OpenStack control nodes"),
            derived(("internal-api", "tunnel"), "", "what OpenStack's services talk over"),
        ),
        InfrastructureRole(
            "ceph",
            "cloud",
            primary(5, "", f"{_CONTENTS}: Ceph nodes"),
            primary(("ceph-public", "ceph-cluster"), "", "Graphcore, OpenStack reference design, 6.2: over 100G"),
        ),
        InfrastructureRole(
            "deployment",
            "cloud",
            primary(2, "", f"{_CONTENTS}: seed node and Ansible control node"),
            derived(("provisioning",), "", "from where the nodes are installed"),
        ),
    )
}
