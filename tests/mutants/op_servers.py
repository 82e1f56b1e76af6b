"""Operators on servers, controllers, images and data."""

from __future__ import annotations

import base64
import gzip
from random import Random
from typing import Literal

from interlock.model.tenant.request import Access
from interlock.planning.guest import poplar_user_data
from interlock.planning.guest.login import login_files
from interlock.planning.guest.poplar import VipuApi
from interlock.resources import (
    Image,
    Keypair,
    Port,
    Server,
    VolumeAttachment,
)
from interlock.resources.storage import Volume
from interlock.vocabulary import StackName
from interlock.vocabulary.ssh_keys import fingerprints
from policies import Verdict
from tests.builders.pod64 import ssh_key
from tests.mutants.operator import Operator, pick, port, port_of, siblings, strangers, virtual
from tests.mutants.workspaces import OPERATOR, VPodOf, Workspace, at

# Controllers.


def controller_of_the_tenant(space: Workspace, rng: Random) -> Workspace | None:
    pod = rng.choice(space.vpods)
    return space.asking(pod.tenant).edit(pod.tenant, f"{pod.prefix}-controller", project=f"{pod.tenant}-project")


def server_with_the_controllers_image(space: Workspace, rng: Random) -> Workspace | None:
    """An ordinary server is none for having a controller's image."""
    pod = pick(rng, virtual(space))
    if pod is None:
        return None
    image = space.get(pod.tenant, f"{pod.prefix}-controller", Server).image
    return space.asking(pod.tenant).edit(pod.tenant, _server(pod), image=image)


def key_on_the_controller(space: Workspace, rng: Random) -> Workspace | None:
    pod = rng.choice(space.vpods)
    return space.asking(pod.tenant).edit(pod.tenant, f"{pod.prefix}-controller", keypair=f"{pod.tenant}-key")


def allocation_at_another(space: Workspace, rng: Random) -> Workspace | None:
    found = strangers(space, rng)
    if found is None:
        return None
    return space.asking(found[0].tenant).edit(
        found[0].tenant, f"{found[0].prefix}-allocation", controller=f"{found[1].prefix}-controller"
    )


def _server(pod: VPodOf) -> str:
    return f"{pod.prefix}-poplar-0"


def _key(space: Workspace, pod: VPodOf, key: str) -> Workspace:
    return space.asking(pod.tenant).edit(pod.tenant, _server(pod), keypair=key)


def key_of_another(space: Workspace, rng: Random) -> Workspace | None:
    found = strangers(space, rng, among=virtual(space))
    return None if found is None else _key(space, found[0], f"{found[1].tenant}-key")


def second_key(space: Workspace, rng: Random) -> Workspace | None:
    pod = pick(rng, virtual(space))
    if pod is None:
        return None
    name = f"{pod.tenant}-key-2"
    return _key(space.add(pod.tenant, name, Keypair(name=name, public_key=ssh_key(name))), pod, name)


def _another_pair(space: Workspace, tenant: str, material: str) -> Workspace:
    """A second key pair of a tenant, under a name and with a comment of its own."""
    name = f"{tenant}-key-2"
    return space.add(tenant, name, Keypair(name=name, public_key=f"{material} somebody")).asking(tenant)


def one_key_of_two_tenants(space: Workspace, rng: Random) -> Workspace | None:
    found = strangers(space, rng)
    if found is None:
        return None
    theirs = space.get(found[1].tenant, f"{found[1].tenant}-key", Keypair).public_key
    return _another_pair(space, found[0].tenant, " ".join(theirs.split()[:2]))


def former_key_of_another(space: Workspace, rng: Random) -> Workspace | None:
    """Somebody takes a key out of the request, and another tenant is given it: servers of the first have it still."""
    found = strangers(space, rng)
    if found is None:
        return None
    material = ssh_key(f"former of {found[1].tenant}")
    (fingerprint,) = fingerprints(material)
    return _another_pair(space, found[0].tenant, material).with_former_key(found[1].tenant, fingerprint)


def former_key_that_nobody_has(space: Workspace, rng: Random) -> Workspace | None:
    found = strangers(space, rng)
    if found is None:
        return None
    (fingerprint,) = fingerprints(ssh_key(f"former of {found[1].tenant}"))
    return space.with_former_key(found[1].tenant, fingerprint).asking(found[0].tenant)


def ones_own_key_again(space: Workspace, rng: Random) -> Workspace | None:
    tenant = rng.choice(space.vpods).tenant
    mine = space.get(tenant, f"{tenant}-key", Keypair).public_key
    return _another_pair(space, tenant, " ".join(mine.split()[:2]))


def key_that_cannot_be_read(space: Workspace, rng: Random) -> Workspace | None:
    return _another_pair(space, rng.choice(space.vpods).tenant, "ssh-ed25519 AAAA")


def _trusting(space: Workspace, pod: VPodOf, authority: str) -> Workspace:
    """A server whose sshd takes what an authority signs."""
    access = Access(members=(), ssh_public_key=None, ssh_from=(), ca=authority)
    login = login_files(StackName("somewhere", pod.tenant), "train", access)
    document = poplar_user_data(_server(pod), VipuApi("10.0.0.1", 8090, "10.1.0.0/24"), login=login)
    return space.asking(pod.tenant).edit(pod.tenant, _server(pod), user_data=document)


def authority_of_another(space: Workspace, rng: Random) -> Workspace | None:
    found = strangers(space, rng, among=virtual(space))
    if found is None:
        return None
    return _trusting(space, found[0], space.get(found[1].tenant, f"{found[1].tenant}-key", Keypair).public_key)


def authority_of_its_own(space: Workspace, rng: Random) -> Workspace | None:
    pod = pick(rng, virtual(space))
    return None if pod is None else _trusting(space, pod, ssh_key(f"authority of {pod.tenant}"))


# Second interfaces.


def _with_port(space: Workspace, mine: VPodOf, theirs: VPodOf, role: str) -> Workspace:
    """A server of one vPOD with a port in a network of another of the same tenant."""
    wire = port(space, theirs, role)
    extra = Port(**(wire.model_dump() | {"name": "extra", "address": _free(space, theirs, role)}))
    server = space.get(mine.tenant, _server(mine), Server)
    wider = space.add(mine.tenant, "extra", extra)
    return wider.edit(mine.tenant, _server(mine), ports=(*server.ports, "extra")).asking(mine.tenant)


def _free(space: Workspace, pod: VPodOf, role: str) -> str:
    subnets = {"ipu-data": pod.claims.ipu_data_subnet, "storage": pod.claims.storage_subnet}
    return at(subnets[role], 77)


def bridge_of_two_vpods(space: Workspace, rng: Random) -> Workspace | None:
    found = siblings(space, rng, among=virtual(space))
    return None if found is None else _with_port(space, *found, "ipu-data")


def storage_of_two_vpods(space: Workspace, rng: Random) -> Workspace | None:
    found = siblings(space, rng, among=virtual(space))
    return None if found is None else _with_port(space, *found, "storage")


def second_port_in_its_own_vpod(space: Workspace, rng: Random) -> Workspace | None:
    pod = pick(rng, virtual(space))
    return None if pod is None else _with_port(space, pod, pod, "storage")


def server_on_management(space: Workspace, rng: Random) -> Workspace | None:
    """A Poplar server's port in the network of the machines' management, by a leg that its host has there."""
    pod = pick(rng, virtual(space))
    if pod is None:
        return None
    rack = pod.claims.hosts[0].partition("-")[0]
    number = int(pod.claims.hosts[0].rpartition("p")[2])
    host = space.site.host[pod.claims.hosts[0]]
    legs = dict(host.interfaces) | {pod.claims.management_network: ("eno1",)}
    wider = space.with_hosts(type(host)(**(host.model_dump() | {"interfaces": legs})))
    wider = wider.with_port(f"mgmt-{rack}", 36 + number, tagged=((110, 199),))
    changes = {"network": f"{pod.prefix}-management", "security_groups": ()}
    return wider.edit(pod.tenant, port_of(pod, "control"), **changes).asking(pod.tenant)


def host_with_a_leg_on_management(space: Workspace, rng: Random) -> Workspace | None:
    """The leg alone, with no server on it."""
    pod = pick(rng, virtual(space))
    if pod is None:
        return None
    rack = pod.claims.hosts[0].partition("-")[0]
    number = int(pod.claims.hosts[0].rpartition("p")[2])
    host = space.site.host[pod.claims.hosts[0]]
    legs = dict(host.interfaces) | {pod.claims.management_network: ("eno1",)}
    wider = space.with_hosts(type(host)(**(host.model_dump() | {"interfaces": legs})))
    return wider.with_port(f"mgmt-{rack}", 36 + number, tagged=((110, 199),)).asking(pod.tenant)


# What servers boot, hold and are told.


def _image(space: Workspace, pod: VPodOf, visibility: Literal["private", "community"]) -> Workspace:
    name = f"{pod.tenant}-own"
    image = Image(name=name, file="own.raw", sha512="0" * 128, visibility=visibility)
    return space.add(pod.tenant, name, image)


def image_that_others_boot(space: Workspace, rng: Random) -> Workspace | None:
    found = strangers(space, rng, among=virtual(space))
    if found is None:
        return None
    mine, theirs = found
    offered = _image(space, theirs, "community")
    return offered.edit(mine.tenant, _server(mine), image=f"{theirs.tenant}-own").asking(mine.tenant)


def image_of_ones_own(space: Workspace, rng: Random) -> Workspace | None:
    pod = pick(rng, virtual(space))
    if pod is None:
        return None
    own = _image(space, pod, "private")
    return own.edit(pod.tenant, _server(pod), image=f"{pod.tenant}-own").asking(pod.tenant)


def unchecked_image(space: Workspace, _: Random) -> Workspace | None:
    return space.asking(OPERATOR).edit(OPERATOR, "poplar", sha512="")


def moved_image(space: Workspace, _: Random) -> Workspace | None:
    return space.asking(OPERATOR).edit(OPERATOR, "poplar", file="images/poplar-2.raw")


def _told(space: Workspace, rng: Random, line: str) -> Workspace | None:
    pod = pick(rng, virtual(space))
    if pod is None:
        return None
    text = space.get(pod.tenant, _server(pod), Server).user_data
    return space.asking(pod.tenant).edit(pod.tenant, _server(pod), user_data=f"{text}\n{line}\n")


def credential_in_user_data(space: Workspace, rng: Random) -> Workspace | None:
    return _told(space, rng, "aws_secret_access_key = wJalrXUtnFEMI")


def packed_credential(space: Workspace, rng: Random) -> Workspace | None:
    return _told(space, rng, f"# {_packed('password: hunter2')}")


def packed_comment(space: Workspace, rng: Random) -> Workspace | None:
    return _told(space, rng, f"# {_packed('no password is set here')}")


def torn_pack(space: Workspace, rng: Random) -> Workspace | None:
    return _told(space, rng, f"# {_packed('password: hunter2', 12)}")


def _packed(text: str, length: int | None = None) -> str:
    data = gzip.compress(text.encode(), mtime=0)
    return base64.b64encode(data[:length] + b"torn" * (length is not None)).decode()


def comment_in_user_data(space: Workspace, rng: Random) -> Workspace | None:
    return _told(space, rng, "# no password is set here")


def volume_of_another(space: Workspace, rng: Random) -> Workspace | None:
    found = strangers(space, rng, among=virtual(space))
    if found is None:
        return None
    volume = space.named(found[1].tenant, Volume)[0]
    return _attached(space, found[0], volume)


def second_volume(space: Workspace, rng: Random) -> Workspace | None:
    pod = pick(rng, virtual(space))
    if pod is None:
        return None
    volume = Volume(name="more", project=f"{pod.tenant}-project", size_gib=1, volume_type="site:VolumeType/ceph")
    return _attached(space.add(pod.tenant, "more", volume), pod, "more")


def _attached(space: Workspace, pod: VPodOf, volume: str) -> Workspace:
    item = VolumeAttachment(project=f"{pod.tenant}-project", server=_server(pod), volume=volume)
    return space.add(pod.tenant, "attached", item).asking(pod.tenant)


def no_fence(space: Workspace, _: Random) -> Workspace | None:
    return space.asking(OPERATOR).edit(OPERATOR, "poplar.half", extra_specs={})


def aggregate_with_more_words(space: Workspace, _: Random) -> Workspace | None:
    name = "poplar-hosts"
    words = getattr(space.of_site.by_name[name].resource, "metadata", {})
    return space.asking(OPERATOR).edit(OPERATOR, name, metadata=dict(words) | {"rack": "r1"})


SERVERS = (
    Operator(
        "controller-of-tenant", "a controller in the tenant's project",
        controller_of_the_tenant, server_with_the_controllers_image, "ISO-05", ("ISO-06",),
    ),
    Operator(
        "controller-key", "a tenant's key on its controller",
        key_on_the_controller, second_key, "ISO-05", ("ISO-06",),
    ),
    Operator(
        "controller-of-two", "an allocation at another's controller",
        allocation_at_another, server_with_the_controllers_image, "SEC-03", ("TOP-10",),
    ),
    Operator(
        "key-of-another", "another's key on a server",
        key_of_another, second_key, "AUTH-01", ("ISO-02",),
    ),
    Operator(
        "key-of-two", "one ssh key of two tenants, under two names",
        one_key_of_two_tenants, ones_own_key_again, "SEC-05",
    ),
    Operator(
        "former-key-of-another", "a key that another's servers were made with, and whose request no longer names it",
        former_key_of_another, former_key_that_nobody_has, "SEC-05",
    ),
    Operator(
        "authority-of-another", "another's key signs certificates for a server",
        authority_of_another, authority_of_its_own, "SEC-05",
    ),
    Operator(
        "key-unread", "a key pair in which nobody can read a key",
        key_that_cannot_be_read, ones_own_key_again, "SEC-05", verdict=Verdict.NOT_PROVABLE,
    ),
    Operator(
        "bridge-of-vpods", "a second interface that bridges two vPODs",
        bridge_of_two_vpods, second_port_in_its_own_vpod, "ISO-03",
    ),
    Operator(
        "storage-of-vpods", "a second interface on another vPOD's storage",
        storage_of_two_vpods, second_port_in_its_own_vpod, "ISO-03",
    ),
    Operator(
        "server-on-management", "a server on the management network",
        server_on_management, host_with_a_leg_on_management, "ISO-05", ("ISO-01",),
    ),
    Operator(
        "image-of-another", "an image that another writes",
        image_that_others_boot, image_of_ones_own, "SEC-15", ("AUTH-01",),
    ),
    Operator(
        "image-unchecked", "an image without a checksum",
        unchecked_image, moved_image, "SEC-15",
    ),
    Operator(
        "user-data", "a credential in user data",
        credential_in_user_data, comment_in_user_data, "SEC-04",
    ),
    Operator(
        "user-data-packed", "a credential in user data, as gzip in base64",
        packed_credential, packed_comment, "SEC-04",
    ),
    Operator(
        "user-data-torn", "user data that nobody can unpack",
        torn_pack, packed_comment, "SEC-04", verdict=Verdict.NOT_PROVABLE,
    ),
    Operator(
        "volume-of-another", "a volume attached to servers of two tenants",
        volume_of_another, second_volume, "AUTH-01", ("ISO-02",),
    ),
    Operator(
        "flavour-no-fence", "a flavour that any host may run",
        no_fence, aggregate_with_more_words, "SEC-08",
    ),
)  # fmt: skip
