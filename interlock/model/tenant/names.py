"""Names in a request. On the cloud they are joined by dashes, so no two may lead to one name there."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from interlock.model.text.errors import Code
from interlock.model.text.names import PARTS_OF_A_CLUSTER, PARTS_OF_A_VPOD
from interlock.model.text.source import KEY

from .file import TenantFile
from .reading import RequestReading
from .request import Tenant

#: Sections whose entries have names on the cloud, in the order in which they are looked at.
DATA = ("volumes", "shares", "buckets")
#: What a part of a volume, share or bucket is called, after its name and a dash.
PARTS_OF_DATA = ("attachment", "access", "policy")
_OWNERS = {PARTS_OF_A_VPOD: "the vPOD ", PARTS_OF_A_CLUSTER: "the cluster "}
_ANOTHER = "take another name: on the cloud both would be called alike"


def check_names(reading: RequestReading) -> None:
    """Adds a fault for every name that something else of this request has on the cloud."""
    file = reading.file
    parts: dict[str, Collection[str]] = {"vpods": file.vpods, "clusters": file.clusters}
    for section, names in parts.items():
        _check_against_parts(reading, section, names, file.vpods, PARTS_OF_A_VPOD)
        _check_against_parts(reading, section, names, file.clusters, PARTS_OF_A_CLUSTER)
    for name in file.clusters:
        if name in file.vpods:
            _tell(reading, "clusters", name, f"`{name}` is the name of a vPOD already", _ANOTHER)
    sections = _data_of(file)
    every = [name for names in sections.values() for name in names]
    first = dict[str, str]()
    for section, names in sections.items():
        _check_against_parts(reading, section, names, file.vpods, PARTS_OF_A_VPOD)
        _check_against_parts(reading, section, names, file.clusters, PARTS_OF_A_CLUSTER)
        _check_against_parts(reading, section, names, every, PARTS_OF_DATA)
        for name in names:
            if name in file.vpods:
                _tell(reading, section, name, f"`{name}` is the name of a vPOD already", _ANOTHER)
            elif name in file.clusters:
                _tell(reading, section, name, f"`{name}` is the name of a cluster already", _ANOTHER)
            elif first.setdefault(name, section) != section:
                _tell(reading, section, name, f"`{name}` stands under `{first[name]}:` already", _ANOTHER)


def names_on_the_cloud(tenant: Tenant) -> tuple[tuple[str, str], ...]:
    """(section, name) of everything whose name on the cloud is the tenant's id, a dash, and its own."""
    return (
        # Of one that is released volumes and the user of its buckets are left, under its name.
        *(("vpods", vpod.name) for vpod in (*tenant.vpods, *tenant.released)),
        *(("clusters", cluster.name) for cluster in tenant.clusters),
        *(("volumes", volume.name) for volume in tenant.volumes),
        *(("shares", share.name) for share in tenant.shares),
        *(("buckets", bucket.name) for bucket in tenant.buckets),
    )


def _data_of(file: TenantFile) -> Mapping[str, Collection[str]]:
    return dict(zip(DATA, (file.volumes, file.shares, file.buckets), strict=True))


def _check_against_parts(
    reading: RequestReading, section: str, names: Collection[str], owners: Collection[str], parts: tuple[str, ...]
) -> None:
    """A name that goes on after another's, a dash and one of its parts, could be that part's name."""
    known = set(owners)
    for name in names:
        pieces = name.split("-")
        for length in range(1, len(pieces)):
            owner, rest = "-".join(pieces[:length]), "-".join(pieces[length:])
            if owner in known and rest.startswith(parts):
                what = _OWNERS.get(parts, "")
                message = f"`{name}` could be a part of {what}`{owner}` by its name on the cloud"
                _tell(reading, section, name, message, "take a name that begins otherwise")


def _tell(reading: RequestReading, section: str, name: str, message: str, hint: str) -> None:
    reading.faults.add(Code.TWICE, (section, name, KEY), message, hint)
