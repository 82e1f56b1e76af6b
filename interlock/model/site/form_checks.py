"""What must hold in the sections beside the racks before they can be expanded."""

from __future__ import annotations

from interlock.model.text.errors import Code
from interlock.model.text.faults import Faults

from .file import SiteFile


def check_form(file: SiteFile, faults: Faults) -> None:
    """Adds every fault that would leave the expansion without an answer (racks: `rack_checks`)."""
    for index, cable in enumerate(file.cables):
        counts = sorted({len(end) for end in cable.ends})
        if len(cable.ends) == 2 and len(counts) > 1:
            message = f"one end of these cables is a range of {counts[-1]}, the other of {counts[0]}"
            hint = "both ends have as many plugs: tor-1:25-32 and spine-1:1-8"
            faults.add(Code.CONTRADICTION, ("cables", index, "ends"), message, hint)
