"""Is there a key manager for what is to be encrypted or handed to servers, and are the types of volumes encrypted."""

from __future__ import annotations

from collections.abc import Iterator

from interlock.provider.actuators.storage import encryption_of
from interlock.provider.clouds import Cloud
from interlock.provider.errors import Failure, Trouble
from interlock.provider.references import parts, site_object
from interlock.resources import Admission, StoredCredential, Volume, VolumeType, is_site_reference

from .faults import Fault, planned

#: Type of the service that keeps keys: Barbican's.
KEY_MANAGER = "key-manager"


def key_manager(cloud: Cloud, admission: Admission) -> Iterator[Fault]:
    """Cinder makes a key for each encrypted volume; without somebody to keep it every one of them ends in `error`."""
    named = [name for name, kind in planned(admission, VolumeType) if kind.encryption is not None]
    named += [name for name, volume in planned(admission, Volume) if volume.encrypted]
    if named and not cloud.login.catalogue.regions.get(KEY_MANAGER):
        yield Fault(
            "key manager",
            f"{', '.join(named)}: to be encrypted, and the catalogue of cloud {cloud.name!r} has no {KEY_MANAGER}",
            "let the cloud have Barbican, and Cinder use it (`[key_manager] backend = barbican`); "
            "or take `volume_encryption` out of the site file",
        )


def hand_over(cloud: Cloud, admission: Admission) -> Iterator[Fault]:
    """What waits for servers lies in the key manager, in the project of this login."""
    named = ", ".join(name for name, item in planned(admission, StoredCredential) if item.is_declared)
    if not named:
        return
    if not cloud.has(KEY_MANAGER):
        yield Fault(
            "secrets for servers",
            f"{named}: to wait for servers, and the catalogue of cloud {cloud.name!r} has no {KEY_MANAGER}",
            "let the cloud have Barbican, or take `channel: true` out of the site file",
        )
        return
    try:
        next(cloud.api(KEY_MANAGER).items("/secrets", "secrets", limit=1), None)
    except Failure as failure:
        if failure.trouble not in (Trouble.FORBIDDEN, Trouble.UNAUTHORIZED):
            raise
        yield Fault(
            "secrets for servers",
            f"{named}: to wait for servers, and Barbican lets this login list no secrets: {failure.message}",
            "give the operator's user a role in its own project with which Barbican lets it keep secrets "
            "(`admin`, `member` or `creator`, by its policy)",
        )


def encrypted_types(cloud: Cloud, admission: Admission) -> Iterator[Fault]:
    """Types of the site that planned volumes rest on and that have no encryption on the cloud."""
    wanted: dict[str, list[str]] = {}
    for name, volume in planned(admission, Volume):
        if volume.encrypted and is_site_reference(volume.volume_type):
            wanted.setdefault(volume.volume_type, []).append(name)
    for reference, names in sorted(wanted.items()):
        try:
            kind = site_object(cloud, admission, *parts(reference))
        except Failure:
            continue  # told by `referred`
        if encryption_of(cloud, kind) is None:
            yield Fault(
                "encryption",
                f"{', '.join(names)}: to be encrypted, and {reference} ({kind}) has no encryption on the cloud",
                "run `pulumi up` of the site's stack first, or correct `volume_encryption` of the site file",
            )
