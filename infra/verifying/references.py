"""How plans refer to what is not their own: to the operator's stack, to the cloud, to claims in locks."""

from __future__ import annotations

#: The site's external network, and the role that counts in every project.
EXTERNAL, ADMIN = "site:Network/external", "cloud:Role/admin"
EXTERNAL_SUBNET = "site:Subnet/external-subnet"
#: Kinds of objects that decide what gateways filter.
SCOPES = ("AddressScope", "SubnetPool")
#: Claims of locks that are claims on a VLAN.
VLAN_CLAIMS = ("ipu_data_vlan", "storage_vlan", "control_vlan", "management_vlan", "cluster_vlan", "roce_vlan")
_SITES, _CLOUDS = "site:", "cloud:"
_PROJECT, _IMAGE, _FLAVOR = "site:Project/", "site:Image/", "site:Flavor/"
_PERSON, _TENANTS_PROJECT, _RUNNER = "cloud:User/", "cloud:Project/", "cloud:User/@operator"


def is_sites(reference: str) -> bool:
    """True for an object of the operator's stack."""
    return reference.startswith(_SITES)


def is_sites_project(reference: str) -> bool:
    """True for a project of the operator's."""
    return reference.startswith(_PROJECT)


def is_sites_image(reference: str) -> bool:
    """True for an image that the operator provides."""
    return reference.startswith(_IMAGE)


def image_of(name: str) -> str:
    """How plans refer to an image of the site."""
    return f"{_IMAGE}{name}"


def sites_flavor(reference: str) -> str | None:
    """The name of a flavour of the site."""
    return reference.removeprefix(_FLAVOR) if reference.startswith(_FLAVOR) else None


def stated_kind(reference: str) -> str:
    """The kind that a reference to another stack's object states; empty for a name of the plan's own."""
    _, scheme, rest = reference.partition(":")
    return rest.partition("/")[0] if scheme and reference.startswith((_SITES, _CLOUDS)) else ""


def person(reference: str) -> str | None:
    """The name of a user whom no plan makes."""
    return reference.removeprefix(_PERSON) if reference.startswith(_PERSON) else None


def is_runner(user: str) -> bool:
    """True for the user who runs the apply: a role of that user is nobody's."""
    return user == _RUNNER


def tenants_project(target: str) -> str | None:
    """The tenant whose project a right names."""
    return target.removeprefix(_TENANTS_PROJECT) if target.startswith(_TENANTS_PROJECT) else None


def key_of_claim(value: str) -> tuple[str, int]:
    """InfiniBand subnet and number of a claimed P_Key."""
    subnet, _, number = value.rpartition(":")
    return subnet, int(number, 16)


def vlan_of_claim(value: str) -> tuple[str, int]:
    """Physical network, which may not be recorded, and id of a claimed VLAN."""
    network, _, number = value.rpartition(":")
    return network, int(number)


def device_of(identity: str) -> tuple[str, str]:
    """`machine`, `host` or `gpu`, and what follows, of the exclusive identity of a device that was cleaned."""
    kind, _, rest = identity.partition(":")
    return kind, rest
