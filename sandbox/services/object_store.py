"""Swift: real proxy with its S3 API, and real account, container and object servers, one device, one replica.

Nothing stands in, but replicators and auditors do not run, and there is no memcache.
Swift still needs eventlet, so this process is the only one with green threads.
"""

import time
from pathlib import Path
from typing import Any

from sandbox.services import process
from sandbox.services.journal import Journal
from sandbox.services.process import Here

SERVERS = (
    ("account", "swift_account"),
    ("container", "swift_container"),
    ("object", "swift_object"),
    ("proxy", "swift"),
)


class Silence:
    """eventlet's access log, thrown away: Swift's own log tells the same."""

    def write(self, text: str) -> None:
        """Drop it."""

    def flush(self) -> None:
        """Nothing to do."""


def use_configuration(conf: Path) -> None:
    """Point Swift, which looks in /etc/swift, at this instance."""
    import swift.common.utils
    import swift.common.utils.config

    for module in (swift.common.utils, swift.common.utils.config):
        if hasattr(module, "SWIFT_CONF_FILE"):
            module.SWIFT_CONF_FILE = str(conf / "swift.conf")
    swift.common.utils.validate_configuration()


def write_rings(instance: Here) -> None:
    """Rings with one device; written at every start, because they hold the ports."""
    from swift.common import storage_policy
    from swift.common.ring import RingBuilder

    for name, listener in SERVERS[:-1]:
        builder = RingBuilder(4, 1, 0)
        builder.add_dev(
            {"region": 1, "zone": 1, "ip": "127.0.0.1", "port": instance.ports[listener], "device": "d0", "weight": 1}
        )
        builder.rebalance()
        builder.get_ring().save(str(instance.conf / f"{name}.ring.gz"))
    storage_policy.reload_storage_policies()


def load(instance: Here, name: str) -> Any:
    """One of the four servers; the proxy, which clients see, gets the journal."""
    from swift.common.wsgi import loadapp

    path = instance.conf / f"{name}-server.conf"
    application = loadapp(str(path), global_conf={"log_name": f"swift-{name}"})
    return Journal(application, "swift", instance.folder) if name == "proxy" else application


def main() -> None:
    """Start the four servers and serve for ever."""
    instance = process.here()
    process.die_when_uncaught()

    import eventlet

    # time too: a held request must not hold the others
    eventlet.patcher.monkey_patch(all=False, socket=True, select=True, thread=True, time=True)
    use_configuration(instance.conf)
    write_rings(instance)

    from eventlet import wsgi
    from swift.common.http_protocol import SwiftHttpProtocol

    pool = eventlet.GreenPool(2000)
    for name, listener in SERVERS:
        application = load(instance, name)
        socket = eventlet.listen(("127.0.0.1", instance.ports[listener]), reuse_addr=True, backlog=512)
        eventlet.spawn(
            wsgi.server,
            socket,
            application,
            Silence(),
            custom_pool=pool,
            protocol=SwiftHttpProtocol,
            log_output=False,
            capitalize_response_headers=False,
        )
        process.say(f"swift {name} listens on {instance.ports[listener]}")
    process.ready(instance, "swift")
    while True:
        time.sleep(3600)


if __name__ == "__main__":
    main()
