"""The operator's own objects: networks, flavours, images, aggregates, volume types, the controllers' project."""

from __future__ import annotations

from typing import Any, ClassVar

from .base import PlannedComponent


class SiteObjects(PlannedComponent):
    """Everything of the stack `<site>-site`. Outputs: the ids of the objects by plan name."""

    TYPE: ClassVar[str] = "Site"

    def outputs(self) -> dict[str, Any]:
        """Cloud ids by plan name."""
        return {"ids": {name: made.id for name, made in self.objects.items()}}
