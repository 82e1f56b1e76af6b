"""What the claims store records of a cloud and of persons, held against the cloud in use; reads only."""

from __future__ import annotations

from interlock.model.site.inventory import Site
from interlock.provider.clouds import Cloud
from interlock.provider.errors import Failure
from interlock.provider.preflight.faults import Fault, of_failure
from interlock.provider.references import persons
from interlock.resources import Admission
from interlock.store.home import cloud_of
from interlock.store.ledger import Ledger, Refused
from interlock.store.objects import StoreFailed
from interlock.store.places import open_store
from interlock.store.refusals import require_persons


def of_the_claims(site: Site, admission: Admission, cloud: Cloud | None = None) -> list[Fault]:
    """Another cloud or region than that of the claims; a user who was recreated under the same name.

    `cloud`: where somebody looked at it already, so that it is logged in to once.
    """
    try:
        ledger = Ledger(open_store(site.claims, site.name, site.region))
        record = ledger.stack(admission.stack)
        if record is None and cloud_of(ledger.store) is None:
            return []
        cloud = cloud or Cloud(admission.cloud, site_region=admission.region)
        ledger.check_cloud(cloud.login.fingerprint)
        if record is not None and record.persons:
            require_persons(record, persons(cloud, admission.resources))
    except (Refused, StoreFailed) as error:
        return [Fault("claims", error.what, error.hint)]
    except Failure as failure:
        return [of_failure("claims", failure)]
    return []
