"""Ironic: real API and conductor in one process, without RPC.

Stand-in: the machines, by Ironic's own `fake-hardware` drivers. Its own API can
deploy a fake node; Nova on Ironic does not work here.
"""

from sandbox.services import process, sqlite


def main() -> None:
    """Start conductor and API, and wait."""
    instance = process.here()
    process.die_when_uncaught()

    import oslo_service.backend

    oslo_service.backend.init_backend(oslo_service.backend.BackendType.THREADING)
    sqlite.tune()

    from ironic.common import service

    service.prepare_service("ironic", ["ironic", "--config-file", str(instance.conf / "ironic.conf")])

    from ironic.conductor import rpc_service
    from oslo_config import cfg

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
