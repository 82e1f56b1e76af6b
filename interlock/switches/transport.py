"""Asks a switch over ssh: host keys as strict as they can be, time limits, and only what `commands` lists."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .answers import SwitchAnswer, quoted
from .commands import COMMANDS, Command
from .errors import SwitchUnread
from .file import SSH_PORT
from .loading import SwitchAccess

if TYPE_CHECKING:
    import asyncssh

#: Characters of one answer; a switch of 512 ports sends less than a million.
MOST_ANSWER = 16_000_000


@dataclass(frozen=True)
class TimeLimits:
    """Seconds: to be connected and logged in, for each answer, and for a switch in all."""

    login: float = 15.0
    answer: float = 30.0
    switch: float = 120.0


async def ask(access: SwitchAccess, limits: TimeLimits) -> dict[Command, SwitchAnswer]:
    """The answers of a switch to all that its platform is asked. Raises `SwitchUnread`."""
    # Imported here: it takes longer to load than everything else here, and most processes read no switch.
    import asyncssh

    try:
        async with asyncio.timeout(limits.switch):
            return await _ask(access, limits)
    except TimeoutError:
        what = f"no answer within {limits.switch:g} s from {access.address}"
        raise SwitchUnread(access.name, what, "see whether it is overloaded, and try again") from None
    except (asyncssh.Error, OSError) as error:
        what = f"the connection to {access.address} broke: {quoted(str(error)) or type(error).__name__}"
        raise SwitchUnread(access.name, what, "see whether the switch restarted, and try again") from error


async def _ask(access: SwitchAccess, limits: TimeLimits) -> dict[Command, SwitchAnswer]:
    connection = await _connected(access, limits)
    async with connection:
        return {command: await _answer(connection, access, command, limits) for command in COMMANDS[access.platform]}


async def _answer(connection: Any, access: SwitchAccess, command: Command, limits: TimeLimits) -> SwitchAnswer:
    """The answer to one command, in a session of its own."""
    try:
        async with asyncio.timeout(limits.answer):
            # What a switch sends in no encoding that we know stands for itself in messages, and parses as nothing.
            process = await connection.create_process(command.text, errors="replace")
            try:
                text = await _read(process.stdout, access, command)
                complaint = await _read(process.stderr, access, command)
                await process.wait_closed()
                return SwitchAnswer(text, process.exit_status, complaint)
            finally:
                # Not waited for: a switch that hangs agrees to no end of a session.
                process.close()
    except TimeoutError:
        what = f"no answer to `{command.text}` within {limits.answer:g} s"
        raise SwitchUnread(access.name, what, "see whether it is overloaded, and try again") from None


async def _read(stream: Any, access: SwitchAccess, command: Command) -> str:
    text = ""
    while part := await stream.read(65_536):
        text += part
        if len(text) > MOST_ANSWER:
            what = f"the answer to `{command.text}` has more than {MOST_ANSWER} characters"
            raise SwitchUnread(access.name, what, "see what is behind this address: no switch says as much")
    return text


async def _connected(access: SwitchAccess, limits: TimeLimits) -> Any:
    """A connection, logged in, to the holder of the known host key. Raises `SwitchUnread`."""
    import asyncssh

    trusted = trusted_keys(access)
    seen = list[str]()

    class Client(asyncssh.SSHClient):
        """Notes the key of whoever answers, and trusts nobody besides those that are known."""

        def validate_host_public_key(self, host: str, addr: str, port: int, key: asyncssh.SSHKey) -> bool:  # noqa: ARG002
            seen.append(f"{key.get_algorithm()} {key.get_fingerprint()}")
            return False

    try:
        async with asyncio.timeout(limits.login):
            return await asyncssh.connect(
                access.host,
                access.port,
                client_factory=Client,
                username=access.username,
                known_hosts=(trusted, [], []),
                server_host_key_algs=_kinds(trusted),
                # Nothing of the user's own ssh: no configuration, no agent, no other keys.
                config=None,
                agent_path=None,
                **_login(access),
            )
    except TimeoutError:
        what = f"no login within {limits.login:g} s at {access.address}"
        raise SwitchUnread(access.name, what, _UNREACHABLE) from None
    except asyncssh.HostKeyNotVerifiable:
        raise _other_key(access, trusted, seen) from None
    except asyncssh.KeyExchangeFailed as error:
        what = f"{access.address} and we have no way to encrypt in common: {quoted(error.reason)}"
        raise SwitchUnread(access.name, what, "allow a present-day method in the ssh server of the switch") from None
    except asyncssh.PermissionDenied:
        what = f"{access.address} refuses the login of `{access.username}`"
        hint = f"check `username` and `key_file` or `password_file` at {access.position}, and the user on the switch"
        raise SwitchUnread(access.name, what, hint) from None
    except OSError as error:
        what = f"{access.address} is out of reach: {quoted(error.strerror or str(error))}"
        raise SwitchUnread(access.name, what, _UNREACHABLE) from error


_UNREACHABLE = "check `host` and `port` in switches.yaml, the way to the management network, and the switch itself"


#: Kinds of host keys that are let through to be compared; a certificate is signed by nobody whom we know.
_KINDS = (
    "ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", "rsa-sha2-512", "rsa-sha2-256",
)  # fmt: skip
#: Kind of a key -> how it signs, where that has another name.
_SIGNS = {"ssh-rsa": ("rsa-sha2-512", "rsa-sha2-256")}


def _kinds(trusted: list[asyncssh.SSHKey]) -> list[str]:
    """All kinds of host keys, the known ones first.

    With the known ones alone a switch that has none of them would hang up, and nobody would see which key it has.
    """
    known = {kind for key in trusted for kind in _SIGNS.get(key.get_algorithm(), (key.get_algorithm(),))}
    return sorted(_KINDS, key=lambda kind: kind not in known)


def trusted_keys(access: SwitchAccess) -> list[asyncssh.SSHKey]:
    """The host keys of this switch, without those that are revoked. Raises `SwitchUnread` if none is known."""
    import asyncssh

    try:
        if access.known_hosts is None:
            return [asyncssh.import_public_key(access.host_key or "")]
        # OpenSSH writes the port only where it is another than the usual one.
        port = None if access.port == SSH_PORT else access.port
        found = asyncssh.read_known_hosts(str(access.known_hosts)).match(access.host, "", port)
    except (ValueError, OSError) as error:
        what = f"its host key cannot be read: {quoted(str(error))}"
        raise SwitchUnread(access.name, what, f"correct it at {access.position}") from None
    if not found[0]:
        what = f"its host key is unknown: {access.known_hosts} has none of {access.address}"
        hint = "read the key on the switch's console, and add it to that file, or write it as `host_key`"
        raise SwitchUnread(access.name, what, hint)
    revoked = set(found[2])
    return [key for key in found[0] if key not in revoked]


def _other_key(access: SwitchAccess, trusted: list[asyncssh.SSHKey], seen: list[str]) -> SwitchUnread:
    """Whoever answers has another key than the known one."""
    known = ", ".join(f"{key.get_algorithm()} {key.get_fingerprint()}" for key in trusted) or "none but revoked ones"
    other = f"answers with {seen[-1]}" if seen else "answers with something else"
    what = f"the host key is not the known one: known is {known}, and {access.address} {other}"
    hint = (
        "nothing was sent. If the switch was replaced or reset, read its key on the console and correct "
        f"{access.position}; else somebody else answers at this address"
    )
    return SwitchUnread(access.name, what, hint)


def _login(access: SwitchAccess) -> dict[str, Any]:
    """Key and password, read from their files now. Raises `SwitchUnread` if one of them cannot be read."""
    import asyncssh

    found: dict[str, Any] = {"client_keys": None, "password": None}
    try:
        if access.key_file is not None:
            found["client_keys"] = [asyncssh.read_private_key(str(access.key_file))]
        if access.password_file is not None:
            found["password"] = access.password_file.read_text(encoding="utf-8").rstrip("\r\n")
    except OSError as error:
        what = f"{error.filename}: {error.strerror}"
    except UnicodeDecodeError:
        what = f"{access.password_file}: not UTF-8"
    except ValueError as error:  # no key, or one with a passphrase, which nobody is there to type
        what = f"{access.key_file}: {quoted(str(error))}"
    else:
        return found
    raise SwitchUnread(access.name, what, f"correct it at {access.position}") from None
