"""Small sites whose switches are wired by hand, by a pipeline or by Neutron, and what is printed for each."""

from __future__ import annotations

import json
from typing import Any

from infra.reports.wiring_text import Syntax, wiring_text
from interlock.model.site.inventory import Site, Switch
from interlock.planning import Plan, plan_tenant
from interlock.planning.wiring import SiteWiring, wiring_of
from tests.builders.pod64 import (
    bare_metal_pod64,
    bare_metal_vpod,
    ironic_pod64,
    locked,
    management_switch,
    pod64,
    site_locked,
    tenant,
    tor,
)

EOS_NAMES = {"tor-1": ("Ethernet{}/1", "Ethernet{}"), "mgmt-1": ("Ethernet{}", "Ethernet{}")}
NVUE_NAMES = {"tor-1": ("swp{}", "swp{}"), "mgmt-1": ("swp{}", "swp{}")}


def altered(switch: Switch, **fields: Any) -> Switch:
    """The same switch with some fields of its own."""
    return Switch.model_validate({name: getattr(switch, name) for name in Switch.model_fields} | fields)


def site_of(names: dict[str, tuple[str, str]], **fields: Any) -> Site:
    """The usual site; its management switch has a quarantine VLAN, its ToR has none."""
    switches = (
        altered(tor(), port_names=names["tor-1"], mac="02:00:00:00:00:01", **fields),
        altered(management_switch(), port_names=names["mgmt-1"], quarantine_vlan=4000, **fields),
    )
    return pod64(switches=switches)


def plans_of(site: Site) -> list[Plan]:
    """Two machines of acme and one of globex."""
    acme, globex = tenant("acme", machines=2, servers=1), tenant("globex", machines=1, servers=1)
    first = locked(site, acme)
    second = locked(site, globex, [first])
    site_lock = site_locked(site)
    return [plan_tenant(site, site_lock, acme, first), plan_tenant(site, site_lock, globex, second)]


def wiring(site: Site, *, rest: bool = True) -> SiteWiring:
    """Of all switches and tenants."""
    plans = plans_of(site)
    return wiring_of(site, plans, site.switch, plans if rest else None)


def with_whole_hosts() -> SiteWiring:
    """Four machines with two whole hosts that Ironic deploys, behind switches that Neutron wires."""
    base = bare_metal_pod64()
    switches = tuple(altered(item, wired_by="neutron", port_names=EOS_NAMES[item.name]) for item in base.switches)
    site = ironic_pod64(switches=switches)
    request = tenant("acme", vpods=(bare_metal_vpod(),))
    plans = [plan_tenant(site, site_locked(site), request, locked(site, request))]
    return wiring_of(site, plans, site.switch, None)


def wiring_texts() -> dict[str, str]:
    """What people and pipelines read, by the name of its approved file."""
    unknown = {"model": "sn3700", "wired_by": "hand"}
    found = {
        "wiring-eos": wiring_text(wiring(site_of(EOS_NAMES))),
        "wiring-nvue": wiring_text(wiring(site_of(NVUE_NAMES, **unknown)), syntax=Syntax.NVUE),
        "wiring-unknown-model": wiring_text(wiring(site_of(NVUE_NAMES, **unknown))),
        "wiring-of-a-pipeline": wiring_text(wiring(site_of(EOS_NAMES, wired_by="export"), rest=False)),
        "wiring-of-neutron": wiring_text(with_whole_hosts()),
        "wiring-json": json.dumps(wiring(site_of(EOS_NAMES, wired_by="export")).model_dump(mode="json"), indent=1),
        "wiring-json-whole-hosts": json.dumps(with_whole_hosts().model_dump(mode="json"), indent=1),
    }
    return {name: text.removesuffix("\n") for name, text in found.items()}
