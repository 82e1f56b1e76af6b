"""Facts about who may act as whom and on whose terms: roles, key pairs, images' files, the scheduler's fences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from interlock.planning.plan import Planned
from interlock.resources import (
    Aggregate,
    BareMetalServer,
    Flavor,
    FlavorAccess,
    Image,
    Keypair,
    RoleAssignment,
    S3Credential,
    Server,
    ServiceUser,
)
from interlock.vocabulary.references import ADMIN_ROLE, OPERATOR_USER
from interlock.vocabulary.ssh_keys import fingerprints

from .identities import FOREIGN
from .reader import PlanReader

#: Extra specifications by which a server gets a device: Cyborg's, Nova's PCI passthrough, and classes of Placement
#: that are no processors, memory or disk. Virtual functions come with ports and not by flavour.
_DEVICE = re.compile(r"accel:device_profile|pci_passthrough:alias|resources\w*:(VGPU|PGPU|FPGA|PCI_DEVICE|CUSTOM_\w+)")


def device_of(extra_specs: Iterable[tuple[str, str]]) -> str:
    """The extra specification by which a flavour hands out a device; empty if it hands out none."""
    return next((f"{key}={value}" for key, value in extra_specs if _DEVICE.fullmatch(key)), "")


@dataclass(frozen=True)
class RoleFact:
    """A role of a user on a project of this owner. The operator's own user is left out."""

    name: str
    user: str
    role: str
    project_owner: str

    @property
    def is_admin(self) -> bool:
        """True if the role holds for the whole cloud."""
        return self.role == ADMIN_ROLE


@dataclass(frozen=True)
class LoginFact:
    """A key pair that opens a server, and whose it is."""

    server: str
    keypair: str
    owner: str


@dataclass(frozen=True)
class KeypairFact:
    """A key pair with the fingerprints of the public keys in it: whoever has one of them enters what carries it."""

    name: str
    fingerprints: tuple[str, ...]


@dataclass(frozen=True)
class ImageFileFact:
    """The file behind an image and the checksum that it must have."""

    name: str
    file: str
    sha512: str


@dataclass(frozen=True)
class FlavorFact:
    """A flavour with what the scheduler looks for."""

    name: str
    extra_specs: tuple[tuple[str, str], ...]
    public: bool


@dataclass(frozen=True)
class FlavorAccessFact:
    """A project on the access list of a flavour, as the plan refers to it, and whose project that is."""

    name: str
    flavor: str
    project_owner: str


@dataclass(frozen=True)
class AggregateFact:
    """An aggregate: hosts, and what the scheduler finds on them."""

    name: str
    hosts: tuple[str, ...]
    metadata: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class AccessFacts:
    """All of it, for one plan."""

    roles: tuple[RoleFact, ...] = ()
    logins: tuple[LoginFact, ...] = ()
    image_files: tuple[ImageFileFact, ...] = ()
    #: (service user or S3 key, the vPOD it is for).
    vpods: tuple[tuple[str, str | None], ...] = ()
    #: Names of what the request declares open to everybody.
    public: tuple[str, ...] = ()
    #: (name of a public floating address, the prefixes from which the request lets anybody in by it).
    public_from: tuple[tuple[str, tuple[str, ...]], ...] = ()


#: Of a plan in which nobody may act as anybody.
NO_ACCESS = AccessFacts()


def access_facts(reader: PlanReader) -> AccessFacts:
    """The facts of one plan."""
    return AccessFacts(
        roles=tuple(_roles(reader)),
        logins=tuple(_logins(reader)),
        image_files=tuple(ImageFileFact(item.name, spec.file, spec.sha512) for item, spec in reader.all(Image)),
        vpods=tuple(_vpods(reader)),
        public=reader.plan.public,
        public_from=tuple(sorted(reader.plan.public_from.items())),
    )


def flavor(_: PlanReader, item: Planned, spec: Flavor) -> FlavorFact:
    """What a flavour asks the scheduler for."""
    return FlavorFact(item.name, tuple(sorted(spec.extra_specs.items())), spec.public)


def flavor_access(reader: PlanReader, item: Planned, spec: FlavorAccess) -> FlavorAccessFact:
    """Who may use a private flavour."""
    return FlavorAccessFact(item.name, spec.flavor, reader.owner_of(spec.project))


def aggregate(_: PlanReader, item: Planned, spec: Aggregate) -> AggregateFact:
    """What the scheduler finds on hosts."""
    return AggregateFact(item.name, spec.hosts, tuple(sorted(spec.metadata.items())))


def keypair(_: PlanReader, item: Planned, spec: Keypair) -> KeypairFact:
    """Which keys a key pair is, whatever its name and the comments in it."""
    return KeypairFact(item.name, fingerprints(spec.public_key))


def _roles(reader: PlanReader) -> Iterator[RoleFact]:
    for item, spec in reader.all(RoleAssignment):
        if spec.user != OPERATOR_USER:
            yield RoleFact(item.name, spec.user, spec.role, reader.owner_of(spec.project))


def _logins(reader: PlanReader) -> Iterator[LoginFact]:
    named = [(item.name, spec.keypair) for item, spec in reader.all(Server)]
    named += [(item.name, spec.keypair) for item, spec in reader.all(BareMetalServer)]
    for server, keypair in named:
        if keypair is not None:
            yield LoginFact(server, keypair, reader.owner if reader.is_own(keypair, Keypair) else FOREIGN)


def _vpods(reader: PlanReader) -> Iterator[tuple[str, str | None]]:
    yield from ((item.name, item.vpod) for item, _ in reader.all(ServiceUser))
    yield from ((item.name, item.vpod) for item, _ in reader.all(S3Credential))
