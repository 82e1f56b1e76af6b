"""vPODs of a request: their size, their Poplar servers, their partitions."""

from __future__ import annotations

from typing import Any

from interlock.hardware.partitions import partition_faults
from interlock.model.text.errors import Code
from interlock.model.text.source import KEY

from .file import PartitionFile, PoplarFile, VPodFile
from .partitions import Partition
from .reading import Path, RequestReading
from .request import Poplar, Volumes, VPod
from .vpod_sizes import IPUS, size_fault

#: Key that a fault of a partition is told at -> keys that must be known to find it, in this order.
_PARTITION_STEPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("ipus", ()),
    ("gcds", ("gcds",)),
    ("replicas", ("gcds", "replicas")),
    ("reconfigurable", ("gcds", "replicas", "reconfigurable", "sync_type")),
    ("routing", ("gcds", "replicas", "reconfigurable", "sync_type", "routing")),
)

_VPODS = ("vpods",)
#: Sections of what a tenant computes on.
_PARTS = ("vpods", "clusters")


def read_vpods(reading: RequestReading) -> tuple[VPod, ...]:
    """All vPODs, in the order of the file."""
    file = reading.file
    if not file.vpods and not file.clusters and file.state == "present" and not reading.faults.short_of(*_PARTS):
        hint = "a tenant has a vPOD or a cluster at least, unless it is to go: `state: gone`"
        path = ("clusters",) if "vpods" not in file.model_fields_set and "clusters" in file.model_fields_set else _VPODS
        reading.faults.add(Code.VALUE, path, "no vPOD and no cluster", hint)
    if file.vpods and not reading.offered.machines:
        hint = "ask at another site for them, or for GPU clusters" if reading.offered.gpu_nodes else ""
        reading.faults.add(Code.NO_SUCH, (*_VPODS, KEY), "this site has no IPU-Machines", hint)
        return ()
    return tuple(_vpod(reading, ("vpods", name), name, item) for name, item in file.vpods.items())


def machines_of(reading: RequestReading, name: str) -> int | None:
    """IPU-Machines that the file asks for; None where it does not say so in a right way."""
    file = reading.file.vpods[name]
    if (file.machines is None) == (file.ipus is None):
        return None
    count, ipus = (file.ipus, True) if file.machines is None else (file.machines, False)
    if count is None or size_fault(count, ipus=ipus) is not None:
        return None
    return count // IPUS if ipus else count


def _vpod(reading: RequestReading, path: Path, name: str, file: VPodFile) -> VPod:
    _check_size(reading, path, file)
    if file.generation is None:
        reading.note((*path, "generation"), "any")
    machines = machines_of(reading, name)
    return VPod(
        name=name,
        machines=machines or 1,
        generation=file.generation,
        poplar=_poplar(reading, (*path, "poplar"), file.poplar),
        partitions=_partitions(reading, path, file, machines),
        s3_keys=reading.s3_keys(path, file.s3_keys),
    )


def _check_size(reading: RequestReading, path: Path, file: VPodFile) -> None:
    if file.machines is not None and file.ipus is not None:
        hint = f"they count the same thing: {file.machines} IPU-Machines are {IPUS * file.machines} IPUs"
        reading.faults.add(Code.CONTRADICTION, (*path, "ipus", KEY), "say either `machines:` or `ipus:`", hint)
    elif file.machines is None and file.ipus is None:
        hint = f"`machines: 4` and `ipus: {4 * IPUS}` are the same"
        reading.faults.add(Code.CONTRADICTION, path, "say either `machines:` or `ipus:`", hint)
    for key, count in (("machines", file.machines), ("ipus", file.ipus)):
        message = None if count is None else size_fault(count, ipus=key == "ipus")
        if message is not None:
            reading.faults.add(Code.VPOD_SIZE, (*path, key), message)


def _poplar(reading: RequestReading, path: Path, file: PoplarFile) -> Poplar:
    reading.note_left_out(path, file, "servers", "kind")
    offered = reading.offered
    image = reading.choice((*path, "image"), "an image", file.image, offered.defaults.image, offered.images)
    if file.kind == "bare-metal":
        _check_whole_host(reading, path, file)
        return Poplar(servers=file.servers, kind=file.kind, flavor="", image=image, volume=None)
    what, default = "a flavour for Poplar servers", offered.defaults.flavor
    flavor = reading.choice((*path, "flavor"), what, file.flavor, default, offered.flavors)
    volume = _volume(reading, path, file)
    return Poplar(servers=file.servers, kind=file.kind, flavor=flavor, image=image, volume=volume)


def _check_whole_host(reading: RequestReading, path: Path, file: PoplarFile) -> None:
    for key, value in (("flavor", file.flavor), ("volume", file.volume)):
        if value is not None and not reading.faults.lost(*path, "kind"):
            message = f"`{key}:` of a bare-metal server"
            hint = "a whole host has neither flavour nor volume: take it out, or say `kind: vm`"
            reading.faults.add(Code.CONTRADICTION, (*path, key, KEY), message, hint)


def _volume(reading: RequestReading, path: Path, file: PoplarFile) -> Volumes | None:
    if file.volume is None:
        reading.note((*path, "volume"), None)
        return None
    volume, below, offered = file.volume, (*path, "volume"), reading.offered
    default = offered.defaults.volume_type
    return Volumes(
        size_gib=reading.size(below, "a volume", volume.size),
        volume_type=reading.choice((*below, "type"), "a volume type", volume.type, default, offered.volume_types),
        on_delete=reading.on_delete(below, volume.on_delete),
        encrypted=reading.encrypted(below, volume.encrypted),
    )


def _partitions(reading: RequestReading, path: Path, file: VPodFile, machines: int | None) -> tuple[Partition, ...]:
    for name, entry in file.partitions.items():
        _check_partition(reading, (*path, "partitions", name), entry, machines)
    wanted = sum(entry.ipus for entry in file.partitions.values())
    if machines is not None and wanted > machines * IPUS and len(file.partitions) > 1:
        message = f"partitions of {wanted} IPUs in all: the vPOD has {machines * IPUS}"
        hint = "partitions do not overlap: make them smaller, or ask for more IPUs"
        reading.faults.add(Code.CONTRADICTION, (*path, "partitions", KEY), message, hint)
    return tuple(
        _partition(reading, (*path, "partitions", name), name, entry) for name, entry in file.partitions.items()
    )


def _partition(reading: RequestReading, path: Path, name: str, file: PartitionFile) -> Partition:
    reading.note_left_out(path, file, "gcds")
    replicas = reading.filled((*path, "replicas"), file.replicas, file.gcds)
    reading.note_left_out(path, file, "reconfigurable", "sync_type", "routing", "replaceable")
    return Partition(name=name, **file.model_dump(exclude={"replicas"}), replicas=replicas)


def _check_partition(reading: RequestReading, path: Path, file: PartitionFile, machines: int | None) -> None:
    """Tells every fault at the key that makes it one: keys are added until it shows."""
    stated = {**file.model_dump(exclude={"ipus", "replaceable"}), "replicas": file.replicas or file.gcds}
    told = set[str]()
    for key, names in _PARTITION_STEPS:
        options: dict[str, Any] = {name: stated[name] for name in names}
        # While only the GCDs are looked at, there is one replica in each.
        options.setdefault("replicas", options.get("gcds", 1))
        allocation = file.ipus if machines is None else machines * IPUS
        torus = reading.offered.torus
        for message in partition_faults(file.ipus, allocation_ipus=allocation, torus=torus, **options):
            if message not in told:
                reading.faults.add(Code.VALUE, (*path, key), message)
            told.add(message)
