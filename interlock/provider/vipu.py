"""The V-IPU controller of each vPOD, found by its server, with its failures as those of the provider."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from interlock.retry import RetryBudget, RetryPolicy, Tried, persist
from interlock.vipu.errors import VipuError, VipuTrouble
from interlock.vocabulary import InterlockError

from .errors import Failure, Trouble, refused
from .redaction import REDACTOR
from .vipu_users import MadeUsers

if TYPE_CHECKING:
    from interlock.vipu.client import ControllerClient
    from interlock.vipu.loading import ControllerAccess, VipuRead

_PAGE = "write how it is reached (docs/reference/vipu-file.md), then run it again"


def known_controllers() -> VipuRead:
    """How controllers are reached. Raises `InputErrors`."""
    # Imported here and below: a provider that tells no controller anything does not load the model.
    from interlock.vipu.loading import load_vipu

    return load_vipu()


#: How long a controller is waited for that has not answered yet: its server boots, and then the controller starts.
STARTING = RetryBudget(attempts=100, total=600.0, first=2.0, longest=10.0)
#: What a controller that is starting looks like: no way in, or its commands fail.
_STARTS = frozenset({VipuTrouble.UNREACHABLE, VipuTrouble.SERVICE})


class Controllers:
    """The controllers of one process. Calls may come from many threads."""

    def __init__(
        self,
        retry_policy: RetryPolicy,
        load: Callable[[], VipuRead] = known_controllers,
        starting: RetryBudget = STARTING,
    ) -> None:
        self._retry_policy, self._load = retry_policy, load
        self.users = MadeUsers()
        self._starting = replace(retry_policy, budget=starting)
        self._answered: set[str] = set()
        self._lock = threading.Lock()
        self._places: dict[str, tuple[str, str]] = {}
        self._known: VipuRead | None = None

    def of(self, server: str, name: str = "", address: str = "") -> ControllerClient:
        """The controller in the server with this uuid, of which plan name and address may be known from before.

        Raises `Failure` where `vipu.yaml` does not say how it is reached.
        """
        from interlock.vipu.client import ControllerClient
        from interlock.vipu.transport import LocalRunner, SshRunner

        with self._lock:
            before = self._places.get(server, ("", ""))
            name, address = name or before[0], address or before[1]
            self._places[server] = name, address
        entry = self.entry(name or server)
        with asking():
            access = entry.of(server, name, address)
        called = name or server
        runner = (
            SshRunner(called, access.hops, self._retry_policy)
            if access.hops
            else LocalRunner(called, self._retry_policy)
        )
        return ControllerClient(called, access, runner, REDACTOR.add)

    def entry(self, name: str) -> ControllerAccess:
        """How a controller is reached, as `vipu.yaml` has it. Raises `Failure` where it has no entry for it."""
        try:
            # Read once: each look at an object asks for it.
            known = self._known = self._known or self._load()
        except InterlockError as error:
            what = f"nobody knows how V-IPU controller {name} is reached"
            raise refused(f"{what}: {str(error).replace(chr(10), '; ')}", _PAGE) from error
        entry = known.of(name)
        if entry is None:
            what = f"{known.file} does not say how V-IPU controller {name} is reached"
            raise refused(what, f"add `{name}` or `default` under `controllers:` there")
        return entry

    def place(self, server: str) -> tuple[str, str]:
        """Plan name and address of a controller, as far as this process knows them."""
        return self._places.get(server, ("", ""))

    def started(self, server: str, controller: ControllerClient) -> None:
        """Returns once the controller in this server answers. Raises `VipuError` if it does not in time."""
        if server in self._answered:
            return

        def attempt() -> Tried[None]:
            try:
                controller.agents()
            except VipuError as error:
                return Tried(failure=error, again=error.trouble in _STARTS and not error.is_final)
            return Tried()

        persist(self._starting, attempt)
        self._answered.add(server)


@contextmanager
def asking() -> Iterator[None]:
    """What a controller refuses or fails to do, as a `Failure`."""
    try:
        yield
    except VipuError as error:
        raise Failure(Trouble(error.trouble), error.what, error.hint) from error
