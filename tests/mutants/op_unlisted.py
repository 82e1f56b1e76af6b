"""Operators on what nobody lists: tables of a device that are not declared complete, so that more may be there."""

from __future__ import annotations

from random import Random

from interlock.model.site.completeness import Table
from interlock.model.site.physical import Switch
from policies import Verdict
from tests.builders.completeness import declared_complete
from tests.mutants.operator import Operator, across, fabric, in_hall_of, leaf, pick, virtual
from tests.mutants.workspaces import Workspace


def _undeclared(space: Workspace, table: Table, device: str) -> Workspace:
    """Nobody says any more that a table holds all of a device."""
    declared = (
        item.model_copy(update={"devices": tuple(name for name in item.devices if name != device)})
        if item.table == table
        else item
        for item in space.site.complete
    )
    return space.with_site(complete=tuple(item for item in declared if item.devices))


def cables_of_a_leaf(space: Workspace, rng: Random) -> Workspace | None:
    pod = rng.choice(space.vpods)
    return _undeclared(space, "cables", leaf(space, pod)).asking(pod.tenant)


def way_out_of_a_leaf(space: Workspace, rng: Random) -> Workspace | None:
    pod = rng.choice(space.vpods)
    return _undeclared(space, "external_attachments", leaf(space, pod)).asking(pod.tenant)


def interfaces_of_a_hypervisor(space: Workspace, rng: Random) -> Workspace | None:
    pod = pick(rng, virtual(space))
    return None if pod is None else _undeclared(space, "attachments", pod.claims.hosts[0]).asking(pod.tenant)


def plugs_of_a_machine(space: Workspace, rng: Random) -> Workspace | None:
    pod = rng.choice(space.vpods)
    return _undeclared(space, "attachments", rng.choice(pod.claims.machines)).asking(pod.tenant)


def networks_beside_a_vpods(space: Workspace, rng: Random) -> Workspace | None:
    """On the wires of its leaf; that of its management stays declared, or ISO-05 would be told first."""
    pod = rng.choice(space.vpods)
    reached = [item.name for item in space.site.physical_networks if leaf(space, pod) in item.switches]
    return _undeclared(space, "networks", rng.choice(reached)).asking(pod.tenant) if reached else None


def networks_on_a_filled_trunk(space: Workspace, rng: Random) -> Workspace | None:
    """A leaf passes a VLAN on to another hall, where Neutron fills the link with networks that nobody lists."""
    found = across(space, rng)
    if found is None:
        return None
    one, other, (near, far) = found
    there, vlan = in_hall_of(space, far), one.claims.ipu_data_vlan
    if any(pod.tenant == one.tenant or vlan in (pod.claims.ipu_data_vlan, pod.claims.storage_vlan) for pod in there):
        return None
    linked = space.with_port(near, 32, tagged=((vlan, vlan),)).with_port(far, 33, tagged=(), filled_by="neutron")
    return _undeclared(linked, "networks", fabric(space, other).name).asking(one.tenant)


def members_of_projects(space: Workspace, rng: Random) -> Workspace | None:
    return _undeclared(space, "members", space.site.domain).asking(rng.choice(space.tenants))


def switch_on_its_own(space: Workspace, rng: Random) -> Workspace | None:
    """Of another room's switch, with no VLAN and no cable, nobody says that all is listed."""
    spare = Switch.model_validate(
        {
            "name": "spare", "serial": "S9spare", "model": "arista-7060x", "role": "tor", "port_groups": ((100, 48),),
            "ports": (), "routed_vlans": (), "ip_routing": False,
        }
    )  # fmt: skip
    site = declared_complete(space.site)
    found = space.with_site(switches=(*site.switches, spare))
    return _undeclared(found, "external_attachments", "spare").asking(rng.choice(space.tenants))


UNLISTED = (
    Operator(
        "unlisted-cables", "a leaf with tenants' VLANs of which nobody says that all cables are listed",
        cables_of_a_leaf, switch_on_its_own, "ISO-03", ("ISO-01", "ISO-11"), Verdict.NOT_PROVABLE,
    ),
    Operator(
        "unlisted-way-out", "a leaf with tenants' VLANs that the external network may be attached to, too",
        way_out_of_a_leaf, switch_on_its_own, "ISO-03", ("ISO-01", "ISO-11"), Verdict.NOT_PROVABLE,
    ),
    Operator(
        "unlisted-interfaces", "a hypervisor that may have more interfaces",
        interfaces_of_a_hypervisor, switch_on_its_own, "ISO-03", ("ISO-01", "ISO-11"), Verdict.NOT_PROVABLE,
    ),
    Operator(
        "unlisted-plugs", "a machine that may be plugged in elsewhere, too",
        plugs_of_a_machine, switch_on_its_own, "ISO-05", ("ISO-02",), Verdict.NOT_PROVABLE,
    ),
    Operator(
        "unlisted-networks", "a cloud that may have a network of its own in the VLANs of a leaf",
        networks_beside_a_vpods, switch_on_its_own, "ISO-03", ("ISO-01", "ISO-11"), Verdict.NOT_PROVABLE,
    ),
    Operator(
        "unlisted-on-trunk", "a trunk that a driver fills with networks that no plan tells of",
        networks_on_a_filled_trunk, switch_on_its_own, "ISO-03", ("ISO-01", "ISO-11"), Verdict.NOT_PROVABLE,
    ),
    Operator(
        "unlisted-members", "a cloud in which somebody may be in a project whom no plan tells of",
        members_of_projects, switch_on_its_own, "AUTH-01", ("ISO-05", "ISO-03", "ISO-02", "ISO-11"),
        Verdict.NOT_PROVABLE,
    ),
)  # fmt: skip
