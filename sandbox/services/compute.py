"""Nova: real API, conductor, scheduler with its filters, resource tracker, claims and PCI manager.

Stand-in: what libvirt would read from a machine, and the guests (services/virtual_hosts.py).
Its compute services share this process, one per host of the rack.
"""

# What is patched or imitated here is private to a project, and its signatures are given.
# ruff: noqa: SLF001

import os
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sandbox.rack.reading import rack_of
from sandbox.rack.table import Rack
from sandbox.services import kept, messages, process, sqlite
from sandbox.services.process import Here

IDENTITY_SECONDS = 60


def configure(instance: Here) -> None:
    """Name the configuration files and choose native threads; before anything of Nova's is imported."""
    sys.argv = ["nova", "--config-file", str(instance.conf / "nova.conf")]
    paste = Path(sys.prefix) / "etc" / "nova" / "api-paste.ini"
    os.environ["OS_NOVA_DISABLE_EVENTLET_PATCHING"] = "1"
    os.environ["OS_NOVA_CONFIG_DIR"] = str(instance.conf)
    os.environ["OS_NOVA_CONFIG_FILES"] = f"{paste};nova.conf"

    from nova import monkey_patch

    monkey_patch.patch(backend="threading")
    sqlite.tune()
    kept.keep()
    messages.wake_listeners()


def wait_for_placement(instance: Here) -> None:
    """The computes register their inventory when they start."""
    deadline = time.monotonic() + IDENTITY_SECONDS
    while True:
        try:
            urllib.request.urlopen(instance.url("placement") + "/", timeout=2).close()
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.25)


def prepare_libraries(rack: Rack) -> None:
    """What nova-compute's own command does before it starts a service."""
    import nova.conf
    import os_brick
    import os_vif
    from nova.compute import manager
    from oslo_service import opts

    from sandbox.services import virtual_hosts

    virtual_hosts.register(rack.host)
    opts.register_service_opts(nova.conf.CONF)
    os_brick.setup(nova.conf.CONF)
    os_vif.initialize()
    # Nova guards against two computes of one machine by a file with the node's id. Here all share
    # a machine, and their ids follow from their names.
    manager.ComputeManager._ensure_existing_node_identity = lambda *_: None


def start_service(**arguments: Any) -> None:
    """Start one of Nova's services inside this process."""
    from nova import service

    service.Service.create(**arguments).start()
    process.say(f"{arguments['binary']} {arguments.get('host', '')} runs")


def start_computes(rack: Rack) -> None:
    """One compute service per host, then tell the cell about them."""
    from nova import context
    from nova.compute import rpcapi
    from nova.objects import host_mapping

    for host in rack.hosts:
        start_service(binary="nova-compute", host=host.name, topic=rpcapi.RPC_TOPIC, topic_alt=rpcapi.RPC_TOPIC_ALT)
    host_mapping.discover_hosts(context.get_admin_context(), by_service=True)


def load_api() -> Callable[..., Any]:
    """The compute API."""
    from nova.api.openstack import wsgi_app

    application: Callable[..., Any] = wsgi_app.init_application("osapi_compute", "nova-api-os-compute")
    return application


def load_metadata() -> Callable[..., Any]:
    """What servers are told of themselves, as Neutron's metadata proxy asks it. The configuration is read by now."""
    from paste import deploy

    paste = Path(sys.prefix) / "etc" / "nova" / "api-paste.ini"
    application: Callable[..., Any] = deploy.loadapp(f"config:{paste}", name="metadata")
    return application


def main() -> None:
    """Start the API and all services, and wait."""
    instance = process.here()
    process.die_when_uncaught()
    configure(instance)
    application = load_api()
    rack = rack_of(instance.folder)
    prepare_libraries(rack)

    from nova.conductor import rpcapi as conductor
    from nova.scheduler import rpcapi as scheduler

    start_service(binary="nova-conductor", topic=conductor.RPC_TOPIC)
    start_service(binary="nova-scheduler", topic=scheduler.RPC_TOPIC)
    process.serve(instance, "nova", application, threads=24)
    process.serve(instance, "nova_metadata", load_metadata(), threads=10)
    wait_for_placement(instance)
    start_computes(rack)

    process.die_when_uncaught()
    process.ready(instance, "nova")
    process.wait_for_the_end()


if __name__ == "__main__":
    main()
