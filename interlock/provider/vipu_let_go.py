"""What a stack lets go of at a V-IPU controller: it stays there, and the state has it no more.

Who tells a controller is the site's to say (`controller.managed_by`). From `interlock` to `hand` nothing is declared
any more, which to the engine looks as if all of it were to go. But the vPOD stays, with what runs in its partitions:
only who tells its controller is another.
"""

from __future__ import annotations

from typing import Any

from interlock.resources import Admission, VipuCluster
from interlock.resources.vipu import VipuObject

from .actuators import Target
from .admitted import AdmissionGate


def let_go(gate: AdmissionGate, target: Target[Any]) -> str:
    """What people are told of an object that a person tells its controller of from now on; empty if nobody does."""
    spec = target.spec
    if not isinstance(spec, VipuObject) or not gate.has_proof or not _by_hand(gate.admission, spec.controller):
        return ""
    return (
        f"{spec.KIND} {target.name}: the site says `controller.managed_by: hand`, so {spec.name} stays at V-IPU "
        f"controller {spec.controller} as it is, and only this stack's state forgets it; remove it there by hand if "
        "nobody needs it"
    )


def _by_hand(admission: Admission, controller: str) -> bool:
    """True if the proof keeps a controller's server and has nothing to tell it.

    Whoever is told anything is told of one cluster, so a vPOD that has none is told by a person. Where the server goes,
    the vPOD does, with everything at its controller.
    """
    clusters = (item.spec["controller"] for item in admission.resources if item.kind == VipuCluster.KIND)
    return ("Server", controller) in admission.by_name and controller not in clusters
