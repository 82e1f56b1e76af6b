"""The stand-in hosts by shape, as Nova's stand-in driver and Neutron's stand-in agents tell them. A rack names them.

poplar  2 x EPYC 7742 as 8 NUMA cells (NPS=4): 16 cores with 2 threads and 64 GiB per cell, of
        which 58 are 1 GiB pages (8 x 58 = 464). The first 2 cores of a cell belong to the host,
        so 8 x 28 = 224 dedicated threads and no shared ones. One dual-port ConnectX-5 on bus a1
        (cell 5) where the rack names no other, 8 virtual functions per port, both ports on one
        physical network.
gpu     2 NUMA cells, 8 GPUs (4 per cell), one ConnectX-5 per socket.
dgx     the same without such a card, for servers that take the node whole: 4 NVSwitches and 8 InfiniBand adapters as
        physical functions besides. These PCI devices are in Placement, one resource class for each kind.
infra   for controller servers: shared CPUs, no 1 GiB pages, no virtual functions.

464 of 512 GiB and NPS=4 are the reference design's figures. Cores kept for the host, virtual
functions per port, the card's cell, and the gpu and infra shapes are this sandbox's choice.
"""

from dataclasses import dataclass

GIB = 1024
FUNCTIONS_PER_PORT = 8
FIRST_FUNCTION = 2
VIRTUAL_FUNCTION = ("15b3", "1018")  # ConnectX-5: vendor and product


@dataclass(frozen=True)
class Shape:
    """A kind of host. Memory in MiB, disk in GB, cores and pages per cell; a card is (usual PCI bus, NUMA cell)."""

    cells: int
    sockets: int
    cores: int
    host_cores: int
    dedicated: bool
    cell_mib: int
    cell_pages: int
    disk_gb: int
    cards: tuple[tuple[int, int], ...] = ()
    gpus: int = 0
    #: Devices that are handed out with all GPUs together.
    nvswitches: int = 0
    adapters: int = 0

    @property
    def memory_mib(self) -> int:
        """All memory of the host."""
        return self.cells * self.cell_mib

    @property
    def reserved_mib(self) -> int:
        """Memory that no server gets: what is not in 1 GiB pages, or 16 GiB on a host without them."""
        return self.cells * (self.cell_mib - self.cell_pages * GIB) if self.cell_pages else 16 * GIB


SHAPES: dict[str, Shape] = {
    "poplar": Shape(
        cells=8,
        sockets=2,
        cores=16,
        host_cores=2,
        dedicated=True,
        cell_mib=64 * GIB,
        cell_pages=58,
        disk_gb=4900,
        cards=((0xA1, 5),),
    ),
    "gpu": Shape(
        cells=2,
        sockets=2,
        cores=64,
        host_cores=4,
        dedicated=True,
        cell_mib=1024 * GIB,
        cell_pages=960,
        disk_gb=30000,
        cards=((0x61, 0), (0xE1, 1)),
        gpus=8,
    ),
    "dgx": Shape(
        cells=2,
        sockets=2,
        cores=56,
        host_cores=4,
        dedicated=True,
        cell_mib=1024 * GIB,
        cell_pages=950,
        disk_gb=30000,
        gpus=8,
        nvswitches=4,
        adapters=8,
    ),
    "infra": Shape(
        cells=2, sockets=2, cores=32, host_cores=0, dedicated=False, cell_mib=256 * GIB, cell_pages=0, disk_gb=20000
    ),
}


@dataclass(frozen=True)
class CellCpus:
    """The hardware threads of one NUMA cell, by what they may be used for."""

    every: frozenset[int]
    dedicated: frozenset[int]
    shared: frozenset[int]
    siblings: tuple[frozenset[int], ...]


@dataclass(frozen=True)
class NetworkPort:
    """A physical function with its virtual functions, as PCI addresses."""

    interface: str
    address: str
    cell: int
    functions: tuple[str, ...]


@dataclass(frozen=True)
class Host:
    """One host: the name of its shape, the physical network of its cards, and the PCI bus of each of them."""

    name: str
    kind: str
    physical_network: str | None
    buses: tuple[int, ...]

    @property
    def shape(self) -> Shape:
        """What it is made of."""
        return SHAPES[self.kind]

    @property
    def network_ports(self) -> tuple[NetworkPort, ...]:
        """Its fabric ports."""
        cells = [cell for _, cell in self.shape.cards]
        return tuple(
            network_port(bus, number, cell) for bus, cell in zip(self.buses, cells, strict=True) for number in (0, 1)
        )


def cell_cpus(kind: Shape, cell: int) -> CellCpus:
    """Threads numbered as Linux does on EPYC: the second thread of core c is c plus the number of cores."""
    total = kind.cells * kind.cores
    cores = range(cell * kind.cores, (cell + 1) * kind.cores)
    guest = cores[kind.host_cores :]
    usable = frozenset(guest) | frozenset(core + total for core in guest)
    none: frozenset[int] = frozenset()
    siblings = tuple(frozenset({core, core + total}) for core in cores)
    return CellCpus(
        frozenset[int]().union(*siblings),
        usable if kind.dedicated else none,
        none if kind.dedicated else usable,
        siblings,
    )


def network_port(bus: int, number: int, cell: int) -> NetworkPort:
    """One port of a dual-port card; virtual functions follow the two physical ones on the bus."""
    first = FIRST_FUNCTION + number * FUNCTIONS_PER_PORT
    functions = tuple(
        f"0000:{bus:02x}:{function // 8:02x}.{function % 8}" for function in range(first, first + FUNCTIONS_PER_PORT)
    )
    return NetworkPort(f"ens{bus}f{number}", f"0000:{bus:02x}:00.{number}", cell, functions)


def function_number(address: str) -> int:
    """Which virtual function of its port a PCI address is, from 0."""
    slot, function = address.rsplit(":", 1)[1].split(".")
    return (int(slot, 16) * 8 + int(function) - FIRST_FUNCTION) % FUNCTIONS_PER_PORT
