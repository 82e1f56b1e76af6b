"""Commands over ssh, to a real server in this process: host keys, authorities, a host on the way, and what breaks."""

from __future__ import annotations

import asyncio
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import asyncssh
import pytest

from interlock.retry import RetryPolicy
from interlock.vipu.errors import VipuError, VipuTrouble
from interlock.vipu.loading import SshHop
from interlock.vipu.transport import SshRunner, VipuLimits

Serve = Callable[..., SshHop]


class Doorman(asyncssh.SSHServer):
    """Lets in who has the key, and through to anywhere."""

    def connection_requested(self, *_: Any) -> bool:
        return True


async def _handled(process: Any) -> None:
    ran = await asyncio.to_thread(
        subprocess.run, ["/bin/sh", "-c", process.command], capture_output=True, text=True, check=False
    )
    process.stdout.write(ran.stdout)
    process.stderr.write(ran.stderr)
    process.exit(ran.returncode)


@contextmanager
def _loop() -> Iterator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Starts a server; how it is reached, its key known unless said otherwise."""
    login = asyncssh.generate_private_key("ssh-ed25519")
    key_file, authorized = tmp_path / "login.key", tmp_path / "authorized"
    login.write_private_key(str(key_file))
    login.write_public_key(str(authorized))
    with _loop() as loop:

        def started(known: str = "key", certificate_of: Any = None) -> SshHop:
            host_key = asyncssh.generate_private_key("ssh-ed25519")
            certificates = [] if certificate_of is None else [
                certificate_of.generate_host_certificate(host_key, "host", principals=["127.0.0.1"])
            ]  # fmt: skip

            async def listening() -> Any:
                return await asyncssh.create_server(
                    Doorman, "127.0.0.1", 0, server_host_keys=[host_key], server_host_certs=certificates,
                    authorized_client_keys=str(authorized), process_factory=_handled,
                )  # fmt: skip

            server = asyncio.run_coroutine_threadsafe(listening(), loop).result(10)
            port = server.sockets[0].getsockname()[1]
            text = {
                "key": f"[127.0.0.1]:{port} {host_key.export_public_key().decode()}",
                "authority": "" if certificate_of is None else
                f"@cert-authority [127.0.0.1]:{port} {certificate_of.export_public_key().decode()}",
                "other": f"[127.0.0.1]:{port} {login.export_public_key().decode()}",
                "none": "",
            }[known]  # fmt: skip
            file = tmp_path / f"known-{port}"
            file.write_text(text)
            return SshHop("127.0.0.1", port, "operator", key_file, file)

        yield started


def test_a_command_runs_there_with_each_word_as_it_is(serve: Serve) -> None:
    ran = SshRunner("c", (serve(),)).run(["/bin/echo", "a b", "$(id)", "'q'", "{x,y}"])
    assert (ran.code, ran.out) == (0, "a b $(id) 'q' {x,y}\n")
    failed = SshRunner("c", (serve(),)).run(["/bin/sh", "-c", "echo no >&2; exit 3"])
    assert (failed.code, failed.said) == (3, "no")


def test_its_folder_is_gone_afterwards(serve: Serve) -> None:
    folder = SshRunner("c", (serve(),)).run(["/bin/sh", "-c", "touch key; pwd"]).out.strip()
    assert folder.startswith("/")
    assert not Path(folder).exists()


def test_a_host_on_the_way_and_an_authority(serve: Serve) -> None:
    authority = asyncssh.generate_private_key("ssh-ed25519")
    behind = serve("authority", certificate_of=authority)
    assert SshRunner("c", (serve(), behind)).run(["/bin/echo", "through"]).out == "through\n"


@pytest.mark.parametrize(("known", "told"), [("other", "is not one that"), ("none", "its host key is unknown")])
def test_an_unknown_host_is_told_nothing(serve: Serve, tmp_path: Path, known: str, told: str) -> None:
    with pytest.raises(VipuError, match=told) as caught:
        SshRunner("c", (serve(known),)).run(["/bin/sh", "-c", f"touch {tmp_path / 'ran'}"])
    assert caught.value.trouble is VipuTrouble.UNAUTHORIZED
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("text", [b"garbage\n", b"@foo a b c\n", b"\xe9"])
def test_known_hosts_that_are_none_are_told(serve: Serve, text: bytes) -> None:
    hop = serve()
    hop.known_hosts.write_bytes(text)
    with pytest.raises(VipuError, match="is no file of known hosts") as caught:
        SshRunner("c", (hop,)).run(["/bin/true"])
    assert caught.value.trouble is VipuTrouble.UNAUTHORIZED


def test_nobody_there_no_login_and_no_command(serve: Serve, tmp_path: Path) -> None:
    hop = serve()
    with pytest.raises(VipuError, match="has no command /none/vipu-admin") as caught:
        SshRunner("c", (hop,)).run(["/none/vipu-admin"])
    assert caught.value.trouble is VipuTrouble.UNREACHABLE
    asyncssh.generate_private_key("ssh-ed25519").write_private_key(str(tmp_path / "other.key"))
    stranger = SshHop(hop.host, hop.port, hop.username, tmp_path / "other.key", hop.known_hosts)
    with pytest.raises(VipuError, match="refuses the login of `operator`"):
        SshRunner("c", (stranger,)).run(["/bin/true"])
    known = tmp_path / "known-1"
    known.write_text(f"[127.0.0.1]:1 {hop.known_hosts.read_text().split(' ', 1)[1]}")
    with pytest.raises(VipuError, match=r"127\.0\.0\.1:1 is out of reach") as caught:
        SshRunner("c", (SshHop("127.0.0.1", 1, "operator", hop.key_file, known),)).run(["/bin/true"])
    assert caught.value.trouble is VipuTrouble.UNREACHABLE


def test_a_cancelled_run_and_a_lost_answer(serve: Serve) -> None:
    hop, cancelled = serve(), threading.Event()
    threading.Timer(1.0, cancelled.set).start()
    with pytest.raises(VipuError, match="cancelled") as caught:
        SshRunner("c", (hop,), RetryPolicy(cancelled=cancelled.is_set)).run(["/bin/sleep", "5"])
    assert caught.value.trouble is VipuTrouble.LOST_ANSWER
    with pytest.raises(VipuError, match=r"no answer within 0\.5 s") as caught:
        SshRunner("c", (hop,), limits=VipuLimits(command=0.5)).run(["/bin/sleep", "5"])
    assert caught.value.trouble is VipuTrouble.LOST_ANSWER
