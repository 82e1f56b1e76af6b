"""Ironic: real API, conductor, allocations and network interface `neutron` in one process, without RPC.

Stand-in: the machines, by Ironic's own `fake-hardware` drivers, and their ramdisk (services/whole_hosts.py). Nova on
Ironic does not work here.
"""

# What is patched or imitated here is private to a project, and its signatures are given.
# ruff: noqa: SLF001

from typing import Any

from sandbox.services import kept, process, sqlite


def serve_nodes_without_a_group() -> None:
    """Let the one conductor, which is of a group, serve nodes without a group as well.

    Where both kinds are used there is a conductor for each, and that takes two processes. Nodes of any other group
    are refused, as they would be there.
    """
    from ironic.common import hash_ring
    from ironic.conf import CONF

    load, group = hash_ring.HashRingManager._load_hash_rings, CONF.conductor.conductor_group

    def both(self: Any) -> dict[str, Any]:
        rings: dict[str, Any] = load(self)
        return {name.removeprefix(group): ring for name, ring in rings.items()} | rings

    hash_ring.HashRingManager._load_hash_rings = both


def main() -> None:
    """Start conductor and API, and wait."""
    instance = process.here()
    process.die_when_uncaught()

    import oslo_service.backend

    oslo_service.backend.init_backend(oslo_service.backend.BackendType.THREADING)
    sqlite.tune()
    kept.keep()

    from ironic.common import service

    service.prepare_service("ironic", ["ironic", "--config-file", str(instance.conf / "ironic.conf")])

    from ironic.conductor import rpc_service
    from oslo_config import cfg

    from sandbox.services import whole_hosts

    whole_hosts.install()
    serve_nodes_without_a_group()
    conductor = rpc_service.RPCService(cfg.CONF.host, "ironic.conductor.manager", "ConductorManager")
    conductor.start()

    # Ironic could embed its API by itself; served here, it gets the journal like all others.
    from ironic.api import app

    process.serve(instance, "ironic", app.VersionSelectorApplication())

    process.die_when_uncaught()
    process.ready(instance, "ironic")
    process.wait_for_the_end(conductor.stop)


if __name__ == "__main__":
    main()
