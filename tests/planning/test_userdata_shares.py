"""The program that mounts shares in a server, as its unit runs it, against metadata that a test scripts.

`mount` and `umount` are stand-ins here, which write down what they were asked; `tests/packets/test_userdata_mounts.py`
mounts.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from interlock.planning.guest import shares_in_guest
from interlock.planning.guest.shares import DRIVE, PROGRAM, TABLE, UNIT, GuestShare, mounted_shares, program
from interlock.resources import BareMetalServer, Server
from interlock.vocabulary.share_paths import LONGEST, PREFIX, share_key, why_not_told
from tests.planning.golden import plans

AGAIN, LOOK = shares_in_guest.AGAIN, shares_in_guest.LOOK
THEIRS = "# as the image has it\nLABEL=root\t/ ext4  defaults 0 1\n\n10.9.9.9:/x /mnt/theirs nfs rw 0 0\n"

TOOLS = {
    "mount": """#!/bin/sh
echo "$@" >> {folder}/asked
[ -e {folder}/broken ] && {{ echo "mount.nfs: Connection refused" >&2; exit 32; }}
while [ $# -gt 2 ]; do shift; done
echo "36 35 0:40 / $2 rw shared:1 - nfs4 $1 rw" >> {folder}/mounted
""",
    "umount": """#!/bin/sh
echo "umount $1" >> {folder}/asked
[ -e {folder}/busy ] && {{ echo "umount: $1: target is busy." >&2; exit 32; }}
grep -v " $1 " {folder}/mounted > {folder}/left; mv {folder}/left {folder}/mounted
""",
    "mount.nfs": "#!/bin/sh\n",
}


class Guest:
    """A server below a folder, and its metadata: one member for each share that it is told of."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.told = folder, dict[str, Any]()
        self.answer: bytes | None = None
        (folder / "bin").mkdir()
        for name, text in TOOLS.items():
            tool = folder / "bin" / name
            tool.write_text(text.format(folder=folder))
            tool.chmod(0o755)
        (folder / "fstab").write_text(THEIRS)
        self.reboot()
        guest = self

        class Metadata(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.end_headers()
                self.wfile.write(guest.body)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - of http.server
                return

        self.listener = ThreadingHTTPServer(("127.0.0.1", 0), Metadata)
        threading.Thread(target=self.listener.serve_forever, daemon=True).start()

    @property
    def body(self) -> bytes:
        told = {PREFIX + name: path for name, path in self.told.items()}
        return self.answer or json.dumps({"uuid": "7", "meta": {"interlock": "interlock:0:x", **told}}).encode()

    def reboot(self) -> None:
        """Nothing is mounted any more."""
        (self.folder / "mounted").write_text("22 1 254:1 / / rw - ext4 /dev/vda1 rw\n")
        (self.folder / "asked").write_text("")

    def run(self, *names: str, more: tuple[str, ...] = (), kind: str = "nfs") -> tuple[int, str]:
        """Runs the program as its unit does; exit code and all that it said."""
        shares = [
            GuestShare(name, "10.48.0.2:", f"{self.folder}/{name}", kind, ("rw", "vers=4.1", "nofail")).canonical()
            for name in names or ("data",)
        ]
        (self.folder / "table").write_text(json.dumps(shares))
        command = [
            sys.executable, "-c", program(), "--table", f"{self.folder}/table", "--fstab", f"{self.folder}/fstab",
            "--mounted", f"{self.folder}/mounted", "--metadata", f"http://127.0.0.1:{self.listener.server_port}/",
            *more,
        ]  # fmt: skip
        # A proxy that nobody serves: no question may go there.
        found = {"PATH": f"{self.folder}/bin:{os.environ['PATH']}", "http_proxy": "http://127.0.0.1:9/", "no_proxy": ""}
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=60, env={**os.environ, **found}
        )
        return done.returncode, done.stdout + done.stderr

    @property
    def asked(self) -> list[str]:
        return (self.folder / "asked").read_text().splitlines()

    @property
    def fstab(self) -> str:
        return (self.folder / "fstab").read_text()

    def line(self, path: str, name: str = "data") -> str:
        return f"10.48.0.2:{path} {self.folder}/{name} nfs rw,vers=4.1,nofail,x-interlock 0 0\n"

    def mounting(self, path: str, name: str = "data") -> str:
        return f"-t nfs -o rw,vers=4.1,nofail 10.48.0.2:{path} {self.folder}/{name}"


@pytest.fixture
def guest(tmp_path: Path) -> Iterator[Guest]:
    made = Guest(tmp_path)
    yield made
    made.listener.shutdown()
    made.listener.server_close()


def test_a_share_is_written_down_and_mounted_once(guest: Guest) -> None:
    guest.told["data"] = "/shares/one"
    assert guest.run() == (0, f"{guest.folder}/data: mounted from 10.48.0.2:/shares/one\n")
    assert guest.fstab == THEIRS + guest.line("/shares/one")
    assert guest.asked == [guest.mounting("/shares/one")]
    assert (guest.folder / "data").is_dir()
    written = (guest.folder / "fstab").stat()
    assert guest.run() == (0, f"{guest.folder}/data: is mounted\n")
    assert len(guest.asked) == 1
    assert (guest.folder / "fstab").stat().st_ino == written.st_ino, "nothing changed, so nothing was written"


def test_a_share_that_comes_later_is_waited_for_and_the_others_are_mounted(guest: Guest) -> None:
    guest.told["models"] = "/shares/two"
    code, said = guest.run("data", "models")
    assert (code, "metadata do not name data yet; tried again" in said) == (AGAIN, True)
    assert guest.asked == [guest.mounting("/shares/two", "models")]
    guest.told["data"] = "/shares/one"
    assert guest.run("data", "models")[0] == 0
    assert guest.fstab == THEIRS + guest.line("/shares/one") + guest.line("/shares/two", "models")


@pytest.mark.parametrize("answer", [b"{", b"[]", b'{"uuid": "7"}', b'{"meta": "x"}'])
def test_metadata_that_say_nothing_change_nothing(guest: Guest, answer: bytes) -> None:
    guest.told["data"] = "/shares/one"
    guest.run()
    before, guest.answer = guest.fstab, answer
    assert guest.run()[0] == AGAIN
    assert guest.fstab == before
    assert len(guest.asked) == 1


def test_another_path_is_mounted_in_place_of_the_earlier_one(guest: Guest) -> None:
    guest.told["data"] = "/shares/one"
    guest.run()
    guest.told["data"] = "/shares/other"
    (guest.folder / "busy").touch()
    code, said = guest.run()
    assert (code, "target is busy" in said) == (AGAIN, True)
    assert guest.fstab == THEIRS + guest.line("/shares/other"), "the next boot mounts the new one"
    (guest.folder / "busy").unlink()
    assert guest.run()[0] == 0
    assert guest.asked[-2:] == [f"umount {guest.folder}/data", guest.mounting("/shares/other")]


def test_a_share_that_was_taken_away_is_unmounted_and_its_line_goes(guest: Guest) -> None:
    guest.told["data"] = "/shares/one"
    guest.run()
    guest.told.clear()
    code, said = guest.run()
    assert (code, "metadata do not name data any more; it is not mounted" in said) == (0, True)
    assert (guest.fstab, guest.asked[-1]) == (THEIRS, f"umount {guest.folder}/data")


def test_what_fails_is_tried_again_and_the_line_is_there_for_the_next_boot(guest: Guest) -> None:
    guest.told["data"] = "/shares/one"
    (guest.folder / "broken").touch()
    code, said = guest.run()
    assert (code, "Connection refused; tried again" in said) == (AGAIN, True)
    assert guest.fstab == THEIRS + guest.line("/shares/one")
    (guest.folder / "broken").unlink()
    assert guest.run()[0] == 0


WRONG = [
    "", "/", "relative", "//x", "/a//b", "/a/", "/a/../b", "/..", "/.", "/a b", "/a\tb", "/a\n/etc /root nfs rw 0 0",
    "/a,suid", "/a#b", "/a\\040b", "/a:b", "/é", "/" + "a" * LONGEST, 7, ["/a"],
]  # fmt: skip


@pytest.mark.parametrize("path", WRONG, ids=repr)
def test_a_path_that_is_not_plain_is_told_and_never_mounted(guest: Guest, path: Any) -> None:
    guest.told |= {"data": path, "models": "/shares/two"}
    code, said = guest.run("data", "models")
    assert (code, "which is no plain absolute path" in said) == (LOOK, True)
    assert guest.fstab == THEIRS + guest.line("/shares/two", "models")
    assert guest.asked == [guest.mounting("/shares/two", "models")]
    if isinstance(path, str):
        assert why_not_told(path), "and no server is told of it"


@pytest.mark.parametrize("path", ["/a", "/volumes/_nogroup/5b1f-3a/.snap", "/share_1.2+x=y@z~", "/..a/b.."])
def test_a_plain_path_is_told_and_mounted(guest: Guest, path: str) -> None:
    guest.told["data"] = path
    assert why_not_told(path) == ""
    assert (guest.run()[0], guest.asked) == (0, [guest.mounting(path)])
    assert PREFIX == shares_in_guest.PREFIX
    assert share_key("data") == "interlock-share-data"


def test_an_image_without_a_client_is_told(guest: Guest) -> None:
    guest.told["data"] = "/shares/one"
    code, said = guest.run(kind="nfs9")
    assert (code, "mount.nfs9 is missing; install an NFS client" in said) == (LOOK, True)
    assert guest.asked == []


def test_lines_of_others_stay_byte_for_byte_and_their_place_is_theirs(guest: Guest) -> None:
    guest.told["data"] = "/shares/one"
    theirs = f"{THEIRS}10.1.1.1:/y {guest.folder}/data nfs rw 0 0\n".encode() + b"# \xff\n"
    (guest.folder / "fstab").write_bytes(theirs)
    code, said = guest.run()
    assert (code, "fstab has a line for this place that is not ours" in said) == (LOOK, True)
    assert ((guest.folder / "fstab").read_bytes(), guest.asked) == (theirs, [])
    (guest.folder / "fstab").write_bytes(b"# \xff\n")
    assert guest.run()[0] == 0
    assert (guest.folder / "fstab").read_bytes() == b"# \xff\n" + guest.line("/shares/one").encode()


def test_something_else_that_is_mounted_there_stays(guest: Guest) -> None:
    guest.told["data"] = "/shares/one"
    with (guest.folder / "mounted").open("a") as table:
        table.write(f"36 35 98:0 / {guest.folder}/data rw - ext4 /dev/vdb rw\n")
    code, said = guest.run()
    assert (code, "/dev/vdb is mounted there, and not by this program" in said) == (LOOK, True)
    assert guest.asked == []


@pytest.mark.parametrize("told", [None, "/shares/one", "/shares/two"])
@pytest.mark.parametrize("has_line", [False, True], ids=["by hand", "by a line of their own"])
def test_a_share_that_somebody_mounted_stays_mounted(guest: Guest, told: str | None, has_line: bool) -> None:
    """Although it is of the appliance's address, whatever metadata say."""
    guest.told |= {"data": told} if told else {}
    theirs = f"10.48.0.2:/shares/two {guest.folder}/data nfs rw 0 0\n" if has_line else ""
    (guest.folder / "fstab").write_text(theirs)
    with (guest.folder / "mounted").open("a") as table:
        table.write(f"36 35 0:9 / {guest.folder}/data rw - nfs 10.48.0.2:/shares/two rw\n")
    for _ in range(2):
        assert guest.run()[0] == (0 if told == "/shares/two" and not has_line else LOOK)
        assert guest.asked == []
    assert guest.fstab.startswith(theirs)


@pytest.mark.parametrize(
    "theirs",
    [
        "# caf\u2028/dev/x /y ext4 defaults 0 0\n",
        "# a\x0c/dev/x /y ext4 defaults 0 0\n",
        "/dev/x /y ext4 rw 0 0\r\n/dev/z /w\u00a0q ext4 rw 0 0\r\n",
        "#10.48.0.2:/old {folder}/data nfs rw 0 0\n",
        "\n\n/dev/x\t/y\text4 rw 0 0\n\n",
    ],
)
def test_only_a_line_feed_ends_a_line_of_fstab(guest: Guest, theirs: str) -> None:
    guest.told["data"] = "/shares/one"
    before = theirs.format(folder=guest.folder).encode()
    (guest.folder / "fstab").write_bytes(before)
    assert guest.run()[0] == 0
    assert (guest.folder / "fstab").read_bytes() == before + guest.line("/shares/one").encode()


def test_fstab_keeps_its_mode_and_a_link_that_is_in_the_way_is_not_followed(guest: Guest) -> None:
    guest.told["data"] = "/shares/one"
    (guest.folder / "fstab").chmod(0o640)
    (guest.folder / ".fstab.interlock").symlink_to(guest.folder / "elsewhere")
    assert guest.run()[0] == 0
    assert (guest.folder / "fstab").stat().st_mode & 0o777 == 0o640
    assert not (guest.folder / "elsewhere").exists()


def test_a_whole_host_reads_its_drive_and_asks_nobody(guest: Guest) -> None:
    folder = guest.folder / "drive" / "openstack" / "latest"
    folder.mkdir(parents=True)
    (folder / "meta_data.json").write_text(json.dumps({"meta": {share_key("data"): "/shares/one"}}))
    guest.answer = b"not asked"
    drive = ("--drive", str(guest.folder / "drive"))
    assert guest.run(more=drive)[0] == 0
    assert guest.asked == [guest.mounting("/shares/one")]
    code, said = guest.run("data", "models", more=drive)
    assert (code, "models is not on the drive, written at the deployment" in said) == (LOOK, True)
    code, said = guest.run(more=("--drive", str(guest.folder / "none")))
    assert (code, said.endswith("tried again\n")) == (AGAIN, True)


def test_the_program_runs_with_the_python_of_old_images() -> None:
    tree = ast.parse(program(), feature_version=(3, 8))
    imported = {
        name.name.partition(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names
    }
    assert imported <= sys.stdlib_module_names


def test_the_unit_goes_on_until_all_are_mounted_and_stops_where_people_must_look() -> None:
    share = GuestShare("acme-data", "10.48.0.2:", "/mnt/data", "nfs", ("rw", "nofail"))
    part, whole = mounted_shares((share,)), mounted_shares((share,), drive=True)
    files, of_host = ({file.path: file for file in item.files} for item in (part, whole))
    unit = f"/etc/systemd/system/{UNIT}"
    assert f"ExecStart={PROGRAM}\n" in files[unit].content
    assert f"ExecStart={PROGRAM} --drive {DRIVE}\n" in of_host[unit].content
    assert f"RestartPreventExitStatus={LOOK}\n" in files[unit].content
    assert json.loads(files[TABLE].content) == [
        {"share": "acme-data", "source": "10.48.0.2:", "mount": "/mnt/data", "kind": "nfs", "options": "rw,nofail"}
    ]
    assert part.commands[-1] == ("systemctl", "enable", "--now", "--no-block", UNIT)
    assert mounted_shares(()).files == ()


def test_servers_are_told_of_the_shares_of_their_vpod_and_controllers_of_none() -> None:
    plan = plans()["data"]
    order = [item.name for item in plan.resources]
    told = {
        item.name: (PROGRAM in item.resource.user_data, item.resource.shares)
        for item in plan.resources
        if isinstance(item.resource, Server | BareMetalServer)
    }
    expected = {name: (True, ("acme-datasets",)) if "poplar" in name else (False, ()) for name in told}
    assert (told, {"poplar" in name for name in told}) == (expected, {True, False})
    assert all(order.index("acme-datasets") < order.index(name) for name in told)
