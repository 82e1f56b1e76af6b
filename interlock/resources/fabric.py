"""Ports of physical switches behind IPU-Machines. Planned and proved; nothing can set them yet."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from .base import IN_PLACE, REPLACE, Resource


class SwitchPort(Resource):
    """A switch port in access mode on one VLAN, with the machine behind it."""

    KIND: ClassVar[str] = "SwitchPort"
    HAS_ACTUATOR: ClassVar[bool] = False

    switch: Annotated[str, REPLACE]
    port: Annotated[int, REPLACE]
    #: Name of the device and the interface of it that is cabled there.
    device: Annotated[str, IN_PLACE]
    interface: Annotated[Literal["rnic", "mgmt"], IN_PLACE]
    vlan: Annotated[int, IN_PLACE]
