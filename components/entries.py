"""The address outside by which a server of a component is reached."""

from __future__ import annotations

import pulumi

from interlock.resources import FloatingIp

from .base import PlannedComponent


def public_address(component: PlannedComponent) -> pulumi.Output[str] | None:
    """Address of the floating IP that the component has; None: it has none."""
    planned = component.declaration.proof.plan.of(component.name)
    entry = next((item for item in planned if isinstance(item.resource, FloatingIp)), None)
    return None if entry is None else component.objects[entry.name].computed("public_address")
