"""How `pulumi up --replace` ends for each kind of a tenant's stack; the pages show it, and `test_replace` tries it."""

from __future__ import annotations

#: What is recreated -> what is recreated along with it. The id is another one, but for kinds that have none of their
#: own: an assignment is its three ids, an attachment its two, a quota its project's, a key pair its name.
ANEW: dict[str, tuple[str, ...]] = {
    "alice-operator": (),
    "alice-quota": (),
    "alice-share-quota": (),
    "alice-gpu": (),
    "alice-key": (),
    "alice-router": ("alice-uplink", "alice-entry"),
    "alice-uplink": ("alice-entry",),
    "alice-entry": (),
    # One that rules of another and of its own name, and one that a port has.
    "alice-jobs": (),
    "alice-ssh": (),
    "alice-port-control": (),
    "alice-port-data": (),
    "alice-rnic": (),
    "alice-server": ("alice-attachment", "alice-handed"),
    "alice-port-metal": (),
    "alice-metal": (),
    "alice-attachment": (),
    "alice-share-access": (),
    "alice-s3": ("alice-s3-role", "alice-s3-key", "alice-handed"),
    "alice-s3-role": (),
    "alice-s3-key": ("alice-handed",),
    "alice-handed": (),
}
SAME_ID = ("RoleAssignment", "FlavorAccess", "Quota", "ShareQuota", "Keypair", "VolumeAttachment")

#: Kind -> (one of it, the reason that is told).
REFUSED: dict[str, tuple[str, str]] = {
    "Project": ("alice-project", "it is in use: everything of the tenant is in it"),
    "Network": ("alice-data", "it is in use"),
    "Subnet": ("alice-control-subnet", "it is in use"),
    "Volume": ("alice-volume", "it holds data, which would be lost"),
    "Share": ("alice-share", "it holds data, which would be lost"),
    "Bucket": ("alice-bucket", "holds data and would be deleted only to be recreated"),
}
