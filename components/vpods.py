"""A vPOD: its segments, its Poplar servers, its V-IPU controller, and the key of its S3 service user."""

from __future__ import annotations

from typing import Any, ClassVar

import pulumi

from interlock.resources import Port
from interlock.vocabulary import NetworkRole

from .base import PlannedComponent
from .declaration import CloudObject
from .entries import public_address
from .s3_keys import s3_key_in_use


class WithPorts(PlannedComponent):
    """Something that stands on the control network. Outputs: `control_address`."""

    @property
    def control_address(self) -> str:
        """Address on the control network, known before anything is made."""
        plan = self.declaration.proof.plan
        ports = (item.resource for item in plan.of(self.name) if isinstance(item.resource, Port))
        return next(port.address for port in ports if plan.role_of(port.network) is NetworkRole.CONTROL)

    def outputs(self) -> dict[str, Any]:
        """The address."""
        return {"control_address": self.control_address}


class PlannedServer(WithPorts):
    """A server with its ports. Outputs: `server_id`, `control_address`."""

    @property
    def server_id(self) -> pulumi.Output[str]:
        """Nova's id of the server."""
        return self.objects[self.name].id

    def outputs(self) -> dict[str, Any]:
        """Id and address."""
        return {"server_id": self.server_id, **super().outputs()}


class PoplarServer(PlannedServer):
    """A Poplar server, with its volume. Outputs besides: `public_address`, of a server that is reached from outside."""

    TYPE: ClassVar[str] = "PoplarServer"

    @property
    def public_address(self) -> pulumi.Output[str] | None:
        """Address outside that leads to it; None: there is none."""
        return public_address(self)

    def outputs(self) -> dict[str, Any]:
        """Id and addresses; none of a server that is released, of which the volume is left."""
        if self.name not in self.objects:
            return {}
        public = self.public_address
        return super().outputs() | ({} if public is None else {"public_address": public})


class BareMetalPoplarServer(WithPorts):
    """A Poplar server that is a whole host. It has no id: nothing can make one yet, and the program refuses it."""

    TYPE: ClassVar[str] = "BareMetalServer"


class VipuController(PlannedServer):
    """The vPOD's V-IPU controller, in the operator's project; its address is where its user API listens."""

    TYPE: ClassVar[str] = "VipuController"


class VirtualPod(PlannedComponent):
    """One vPOD. Outputs: `machines`, `poplar`, `controller`, `s3_access_key`, `s3_secret_key` (a secret)."""

    TYPE: ClassVar[str] = "VirtualPod"

    @property
    def machines(self) -> list[str]:
        """The IPU-Machines reserved for this vPOD (their switch ports are planned, not wired)."""
        return list(self.declaration.proof.plan.machines(self.name))

    @property
    def poplar(self) -> list[PoplarServer | BareMetalPoplarServer]:
        """The Poplar servers, by index."""
        return [item for item in self.below if isinstance(item, PoplarServer | BareMetalPoplarServer)]

    @property
    def controller(self) -> VipuController:
        """The vPOD's own controller."""
        return next(item for item in self.below if isinstance(item, VipuController))

    @property
    def s3_key(self) -> CloudObject:
        """The S3 key in use: of two, while a key is rotated, the one with the higher number."""
        found = s3_key_in_use(self)
        if found is None:
            raise RuntimeError(f"{self.name} has no S3 key")
        return found

    @property
    def s3_access_key(self) -> pulumi.Output[str]:
        """Access key of the vPOD's S3 service user."""
        return self.s3_key.computed("access_key")

    @property
    def s3_secret_key(self) -> pulumi.Output[str]:
        """Secret of that key; a Pulumi secret."""
        return pulumi.Output.secret(self.s3_key.computed("secret_key"))

    def outputs(self) -> dict[str, Any]:
        """What the tenant's people need to begin; of a vPOD that is released nothing is there to begin with."""
        if not self.machines:
            return {"machines": []}
        return {
            "machines": self.machines,
            "poplar": {server.name: server.outputs() for server in self.poplar},
            "controller": self.controller.outputs(),
            "s3_access_key": self.s3_access_key,
            "s3_secret_key": self.s3_secret_key,
        }
