"""Declared sharing, assumptions and existing objects: kinds, guards and nodes that there are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from interlock.hardware.gpu import NODE_TYPES
from interlock.model.text.errors import Code
from interlock.model.text.names import RESERVED_TENANTS
from interlock.model.text.source import KEY
from interlock.model.text.validation import nearest
from interlock.resources import KINDS
from interlock.resources.existing import STATED, IdForm
from interlock.vocabulary import ExistingObject, RoutingInstance

from .appliance_checks import check_appliance
from .guards import ASSUMPTION_GUARDS, GUARDS_OF_SETTLING, SHARING_GUARDS
from .places import Path
from .rests import BY_EVIDENCE, RestsOnEvidence
from .values import AS_PRINTED
from .view import SiteView

#: An InfiniBand port: 16 hex digits.
_GUID = re.compile(r"[0-9a-fA-F]{16}")


def check_sharing(view: SiteView) -> None:
    """Adds faults of `sharing`, `assumptions`, `evidence.acceptance` and `existing`."""
    _check_entries(view)
    _check_nodes(view)
    _check_assumptions(view)
    _check_acceptance(view)
    _check_existing(view)


def _check_entries(view: SiteView) -> None:
    for name, entry in view.file.sharing.items():
        known = SHARING_GUARDS[entry.kind]
        if not entry.guards:
            message = f"`{name}` states no guard, so it is no sharing"
            hint = f"add `guards:`, each true, false or unknown: {', '.join(known)}"
            view.faults.add(Code.CONTRADICTION, ("sharing", name), message, hint)
        _unknown_guards(view, ("sharing", name, "guards"), entry.guards, known)
        if not entry.audience:
            hint = "list tenants, or write `any`; what nobody may meet is not shared"
            view.faults.add(Code.VALUE, ("sharing", name, "audience"), "an audience of nobody", hint)
        for tenant in sorted({"*", *RESERVED_TENANTS} & set(entry.audience)):
            if entry.audience != ["*"]:
                message = f"`{tenant}` is no tenant"
                view.faults.add(Code.VALUE, ("sharing", name, "audience"), message, "for everybody write `any` alone")


def _check_nodes(view: SiteView) -> None:
    networks = {*view.site.physical_network, view.site.external.name}
    known = {*view.devices, *networks, *view.file.underlays, *view.file.infiniband, *_routing_instances(view)}
    is_short = view.faults.short_of("physical_networks", "external", "underlays", "infiniband")
    for name, entry in view.file.sharing.items():
        if entry.node is not None and not _GUID.fullmatch(entry.node) and not is_short:
            view.faults.need(("sharing", name, "node"), "a device or a network", entry.node, known)
        if entry.kind == "private-vlan-back-end" and (entry.node is None or entry.node in known):
            _check_on_ports(view, name, entry.node)
        if entry.kind == "storage-appliance":
            check_appliance(view, name, entry.node)


def _routing_instances(view: SiteView) -> Iterator[str]:
    """The VRFs of switches: `tor-1/storage`."""
    yield from (str(RoutingInstance(switch.name, vrf.name)) for switch in view.site.switches for vrf in switch.vrfs)


def _check_on_ports(view: SiteView, name: str, stated: str | None) -> None:
    """Roles in a private VLAN are those of switch ports, so what is behind them has a cable to one."""
    node = name if stated is None else stated
    if node in view.site.switch or not any(view.site.switch.keys() & far for far in _far_ends(view, node)):
        path: Path = ("sharing", name) if stated is None else ("sharing", name, "node")
        message = f"`{node}` is no device on a switch port, and a private VLAN has its roles there"
        hint = "name the device under `node:`, and state its cable: `cables: [{ends: [tor-1:30, filer:e0]}]`"
        view.faults.add(Code.CONTRADICTION, path, message, hint)


def _far_ends(view: SiteView, device: str) -> Iterator[set[str]]:
    """The device at the other end of each cable."""
    for cable in view.site.cables:
        ends = {cable.a.device, cable.b.device}
        if device in ends:
            yield ends - {device}


def _check_assumptions(view: SiteView) -> None:
    for assumption, guards in view.file.assumptions.items():
        path: Path = ("assumptions", assumption)
        known = (ASSUMPTION_GUARDS | GUARDS_OF_SETTLING).get(assumption)
        if known is not None:
            _unknown_guards(view, path, guards, known)
            _check_evidence(view, path, guards, BY_EVIDENCE.get(assumption, ()))
            continue
        hint = nearest(assumption, ASSUMPTION_GUARDS)
        view.faults.add(Code.UNKNOWN_KEY, path, f"`{assumption}` is no assumption of the proof", hint)


def _check_acceptance(view: SiteView) -> None:
    """Nothing would read what is stated of a type that no node can have."""
    for node_type in view.file.evidence.acceptance:
        path = ("evidence", "acceptance", node_type, KEY)
        view.faults.need_name(path, node_type, NODE_TYPES, f"`{node_type}` is no node type of the catalogue")


def _check_evidence(view: SiteView, path: Path, guards: Mapping[str, object], readable: tuple[str, ...]) -> None:
    for guard, value in guards.items():
        if isinstance(value, RestsOnEvidence) and guard not in readable:
            hint = "write true if you have seen to it and answer for it, else false or unknown"
            view.faults.add(Code.CONTRADICTION, (*path, guard), f"nothing writes evidence of `{guard}`", hint)


def _check_existing(view: SiteView) -> None:
    owners = dict[tuple[str, str], str]()
    for name, ident in view.file.existing.items():
        hint = _hint_for(name)
        if hint is not None:
            view.faults.add(Code.NO_SUCH, ("existing", name, KEY), f"`{name}` is no object of a site", hint)
            continue
        kind = ExistingObject.parse(name).kind
        form = STATED[kind].ids
        if not form.fits(ident):
            message = f"`{ident}` is no id of {kind} {ExistingObject.parse(name).name}: it is {form}"
            view.faults.add(Code.VALUE, ("existing", name), message, AS_PRINTED)
        # Services count by themselves: only ids of one kind are compared.
        first = owners.setdefault((kind, ident.replace("-", "") if form is IdForm.UUID else ident), name)
        if first != name:
            message = f"`{name}` has the id of `{first}`"
            view.faults.add(Code.TWICE, ("existing", name), message, "an id is one object: look both up again")


def _hint_for(existing: str) -> str | None:
    """What to do about a key of `existing:`; None if it can name an object of a site."""
    try:
        kind = ExistingObject.parse(existing).kind
    except ValueError:
        return "write Kind/name, as in Image/poplar"
    if kind in STATED:
        return None
    if kind in KINDS:
        return f"leave it out: only {', '.join(STATED)} can be named; anything else is made, or found by what it joins"
    return nearest(kind, STATED)


def _unknown_guards(view: SiteView, path: Path, stated: Iterable[str], known: tuple[str, ...]) -> None:
    for guard in stated:
        if guard not in known:
            hint = nearest(guard, known)
            view.faults.add(Code.UNKNOWN_KEY, (*path, guard), f"no rule knows the guard `{guard}`", hint)
