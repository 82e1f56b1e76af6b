"""Wakes those who wait for a message of oslo.messaging's in-memory driver (`fake://`) when one arrives.

Each listener of that driver looks twenty times a second, and a process with eight compute services has forty: an idle
cloud took five percent of a core, and every call between two services waited for the next look.
"""

# What is patched or imitated here is private to a project, and its signatures are given.
# ruff: noqa: SLF001

import threading
import time
from typing import Any

#: Seconds between two looks of a listener that nobody wakes: it may have been stopped.
LOOK = 1.0


def wake_listeners() -> None:
    """Patch the driver; before any service of the process starts."""
    from oslo_messaging._drivers import base, impl_fake

    arrived = threading.Condition()
    deliver = impl_fake.FakeExchange.deliver_message

    def deliver_message(exchange: Any, *arguments: Any, **options: Any) -> None:
        deliver(exchange, *arguments, **options)
        with arrived:
            arrived.notify_all()

    def poll(listener: Any, timeout: float | None = None) -> Any:
        """One message, or None after `timeout` seconds. Looks under the lock, so that none arrives unseen."""
        end = None if timeout is None else time.monotonic() + timeout
        with arrived:
            while not listener._stopped.is_set():
                message = _take(listener)
                left = LOOK if end is None else end - time.monotonic()
                if message is not None or left <= 0:
                    return message
                arrived.wait(min(left, LOOK))
        return None

    def _take(listener: Any) -> Any:
        for target in listener._targets:
            exchange = listener._exchange_manager.get_exchange(target.exchange)
            context, message, replies, requeue = exchange.poll(target, listener._pool)
            if message is not None:
                return impl_fake.FakeIncomingMessage(context, message, replies, requeue)
        return None

    impl_fake.FakeExchange.deliver_message = deliver_message
    impl_fake.FakeListener.poll = base.batch_poll_helper(poll)
