"""Cinder: real API, scheduler, volume and backup service in one process.

Stand-in: the storage, see volume_files. Volumes have states, sizes, attachments, snapshots
and backups; their bytes are files that no guest mounts, and snapshots hold none.
"""

# What is patched or imitated here is private to a project, and its signatures are given.
# ruff: noqa: SLF001

import sys
import threading
from typing import Any

from sandbox.services import kept, messages, process, sqlite
from sandbox.services.process import Here

BACKEND = "fake"


def configure(instance: Here) -> Any:
    """Load the API with native threads; returns it.

    cinder.monkey_patch would choose eventlet. Nothing may be imported from
    cinder.cmd.volume once the configuration is parsed: it registers options again.
    """
    sys.argv = ["cinder", "--config-file", str(instance.conf / "cinder.conf")]

    import oslo_service.backend

    oslo_service.backend.init_backend(oslo_service.backend.BackendType.THREADING)

    import cinder.monkey_patch

    cinder.monkey_patch.patch = lambda *_, **__: None
    sqlite.tune()
    kept.keep()
    messages.wake_listeners()

    from cinder import i18n

    i18n.enable_lazy()

    from cinder import policy
    from cinder.wsgi import wsgi

    application = wsgi.initialize_application()
    # Loaded by the first request otherwise: requests that come meanwhile find no rules and are refused with 403.
    policy.init()
    return application


def separate_heartbeats() -> None:
    """Let two services in one process heartbeat their own rows: Cinder keeps the row's id on the class."""
    from cinder import service

    guard = threading.Lock()
    original = service.Service.report_state

    def report_state(self: Any) -> None:
        with guard:
            service.Service.service_id = self.origin_service_id
            original(self)

    service.Service.report_state = report_state


def start_scheduler() -> Any:
    """Start the scheduler without its wait of up to 60 seconds for a volume service to report."""
    from cinder import context, service

    scheduler = service.Service.create(binary="cinder-scheduler")
    manager = scheduler.manager
    manager.init_host_with_rpc = lambda: manager.request_service_capabilities(context.get_admin_context())
    manager._startup_delay = False
    scheduler.start()
    return scheduler


def ensure_volume_type() -> None:
    """The default volume type that cinder.conf names."""
    from cinder import context, exception
    from cinder.volume import volume_types

    admin = context.get_admin_context()
    try:
        volume_types.get_volume_type_by_name(admin, BACKEND)
    except exception.VolumeTypeNotFoundByName:
        volume_types.create(admin, BACKEND, {"volume_backend_name": BACKEND})


def start_volume() -> Any:
    """Start the volume service, which reports its capabilities to the scheduler that already listens."""
    from cinder import service
    from cinder.common import constants

    volume = service.Service.create(
        host=f"sandbox@{BACKEND}", service_name=BACKEND, binary=constants.VOLUME_BINARY, coordination=True
    )
    volume.start()
    return volume


def start_backup() -> Any:
    """Start the backup service, which the scheduler finds by its row in the database."""
    from cinder import service

    from sandbox.services import volume_files

    volume_files.wire()
    backup = service.Service.create(binary="cinder-backup", service_name="backup", coordination=True, process_number=1)
    backup.start()
    return backup


def main() -> None:
    """Start all four and wait."""
    instance = process.here()
    process.die_when_uncaught()
    application = configure(instance)

    import os_brick
    from oslo_config import cfg

    os_brick.setup(cfg.CONF)

    separate_heartbeats()
    scheduler = start_scheduler()
    ensure_volume_type()
    volume = start_volume()
    backup = start_backup()
    process.serve(instance, "cinder", application)

    def stop() -> None:
        backup.stop()
        volume.stop()
        scheduler.stop()

    process.die_when_uncaught()
    process.ready(instance, "cinder")
    process.wait_for_the_end(stop)


if __name__ == "__main__":
    main()
