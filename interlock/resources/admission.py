"""The admission: which objects a proof allows, exactly; the provider gets it before the first resource.

The program makes an `Admission` from a proof and hands it to the provider by the invoke
`interlock:index:admit`. Without one the provider refuses every `Check`; with one it refuses each type,
name or input whose digest is not in it.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from interlock.vocabulary.owners import OwnerId

from .base import Frozen, digest_of


class Admitted(Frozen):
    """One resource that the proof allows: kind, logical name and canonical specification."""

    name: str
    kind: str
    spec: dict[str, Any]

    @cached_property
    def digest(self) -> str:
        """Equal to `Resource.digest()` of the planned resource."""
        return digest_of({"kind": self.kind, "spec": self.spec})


class Admission(Frozen):
    """The proof as the provider needs it. Owner ids are the random ids of the locks, not names."""

    stack: str
    #: Entry of clouds.yaml.
    cloud: str
    #: Region that the site states; empty: the one of clouds.yaml, or the only one of the catalogue.
    region: str = ""
    #: Owner id of this stack, and of the site's stack, whose objects it may refer to.
    owner: OwnerId
    site_owner: OwnerId
    #: Kind/name -> id of objects that were on the cloud before the site stack (`existing:` in the site file).
    existing: dict[str, str] = {}
    #: What the site file states of these: nothing of it is believed, see `interlock.provider.existing`.
    stated: tuple[Admitted, ...] = ()
    plan_hash: str
    proof_hash: str
    #: Folder of the site's files, absolute: images are read from it.
    site_folder: str
    resources: tuple[Admitted, ...]
    #: What the stack takes in the operator's store, as `interlock.store.records.Taking` has it; None: it takes nothing.
    claims: dict[str, Any] | None = None
    #: Virtual functions of each host that servers can be pinned to.
    virtual_functions: dict[str, int] = {}
    #: CPUs of each host that are pinned to servers, and its pages of 1 GiB.
    dedicated_cpus: dict[str, int] = {}
    huge_pages: dict[str, int] = {}
    #: Group of Ironic's conductors that the site's nodes are in; empty: nobody states it.
    conductor_group: str = ""
    #: Whole host -> plan name of the site's network on which it is deployed and cleaned.
    service_networks: dict[str, str] = {}

    @cached_property
    def by_name(self) -> dict[tuple[str, str], Admitted]:
        """(kind, name) -> what is admitted there."""
        return {(item.kind, item.name): item for item in self.resources}
