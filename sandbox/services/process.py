"""What every process of the cloud does: find its instance, serve an API, say that it is ready, end."""

import gc
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from sandbox.services.journal import Application, Journal
from sandbox.services.owner import end_with_owner

BEGAN = time.monotonic()

#: How many more objects than before there must be for Python to look for cycles; its default is 700.
NEW_OBJECTS = 50_000


@dataclass(frozen=True)
class Here:
    """The instance that this process belongs to."""

    folder: Path
    ports: dict[str, int]

    @property
    def conf(self) -> Path:
        """Configuration files."""
        return self.folder / "conf"

    @property
    def state(self) -> Path:
        """Databases and data."""
        return self.folder / "state"

    def url(self, service: str) -> str:
        """The address of a service of this instance."""
        return f"http://127.0.0.1:{self.ports[service]}"


def here() -> Here:
    """The instance named by the environment that the supervisor gave. This process ends with its owner from now on."""
    gc.disable()  # until `ready`: what a project loads stays, and to look for cycles in it meanwhile is of no use
    end_with_owner()
    folder = Path(os.environ["SANDBOX_INSTANCE"])
    return Here(folder, json.loads((folder / "ports.json").read_text(encoding="utf-8")))


def say(text: str) -> None:
    """One line into the process's own output file."""
    print(f"{time.monotonic() - BEGAN:6.1f} s  {text}", flush=True)


def die_when_uncaught() -> None:
    """End the whole process on an uncaught error.

    Non-daemon threads of oslo would keep a half-started process alive. oslo.log takes
    the hook for itself while a project starts, so this is called again after that.
    """
    sys.excepthook = die


def die(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print the error and end at once."""
    sys.__excepthook__(kind, error, trace)
    sys.stderr.flush()
    os._exit(1)


def serve(instance: Here, service: str, application: Application, threads: int = 12) -> None:
    """Serve an API on the instance's port in a thread of its own, with the request journal around it."""
    from cheroot import wsgi

    server = wsgi.Server(
        ("127.0.0.1", instance.ports[service]),
        Journal(application, service, instance.folder),
        numthreads=threads,
        max=threads,
        request_queue_size=512,
        timeout=65,
    )
    server.prepare()
    threading.Thread(target=server.serve, daemon=True, name=f"http-{service}").start()
    say(f"{service} listens on {instance.ports[service]}")


def ready(instance: Here, process: str) -> None:
    """Tell the supervisor that this process is up."""
    collect_seldom()
    (instance.folder / "run" / f"{process}.ready").write_text(str(os.getpid()), encoding="utf-8")
    say("ready")


def collect_seldom() -> None:
    """Let Python look for cycles seldom, and never again at what a project has loaded.

    SQLAlchemy makes many short-lived objects; looking at all others each time took a fifth of Neutron's time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS, 20, 50)
    gc.enable()


def wait_for_the_end(stop: Callable[[], None] | None = None) -> None:
    """Sleep until asked to end, then end at once: threads of oslo must not delay it."""
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    ended.wait()
    try:
        if stop:
            stop()
    except Exception as error:  # noqa: BLE001  whatever stopping does, the process must end
        say(f"while stopping: {error!r}")
    os._exit(0)
