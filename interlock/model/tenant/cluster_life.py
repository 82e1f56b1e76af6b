"""What a request says of a GPU cluster's life: nodes that it is not to have, and another image node by node."""

from __future__ import annotations

from collections.abc import Sequence

from interlock.model.text.errors import Code
from interlock.model.text.source import KEY

from .cluster_file import ClusterFile
from .reading import Path, RequestReading
from .request import Roll


def read_without(reading: RequestReading, path: Path, file: ClusterFile) -> tuple[str, ...]:
    """Nodes that the cluster is not to have, each a node of its type that it does not pin as well."""
    below = (*path, "without")
    _check_nodes(reading, below, file, file.without)
    pins = reading.file.pins.get(str(path[-1]))
    for index, name in enumerate(file.without):
        if pins is not None and name in (pins.hosts or ()):
            message = f"`{name}` is pinned, and the cluster is not to have it"
            reading.faults.add(Code.CONTRADICTION, (*below, index), message, "take it out of one of both")
    return tuple(file.without)


def read_roll(reading: RequestReading, path: Path, file: ClusterFile) -> Roll | None:
    """The new image, and the nodes that are drained for it."""
    if file.roll is None:
        return None
    below = (*path, "roll")
    image = reading.choice((*below, "image"), "an image", file.roll.image, None, reading.offered.images)
    if image == file.image and not reading.faults.lost(*path, "image"):
        hint = "name the new image here, and leave `image:` as it is until all nodes are drained; or take `roll` out"
        message = f"`{image}` is the image that its nodes have already"
        reading.faults.add(Code.CONTRADICTION, (*below, "image"), message, hint)
    if file.kind == "vm":
        # Nova would find no host for the new server: what the old one had waits until `interlock settle` saw it clean.
        hint = (
            "take `roll` out; say `state: released`, settle its nodes, then take `state` out and say the new `image:`"
        )
        message = "virtual servers on GPU nodes are not deployed anew node by node: their devices are for one use"
        reading.faults.add(Code.CONTRADICTION, (*below, KEY), message, hint)
    if file.state == "released":
        hint = "take `roll` out, and say `image:` for when it comes back"
        message = "a cluster that is released has no nodes to roll"
        reading.faults.add(Code.CONTRADICTION, (*below, KEY), message, hint)
    _check_nodes(reading, (*below, "drained"), file, file.roll.drained)
    for index, name in enumerate(file.roll.drained):
        if name in file.without:
            message = f"`{name}` is to leave the cluster, so it gets no image there"
            hint = "take it out of `drained`, or out of `without`"
            reading.faults.add(Code.CONTRADICTION, (*below, "drained", index), message, hint)
    return Roll(image=image, drained=tuple(file.roll.drained))


def _check_nodes(reading: RequestReading, path: Path, file: ClusterFile, names: Sequence[str]) -> None:
    """Each a node of the site and of the cluster's type, once. Which the cluster has, its lock says."""
    known = reading.offered.type_of_node
    for index, name in enumerate(names):
        reading.faults.need((*path, index), "a GPU node", name, known)
        if name in known and known[name] != file.type:
            message = f"`{name}` is a {known[name]}, and the cluster has {file.type} nodes"
            reading.faults.add(Code.CONTRADICTION, (*path, index), message, "take it out: it is never one of them")
    reading.each_once(path, names)
