"""Builds a plan, one component after another."""

from __future__ import annotations

from collections import Counter

from interlock.resources import Resource
from interlock.vocabulary import NetworkRole

from .errors import PlanningError
from .plan import Component, ComponentType, Planned
from .plan_hash import KEPT_APART


class PlanBuilder:
    """Components and resources in the order in which they are written."""

    def __init__(self) -> None:
        self.components: list[Component] = []
        self._vpod: dict[str, str] = {}
        self.resources: list[Planned] = []

    def component(self, name: str, type: ComponentType, parent: str | None = None) -> str:  # noqa: A002
        """Begin a component; what is added after this belongs to it."""
        self.components.append(Component(name=name, type=type, parent=parent))
        vpod = name if type in KEPT_APART else self._vpod.get(parent or "")
        if vpod is not None:
            self._vpod[name] = vpod
        return name

    def add(
        self,
        name: str,
        resource: Resource,
        after: tuple[str, ...] = (),
        role: NetworkRole | None = None,
        component: str | None = None,
    ) -> str:
        """Write down one resource; returns its reference, that is its name.

        `role`: what a network of a vPOD is for. `component`: that it belongs to; None: the one begun last.
        """
        component = component or self.components[-1].name
        vpod = self._vpod.get(component)
        item = Planned(name=name, component=component, resource=resource, after=after, vpod=vpod, role=role)
        self.resources.append(item)
        return name

    def check_names(self) -> None:
        """PlanningError if two resources, or two components, have one name."""
        for what, names in (
            ("resources", [item.name for item in self.resources]),
            ("components", [item.name for item in self.components]),
        ):
            twice = sorted(name for name, count in Counter(names).items() if count > 1)
            if twice:
                raise PlanningError(
                    f"two {what} of the plan would be named {', '.join(twice)}",
                    "rename the vPOD, cluster, volume, share, bucket, flavour or image whose name makes them so",
                )
