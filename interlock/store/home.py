"""The cloud and region that a store of claims is about: written by the first who claims anything there, then fixed."""

from __future__ import annotations

from interlock.vocabulary import CloudFingerprint

from .objects import ObjectStore
from .records import CloudRecord
from .shelves import RecordFolder

#: Kind and name of the one record that says so.
CLOUD, HOME = "cloud", "home"


def cloud_of(store: ObjectStore) -> CloudFingerprint | None:
    """What the store is about; None if nothing was claimed there since clouds are recorded."""
    found = RecordFolder(store, CLOUD, CloudRecord).get(HOME)
    return CloudFingerprint.parse(found.record.cloud) if found else None
