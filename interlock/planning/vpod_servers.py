"""Poplar servers that run on hypervisors, each pinned to its host, with virtual functions on the fabric."""

from __future__ import annotations

from interlock.model.site.inventory import Site
from interlock.model.tenant.request import Volumes
from interlock.resources import Port, Server, StoredCredential, Volume, VolumeAttachment
from interlock.vocabulary import NetworkRole, Reference

from .addresses import poplar_address
from .guest import poplar_user_data
from .plan_builder import PlanBuilder
from .public_servers import is_public, write_floating_ip
from .scope import VPodScope, access_name, is_encrypted, private_flavors, s3_key_name
from .share_mounts import guest_shares
from .vpod_guest import S3_KEYS, fetched, guest_volumes, mounts_of, own_volume, shares_of, vipu_api


def write_poplar_server(scope: VPodScope, builder: PlanBuilder, index: int) -> None:
    """Write down one server with its ports and its volume."""
    name = builder.component(scope.server(index), "PoplarServer", parent=scope.name())
    poplar, claims = scope.vpod.poplar, scope.claims
    ports = (
        _write_direct_port(scope, builder, NetworkRole.IPU_DATA, poplar_address(claims.ipu_data_subnet, index), name),
        _write_direct_port(scope, builder, NetworkRole.STORAGE, poplar_address(claims.storage_subnet, index), name),
        _write_control_port(scope, builder, index, name),
    )
    if poplar.volume is not None:
        write_own_volume(scope.site, scope.project, name, poplar.volume, builder)
    server = Server(
        name=name, project=scope.project, flavor=Reference.site("Flavor", poplar.flavor),
        image=Reference.site("Image", poplar.image), host=claims.hosts[index], keypair=scope.keypair, ports=ports,
        user_data=poplar_user_data(
            name, vipu_api(scope, index), volumes=guest_volumes(scope, index), login=scope.login_files,
            secrets=fetched(scope), shares=guest_shares(mounts_of(scope)),
        ),
        shares=shares_of(scope),
    )  # fmt: skip
    private = poplar.flavor in private_flavors(scope.site, scope.tenant)
    builder.add(name, server, after=(access_name(scope.tenant, poplar.flavor),) if private else ())
    if is_public(scope, index):
        write_floating_ip(scope, builder, name, NetworkRole.CONTROL)
    if poplar.volume is not None:
        attachment = VolumeAttachment(project=scope.project, server=name, volume=own_volume(name))
        builder.add(f"{name}-attachment", attachment)
    if S3_KEYS in fetched(scope):
        key = s3_key_name(scope.name("s3"), scope.vpod.s3_keys[-1])
        handed = StoredCredential(project=scope.project, credential=key, place=name, item=S3_KEYS)
        builder.add(f"{name}-s3-keys", handed)


def write_own_volume(site: Site, project: str, server: str, asked: Volumes, builder: PlanBuilder) -> None:
    """Write down the volume of one server, which is there without it, too."""
    volume = Volume(
        name=own_volume(server), project=project, size_gib=asked.size_gib,
        volume_type=Reference.site("VolumeType", asked.volume_type), on_delete=asked.on_delete,
        encrypted=is_encrypted(site, asked),
    )  # fmt: skip
    builder.add(own_volume(server), volume)


def _write_direct_port(scope: VPodScope, builder: PlanBuilder, part: NetworkRole, address: str, server: str) -> str:
    """A virtual function. Security groups do nothing there, so it names none: the VLAN is the isolation."""
    network = scope.name(part)
    port = Port(
        name=f"{server}-{part}", project=scope.project, network=network, subnet=f"{network}-subnet",
        address=address, vnic_type="direct",
    )  # fmt: skip
    return builder.add(port.name, port)


def _write_control_port(scope: VPodScope, builder: PlanBuilder, index: int, server: str) -> str:
    network = scope.name(NetworkRole.CONTROL)
    port = Port(
        name=f"{server}-control", project=scope.project, network=network, subnet=f"{network}-subnet",
        address=poplar_address(scope.claims.control_subnet, index),
        security_groups=(scope.public_group if is_public(scope, index) else scope.name("poplar-ssh"),),
    )  # fmt: skip
    return builder.add(port.name, port)
