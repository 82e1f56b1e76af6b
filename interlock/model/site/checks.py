"""What must hold between the parts of a site file before anything can be computed from it.

Only faults of writing are found here: names that lead nowhere, one plug used twice. Whether the site keeps
tenants apart is for the proof to say.
"""

from __future__ import annotations

from interlock.model.hall.site_checks import check_halls
from interlock.model.rack.site_checks import check_racks_of_site
from interlock.model.text.faults import Faults

from .bastion_checks import check_bastion
from .cable_checks import check_cables, check_lags
from .completeness_checks import check_completeness
from .device_checks import check_devices
from .file import SiteFile
from .inventory import Site
from .ironic_checks import check_ironic
from .network_checks import check_networks
from .offer_checks import check_offers
from .pool_checks import check_pools
from .sharing_checks import check_sharing
from .stand_checks import check_stand
from .state_checks import check_states
from .storage_fabric_checks import check_storage_fabrics
from .switch_checks import check_switches
from .view import SiteView
from .vpod_checks import check_vpods
from .whole_node_checks import check_whole_nodes

#: All of them, in no order that matters: faults are told in the order of the file.
CHECKS = (
    check_devices,
    check_cables,
    check_lags,
    check_stand,
    check_states,
    check_halls,
    check_completeness,
    check_networks,
    check_storage_fabrics,
    check_bastion,
    check_switches,
    check_pools,
    check_vpods,
    check_ironic,
    check_offers,
    check_whole_nodes,
    check_sharing,
)


def check_site(file: SiteFile, site: Site, faults: Faults) -> None:
    """Adds every fault between parts of the file to `faults`."""
    check_racks_of_site(file, site, faults)
    view = SiteView(file, site, faults)
    for check in CHECKS:
        check(view)
