"""What of the kernel a document sets: parameters that can be set while it runs."""

from __future__ import annotations

from collections.abc import Mapping

from .document import Part
from .files import GuestFile


def kernel_parameters(name: str, values: Mapping[str, str]) -> Part:
    """`values`: parameter -> value as sysctl.d(5) takes them, in a file of its own, set at once and at every boot."""
    if not values:
        return Part()
    lines = "".join(f"{key} = {value}\n" for key, value in values.items())
    return Part(files=(GuestFile(f"/etc/sysctl.d/90-{name}.conf", lines),), commands=(("sysctl", "--system"),))
