"""Runs one command: on this machine, or over ssh with host keys as strict as they can be. No shell sees it here.

Each command runs in an empty folder of its own (`own_folder`).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from interlock.model.text.errors import shown_safely
from interlock.retry import RetryPolicy

from .answers import without_keys
from .errors import VipuError, VipuTrouble
from .file import SSH_PORT
from .loading import SshHop
from .own_folder import in_folder, line_in_folder, own_folder

#: Characters of one answer; a controller of 64 machines with its partitions says a few hundred thousand.
MOST_ANSWER = 16_000_000
#: Seconds between two looks whether the run was cancelled.
_LOOK = 0.5
_QUOTED = 300


@dataclass(frozen=True)
class VipuLimits:
    """Seconds: to be logged in, and for one command. Commands without a word for not waiting wait 120 s themselves."""

    login: float = 15.0
    command: float = 180.0


@dataclass(frozen=True)
class Ran:
    """A command that ended."""

    code: int
    out: str = field(repr=False)
    err: str = field(repr=False)

    @property
    def said(self) -> str:
        """Its words, for messages, on one line and short."""
        line = without_keys(" ".join((self.err.strip() or self.out).split()))
        return shown_safely(line if len(line) <= _QUOTED else f"{line[:_QUOTED]}…") or "it said nothing"


class Runner(Protocol):
    """Runs commands for one controller."""

    def run(self, words: Sequence[str]) -> Ran:
        """What came of it. Raises `VipuError`: UNREACHABLE if nothing was sent, LOST_ANSWER if nobody knows."""


@dataclass(frozen=True)
class LocalRunner:
    """On this machine."""

    controller: str
    retry_policy: RetryPolicy = field(default_factory=RetryPolicy)
    limits: VipuLimits = VipuLimits()

    def run(self, words: Sequence[str]) -> Ran:
        """What came of it. Raises `VipuError`."""
        with own_folder() as folder:
            try:
                process = subprocess.Popen(
                    in_folder(folder, words), cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE, text=True, encoding="utf-8", errors="replace", start_new_session=True,
                )  # fmt: skip
            except OSError as error:
                raise self._not_started(words, str(error.strerror)) from None
            with process:
                out, err = self._ended(process, words)
            if process.returncode in _NOT_STARTED:
                raise self._not_started(words, _NOT_STARTED[process.returncode])
            return Ran(process.returncode, out[:MOST_ANSWER], err[:MOST_ANSWER])

    def _not_started(self, words: Sequence[str], why: str) -> VipuError:
        what = f"{words[0]} cannot be started here: {why}"
        hint = "install the commands of V-IPU, or correct `command` in vipu.yaml; or write `run: ssh`"
        return VipuError(VipuTrouble.UNREACHABLE, self.controller, what, hint, is_final=True)

    def _ended(self, process: subprocess.Popen[str], words: Sequence[str]) -> tuple[str, str]:
        clock, until = self.retry_policy.clock, self.retry_policy.clock() + self.limits.command
        while True:
            try:
                return process.communicate(timeout=_LOOK)
            except subprocess.TimeoutExpired:
                cancelled = self.retry_policy.is_cancelled
                if not cancelled and clock() < until:
                    continue
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                raise _lost(self.controller, words, self.limits, cancelled=cancelled) from None


@dataclass(frozen=True)
class SshRunner:
    """On the machine behind these hosts, each logged in to from the one before it."""

    controller: str
    hops: tuple[SshHop, ...]
    retry_policy: RetryPolicy = field(default_factory=RetryPolicy)
    limits: VipuLimits = VipuLimits()

    def run(self, words: Sequence[str]) -> Ran:
        """What came of it. Raises `VipuError`."""
        return asyncio.run(self._run(words))

    async def _run(self, words: Sequence[str]) -> Ran:
        # Imported here: it takes longer to load than everything else here, and most processes reach no controller.
        import asyncssh

        async with contextlib.AsyncExitStack() as stack:
            way = None
            for hop in self.hops:
                way = await stack.enter_async_context(await self._connected(hop, way))
            assert way is not None  # the loader gives one hop at least
            sent = asyncio.ensure_future(way.run(line_in_folder(words), check=False, errors="replace"))
            try:
                return await self._ended(sent, words)
            except (asyncssh.Error, OSError) as error:
                what = f"the connection broke while `{words[0]}` ran: {shown_safely(str(error))}"
                raise VipuError(VipuTrouble.LOST_ANSWER, self.controller, what, _LOOKS_FIRST) from None

    async def _ended(self, sent: asyncio.Future[Any], words: Sequence[str]) -> Ran:
        until = self.retry_policy.clock() + self.limits.command
        while not (await asyncio.wait({sent}, timeout=_LOOK))[0]:
            cancelled = self.retry_policy.is_cancelled
            if cancelled or self.retry_policy.clock() >= until:
                sent.cancel()
                raise _lost(self.controller, words, self.limits, cancelled=cancelled)
        done = sent.result()
        if done.exit_status is None or done.exit_status < 0:
            what = f"the connection ended while `{words[0]}` ran"
            raise VipuError(VipuTrouble.LOST_ANSWER, self.controller, what, _LOOKS_FIRST)
        if done.exit_status in _NOT_STARTED:
            what = f"{self.hops[-1].address} has no command {words[0]}: {_NOT_STARTED[done.exit_status]}"
            hint = "install the commands of V-IPU there, or correct `command` in vipu.yaml"
            raise VipuError(VipuTrouble.UNREACHABLE, self.controller, what, hint)
        return Ran(done.exit_status, str(done.stdout)[:MOST_ANSWER], str(done.stderr)[:MOST_ANSWER])

    async def _connected(self, hop: SshHop, way: Any) -> Any:
        """A connection, logged in, to the holder of a known host key. Raises `VipuError`."""
        import asyncssh

        with self._told(hop):
            async with asyncio.timeout(self.limits.login):
                return await asyncssh.connect(
                    hop.host,
                    hop.port,
                    tunnel=way or (),
                    username=hop.username,
                    known_hosts=self._known_hosts(hop),
                    client_keys=[asyncssh.read_private_key(str(hop.key_file))],
                    # Nothing of the user's own ssh: no configuration, no agent, no other keys.
                    config=None,
                    agent_path=None,
                )

    def _known_hosts(self, hop: SshHop) -> Any:
        """Host keys, authorities and revoked keys of this host. Raises `VipuError` if none is known."""
        import asyncssh

        port = None if hop.port == SSH_PORT else hop.port
        try:
            found = asyncssh.read_known_hosts(str(hop.known_hosts)).match(hop.host, "", port)
        except ValueError as error:
            # Also of a file that is no text: no error of asyncssh, so nobody else would tell it as ours.
            what = f"{hop.known_hosts} is no file of known hosts: {shown_safely(str(error))}"
            hint = "write it in the form of OpenSSH: host, type of key, key"
            raise VipuError(VipuTrouble.UNAUTHORIZED, self.controller, what, hint) from None
        if not (found[0] or found[1]):
            what = f"its host key is unknown: {hop.known_hosts} has none of {hop.address}"
            hint = (
                "read the key on the host's console, or let an authority sign it (`@cert-authority`), and add it there"
            )
            raise VipuError(VipuTrouble.UNAUTHORIZED, self.controller, what, hint)
        return found[:3]

    @contextlib.contextmanager
    def _told(self, hop: SshHop) -> Iterator[None]:
        """What goes wrong on the way to a host, as a `VipuError`: nothing was sent yet."""
        import asyncssh

        try:
            yield
        except TimeoutError:
            what, hint = f"no login within {self.limits.login:g} s at {hop.address}", _WAY
        except asyncssh.HostKeyNotVerifiable as error:
            what = f"the host key of {hop.address} is not one that {hop.known_hosts} has: {shown_safely(error.reason)}"
            hint = "nothing was sent. If the host was recreated, add its new key there; else somebody else answers"
            raise VipuError(VipuTrouble.UNAUTHORIZED, self.controller, what, hint) from None
        except asyncssh.PermissionDenied:
            what, hint = f"{hop.address} refuses the login of `{hop.username}`", "check `username` and `key_file`"
            raise VipuError(VipuTrouble.UNAUTHORIZED, self.controller, what, hint) from None
        except asyncssh.KeyImportError as error:
            what, hint = f"{hop.key_file}: {shown_safely(str(error))}", "name a private key without passphrase"
            raise VipuError(VipuTrouble.UNAUTHORIZED, self.controller, what, hint) from None
        except (asyncssh.Error, OSError) as error:
            what = f"{hop.address} is out of reach: {shown_safely(str(error)) or type(error).__name__}"
            hint = _WAY
        else:
            return
        raise VipuError(VipuTrouble.UNREACHABLE, self.controller, what, hint)


_WAY = "check `ssh` in vipu.yaml, the way to it, and that the controller's server runs"
_LOOKS_FIRST = "run the command again: it looks first at what is there"
#: What a shell answers with if a command did not even start.
_NOT_STARTED = {126: "it may not be executed", 127: "there is no such command"}


def _lost(controller: str, words: Sequence[str], limits: VipuLimits, *, cancelled: bool) -> VipuError:
    why = "the run was cancelled" if cancelled else f"there was no answer within {limits.command:g} s"
    return VipuError(VipuTrouble.LOST_ANSWER, controller, f"{why} while `{words[0]}` ran", _LOOKS_FIRST)
