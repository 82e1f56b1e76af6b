"""TOP-22: in no fabric that pauses may buffers wait for each other in a circle.

Where frames go follows from what switches are: from leaves up to spines and down again, and never up a second time.
Between leaves, and where roles do not say who is above whom, any way may be taken but straight back.
"""

from __future__ import annotations

from collections.abc import Iterator

from interlock.model.site.inventory import Endpoint
from policies.about import Fact, SaidFact, SiteFact, devices, in_order
from policies.facts.lossless import LosslessFabric, circles, lossless_fabrics
from policies.facts.port_modes import SwitchEnd
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.proof import Severity

from .rule import Cause, Of, Polarity, Rule, RuleAnswer, by_facts

_HINT = (
    "take out a cable between two leaves, or take the VLANs of RDMA off its ports; what is above whom the roles `tor` "
    "and `spine` say"
)


def _no_circle(model: Model, _: Names) -> RuleAnswer:
    fabrics = list(lossless_fabrics(model.site))
    return by_facts(len(fabrics), [cause for fabric in fabrics for cause in _of_fabric(fabric)])


def _of_fabric(fabric: LosslessFabric) -> Iterator[Cause]:
    found = [_circle(fabric, circle, ()) for circle in circles(fabric.waiting(certain=True))]
    yield from found
    if not found:
        for circle in circles(fabric.waiting(certain=False)):
            yield _circle(fabric, circle, in_order(_unstated(fabric, circle)))
    missing = in_order(fact for name in fabric.switches for fact in fabric.site.undeclared("cables", name))
    if missing:
        message = f"{_called(fabric)}: a cable that nobody listed may close a circle of buffers"
        hint = "list every cable between switches, and say under `complete:` that all are listed"
        yield Cause((_called(fabric), "cables"), message, _witness(fabric), hint, missing=missing, specificity=33)


def _circle(fabric: LosslessFabric, circle: tuple[str, ...], missing: tuple[Fact, ...]) -> Cause:
    may = "may wait" if missing else "wait"
    return Cause(
        key=circle,
        message=f"{_called(fabric)}: buffers {may} for each other in a circle: {' – '.join((*circle, circle[0]))}",
        witness=tuple(_cables(fabric, a, b) for a, b in _steps(circle)),
        hint=_HINT,
        missing=missing,
        specificity=34,
        about=devices(*circle),
    )


def _unstated(fabric: LosslessFabric, circle: tuple[str, ...]) -> Iterator[Fact]:
    """What nobody says, and without which it is no circle."""
    yield from (SaidFact(f"whether {name} pauses") for name in circle if name not in fabric.pausing)
    for a, b in _steps(circle):
        if not fabric.is_ordered(a, b):
            yield SaidFact(f"which of {min(a, b)} and {max(a, b)} is above the other")
        yield from (SiteFact(f"switches.{end.switch}.ports.{end.port}") for end in fabric.unknown_ports(a, b))


def _steps(circle: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    yield from zip(circle, (*circle[1:], circle[0]), strict=True)


def _cables(fabric: LosslessFabric, a: str, b: str) -> str:
    (near, far), *more = fabric.links[a, b]
    others = f" and {len(more)} more" if more else ""
    return f"{_plug(near)} – {_plug(far)}{others}"


def _plug(end: SwitchEnd) -> Endpoint:
    return Endpoint(device=end.switch, interface=str(end.port))


def _called(fabric: LosslessFabric) -> str:
    return " and ".join(item.name for item in fabric.networks)


def _witness(fabric: LosslessFabric) -> tuple[str, ...]:
    return tuple(f"{item.name} on {', '.join(item.switches)}" for item in fabric.networks)


TOP_22 = Rule(
    id="TOP-22",
    title="no buffers of a lossless fabric wait for each other in a circle",
    severity=Severity.ERROR,
    polarity=Polarity.BOTH,
    why="a switch that is paused pauses those behind it: in a circle all of them stand still for good",
    source="Dally and Seitz, Deadlock-free message routing in multiprocessor interconnection networks, 1987: no cycle "
    "of channels; IEEE 802.1Qbb: a class that is paused waits",
    needs=("physical_networks", "pools", "switches.role", "switches.ports", "cables"),
    ask=_no_circle,
    of=Of.SITE,
)
