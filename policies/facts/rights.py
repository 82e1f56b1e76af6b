"""Facts about rights and entries: who may plug in, what leads in from outside, what is kept where, what is let in."""

from __future__ import annotations

from dataclasses import dataclass

from interlock.resources import SecurityGroupRule

#: The target of a right that is everybody.
EVERY_PROJECT = "*"


@dataclass(frozen=True)
class TrunkFact:
    """A trunk: its parent port, and (port, tag inside the guest) of each sub-port. The tag joins nothing outside."""

    name: str
    owner: str
    port: str
    sub_ports: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class FloatingIpFact:
    """An address outside that leads to one port; network and port as the plan refers to them."""

    name: str
    owner: str
    external_network: str
    #: None: Neutron takes one of the network's pool.
    address: str | None
    port: str

    @property
    def shown(self) -> str:
        """The address in words, after `floating address`."""
        return self.address or "of Neutron's choice"


@dataclass(frozen=True)
class RightFact:
    """A right that one project gives to another at Neutron."""

    name: str
    owner: str
    #: Plan name, or a reference to the site's or the cloud's object.
    object: str
    #: `Network`, `SecurityGroup`, `AddressScope` or `SubnetPool`; empty if no file describes the object.
    kind: str
    #: `access_as_shared` or `access_as_external`.
    action: str
    #: `*`, a tenant's id, `op`, or `foreign` for a project that nobody can tell.
    target: str


@dataclass(frozen=True)
class StoredCredentialFact:
    """A credential that lies in a bucket, share or volume; both as the plan refers to them."""

    name: str
    owner: str
    credential: str
    place: str


@dataclass(frozen=True)
class ImageFact:
    """An image that this plan brings: its owner can write it."""

    name: str
    owner: str
    #: `public`, `private` or `community`.
    visibility: str


@dataclass(frozen=True)
class SecurityGroupFact:
    """A security group with its rules. It takes no edge away."""

    name: str
    owner: str
    rules: tuple[SecurityGroupRule, ...]
