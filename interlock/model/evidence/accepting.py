"""Decides whether what was measured of a GPU node is enough: by the node's type, the catalogue and the site file.

What was not measured is not enough, and neither is a measurement for which nobody states a limit: that is unknown, with
the fact of the site file that would decide it. A host that is no GPU node has nothing to show.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from interlock.hardware.gpu import acceptance as catalogue
from interlock.hardware.gpu.acceptance import AcceptanceLimits, Run
from interlock.model.site.inventory import Site
from interlock.model.site.terms_of_acceptance import AcceptanceTerms
from interlock.vocabulary import nodes

from .measured import (
    AllReduceFile,
    AttestedDevices,
    DiagnosticsMeasured,
    FabricMeasured,
    FirmwareMeasured,
    Measured,
    PortMeasured,
)
from .steps import ACCEPTANCE, SeenStep
from .values import moment_text

#: Whoever has a physical function of a GPU, an adapter or an NVSwitch can write its firmware (LIF-03). Where nobody
#: attests it, this assumption has to be held.
ASSUMED = "A25"
_GUARD = "gpu_firmware_kept"
#: The fact, as people read it.
ASSUMED_FACT = f"assumptions.{ASSUMED}.{_GUARD}"

#: Step -> what the runner runs for it.
RUNS: dict[SeenStep, Run] = {
    SeenStep.FIRMWARE_ATTESTED: catalogue.ATTEST,
    SeenStep.DIAGNOSED: catalogue.DIAGNOSE,
    SeenStep.BANDWIDTH_MEASURED: catalogue.MEASURE,
    SeenStep.FABRIC_CHECKED: catalogue.CHECK_FABRIC,
}
#: Step -> what an entry of it says besides, to be filled in.
FIGURES: dict[SeenStep, str] = {
    SeenStep.FIRMWARE_ATTESTED: "firmware: {hca: {devices: <n>, versions: [<version>]}, gpu: {…}, nvswitch: {…}}",
    SeenStep.DIAGNOSED: "diagnostics: {level: 3, gpus: <n>, tests: {<test>: <result>}}",
    SeenStep.BANDWIDTH_MEASURED: "all_reduce: {gpus: <n>, message: <bytes>, busbw: <GB/s>, wrong: <n>}",
    SeenStep.FABRIC_CHECKED: "fabric: {cleared: <when>, ports: {<port>: {guid: <guid>, width: <lanes>, "
    "speed: <Gb/s>, symbol_errors: <n>, link_downed: <n>}}}",
}


def acceptance_of(site: Site, identity: str) -> Acceptance | None:
    """What a device has to show before it is given out; None for all but GPU nodes that stand on the site."""
    match nodes.parse(identity):
        case nodes.HeldHost(serial) if serial in site.host_of:
            name = site.host_of[serial]
            return Acceptance(site, name) if site.host[name].role == "gpu" else None
        case _:
            return None


@dataclass(frozen=True)
class Acceptance:
    """What one GPU node has to show."""

    site: Site
    #: Of the host.
    name: str

    @property
    def steps(self) -> tuple[SeenStep, ...]:
        """In their order. Firmware: unless the site answers for it (A25); a fabric: where there is one."""
        left_out = set()
        if self.rests_on_assumption:
            left_out.add(SeenStep.FIRMWARE_ATTESTED)
        if not self._has_fabric:
            left_out.add(SeenStep.FABRIC_CHECKED)
        return tuple(step for step in ACCEPTANCE if step not in left_out)

    @property
    def rests_on_assumption(self) -> bool:
        """True if nobody has to attest the firmware, because the site answers for it."""
        return any(item.id == ASSUMED and item.guards.get(_GUARD) is True for item in self.site.assumptions)

    def missing(self, step: SeenStep) -> tuple[str, ...]:
        """Facts that somebody has to state before a measurement of this step can count."""
        if self._limits is None:
            return (f"gpu_nodes.{self.name}.node_type",)
        return tuple(_MISSING[step](self, self._limits))

    def why_not(self, measured: Measured | None, bandwidth_at: datetime.datetime | None) -> str:
        """Why figures are not enough; empty if they are. Ask only where nothing is `missing`.

        `bandwidth_at`: when the all-reduce was seen that counts, if there is one.
        """
        match measured:
            case FirmwareMeasured():
                return _first(self._firmware(measured))
            case DiagnosticsMeasured():
                return _first(self._diagnostics(measured))
            case AllReduceFile():
                return _first(self._all_reduce(measured))
            case FabricMeasured():
                return _first(self._fabric(measured, bandwidth_at))
            case None:
                return "says nothing of what was measured"

    @cached_property
    def _limits(self) -> AcceptanceLimits | None:
        node = self.site.gpu_node.get(self.name)
        return None if node is None else catalogue.limits_of(node.node_type)

    @cached_property
    def _terms(self) -> AcceptanceTerms:
        node_type = self.site.gpu_node[self.name].node_type
        found = (item for item in self.site.evidence.acceptance if item.node_type == node_type)
        return next(found, AcceptanceTerms(node_type=node_type))

    @property
    def _has_fabric(self) -> bool:
        """False only where the type is known to have none."""
        return self._limits is None or self._limits.has_fabric or bool(self._ports)

    @property
    def _ports(self) -> dict[str, str | None]:
        """Compute ports of the site, and their GUIDs."""
        node = self.site.gpu_node.get(self.name)
        return {} if node is None else {port.name: port.guid for port in node.ports_for("compute")}

    def _fact(self, key: str) -> str:
        return f"evidence.acceptance.{self._terms.node_type}.{key}"

    def _devices(self, kind: str, limits: AcceptanceLimits) -> int | None:
        """How many have to be attested; None: nobody says."""
        known = {"hca": limits.hcas, "gpu": limits.gpus, "nvswitch": limits.nvswitches}[kind]
        stated = {"hca": self._terms.hcas, "nvswitch": self._terms.nvswitches}.get(kind)
        return stated if stated is not None else (None if known is None else known.known)

    def _kinds(self, limits: AcceptanceLimits) -> tuple[str, ...]:
        """Kinds of devices with firmware that the node has."""
        stated = self._terms.nvswitches is not None
        return ("hca", "gpu", "nvswitch") if limits.has_nvswitches or stated else ("hca", "gpu")

    def _busbw(self, limits: AcceptanceLimits) -> tuple[float | None, int | None]:
        """Bus bandwidth and message at least; None: nobody says."""
        known, terms = limits.all_reduce, self._terms
        busbw = terms.busbw if terms.busbw is not None else (known.busbw.known if known else None)
        message = terms.message if terms.message is not None else (known.message.known if known else None)
        return busbw, message

    def _link(self, limits: AcceptanceLimits) -> int | None:
        """Gb/s of each compute port at least; None: nobody says."""
        if self._terms.link is not None:
            return self._terms.link
        return None if limits.link is None else limits.link.known

    def _missing_of_firmware(self, limits: AcceptanceLimits) -> Iterator[str]:
        for kind in self._kinds(limits):
            if self._devices(kind, limits) is None:
                yield self._fact({"hca": "hcas", "nvswitch": "nvswitches"}.get(kind, "gpus"))
            if not self._terms.firmware.get(kind):
                yield self._fact(f"firmware.{kind}")

    def _missing_of_gpus(self, limits: AcceptanceLimits) -> Iterator[str]:
        if limits.gpus is None or limits.gpus.known is None:
            yield self._fact("gpus")

    def _missing_of_bandwidth(self, limits: AcceptanceLimits) -> Iterator[str]:
        yield from self._missing_of_gpus(limits)
        busbw, message = self._busbw(limits)
        if busbw is None:
            yield self._fact("busbw")
        if message is None:
            yield self._fact("message")

    def _missing_of_fabric(self, limits: AcceptanceLimits) -> Iterator[str]:
        if self._link(limits) is None:
            yield self._fact("link")
        known = None if limits.ports is None else limits.ports.known
        if not self._ports or (known is not None and len(self._ports) < known):
            yield f"gpu_nodes.{self.name}.ports"
        yield from (f"gpu_nodes.{self.name}.{port}.guid" for port, guid in self._ports.items() if guid is None)

    def _firmware(self, found: FirmwareMeasured) -> Iterator[str]:
        assert self._limits is not None
        of: dict[str, AttestedDevices] = dict(found.of)
        for kind in self._kinds(self._limits):
            wanted, accepted = self._devices(kind, self._limits), self._terms.firmware.get(kind, ())
            if kind not in of:
                yield f"attests no {kind}"
                continue
            if of[kind].devices != wanted:
                yield f"attests {of[kind].devices} of {wanted} {kind}"
            others = [version for version in of[kind].versions if version not in accepted]
            if others:
                yield f"attests {kind} firmware {', '.join(others)}, and the site accepts {', '.join(accepted)}"

    def _gpus(self, gpus: int) -> Iterator[str]:
        assert self._limits is not None
        wanted = self._limits.gpus.known if self._limits.gpus is not None else None
        if gpus != wanted:
            yield f"is about {gpus} of {wanted} GPUs"

    def _diagnostics(self, found: DiagnosticsMeasured) -> Iterator[str]:
        if found.level < catalogue.DIAGNOSTIC_LEVEL.value:
            yield f"is of level {found.level}, and level {catalogue.DIAGNOSTIC_LEVEL.value} is wanted"
        yield from self._gpus(found.gpus)
        results = dict(found.tests)
        for test in catalogue.DIAGNOSTIC_TESTS.value:
            if results.get(test) != "pass":
                yield f"says `{results[test]}` of {test}" if test in results else f"says nothing of {test}"
        for test, result in results.items():
            if result in ("fail", "warn"):
                yield f"says `{result}` of {test}"

    def _all_reduce(self, found: AllReduceFile) -> Iterator[str]:
        assert self._limits is not None
        busbw, message = self._busbw(self._limits)
        assert busbw is not None
        assert message is not None
        yield from self._gpus(found.gpus)
        if found.message < message:
            yield f"is of messages of {found.message} bytes, and {message} are wanted"
        if found.busbw < busbw:
            yield f"says {found.busbw:g} GB/s, and {busbw:g} are wanted"
        if found.wrong:
            yield f"has {found.wrong} wrong results"

    def _fabric(self, found: FabricMeasured, bandwidth_at: datetime.datetime | None) -> Iterator[str]:
        if bandwidth_at is not None and found.cleared > bandwidth_at:
            yield f"counts only from after the all-reduce, {moment_text(bandwidth_at)}"
        read = {port.name: port for port in found.ports}
        for name, guid in self._ports.items():
            if name in read:
                yield from (f"says of {name} {why}" for why in self._port(read[name], guid or ""))
            else:
                yield f"says nothing of {name}"
        for name in read:
            if name not in self._ports:
                yield f"is about {name}, which the site does not list"

    def _port(self, port: PortMeasured, guid: str) -> Iterator[str]:
        assert self._limits is not None
        link, lanes, terms = self._link(self._limits), catalogue.LANES.value, self._terms
        if port.guid != guid.lower():
            yield f"GUID {port.guid}, and the site has {guid}"
        if port.width < lanes:
            yield f"{port.width}x, and {lanes}x is wanted"
        if link is None or port.speed < link:
            yield f"{port.speed} Gb/s, and {link} are wanted"
        symbols = catalogue.SYMBOL_ERRORS.value if terms.symbol_errors is None else terms.symbol_errors
        if port.symbol_errors > symbols:
            yield f"{port.symbol_errors} symbol errors, and {symbols} are let pass"
        downs = catalogue.LINK_DOWNED.value if terms.link_downed is None else terms.link_downed
        if port.link_downed > downs:
            yield f"that its link went down {port.link_downed} times, and {downs} are let pass"


def _first(reasons: Iterator[str]) -> str:
    return next(reasons, "")


_MISSING: dict[SeenStep, Callable[[Acceptance, AcceptanceLimits], Iterator[str]]] = {
    SeenStep.FIRMWARE_ATTESTED: Acceptance._missing_of_firmware,  # noqa: SLF001
    SeenStep.DIAGNOSED: Acceptance._missing_of_gpus,  # noqa: SLF001
    SeenStep.BANDWIDTH_MEASURED: Acceptance._missing_of_bandwidth,  # noqa: SLF001
    SeenStep.FABRIC_CHECKED: Acceptance._missing_of_fabric,  # noqa: SLF001
}
