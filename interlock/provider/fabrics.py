"""The UFM of each InfiniBand subnet, found by the subnet's name, with its failures as those of the provider."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from interlock.retry import RetryPolicy
from interlock.ufm.errors import UfmError
from interlock.vocabulary import InterlockError

from .errors import Failure, Trouble, refused
from .redaction import REDACTOR

if TYPE_CHECKING:
    from interlock.ufm.client import UfmClient
    from interlock.ufm.loading import FabricsRead


def known_fabrics() -> FabricsRead:
    """How fabric managers are asked. Raises `InputErrors`."""
    # Imported here and below: a provider that makes no partition does not load the model.
    from interlock.ufm.loading import load_fabrics

    return load_fabrics()


class Fabrics:
    """The fabric managers of one process. Calls may come from many threads."""

    def __init__(self, retry_policy: RetryPolicy, load: Callable[[], FabricsRead] = known_fabrics) -> None:
        self._retry_policy, self._load = retry_policy, load
        self._lock = threading.Lock()
        self._clients: dict[str, UfmClient] = {}
        self._prefixes: dict[str, str] = {}

    def of(self, infiniband: str) -> UfmClient:
        """The UFM of a subnet. Raises `Failure` where `fabrics.yaml` does not say how it is asked."""
        with self._lock:
            if infiniband not in self._clients:
                self._clients[infiniband] = self._found(infiniband)
            return self._clients[infiniband]

    def prefix(self, infiniband: str) -> str:
        """Prefix of the subnet that this UFM manages, asked once. Raises `Failure`."""
        if infiniband not in self._prefixes:
            with asking():
                self._prefixes[infiniband] = self.of(infiniband).prefix()
        return self._prefixes[infiniband]

    def _found(self, infiniband: str) -> UfmClient:
        from interlock.ufm.client import UfmClient
        from interlock.ufm.transport import UfmTransport

        try:
            known = self._load()
        except InterlockError as error:
            what = f"nobody knows where the UFM of {infiniband} is: {str(error).replace(chr(10), '; ')}"
            raise refused(what, "write how it is asked (docs/reference/fabrics-file.md), then run it again") from error
        access = known.fabrics.get(infiniband)
        if access is None:
            what = f"{known.file} does not say where the UFM of {infiniband} is"
            raise refused(what, f"add `{infiniband}` under `fabrics:` there")
        return UfmClient(UfmTransport(access, self._retry_policy, REDACTOR.add))


@contextmanager
def asking() -> Iterator[None]:
    """What UFM refuses or fails to do, as a `Failure`."""
    try:
        yield
    except UfmError as error:
        raise Failure(Trouble(error.trouble), error.what, error.hint) from error
