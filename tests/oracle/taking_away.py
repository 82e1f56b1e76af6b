"""Every fact that takes an edge, a label or an obligation away, in a world where it does, and that world without it.

The entries are those of the table in docs/design/semantics.md §8; each draft is made twice, with the fact and without.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from interlock.model.site.completeness import TABLES
from interlock.model.site.guards import ASSUMPTION_GUARDS, SHARING_GUARDS
from interlock.model.site.inventory import Device, FlavorSpec, Site
from interlock.resources import Bucket, Keypair, S3Credential, ServiceUser
from tests.builders.pod64 import ssh_key

from . import examples_cloud as of_cloud
from . import examples_devices as of_devices
from . import examples_operated as operated
from . import examples_wire as wires
from . import found
from .drafting import SHARED, Draft
from .sayings import A, G, apart, both, machine, management
from .world import OP

#: A world with a fact, or without it.
Entry = Callable[[bool], Draft]


def _without_record(draft: Draft, known: bool, switch: str, number: int) -> Draft:
    if not known:
        del draft.switches[switch].ports[number]
    return draft


# Ports of switches.


def disabled(known: bool) -> Draft:
    """Machines just released on ports that are down."""
    draft = of_devices.ports_disabled()
    for number in (2, 3):
        _without_record(draft, known, "leaf-1", number)
    return draft


def access(known: bool) -> Draft:
    """An access port carries its VLAN and no other."""
    draft = both()
    port, _ = machine(draft, A, "ipum-01", 1001)
    return _without_record(draft, known, "leaf-1", port)


def lists(known: bool) -> Draft:
    """One end of an uplink lets nothing pass."""
    draft = apart()
    port, _ = draft.link("leaf-1", "leaf-2", {"tagged": ()}, {"tagged": None})
    return _without_record(draft, known, "leaf-1", port)


def routed(known: bool) -> Draft:
    """An uplink that carries no VLAN; both ends take nothing else."""
    draft = apart()
    port, _ = draft.link("leaf-1", "leaf-2", {"mode": "routed"}, {"tagged": None})
    return _without_record(draft, known, "leaf-1", port)


def translations(known: bool) -> Draft:
    """acme's 1001 goes by 2001 on the wire, and the other end takes 1001."""
    draft = apart()
    here = {"tagged": ((1001, 1001),), "translations": ((2001, 1001),)}
    port, _ = draft.link("leaf-1", "leaf-2", here, {"tagged": ((1001, 1001),)})
    return _without_record(draft, known, "leaf-1", port)


def tag_native(known: bool) -> Draft:
    """Native 1001 and 1002 at the ends of a link, each with its tag."""
    draft = wires.natives_that_differ()
    for switch in draft.switches.values():
        for number, port in switch.ports.items():
            if port.untagged is not None and port.mode == "trunk":
                switch.ports[number] = port.model_copy(update={"tag_native": True if known else None})
    return draft


def private_vlan(known: bool) -> Draft:
    """Released machines that are isolated in one VLAN."""
    draft = of_devices.isolated_ports()
    for number in (2, 3):
        _without_record(draft, known, "leaf-1", number)
    return draft


def empty(known: bool) -> Draft:
    """An open port of acme's VLAN without a cable."""
    draft = both()
    draft.port("leaf-1", untagged=1001, empty=known)
    return draft


# Switches, underlays, flavours, hosts, devices.


def routed_vlans(known: bool) -> Draft:
    """The leaf has no address in any VLAN."""
    draft = both()
    draft.switch("leaf-1", routed_vlans=() if known else None)
    return draft


def encapsulation(known: bool) -> Draft:
    """Geneve and VXLAN of one id over one underlay."""
    return wires.geneve_and_vxlan() if known else wires.encapsulation_not_stated()


def neutron(known: bool) -> Draft:
    """Neutron's overlays do not run over the underlay of the switches."""
    draft = wires.neutron_and_evpn()
    draft.underlays = [draft.underlays[0].model_copy(update={"neutron": False if known else None})]
    return draft


def devices(known: bool) -> Draft:
    """What the flavour hands out is no network function; the port behind the host takes both tenants' VLANs."""
    draft = both()
    draft.flavors = [
        FlavorSpec(
            name="with-device", role="poplar", vcpus=1, ram_gib=1, disk_gib=1,
            extra_specs={"pci_passthrough:alias": "x"}, devices="other" if known else None,
        )
    ]  # fmt: skip
    draft.server(A, "acme-a-device", "hv-1", (), flavor="site:Flavor/with-device")
    return draft


def bmc(known: bool) -> Draft:
    """A whole host with a plug on a wire of the operator's."""
    draft = found.plug_that_may_be_the_bmcs()
    if known:
        draft.hosts["bm-1"] = draft.hosts["bm-1"].model_copy(update={"bmc": "xcc"})
    return draft


def interfaces(known: bool) -> Draft:
    """A host meets its network by the interfaces that are listed."""
    draft = both()
    if not known:
        draft.hosts["hv-1"] = draft.hosts["hv-1"].model_copy(update={"interfaces": {}})
        draft.open_tables.add(("attachments", "hv-1"))
    return draft


def role(known: bool) -> Draft:
    """A PDU has one plug by what it is, and nobody declares that of it."""
    draft = both()
    draft.appliance("strip", "leaf-1", untagged=1090)
    draft.devices = [Device(name="strip", role="pdu" if known else "other")]
    draft.open_tables.add(("attachments", "strip"))
    return draft


def network_of_a_claim(known: bool) -> Draft:
    """globex released a VLAN of a physical network that reaches another leaf; acme has its id."""
    draft = apart()
    draft.networks["data-2"] = ("leaf-2",)
    draft.give_up(G, "ipu_data_vlan", "data-2:1010" if known else "1010")
    draft.vlan(A, "acme-a-second", "data-1", 1010)
    return draft


RECORDS: dict[str, Entry] = {
    "switches.ports, disabled": disabled, "switches.ports, access": access, "switches.ports, tagged": lists,
    "switches.ports, routed": routed, "switches.ports, translations": translations,
    "switches.ports, tag_native": tag_native, "switches.ports, private_vlan": private_vlan,
    "switches.ports, empty": empty, "switches.routed_vlans": routed_vlans,
    "switches.vteps.encapsulation": encapsulation, "underlays.neutron": neutron, "flavors.devices": devices,
    "hosts.bmc": bmc, "hosts.interfaces": interfaces, "devices.role": role,
    "released claims, physical network": network_of_a_claim,
}  # fmt: skip

# Guards: each of them is forgotten, one by one.


def with_a_bucket() -> Draft:
    """acme keeps something."""
    draft = both()
    user = draft.add(A, "acme-user", ServiceUser(name="user", project=draft.project(A)))
    key = draft.add(A, "acme-key", S3Credential(user=user, project=draft.project(A)))
    draft.add(A, "acme-bucket", Bucket(name="b", project=draft.project(A), credential=key))
    return draft


def cleaned_and_taken() -> Draft:
    """A machine that was acme's is globex's."""
    return of_devices.cleaned_and_taken(erases=True)


def whole_host() -> Draft:
    """acme's host, whose BMC is on the operator's management."""
    draft = of_devices.open_bmc()
    draft.assumptions["A13"] = {"in_band_closed": True}
    return draft


def gpus() -> Draft:
    """A partition each in one NVLink domain."""
    draft = of_devices.default_nvlink_partition()
    draft.assumptions["A8"] = dict.fromkeys(ASSUMPTION_GUARDS["A8"], True)
    return draft


#: Assumption -> a world in which something rests on each of its guards. A14 and A15 take obligations away, not edges.
ASSUMPTIONS: dict[str, Callable[[], Draft]] = {
    "A1": both, "A2": both, "A3": of_devices.machine_that_keeps_apart, "A4": of_devices.plugged_boundary, "A5": both,
    "A6": of_devices.limited_members, "A7": of_devices.isolated_ports, "A8": gpus, "A9": cleaned_and_taken,
    "A10": both, "A13": whole_host, "A16": operated.two_tenants, "A17": operated.with_an_overlay,
    "A18": operated.two_tenants, "A19": operated.two_tenants, "A20": operated.two_tenants,
    "A21": operated.with_gateways, "A22": operated.machines_on_one_leaf, "A23": operated.host_handed_on,
    "A24": operated.machines_on_one_leaf,
}  # fmt: skip
#: The same of a guard whose assumption has others for other things.
OF_ONE_GUARD: dict[str, Callable[[], Draft]] = {
    "A11.storage_rules_enforced": wires.two_vpods, "A11.bucket_rules_enforced": with_a_bucket,
}  # fmt: skip
#: Kind of declared sharing -> a world with one.
TERMINALS: dict[str, Callable[[], Draft]] = {
    "external-network": of_cloud.two_gateways, "vipu-controller": of_cloud.controller_of_the_operators,
    "storage-appliance": wires.two_vpods, "monitoring": of_cloud.monitoring_that_is_declared,
    "routed-back-end": wires.router_with_an_access_list,
}  # fmt: skip


def guards_of_assumptions() -> Iterator[tuple[str, str, Callable[[], Draft]]]:
    """(assumption, guard, world in which it keeps something apart)."""
    for name, made in ASSUMPTIONS.items():
        yield from ((name, guard, made) for guard in ASSUMPTION_GUARDS[name])
    for place, made in OF_ONE_GUARD.items():
        name, _, guard = place.partition(".")
        yield name, guard, made


def without_guard(draft: Draft, assumption: str, guard: str) -> Draft:
    """Nobody states it."""
    draft.assumptions[assumption] = draft.assumptions[assumption] | {guard: None}
    return draft


def guards_of_sharing() -> Iterator[tuple[str, str]]:
    """(kind, guard)."""
    yield from ((kind, guard) for kind in TERMINALS for guard in SHARING_GUARDS[kind])


def without_guard_of_sharing(draft: Draft, kind: str, guard: str) -> Draft:
    """Nobody states it."""
    for name, known in SHARED.items():
        if known == kind:
            draft.sharing[name] = draft.sharing[name] | {guard: None}
    draft.declared = [
        item.model_copy(update={"guards": item.guards | {guard: None}}) if item.kind == kind else item
        for item in draft.declared
    ]
    return draft


# Tables.


def everything() -> Draft:
    """A world with something that rests on each table: machines, gateways, keys, overlays."""
    draft = operated.with_gateways()
    management(draft)
    _, port = machine(draft, A, "ipum-01", 1001)
    draft.change_port("mgmt-1", port, untagged=110)
    draft.vlan(OP, "management", "mgmt", 110)
    draft.add(A, "acme-a-key", Keypair(name="key", public_key=ssh_key(A)))
    network = draft.vxlan(A, "acme-a-control", 5001)
    vnic = draft.plug(A, "acme-a-control-port", network, vnic_type="normal")
    draft.server(A, "acme-a-controlled", "hv-1", (vnic,))
    return draft


def tables(site: Site) -> Iterator[tuple[str, str]]:
    """(table, subject) of every declaration; of ports the drafts declare nothing, and their records are entries."""
    for table in TABLES:
        yield from ((table, name) for name in site.subjects(table) if table != "switch_ports")
