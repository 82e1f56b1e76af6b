"""Servers and what they are made from: Nova flavours, aggregates, servers; Glance images."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import model_validator

from .base import IN_PLACE, REPLACE, Frozen, Refers, Resource, forbidden, new_only

#: cloud-init reads both once, at the first boot: a change means nothing to a server that runs, and nobody's data, jobs
#: and addresses are worth a file or a key that can be put there by hand.
_AT_FIRST_BOOT = new_only("read once, at the first boot; a server that is there keeps its own")

#: States of before servers were told of shares: those servers were told of none.
_TOLD_OF_NONE: Mapping[str, Any] = {"shares": []}


class Flavor(Resource):
    """A Nova flavour. RAM in MiB, disk in GiB; `extra_specs` as Nova documents them."""

    KIND: ClassVar[str] = "Flavor"

    name: Annotated[str, REPLACE]
    vcpus: Annotated[int, REPLACE]
    ram_mib: Annotated[int, REPLACE]
    disk_gib: Annotated[int, REPLACE]
    extra_specs: Annotated[dict[str, str], IN_PLACE] = {}
    #: False: only projects with an access may use it. Nova decides this once, when the flavour is made.
    public: Annotated[bool, REPLACE] = True


class FlavorAccess(Resource):
    """One project on the access list of a flavour that is not public."""

    KIND: ClassVar[str] = "FlavorAccess"

    project: Annotated[str, Refers(("Project",)), REPLACE]
    flavor: Annotated[str, Refers(("Flavor",)), REPLACE]


class Image(Resource):
    """A Glance image that the operator provides; tenants boot it and cannot write it."""

    KIND: ClassVar[str] = "Image"

    name: Annotated[str, IN_PLACE]
    #: Path of the image file, relative to the folder of the site.
    file: Annotated[str, REPLACE]
    sha512: Annotated[str, REPLACE]
    disk_format: Annotated[Literal["raw", "qcow2"], REPLACE] = "raw"
    visibility: Annotated[Literal["public", "private", "community"], IN_PLACE] = "public"


class Aggregate(Resource):
    """A Nova host aggregate with its metadata."""

    KIND: ClassVar[str] = "Aggregate"

    name: Annotated[str, IN_PLACE]
    hosts: Annotated[tuple[str, ...], IN_PLACE]
    metadata: Annotated[dict[str, str], IN_PLACE] = {}


class Server(Resource):
    """A Nova server pinned to one host. Ports change in place: a server is never replaced for a port."""

    KIND: ClassVar[str] = "Server"

    name: Annotated[str, IN_PLACE]
    project: Annotated[str, Refers(("Project",)), REPLACE]
    flavor: Annotated[
        str, Refers(("Flavor",)), forbidden("a resize moves dedicated CPUs and pages; remove the server, add another")
    ]
    image: Annotated[str, Refers(("Image",)), REPLACE]
    host: Annotated[str, REPLACE]
    keypair: Annotated[str | None, Refers(("Keypair",)), _AT_FIRST_BOOT] = None
    ports: Annotated[tuple[str, ...], Refers(("Port",)), IN_PLACE]
    #: cloud-init document, without secrets.
    user_data: Annotated[str, _AT_FIRST_BOOT] = ""
    #: The shares that it mounts: its metadata say under which path each is exported, which no plan can know.
    shares: Annotated[tuple[str, ...], Refers(("Share",)), IN_PLACE] = ()

    YOUNGER: ClassVar[Mapping[str, Any]] = _TOLD_OF_NONE


class BareMetalLeg(Frozen):
    """The switch port behind one interface of a whole host, as the node's Ironic port states it."""

    switch: str
    port: int
    #: What the switch itself calls the port; None: nobody states it.
    port_name: str | None = None
    #: System MAC address of the switch, by which a driver may know it; None: it knows it by name.
    switch_mac: str | None = None
    vlan: int
    #: VLAN in which the driver of the switch leaves a port that nobody uses; None: such ports are shut.
    quarantine_vlan: int | None = None


class BareMetalServer(Resource):
    """A whole host, deployed by Ironic. Root on it sends any frame that the switch ports behind it take."""

    KIND: ClassVar[str] = "BareMetalServer"

    name: Annotated[str, IN_PLACE]
    project: Annotated[str, Refers(("Project",)), REPLACE]
    #: Name of the Ironic node, which is the host's in the site.
    node: Annotated[str, REPLACE]
    #: That of the node; None: the site has no Ironic, so nothing can deploy the host.
    resource_class: Annotated[str | None, REPLACE] = None
    image: Annotated[str, Refers(("Image",)), REPLACE]
    keypair: Annotated[str | None, Refers(("Keypair",)), _AT_FIRST_BOOT] = None
    ports: Annotated[tuple[str, ...], Refers(("Port",)), IN_PLACE]
    #: What each of `ports` is attached to, in their order: Ironic finds the node's own port by it.
    legs: Annotated[tuple[BareMetalLeg, ...], IN_PLACE] = ()
    #: cloud-init document, without secrets.
    user_data: Annotated[str, _AT_FIRST_BOOT] = ""
    #: The shares that it mounts. Its config drive has their paths, and is written when the host is deployed.
    shares: Annotated[tuple[str, ...], Refers(("Share",)), _AT_FIRST_BOOT] = ()

    YOUNGER: ClassVar[Mapping[str, Any]] = _TOLD_OF_NONE

    @property
    def is_declared(self) -> bool:
        """True if something can make it: there is an actuator, and the site has the Ironic that it asks."""
        return self.HAS_ACTUATOR and self.resource_class is not None

    @model_validator(mode="after")
    def _attachable(self) -> BareMetalServer:
        if self.resource_class is not None and len(self.legs) > len(self.ports):
            raise ValueError("a host that Ironic deploys has a port for each of its legs")
        return self
