"""A small site and a small tenant that hold every kind, with names and ids of their own.

external (VLAN) ── t-router ── t-control (VXLAN) ── t-port-control ─┐  t-entry leads to it from outside
                               t-data (VLAN) ─┬──── t-port-data ────┴─ t-server ── t-volume
                                              ├──── t-rnic (a port of tor-1)
                                              └──── t-port-metal ── t-metal (a whole host behind another)
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from interlock.resources import (
    AddressScope,
    Aggregate,
    BareMetalLeg,
    BareMetalServer,
    Bucket,
    Flavor,
    FlavorAccess,
    FloatingIp,
    Image,
    Keypair,
    Network,
    Port,
    Project,
    Quota,
    Resource,
    Role,
    RoleAssignment,
    Router,
    RouterInterface,
    S3Credential,
    SecurityGroup,
    SecurityGroupRule,
    SegmentRange,
    Server,
    ServiceUser,
    Share,
    ShareAccess,
    ShareQuota,
    ShareType,
    StoredCredential,
    Subnet,
    SubnetPool,
    SwitchPort,
    Volume,
    VolumeAttachment,
    VolumeEncryption,
    VolumeType,
)

DATA = b"an image of no operating system" * 64
SHA512 = hashlib.sha512(DATA).hexdigest()
FILE = "machine.raw"
#: Of all whole hosts of these tenants.
RESOURCE_CLASS = "poplar-r6525"
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKxvgn9bgTZnHqg9VpN7Ug0w2qfVHzzG0p8Vh5Zyq4Xs demo"

#: Of the embedded cloud's back end without share servers, which stands for an appliance with addresses of its own.
SHARE_SPECS = {"driver_handles_share_servers": "False", "share_backend_name": "flat"}

SSH = SecurityGroupRule(direction="ingress", protocol="tcp", port_min=22, port_max=22, remote_prefix="198.51.100.0/24")
OUT = SecurityGroupRule(direction="egress")
#: How volumes of the site's type are encrypted.
LUKS = VolumeEncryption(provider="luks", cipher="aes-xts-plain64", key_size=256, control_location="front-end")


def among(group: str) -> SecurityGroupRule:
    """Whoever has a port in a security group may call."""
    return SecurityGroupRule(direction="ingress", protocol="tcp", port_min=9000, port_max=9009, remote_group=group)


def site_folder(folder: Path) -> Path:
    """A folder that holds the image's file."""
    (folder / FILE).write_bytes(DATA)
    return folder


def site(s: str, vlan: int) -> dict[str, Resource]:
    """The operator's objects; `s` is part of every name on the cloud."""
    return {
        "controllers": Project(name=f"{s}-controllers", description="Controllers"),
        "controllers-operator": operator("controllers"),
        "s3_service": Role(name=f"{s}-s3", description="Object storage"),
        "range": SegmentRange(name=f"{s}-range", network_type="vxlan", minimum=vlan + 30000, maximum=vlan + 30009),
        "external-scope": AddressScope(name=f"{s}-scope"),
        "external-pool": SubnetPool(name=f"{s}-pool", address_scope="external-scope", prefixes=("203.0.113.0/24",)),
        "external": Network(
            name=f"{s}-external",
            network_type="vlan",
            physical_network="external",
            segmentation_id=vlan,
            external=True,
        ),
        "external-subnet": Subnet(
            name=f"{s}-external",
            network="external",
            cidr="203.0.113.0/24",
            gateway="203.0.113.1",
            dhcp=False,
            pools=(("203.0.113.10", "203.0.113.200"),),
            subnet_pool="external-pool",
        ),
        "poplar": Flavor(
            name=f"{s}-poplar",
            vcpus=4,
            ram_mib=2048,
            disk_gib=5,
            extra_specs={
                "hw:cpu_policy": "dedicated",
                "hw:mem_page_size": "1GB",
                "hw:numa_nodes": "1",
                "hw:pci_numa_affinity_policy": "preferred",
            },
        ),
        "poplar-gpu": Flavor(name=f"{s}-gpu", vcpus=4, ram_mib=2048, disk_gib=5, public=False),
        "whale": Flavor(name=f"{s}-whale", vcpus=4000, ram_mib=2048, disk_gib=5),
        "machine": Image(name=f"{s}-machine", file=FILE, sha512=SHA512),
        "fast": VolumeType(
            name=f"{s}-fast", description="Fast", extra_specs={"volume_backend_name": "fake"}, encryption=LUKS
        ),
        "nfs": ShareType(name=f"{s}-nfs", extra_specs=SHARE_SPECS),
        "poplar-hosts": Aggregate(name=f"{s}-hosts", hosts=("poplar-1", "poplar-2"), metadata={"rack": "1"}),
    }


def tenant(t: str, vlan: int) -> dict[str, Resource]:
    """A tenant's objects. `t` is its id; one server on poplar-1 with a virtual function and a normal port."""
    project = f"{t}-project"
    return {
        project: Project(name=t, description="A tenant"),
        f"{t}-operator": operator(project),
        f"{t}-gpu": FlavorAccess(project=project, flavor="site:Flavor/poplar-gpu"),
        f"{t}-quota": quota(project),
        f"{t}-share-quota": ShareQuota(project=project, shares=5, share_gib=100),
        f"{t}-key": Keypair(name=f"{t}-key", public_key=KEY),
        f"{t}-router": Router(name=f"{t}-router", project=project, external_network="site:Network/external"),
        f"{t}-data": Network(
            name=f"{t}-data",
            project=project,
            network_type="vlan",
            physical_network="fabric100g",
            segmentation_id=vlan,
            mtu=9000,
        ),
        f"{t}-data-subnet": Subnet(
            name=f"{t}-data", project=project, network=f"{t}-data", cidr="10.5.0.0/16", dhcp=False
        ),
        f"{t}-control": Network(
            name=f"{t}-control", project=project, network_type="vxlan", segmentation_id=vlan + 50000
        ),
        f"{t}-control-subnet": Subnet(
            name=f"{t}-control",
            project=project,
            network=f"{t}-control",
            cidr="10.7.0.0/24",
            gateway="10.7.0.1",
            dns=("9.9.9.9", "1.1.1.1"),
        ),
        f"{t}-uplink": RouterInterface(project=project, router=f"{t}-router", subnet=f"{t}-control-subnet"),
        f"{t}-jobs": SecurityGroup(name=f"{t}-jobs", project=project, rules=(among(f"{t}-jobs"),)),
        f"{t}-ssh": SecurityGroup(name=f"{t}-ssh", project=project, rules=(SSH, among(f"{t}-jobs"), OUT)),
        f"{t}-port-data": port(t, "data", "10.5.1.1", direct=True),
        f"{t}-port-control": port(t, "control", "10.7.0.11"),
        f"{t}-entry": FloatingIp(
            project=project,
            external_network="site:Network/external",
            port=f"{t}-port-control",
            uplink=f"{t}-uplink",
        ),
        f"{t}-rnic": switch_port(t, 1 + vlan % 16, vlan, "10.5.2.1"),
        f"{t}-volume": Volume(
            name=f"{t}-volume",
            project=project,
            size_gib=1,
            volume_type="site:VolumeType/fast",
            on_delete="erase",
            encrypted=True,
        ),
        f"{t}-share": share(t),
        f"{t}-server": Server(
            name=f"{t}-server",
            project=project,
            flavor="site:Flavor/poplar",
            image="site:Image/machine",
            host="poplar-1",
            keypair=f"{t}-key",
            ports=(f"{t}-port-data", f"{t}-port-control"),
            user_data="#cloud-config\n{}\n",
            shares=(f"{t}-share",),
        ),
        f"{t}-port-metal": port(t, "metal", "10.5.3.1").model_copy(
            update={
                "network": f"{t}-data",
                "subnet": f"{t}-data-subnet",
                "vnic_type": "baremetal",
                "security_groups": (),
                "allowed_address_pairs": (),
            }
        ),
        f"{t}-metal": BareMetalServer(
            name=f"{t}-metal",
            project=project,
            node=f"node-{t}",
            resource_class=RESOURCE_CLASS,
            image="site:Image/machine",
            keypair=f"{t}-key",
            ports=(f"{t}-port-metal",),
            legs=(metal_leg(vlan),),
            user_data="#cloud-config\n{}\n",
            shares=(f"{t}-share",),
        ),
        f"{t}-attachment": VolumeAttachment(project=project, server=f"{t}-server", volume=f"{t}-volume"),
        f"{t}-share-access": ShareAccess(
            project=project, share=f"{t}-share", network=f"{t}-data", prefix="10.5.0.0/16", vip="10.5.0.2"
        ),
        f"{t}-s3": ServiceUser(name=f"{t}-s3", project=project),
        f"{t}-s3-role": RoleAssignment(project=project, user=f"{t}-s3", role="cloud:Role/member"),
        f"{t}-s3-key": S3Credential(project=project, user=f"{t}-s3"),
        f"{t}-handed": handed(t),
        f"{t}-bucket": Bucket(name=f"{t}-bucket", project=project, credential=f"{t}-s3-key", on_delete="erase"),
    }


def share(t: str) -> Share:
    """A share of the tenant, on the back end that makes no servers of its own."""
    return Share(
        name=f"{t}-share", project=f"{t}-project", size_gib=1, share_type="site:ShareType/nfs", on_delete="erase"
    )


def handed(t: str, item: str = "s3", key: str = "") -> StoredCredential:
    """The tenant's key, for its server."""
    return StoredCredential(project=f"{t}-project", credential=key or f"{t}-s3-key", place=f"{t}-server", item=item)


def operator(project: str) -> RoleAssignment:
    """The operator's own role in a project."""
    return RoleAssignment(project=project, user="cloud:User/@operator", role="cloud:Role/admin")


def port(t: str, network: str, address: str, *, direct: bool = False) -> Port:
    """A port of the tenant's server; a direct one has no security group."""
    return Port(
        name=f"{t}-port-{network}",
        project=f"{t}-project",
        network=f"{t}-{network}",
        subnet=f"{t}-{network}-subnet",
        address=address,
        vnic_type="direct" if direct else "normal",
        security_groups=() if direct else (f"{t}-ssh",),
        allowed_address_pairs=() if direct else ("192.0.2.0/24",),
    )


def switch_port(t: str, number: int, vlan: int, *addresses: str) -> SwitchPort:
    """A port of the sandbox's `tor-1` with the RNIC of a machine behind it, on the tenant's data network."""
    return SwitchPort(
        switch="tor-1",
        port=number,
        device=f"ipum-{number:02}",
        interface="rnic",
        vlan=vlan,
        wired_by="neutron",
        port_name=f"Ethernet{number}/1",
        switch_mac="02:1c:73:00:00:01",
        quarantine_vlan=4000,
        project=f"{t}-project",
        network=f"{t}-data",
        subnet=f"{t}-data-subnet",
        addresses=addresses,
    )


def metal_leg(vlan: int) -> BareMetalLeg:
    """The port of the sandbox's `tor-1` with the whole host of the tenant behind it."""
    number = 1 + (vlan + 1) % 16
    return BareMetalLeg(
        switch="tor-1", port=number, port_name=f"Ethernet{number}/1", switch_mac="02:1c:73:00:00:01", vlan=vlan,
        quarantine_vlan=4000,
    )  # fmt: skip


def quota(project: str) -> Quota:
    """Limits that this tenant does not reach."""
    return Quota(
        project=project,
        instances=5,
        cores=-1,
        ram_mib=-1,
        networks=10,
        subnets=10,
        ports=50,
        routers=5,
        security_groups=10,
        security_group_rules=100,
        floating_ips=2,
        volumes=5,
        volume_gib=100,
    )
