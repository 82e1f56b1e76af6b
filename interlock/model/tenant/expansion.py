"""`tenants/<id>.yaml` -> `Tenant`: defaults of interlock, site and tenant filled in, every name looked up."""

from __future__ import annotations

from interlock.model.text.faults import Faults
from interlock.model.text.source import Source
from interlock.model.text.validation import well_formed
from interlock.model.waivers import waivers_of

from .buckets import read_buckets
from .clusters import read_clusters
from .data import read_shares, read_volumes
from .file import TenantFile
from .names import check_names
from .pins import read_pins
from .reading import Offered, RequestReading
from .request import Default, Tenant
from .terms import read_access, read_budget
from .vpod_life import set_aside
from .vpods import read_vpods


def read_tenant(identity: str, source: Source, offered: Offered) -> tuple[Tenant, tuple[Default, ...]]:
    """The request in full form, and every value in it that the file does not state.

    Raises InputErrors with every fault of the file: of form, and of meaning as far as the form allows.
    """
    form = well_formed(TenantFile, source)
    faults = Faults.of(form)
    if form.file is None:
        faults.raise_if_any()
        raise AssertionError("a file that is not well-formed has faults")
    reading = RequestReading(form.file, offered, faults)
    tenant = _tenant(identity, reading)
    faults.raise_if_any()
    return tenant, tuple(reading.defaults)


def _tenant(identity: str, reading: RequestReading) -> Tenant:
    """The parts in the order in which the file has them, so that defaults are noted in that order too."""
    file = reading.file
    check_names(reading)
    reading.note_left_out((), file, "state", "separate", "on_delete", "encrypted")
    tenant = Tenant(
        id=identity,
        name=file.name,
        state=file.state,
        separate=file.separate,
        access=read_access(reading),
        vpods=read_vpods(reading),
        clusters=read_clusters(reading),
        volumes=read_volumes(reading),
        shares=read_shares(reading),
        buckets=read_buckets(reading),
        budget=read_budget(reading),
        waivers=waivers_of(reading.file.waivers),
        pins=read_pins(reading),
    )
    return set_aside(tenant, {name for name, vpod in file.vpods.items() if vpod.state == "released"})
