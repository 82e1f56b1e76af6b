"""Manila: real API, scheduler and share services in one process.

Stand-in: the filers, by Manila's own DummyDriver, once with share servers on the
tenant's network (`nfs`) and once without (`flat`). Export paths lead nowhere.
"""

# What is patched or imitated here is private to a project, and its signatures are given.
# ruff: noqa: SLF001

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

from sandbox.services import kept, messages, process, sqlite
from sandbox.services.process import Here


def join_inner_writers() -> None:
    """Let an independent writer inside a writer join it.

    Deleting a share opens one; on SQLite, where only one may write, it would wait for itself.
    """
    from oslo_db.sqlalchemy import enginefacade

    original = enginefacade._TransactionContextManager._transaction_scope

    @contextlib.contextmanager
    def scope(self: Any, context: Any) -> Iterator[Any]:
        current = getattr(enginefacade._transaction_contexts_by_thread(context), "current", None)
        inner = self._independent and current is not None and current.mode is enginefacade._WRITER
        with original(self._clone(independent=False) if inner else self, context) as resource:
            yield resource

    enginefacade._TransactionContextManager._transaction_scope = scope


def configure(instance: Here) -> Any:
    """Load the API with native threads; returns it."""
    sys.argv = ["manila", "--config-file", str(instance.conf / "manila.conf")]

    import oslo_service.backend

    oslo_service.backend.init_backend(oslo_service.backend.BackendType.THREADING)
    sqlite.tune()
    kept.keep()
    messages.wake_listeners()
    join_inner_writers()

    import manila.common.config  # noqa: F401  (registers the options that the share service names)
    from manila import i18n

    if hasattr(i18n, "enable_lazy"):
        i18n.enable_lazy()

    # The share service and the API's middleware declare [keystone_authtoken] auth_url differently,
    # and one process cannot have both: the share service's goes.
    from manila.share import manager
    from oslo_config import cfg

    cfg.CONF.unregister_opts(manager.ks_opts, "keystone_authtoken")

    from manila import policy
    from manila.wsgi import wsgi

    application = wsgi.initialize_application()
    # Loaded by the first request otherwise: requests that come meanwhile find no rules and are refused with 403.
    policy.init()
    return application


def start_services() -> list[Any]:
    """The scheduler and one share service per backend."""
    from manila import service
    from oslo_config import cfg

    services = [service.Service.create(binary="manila-scheduler")]
    services += [
        service.Service.create(
            host=f"{cfg.CONF.host}@{backend}", service_name=backend, binary="manila-share", coordination=True
        )
        for backend in cfg.CONF.enabled_share_backends
    ]
    for one in services:
        one.start()
    return services


def main() -> None:
    """Start all of them and wait."""
    instance = process.here()
    process.die_when_uncaught()
    application = configure(instance)
    process.die_when_uncaught()
    services = start_services()
    process.serve(instance, "manila", application)

    def stop() -> None:
        for one in reversed(services):
            one.stop()

    process.ready(instance, "manila")
    process.wait_for_the_end(stop)


if __name__ == "__main__":
    main()
