"""What all components have in common: arguments, token, and the tree below them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import pulumi

from interlock.resources import Resource
from interlock.vocabulary.urns import TypeToken

from .declaration import CloudObject, Declaration


@dataclass(frozen=True)
class ComponentArgs:
    """Arguments of every component: the declaration of a proof. Which part of it: the component's name.

    `classes` says which class declares each component type of the plan.
    """

    declaration: Declaration
    classes: Mapping[str, type[PlannedComponent]]


class PlannedComponent(pulumi.ComponentResource):
    """A node of the plan's component tree. Declares its own resources, then the components below it."""

    TYPE: ClassVar[str]

    def __init__(self, name: str, args: ComponentArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(TypeToken.component(self.TYPE), name, None, opts)
        self.declaration = args.declaration
        self.name = name
        self.objects: Mapping[str, CloudObject] = args.declaration.resources(name, self)
        below = pulumi.ResourceOptions(parent=self)
        self.below: list[PlannedComponent] = [
            args.classes[child.type](child.name, args, below) for child in args.declaration.children(name)
        ]
        self.register_outputs(self.outputs())

    def outputs(self) -> dict[str, Any]:
        """What the component shows in the stack."""
        return {}

    def spec(self, name: str) -> Resource:
        """The planned resource of this name."""
        return self.declaration.proof.plan.by_name[name].resource

    def own(self, suffix: str) -> CloudObject:
        """The own resource `<component>-<suffix>`."""
        return self.objects[f"{self.name}-{suffix}"]
