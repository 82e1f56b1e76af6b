"""The table of what runs: listeners, processes and catalogue endpoints.

One process per OpenStack project: its API, scheduler, conductor and agents talk
over an in-memory RPC transport, so they cannot be split, and each project claims
the global configuration object, so they cannot be joined. Keystone and Placement
are pure APIs and share one process. The switches are one more.
"""

from dataclasses import dataclass

from sandbox.rack.table import Rack

REGION = "RegionOne"
PASSWORD = "secret"


@dataclass(frozen=True)
class Process:
    """One operating-system process: the module that it runs and the ports it listens on, for HTTP or not."""

    name: str
    module: str
    listeners: tuple[str, ...]
    http: bool = True
    #: Only where the rack has an InfiniBand subnet.
    infiniband: bool = False
    #: Only where the rack has IPU-Machines.
    ipus: bool = False


@dataclass(frozen=True)
class Endpoint:
    """One entry of Keystone's service catalogue. `path` may hold Keystone's own `%(project_id)s`."""

    service: str
    type: str
    path: str

    def url(self, ports: dict[str, int]) -> str:
        """The address on this instance's port."""
        return f"http://127.0.0.1:{ports[self.service]}{self.path}"


# Nova is the slowest to come up and goes first.
PROCESSES: tuple[Process, ...] = (
    Process("identity", "sandbox.services.identity", ("keystone", "placement")),
    Process("nova", "sandbox.services.compute", ("nova", "nova_metadata")),
    Process("neutron", "sandbox.services.network", ("neutron",)),
    Process("ironic", "sandbox.services.baremetal", ("ironic",)),
    Process("cinder", "sandbox.services.block_storage", ("cinder",)),
    Process("glance", "sandbox.services.image", ("glance",)),
    Process("swift", "sandbox.services.object_store", ("swift", "swift_account", "swift_container", "swift_object")),
    Process("manila", "sandbox.services.shared_file_system", ("manila",)),
    Process("barbican", "sandbox.services.key_manager", ("barbican",)),
    Process("switches", "sandbox.switches.server", ("switches",), http=False),
    Process("infiniband", "sandbox.services.infiniband", ("infiniband",), http=False, infiniband=True),
    Process("vipu", "sandbox.services.vipu", ("vipu",), ipus=True),
)


def processes_of(rack: Rack) -> tuple[Process, ...]:
    """Those that an instance with this rack has."""
    return tuple(
        process
        for process in PROCESSES
        if (rack.infiniband is not None or not process.infiniband) and (rack.ipu_racks or not process.ipus)
    )


ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint("keystone", "identity", "/v3"),
    Endpoint("placement", "placement", ""),
    Endpoint("nova", "compute", "/v2.1"),
    Endpoint("neutron", "network", ""),
    Endpoint("ironic", "baremetal", ""),
    Endpoint("cinder", "block-storage", "/v3"),
    Endpoint("glance", "image", ""),
    Endpoint("swift", "object-store", "/v1/AUTH_%(project_id)s"),
    Endpoint("manila", "shared-file-system", "/v2"),
    Endpoint("barbican", "key-manager", ""),
)

# A port that is kept free for a service of the operator's, which is not the cloud's: Nova's metadata asks there for
# dynamic vendor data.
RESERVED: tuple[str, ...] = ("vendor_data",)

LISTENERS: tuple[str, ...] = (*(name for process in PROCESSES for name in process.listeners), *RESERVED)

# Longest first: two schemas are made at a time.
SCHEMAS: tuple[str, ...] = (
    "nova",
    "keystone",
    "neutron",
    "cinder",
    "glance",
    "ironic",
    "manila",
    "placement",
    "barbican",
)

# Keystone users of the services; each has the roles admin and service in the project "service".
SERVICE_USERS: tuple[str, ...] = (
    "placement",
    "glance",
    "neutron",
    "nova",
    "cinder",
    "ironic",
    "swift",
    "manila",
    "barbican",
)

# People of an operator's identity provider: they can log in once a project gives them a role.
PEOPLE: tuple[str, ...] = ("alice", "anne", "bob")

STATE_FOLDERS: tuple[str, ...] = (
    "db",
    "lock",
    "glance/images",
    "glance/staging",
    "glance/tasks",
    "nova/instances",
    "cinder/coord",
    "manila/coord",
    "ironic",
    "neutron",
    "switches",
    "switches/coord",
    "swift/d0",
    "fernet",
    "credentials",
)
