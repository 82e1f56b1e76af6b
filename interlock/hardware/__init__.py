"""The catalogue: machines, pods and switches, each figure with where it comes from."""

from __future__ import annotations

from .designs import DESIGNS, IPU_POD64, RackDesign
from .facts import Fact, Provenance
from .machines import IPU_M2000, POPLAR_R6525, MachineModel, ServerModel
from .switches import ARISTA_7010T, ARISTA_7060X, SwitchModel

__all__ = [
    "ARISTA_7010T", "ARISTA_7060X", "DESIGNS", "IPU_M2000", "IPU_POD64", "POPLAR_R6525",
    "Fact", "MachineModel", "Provenance", "RackDesign", "ServerModel", "SwitchModel",
]  # fmt: skip
