"""The operator's own objects: networks, flavours, images, aggregates, volume types, controllers' project."""

from __future__ import annotations

from typing import Any, ClassVar

import pulumi

from .base import PlannedComponent


class SiteObjects(PlannedComponent):
    """Everything of the stack `<site>-site`. Outputs: the ids of the objects by plan name."""

    TYPE: ClassVar[str] = "Site"

    @property
    def ids(self) -> dict[str, pulumi.Output[str]]:
        """Cloud ids by plan name."""
        return {name: made.id for name, made in self.objects.items()}

    def outputs(self) -> dict[str, Any]:
        """The ids, for people; tenants' stacks name these objects by kind and name."""
        return {"ids": self.ids}
