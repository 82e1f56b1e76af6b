"""Can what is to be encrypted be encrypted: a key manager, and the encryption of the types that volumes are of."""

from __future__ import annotations

from collections.abc import Iterator

from interlock.provider.actuators.storage import encryption_of
from interlock.provider.clouds import Cloud
from interlock.provider.errors import Failure
from interlock.provider.references import parts, site_object
from interlock.resources import Admission, Volume, VolumeType, is_site_reference

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
