"""Whose an object is: the text `interlock:<owner>:<plan name>`, carried where a tenant cannot write it."""

from __future__ import annotations

from dataclasses import dataclass

from interlock.vocabulary.markers import Marker
from interlock.vocabulary.owners import OwnerId


@dataclass(frozen=True)
class Carrier:
    """Where a kind carries its marker and who could write there. `field` empty: it carries none."""

    field: str
    writers: str
    source: str


_NEUTRON = "Neutron policy: owner with role member or admin; tenants' members are readers"
_KEYSTONE = "Keystone policy: admin of the domain"

#: Kind -> carrier. What is adopted is decided from this table, never from a name alone.
CARRIERS: dict[str, Carrier] = {
    "Claims": Carrier("", "who can write the operator's store", "the record itself names the owner"),
    "Project": Carrier("description", "administrators", _KEYSTONE),
    "Role": Carrier("description", "administrators", _KEYSTONE),
    "ServiceUser": Carrier("description", "administrators", _KEYSTONE),
    "RoleAssignment": Carrier("", "administrators", "the triple itself; its project and user are checked"),
    "S3Credential": Carrier("", "administrators", "no field; what exists is revoked and one recreated"),
    "StoredCredential": Carrier(
        "mode", "members of the operator's project", "Barbican policy: creators of its secrets"
    ),
    "Keypair": Carrier("name", "the operator's user", "Nova keypairs belong to a user; the key must agree"),
    "Quota": Carrier("", "administrators", "the project itself, which is checked"),
    "ShareQuota": Carrier("", "administrators", "the project itself, which is checked"),
    "SegmentRange": Carrier("name", "administrators", "Neutron policy: network segment ranges are admin only"),
    "AddressScope": Carrier("name", "members of the operator's project", _NEUTRON),
    "SubnetPool": Carrier("description", "members of the project", _NEUTRON),
    "Network": Carrier("description", "members of the project", _NEUTRON),
    "Subnet": Carrier("description", "members of the project", _NEUTRON),
    "Router": Carrier("description", "members of the project", _NEUTRON),
    "RouterInterface": Carrier("", "members of the project", "the pair itself; router and subnet are checked"),
    "SecurityGroup": Carrier("description", "members of the project", _NEUTRON),
    "Port": Carrier("description", "members of the project", _NEUTRON),
    "FloatingIp": Carrier("description", "members of the project", _NEUTRON),
    "SwitchPort": Carrier("description", "members of the project", _NEUTRON),
    # Names of partitions are UFM's or anybody's: see `partition_ownership`.
    "PartitionKey": Carrier("", "administrators of UFM", "the claims of its key, and the exact set of its GUIDs"),
    **dict.fromkeys(
        ("VipuAgent", "VipuCluster", "VipuAllocation", "VipuUser"),
        Carrier("", "administrators of the controller", "the controller's server, which is checked, and the content"),
    ),
    "VipuPartition": Carrier(
        "", "users of the allocation", "the controller's server, which is checked, and the content"
    ),
    "Flavor": Carrier("description", "administrators", "Nova microversion 2.55"),
    "FlavorAccess": Carrier("", "administrators", "the pair itself; flavour and project are checked"),
    "Image": Carrier("interlock", "members of the operator's project", "Glance: properties of the owner's image"),
    "Aggregate": Carrier("metadata.interlock", "administrators", "Nova policy: aggregates are admin only"),
    "Server": Carrier("metadata.interlock", "members of the project", "Nova policy: project member"),
    "BareMetalServer": Carrier(
        "extra.interlock", "members of the operator's project", "Ironic policy: owner of the allocation"
    ),
    "VolumeType": Carrier("description", "administrators", "Cinder policy: volume types are admin only"),
    "Volume": Carrier("metadata.interlock", "members of the project", "Cinder policy: project member"),
    "VolumeAttachment": Carrier("", "members of the project", "the pair itself; server and volume are checked"),
    "ShareType": Carrier("description", "administrators", "Manila policy: share types are admin only"),
    # Nobody can change who made it, and what is adopted was made by the operator's user: see `ShareActuator`.
    "Share": Carrier("metadata.interlock", "members of the project", "Manila policy: project member"),
    "ShareAccess": Carrier("", "members of the project", "the pair itself; share and prefix are checked"),
    "Bucket": Carrier("", "holders of an S3 key of the project", "the account (project) in which it lies"),
    # Its `Id` says which stack wrote it, and is no authority: whoever has a key of the bucket's maker can write it.
    "BucketPolicy": Carrier(
        "", "holders of a key of the user who made the bucket", "the bucket itself, which is checked"
    ),
}


def marker(owner: OwnerId, name: str) -> str:
    """The marker of plan name `name` in the stack whose owner id is `owner`."""
    return str(Marker(owner, name))


def join(text: str, mark: str) -> str:
    """A description, or a name, that also carries the marker; the marker stands last."""
    return f"{text} {mark}" if text else mark


def split(value: str | None) -> tuple[str, str]:
    """(text, marker) of a description or name; the marker is empty if it carries none."""
    text, found = Marker.carried_by(value or "")
    return text, "" if found is None else str(found)


def owner_of(mark: str) -> str:
    """The owner id in a marker; empty if it is none."""
    found = Marker.named(mark)
    return "" if found is None else found.owner
